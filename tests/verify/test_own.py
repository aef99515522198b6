"""A user's own program: what it finds around it, what its fixes save, what becomes of the file."""

from __future__ import annotations

import json
from contextlib import nullcontext, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tfmemlint.measure.account import Account, Line
from tfmemlint.measure.statements import Statement
from tfmemlint.run import Change
from tfmemlint.verify import own, own_command, own_lines
from tfmemlint.verify.benches import Bench
from tfmemlint.verify.command import main
from tfmemlint.verify.outputs import Agreement
from tfmemlint.verify.own import Mended, Request, Saving
from tfmemlint.verify.own_lines import Remains, Spot
from tfmemlint.verify.pairs import Measurement
from tfmemlint.verify.processes import Job, Machine, Output, Run
from tfmemlint.verify.weighing import Settings
from tfmemlint.vocabulary import Diagnostic, Finding, Metric, Span

MB = 1 << 20

PIPELINE = """import tensorflow as tf

options = tf.data.Options()
options.autotune.enabled = False  # or threads would work ahead, as far as they come
examples = tf.data.Dataset.range(1024).map(lambda i: tf.fill([256, 256], tf.cast(i, tf.float32)))
examples = examples.with_options(options)
batches = examples.batch(4).shuffle(64, seed=0)
print(float(sum(tf.reduce_sum(batch) for batch in batches.take(8)) * 0))
"""
"""Holds 64 MB; with its fix 16 MB, and prints the same."""
CONFIGURES = """import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(4)
tf.config.threading.set_inter_op_parallelism_threads(4)
processors = tf.config.list_physical_devices("CPU")
tf.config.set_visible_devices(processors)
tf.config.set_logical_device_configuration(
    processors[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
"""
FIXED = PIPELINE.replace(".batch(4).shuffle(64, seed=0)", ".shuffle(64, seed=0).batch(4)")


