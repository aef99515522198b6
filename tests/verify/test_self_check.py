"""What the self-check says of meters that are right and of meters that are not."""

from __future__ import annotations

import pytest

from tfmemlint.verify import self_check
from tfmemlint.verify.command import main
from tfmemlint.verify.processes import Job, Machine, Output, ProgramError, Run
from tfmemlint.verify.self_check import CASES, run_all

GPU = Machine("gpu", "A toy, MIG 1g.5gb", {"tensorflow": "2"}, "550.1")


def meter(factor: float, machine: Machine = GPU) -> self_check.Runs:
    """One that finds so many times what is there; beyond what is expected of scratch as well."""
    middle = {each.text: (each.least + each.most) / 2 for each in CASES}

    def run(job: Job) -> Run:
        return Run(max(0.0, middle[job.text]) * factor, "toy", machine, Output("", ""))

    return run


def test_meters_that_are_right_are_trusted() -> None:
    found, machine = run_all("gpu", meter(1))
    assert machine == GPU
    assert all(each.good for each in found)
    told = "\n".join(self_check.told(found, machine))
    assert "device       GPU: A toy, MIG 1g.5gb, driver 550.1" in told
    assert told.endswith(
        f"{len(CASES)} of {len(CASES)} figures are right: the meters can be trusted here"
    )


@pytest.mark.parametrize("factor", [0.5, 3.5])
def test_meters_that_are_wrong_are_not(factor: float) -> None:
    found, machine = run_all("gpu", meter(factor))
    told = list(self_check.told(found, machine))
    assert "WRONG" in next(line for line in told if line.startswith("held: 64 MB"))
    assert "do not trust" in told[-1]


def test_twins_that_are_apart_and_programs_that_die_are_told() -> None:
    right, wanders = meter(1), iter(range(100))

    def run(job: Job) -> Run:
        if "conv2d" in job.text:
            raise ProgramError("case.py was killed by SIGSEGV")
        ended = right(job)
        return ended._replace(figure=ended.figure + next(wanders) * 1.5 * 2**20)

    told = "\n".join(self_check.told(*run_all("cpu", run)))
    assert "twins are 1.5 MB apart" in told
    assert "case.py was killed by SIGSEGV" in told
    assert f"1 of {len(CASES)} could not be run" in told


def test_it_stands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--self-check", "TFM202"])
    assert "--self-check tries the meters alone" in capsys.readouterr().err


@pytest.mark.tensorflow
@pytest.mark.slow
def test_the_meters_of_this_machine_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--self-check", "--device", "cpu"]) == 0
    assert "the meters can be trusted here" in capsys.readouterr().out
