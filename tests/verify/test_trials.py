"""Several rules tried at a time, and what is said meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest

from tfmemlint.verify.devices import SetupError
from tfmemlint.verify.terminal import Progress, bar, duration
from tfmemlint.verify.trials import trials
from tfmemlint.verify.weighing import Settings, planned
from tfmemlint.vocabulary import Metric, Rule

ONCE = Settings(runs=1, device="cpu", seconds=600)
NOTES_ITS_TIME = """import os, time
begun = time.monotonic()
open({log!r} + {code!r}, "w").close()
while not os.path.exists({log!r} + {beside!r}) and time.monotonic() < begun + 500:
    time.sleep(0.01)
for _ in range(40):
    time.sleep(0.03)  # step
with open({log!r}, "a") as log:
    print({code!r}, begun, time.monotonic(), file=log)
"""
"""Goes on once the program that is to run beside it has begun, however long that takes to start."""

MakeRule = Callable[..., Rule]
MakeFolder = Callable[[str, str], Path]


@pytest.mark.tensorflow
@pytest.mark.slow
def test_pairs_run_side_by_side_but_those_whose_time_counts(
    rule: MakeRule, folder: MakeFolder, tmp_path: Path
) -> None:
    log = str(tmp_path / "log")
    metrics = {"TOY1": Metric.TRACES, "TOY2": Metric.TRACES, "TOY3": Metric.STEP_TIME}
    metrics |= {"TOY4": Metric.TRACES, "TOY5": Metric.TRACES}
    beside = {"TOY1": "TOY2", "TOY2": "TOY1", "TOY4": "TOY5", "TOY5": "TOY4"}
    texts = {
        code: NOTES_ITS_TIME.format(log=log, code=code, beside=beside.get(code, code))
        for code in metrics
    }
    pairs = [
        (rule(metric, code=code), folder(*[texts[code]] * 2)) for code, metric in metrics.items()
    ]
    done = list(trials(pairs, ONCE, 2, Progress()))
    assert [trial.rule.code for trial in done] == list(metrics)
    times: dict[str, list[float]] = {}
    for line in Path(log).read_text(encoding="utf-8").splitlines():
        code, *moments = line.split()
        times.setdefault(code, []).extend(map(float, moments))
    together = {
        (one, other)
        for one, other in combinations(metrics, 2)
        if min(times[one]) < max(times[other]) and min(times[other]) < max(times[one])
    }
    assert together >= {("TOY1", "TOY2"), ("TOY4", "TOY5")}
    assert not any("TOY3" in both for both in together)


@pytest.mark.tensorflow
@pytest.mark.slow
def test_one_that_fails_does_not_disturb_the_one_beside_it(
    rule: MakeRule, folder: MakeFolder
) -> None:
    ones = "import tensorflow as tf\nx = tf.ones([{}, 1024, 256])\n"
    pairs = [
        (rule(code="TOY1"), folder("import os\nos.abort()\n", "")),
        (rule(code="TOY2"), folder(ones.format(40), ones.format(4))),
        (rule(code="TOY3", at_most=0.05), folder(ones.format(40), ones.format(4))),
    ]
    aborted, holding, wrong = trials(pairs, ONCE, 3, Progress())
    assert str(aborted.outcome) == "bad.py was killed by SIGABRT"
    assert (aborted.holds, holding.holds, wrong.holds) == (False, True, False)


@pytest.mark.tensorflow
@pytest.mark.slow
def test_what_is_missing_is_missed_before_anything_is_tried(
    rule: MakeRule, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    pairs = [(rule(), folder("", ""))] * 2
    with pytest.raises(SetupError, match="TensorFlow sees no GPU"):
        list(trials(pairs, ONCE._replace(device="gpu"), 2, Progress()))


def test_how_many_runs_there_will_be_is_known_before(rule: MakeRule) -> None:
    thrice = Settings(runs=3)
    assert planned(rule(), thrice) == 6
    assert planned(rule(Metric.STEP_TIME), ONCE) == 2
    assert planned(rule(), thrice._replace(also=(Metric.DEVICE_PEAK, Metric.HOST_PEAK))) == 12
    assert planned(rule(), thrice._replace(scaling=True)) == 10
    grows = rule(grows=("linear", "constant"))
    assert planned(grows, thrice) == 8
    assert planned(grows, thrice._replace(complete=True)) == 10


def test_progress_says_how_far_it_is_and_how_long_it_takes_still() -> None:
    assert bar(0, 40, 2.0) == "[....................] 0 of 40 runs: "
    assert bar(10, 40, 60.0) == "[#####...............] 10 of 40 runs, 3 min left: "
    assert bar(40, 40, 60.0) == "[####################] 40 of 40 runs, 0 s left: "
    assert bar(3, 0, 60.0) == ""
    assert (duration(99), duration(100)) == ("99 s", "2 min")


def test_where_nobody_watches_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    progress.plan(2)
    progress.tell("the first")
    progress.clear()
    assert capsys.readouterr() == ("", "")


def test_the_line_shows_what_is_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    progress = Progress()
    progress.plan(4)
    progress.tell("TOY101 device peak: bad.py, run 1 of 1")
    progress.skip(1)
    progress.tell("TOY102 traces: bad.py, run 1 of 1")
    progress.clear()
    first, second, last = capsys.readouterr().err.split("\r\r")
    assert "0 of 4 runs: TOY101 device peak: bad.py, run 1 of 1" in first
    assert "2 of 4 runs, 0 s left: TOY102 traces" in second
    assert not last.strip()