@pytest.fixture
def shared(own_bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that are not about what a program finds around it."""
    monkeypatch.setattr(own_command, "Bench", lambda _: nullcontext(own_bench))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def saving(
    *, safe: bool, same: bool | None, after: float, noise: float = 0, host: float = 0
) -> Saving:
    """A program of 100 MB that is left with so much, and whose host peak has grown."""
    device, of_host = (
        Measurement(metric, (100.0 * MB,) * 3, (figure, figure, figure + noise))
        for metric, figure in ((Metric.DEVICE_PEAK, after), (Metric.HOST_PEAK, 100 * MB + host))
    )
    mended = Mended(None, (), safe)  # type: ignore[arg-type]  # nobody looks at the change
    return Saving(mended, (device, of_host), Agreement(same, ""), Machine("cpu", "", {}))


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ("print(1)\n", 0, "nothing was found, so there is nothing to fix"),
        (FIXED.replace("64, seed", "256, seed"), 0, "no fix is applied for TFM201"),
        (PIPELINE, 0, "the fixes of TFM202 are unsafe: --unsafe-fixes applies them"),
        ("import tensorflow\n(\n", 2, "error: train.py: '(' was never closed"),
    ],
)
def test_where_there_is_nothing_to_fix_nothing_is_run(
    here: Path, capsys: pytest.CaptureFixture[str], text: str, status: int, words: str
) -> None:
    write(here / "train.py", text)
    assert main(["train.py"]) == status
    captured = capsys.readouterr()
    assert (captured.err if status else captured.out) == f"{words}\n"


def test_a_rule_that_is_not_selected_fixes_nothing(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(here / "train.py", PIPELINE)
    assert main(["train.py", "--select", "TFM3", "--unsafe-fixes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nothing"].startswith("nothing was found")


@pytest.mark.parametrize("name", ["missing.py", "."])
def test_a_file_that_cannot_be_read_ends_with_status_2(
    here: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main([name]) == 2
    assert f"{name} cannot be read: " in capsys.readouterr().err


def test_fixes_are_worth_it_if_they_save_and_keep_their_promise() -> None:
    assert saving(safe=True, same=True, after=50 * MB).doubt is None
    assert saving(safe=True, same=None, after=50 * MB).doubt is None
    assert saving(safe=False, same=False, after=50 * MB).doubt is None
    differs = saving(safe=True, same=False, after=50 * MB).doubt
    too_little = saving(safe=True, same=True, after=99.5 * MB).doubt
    noisy = saving(safe=True, same=True, after=90 * MB, noise=8 * MB).doubt
    more = saving(safe=True, same=True, after=200 * MB).doubt
    shifted = saving(safe=True, same=True, after=50 * MB, host=80 * MB).doubt
    assert differs == "the fixes are said to be safe, but the outputs differ"
    assert too_little == "no peak is lower by one hundredth"
    assert noisy == more == "no peak is lower by more than runs of the same program differ"
    assert shifted == "one peak is higher by more than the other is lower"


@pytest.mark.parametrize(
    ("before", "after", "is_below"),
    [(60 * MB, 5 * MB, True), (60 * MB, 50 * MB, False), (MB // 2, 0, False)],
)
def test_what_is_saved_below_a_peak_is_told_from_nothing(
    before: int, after: int, is_below: bool
) -> None:
    weighed = saving(safe=True, same=True, after=100 * MB)
    remains = Remains((Spot("TFM202", 3, before, after),), 100 * MB, None, 1.0, None)

    assert weighed.doubt
    assert weighed._replace(remains=remains).is_below is is_below
    assert not saving(safe=True, same=True, after=50 * MB)._replace(remains=remains).is_below


class Told(NamedTuple):
    """What a run of the command has written, and what it was told from."""

    text: str
    out: list[str]
    program: Path
    saving: Saving


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """A program that looks around, weighed as anybody would."""
    here = tmp_path_factory.mktemp("here")
    write(here / "more" / "elsewhere.py", "")
    write(here / "sub" / "beside.py", "print('imported once it runs', __name__)\n")
    text = (
        "# coding: latin-1\nimport inspect, os, sys\nimport beside, elsewhere\n"
        f"{CONFIGURES}{PIPELINE}def f():\n    return '\u00e4'\nprint(inspect.getsource(f), f())\n"
        "print(__name__, __package__, __file__, *sys.argv, os.getcwd(),"
        " os.environ['OF_THE_USER'])\n"
    )
    program = here / "sub" / "train.py"
    program.write_bytes(text.encode("latin-1"))
    savings: list[Saving] = []

    def weigh(*given: Any) -> Saving:
        savings.append(own.weigh(*given))
        return savings[-1]

    out = StringIO()
    with pytest.MonkeyPatch.context() as monkeypatch, redirect_stdout(out):
        monkeypatch.chdir(here)
        monkeypatch.setenv("OF_THE_USER", "x")
        monkeypatch.setenv("PYTHONPATH", str(here / "more"))
        monkeypatch.setattr(own_command, "weigh", weigh)
        status = main(["sub/train.py", "--unsafe-fixes", "--write", "--", "-a", "b c"])
    assert status == 0, out.getvalue()
    left = {path for path in here.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert left == {program, here / "more" / "elsewhere.py", here / "sub" / "beside.py"}
    return Told(text, out.getvalue().splitlines(), program, savings[0])


@pytest.mark.tensorflow
def test_what_the_fixes_save_is_told_and_the_file_left_alone(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, told: Told
) -> None:
    """The figures are those of the run above; the file is another one, and is not to be written."""
    program = write(here / "train.py", PIPELINE)
    monkeypatch.setattr(own_command, "weigh", lambda *_: told.saving)
    assert main(["train.py", "--unsafe-fixes", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    device, host = (found["peaks"][name] for name in ("device peak", "host peak"))
    assert 3 <= len(device["runs"]["before"]) == len(device["runs"]["after"]) <= 6
    assert device["told"]
    assert host["told"]
    assert found["left_out"] is None
    assert device["before"] == pytest.approx(66 * MB, rel=0.1)
    assert device["after"] == pytest.approx(19 * MB, rel=0.2)
    assert device["saved"] == device["before"] - device["after"]
    assert host["saved"] == pytest.approx(device["saved"], rel=0.5)
    assert found["fixed"] == {"TFM202": 1}
    assert (found["safe"], found["doubt"]) == (False, None)
    assert found["outputs"] == {"same": True, "words": "outputs agree"}
    assert program.read_text("utf-8") == PIPELINE
    assert list(here.iterdir()) == [program]


@pytest.mark.tensorflow
def test_a_program_finds_what_it_would_find_by_itself_and_is_written_if_that_is_asked(
    told: Told,
) -> None:
    def line(start: str) -> str:
        """The one that begins so: there may be more of processes, and of the device."""
        [found] = [each for each in told.out if each.startswith(start)]
        return found

    assert told.out[0] == "fixed in a copy: TFM202 x 1"
    assert told.out[-1] == "sub/train.py written"
    assert all(line(start) for start in ("device peak ", "host peak ", "outputs agree"))
    number = told.text[: told.text.index("batches = ")].count("\n") + 1
    assert line("TFM202 at line").startswith(f"TFM202 at line {number}: at most 6")
    for start in ("held less by most: ", "what is left: "):
        assert " by sub/train.py:" in line(start)
    assert b".shuffle(64, seed=0).batch(4)" in told.program.read_bytes()
    assert told.program.read_bytes().decode("latin-1").count("\u00e4") == 1


@pytest.mark.tensorflow
@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("package", "line", "said"),
    [
        ("from . import beside\n", "raise SystemExit(beside.WHERE)", "sub.deep.beside"),
        ("import beside\n", "raise SystemExit(beside.WHERE)", "beside"),
        ("", "import sys; sys.exit(sys.argv[1])", "hello"),
        ("", "import sys; sys.exit(__file__)", "{}/sub/deep/train.py"),
        ("", "import os; os._exit(os.getcwd() != {!r})", None),
    ],
)
def test_a_program_that_fails_is_told_from_one_that_saves(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    package: str,
    line: str,
    said: str | None,
) -> None:
    for folder in (here / "sub", here / "sub" / "deep"):
        write(folder / "__init__.py", "")
    write(here / "sub" / "deep" / "beside.py", "WHERE = __name__\n")
    program = write(
        here / "sub" / "deep" / "train.py", f"{package}{PIPELINE}{line.format(str(here))}\n"
    )
    before = program.read_bytes()
    assert main([str(program), "--unsafe-fixes", "--write", "--", "hello"]) == 1
    first, *rest = capsys.readouterr().out.splitlines()
    if said is None:
        assert first == "error: train.py ended before it could be weighed"
    else:
        assert first == "error: train.py exited with status 1"
        assert rest[-1].strip() == said.format(here)
    assert program.read_bytes() == before


@pytest.mark.tensorflow
@pytest.mark.usefixtures("shared")
def test_a_program_that_fails_with_its_fixes_only_is_called_so(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    consecutive = "first = next(iter(batches))\nassert first[1, 0, 0] == first[0, 0, 0] + 1\n"
    write(here / "train.py", PIPELINE + consecutive)
    assert main(["train.py", "--unsafe-fixes"]) == 1
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "error: train.py with its fixes exited with status 1"
    assert rest[-1] == "    AssertionError"


TAPE = """
x = tf.Variable(tf.ones([512, 1024]))
with tf.GradientTape(persistent=True) as tape:
    y = tf.reduce_sum(x * x)
print(tape.gradient(y, x).numpy().max())
"""
TWO_FINDINGS = PIPELINE + TAPE
"""One more, whose fix is safe."""


def not_looked(*_: object) -> None:
    """For programs that are not really run."""


def account(held: dict[int, int], path: str, peak: int) -> Account:
    """One whose lines hold so many megabytes at most, at the peak only as far as that goes."""
    lines = [Line(Statement(path, line, line, ""), most * MB, ()) for line, most in held.items()]
    first = max(lines, key=lambda line: line.bytes)
    return Account(
        **dict.fromkeys(Account._fields),  # type: ignore[arg-type]  # nobody looks at the others
    )._replace(
        requested=peak * MB,
        in_use=peak * MB,
        held=(first,),
        held_bytes=peak * MB,
        held_by=(),
        most={line.statement: line.bytes for line in lines},
    )


def test_what_a_findings_own_lines_save_is_told_though_another_line_has_the_peak() -> None:
    before = "a\nb\nx.batch(4).shuffle(9)\nspike\n"
    after = "a\nb\nx.shuffle(9)\n.batch(4)\nspike\n"
    change = Change(before.encode(), after.encode())
    found = Finding("TFM202", "x", Diagnostic(Span(15, 25), "m"))
    remains = own_lines.remains(
        account({1: 9, 2: 90, 3: 80, 4: 300}, "train.py", 300),
        account({1: 8, 2: 20, 3: 5, 4: 7, 5: 300}, "train.py", 300),
        change,
        [found],
        "train.py",
    )
    assert remains.eased == own_lines.Eased(Statement("train.py", 2, 2, ""), 90 * MB, 20 * MB)
    assert remains.spots == (Spot("TFM202", 3, 80 * MB, 7 * MB),)
    assert remains.line is not None
    assert (remains.line.statement.line, remains.share) == (5, 1.0)


def test_unsafe_fixes_that_are_left_out_are_weighed_and_named(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(here / "train.py", TWO_FINDINGS)
    ran: list[str] = []

    def run(job: Job) -> Run:
        ran.append(job.text)
        shuffles_little = ".shuffle(64, seed=0).batch(4)" in job.text
        weight = (40 if shuffles_little else 100) - (10 if "persistent" not in job.text else 0)
        return Run(weight * MB, "toy", Machine("cpu", "", {"tensorflow": ""}), Output("", "x"))

    def weigh(request: Request, mended: Mended, settings: Settings, *_: object) -> Saving:
        return own.weigh(request, mended, settings, not_looked, run, not_looked)

    monkeypatch.setattr(own_command, "weigh", weigh)
    assert main(["train.py", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["safe"], found["fixed"]) == (True, {"TFM402": 1})
    assert found["left_out"]["fixed"] == {"TFM202": 1}
    assert found["peaks"]["device peak"]["saved"] == 10 * MB
    assert found["left_out"]["peaks"]["device peak"]["saved"] == 70 * MB
    assert len(set(ran)) == 3
    assert main(["train.py"]) == 0
    out = capsys.readouterr().out
    assert "left out, as results may differ: TFM202 x 1; with it" in out
