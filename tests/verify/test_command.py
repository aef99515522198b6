"""The command: what it prints, what it writes and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tfmemlint.verify import command
from tfmemlint.verify.command import chosen, main, measure
from tfmemlint.verify.terminal import UsageError, printable
from tfmemlint.verify.weighing import Settings
from tfmemlint.vocabulary import Metric, Rule

ONCE = Settings(runs=1, device="cpu")
BIG = "import tensorflow as tf\nx = tf.ones([{}, 1024, 256])\nprint({})\n"


@pytest.fixture
def rules(rule: Callable[..., Rule]) -> dict[str, Rule]:
    return {code: rule(code=code) for code in ("TOY101", "TOY102", "TOY202")}


def test_all_rules_are_tried_unless_some_are_named(rules: dict[str, Rule]) -> None:
    assert chosen([], rules) == list(rules.values())
    assert chosen(["TOY202", "toy101", "TOY202"], rules) == [rules["TOY202"], rules["TOY101"]]


@pytest.mark.parametrize(
    ("code", "hint"),
    [("TOY2021", "; did you mean `TOY202`?"), ("TYO101", "; did you mean `TOY101`?")],
)
def test_an_unknown_code_is_refused_with_the_nearest_one(
    rules: dict[str, Rule], code: str, hint: str
) -> None:
    with pytest.raises(UsageError) as refused:
        chosen([code], rules)
    assert str(refused.value) == f"there is no rule `{code}`{hint}"


@pytest.mark.parametrize("code", ["TOY201", "x\x1b[2J"])
def test_another_number_is_no_slip(rules: dict[str, Rule], code: str) -> None:
    with pytest.raises(UsageError) as refused:
        chosen([code], rules)
    assert "TOY202" not in str(refused.value)
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize(
    "options",
    [
        ["--runs", "0"],
        ["--runs", "x"],
        ["--timeout", "-1"],
        ["--device", "tpu"],
        ["--timeout", "nan"],
    ],
)
def test_options_that_make_no_sense_are_usage_errors(options: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(options)
    assert end.value.code == 2


@pytest.mark.tensorflow
def test_no_rule_to_try_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert measure([], ONCE) == 2
    assert "there is no rule to try" in capsys.readouterr().err


def test_an_unknown_code_ends_with_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["NOSUCH999"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: there is no rule `NOSUCH999`")


def test_without_tensorflow_the_command_says_how_to_get_it(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "sys.path[:] = [entry for entry in sys.path if 'site-packages' not in entry]\n"
        f"sys.path.append({str(Path(command.__file__).parents[2])!r})\n"
        "from tfmemlint.verify.command import measure\n"
        "from tfmemlint.verify.weighing import Settings\n"
        "sys.exit(measure([], Settings()))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, cwd=tmp_path
    )
    assert ended.stderr == (
        'error: TensorFlow is not installed: run `pip install "tfmemlint[verify]"`\n'
    )
    assert ended.returncode == 2


@pytest.mark.tensorflow
def test_a_missing_program_is_an_error_and_not_a_success(
    rule: Callable[..., Rule], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure([(rule(), tmp_path)], ONCE) == 1
    out = capsys.readouterr().out
    assert "error: " in out
    assert "bad.py cannot be read: No such file or directory" in out
    assert "0 of 1 claims hold; 1 could not be measured" in out


def test_what_is_shown_cannot_steer_a_terminal() -> None:
    assert printable("é\x1b[2J\u202e\n") == "é\\x1b[2J\\u202e\\n"


@pytest.mark.tensorflow
def test_each_rule_has_its_row_and_one_failure_fails_the_whole(
    rules: dict[str, Rule],
    folder: Callable[[str, str], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    holding, twins, crashing = rules.values()
    pairs = [
        (holding, folder(BIG.format(40, 1), BIG.format(4, 2))),
        (twins, folder(BIG.format(40, 1), BIG.format(40, 1))),
        (crashing, folder("print(1 / 0)\n", "print(1)\n")),
    ]
    assert measure(pairs, ONCE, write=True) == 1
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    row, different, predicted, twin, alike, crash = (" ".join(line.split()) for line in lines[1:7])
    assert row == "TOY101 toy device peak 40 MB 4.0 MB 0.100 <= 0.5 holds"
    assert different == "outputs differ: line 1: bad.py prints '1', fixed.py '2'"
    assert predicted == "predicted from the code: 40 MB and 4.0 MB"
    assert alike == "predicted from the code: 40 MB and 40 MB"
    assert twin == (
        "TOY102 toy device peak 40 MB 40 MB 1.000 <= 0.5 "
        "does not hold: the ratio is 1.000, more than the 0.5 claimed"
    )
    assert crash == "TOY202 toy device peak - - - <= 0.5 error: bad.py exited with status 1"
    assert "    ZeroDivisionError: division by zero" in lines
    assert lines[-1].startswith("1 of 3 claims hold; 1 could not be measured. TensorFlow 2.")
    assert captured.err == ""
    assert [home.joinpath("measured.json").exists() for _, home in pairs] == [True, True, False]


@pytest.mark.tensorflow
def test_measurements_are_written_beside_the_programs_and_printed_as_json(
    rule: Callable[..., Rule],
    folder: Callable[[str, str], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    home = folder(BIG.format(80, 1), BIG.format(8, 1))
    toy = rule(Metric.HOST_PEAK, safety="Safe: the same is printed.")
    assert measure([(toy, home)], ONCE, write=True, as_json=True) == 0
    written = home.joinpath("measured.json").read_text(encoding="utf-8")
    recorded = json.loads(written)
    [printed] = map(json.loads, capsys.readouterr().out.splitlines())  # JSON Lines
    assert printed == {**recorded, "code": "TOY101", "name": "toy", "error": None}
    assert set(recorded["metrics"]) == {"host peak"}
    assert recorded["claim"]["metric"] == "host peak"
    assert recorded["claim"]["holds"] is True
    assert recorded["same_output"] is True
    assert set(recorded["versions"]) == {"keras", "numpy", "python", "tensorflow", "tfmemlint"}
    assert sorted(path.name for path in home.iterdir()) == ["bad.py", "fixed.py", "measured.json"]
    assert str(home) not in written
    assert os.uname().nodename not in written.replace(recorded["device"]["name"], "")


@pytest.mark.tensorflow
def test_asking_for_a_gpu_that_is_not_there_ends_with_status_2(
    rule: Callable[..., Rule],
    folder: Callable[[str, str], Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    pair = (rule(), folder(BIG.format(40, 1), BIG.format(4, 1)))
    assert measure([pair], ONCE._replace(device="gpu")) == 2
    assert capsys.readouterr().err == "error: TensorFlow sees no GPU\n"


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("metric", "end"),
    [
        pytest.param("HOST_PEAK", signal.SIGINT, marks=pytest.mark.slow),
        ("DEVICE_PEAK", signal.SIGINT),
        # What `timeout` and `kill` send.
        pytest.param("HOST_PEAK", signal.SIGTERM, marks=pytest.mark.slow),
    ],
)
def test_an_interrupt_ends_the_programs_too_and_what_they_were_forked_from(
    metric: str,
    end: signal.Signals,
    folder: Callable[[str, str], Path],
    tmp_path: Path,
    is_running: Callable[[int], bool],
) -> None:
    started = tmp_path / "started"
    started.touch()
    endless = (
        "import os, time\n"
        f"with open({str(started)!r}, 'a') as file:\n"
        "    file.write(f'{os.getpid()} {os.getppid()}\\n')\n"
        "time.sleep(600)\n"
    )
    homes = [str(folder(endless, endless)) for _ in range(2)]
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tfmemlint.verify.command import measure\n"
        "from tfmemlint.verify.weighing import Settings\n"
        "from tfmemlint.vocabulary import Claim, Metric, Rule\n"
        f"rule = Rule('TOY101', 'toy', Claim(Metric.{metric}, 0.5, ''), (), iter)\n"
        f"pairs = [(rule, Path(home)) for home in {homes!r}]\n"
        "sys.exit(measure(pairs, Settings(device='cpu'), jobs=2))\n"
    )
    command = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 300
    while len(started.read_text().splitlines()) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    pids = {int(each) for each in started.read_text().split()}
    command.send_signal(end)
    _, errors = command.communicate(timeout=300)
    assert command.returncode == 128 + end
    assert errors == ("interrupted\n" if end == signal.SIGINT else "")
    assert len(pids - {command.pid}) >= 2
    assert not any(is_running(pid) for pid in pids)
