"""Devices too small for one program and large enough for another, tried for real."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tfmemlint.verify.benches import Bench
from tfmemlint.verify.command import measure
from tfmemlint.verify.exhaustion import Exhaustion, between, find_exhaustion
from tfmemlint.verify.processes import Job
from tfmemlint.verify.weighing import Pair, Settings
from tfmemlint.vocabulary import Metric, Rule

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

MB = 1 << 20
HOLDS = "import tensorflow as tf\nx = tf.ones([{}, 1024, 256])\n"
ENDS = "import os\nif 'TF_CPU_BFC_MEM_LIMIT_IN_MB' in os.environ:\n    {}\n"
"""Ends in a way of its own on a small device, whatever it is short of."""


Find = Callable[..., Exhaustion | None]


@pytest.fixture
def found(bench: Bench) -> Find:
    def found(bad: str, fixed: str, peaks: tuple[int, int] = (100, 10)) -> Exhaustion | None:
        jobs = (
            Job(name, text, Metric.DEVICE_PEAK, "cpu")
            for name, text in (("bad.py", bad), ("fixed.py", fixed))
        )
        return find_exhaustion(Pair(*jobs), peaks[0] * MB, peaks[1] * MB, lambda _: None, bench.run)

    return found


def test_a_limit_is_found_on_which_only_the_fixed_program_finishes(found: Find) -> None:
    exhaustion = found(HOLDS.format(100), HOLDS.format(10))
    assert exhaustion is not None
    assert exhaustion.death == "ResourceExhaustedError"
    assert 10 * MB < exhaustion.limit < 100 * MB


def test_a_death_by_a_signal_is_called_so(found: Find) -> None:
    exhaustion = found(ENDS.format("os.kill(os.getpid(), 11)"), HOLDS.format(10))
    assert exhaustion is not None
    assert exhaustion.death == "SIGSEGV"


@pytest.mark.parametrize("ending", ["pass", "raise SystemExit(3)"])
def test_a_program_that_gets_by_or_fails_otherwise_does_not_run_out_of_memory(
    found: Find, ending: str
) -> None:
    assert found(ENDS.format(ending), HOLDS.format(10), peaks=(12, 10)) is None


def test_there_is_no_limit_between_equals(found: Find) -> None:
    assert found(HOLDS.format(10), HOLDS.format(10), peaks=(10, 10)) is None


@pytest.mark.parametrize(
    ("peaks", "limit"),
    [
        ((10, 100), 32),
        ((10.2, 98.7), 32),
        ((250, 440), 384),
        ((18, 192), 64),
        ((99.6, 102), 101),
        ((100, 101), None),
        ((0, 0.5), None),
    ],
)
def test_a_limit_is_a_round_number_where_there_is_one(
    peaks: tuple[float, float], limit: int | None
) -> None:
    assert between(*peaks) == limit


def test_what_was_found_is_told(
    rule: Callable[..., Rule],
    folder: Callable[[str, str], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    pair = (rule(), folder(HOLDS.format(100), HOLDS.format(10)))
    assert measure([pair], Settings(runs=1, device="cpu", exhaust=True)) == 0
    assert capsys.readouterr().out.splitlines()[2] == (
        "    on a device of 32 MB bad dies of ResourceExhaustedError, fixed finishes"
    )
