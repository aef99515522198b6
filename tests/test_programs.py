"""The programs that tour the documentation: what is found in them, and what `measure` names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tfmemlint import registry
from tfmemlint.cli import main
from tfmemlint.measure.command import measure
from tfmemlint.measure.statements import Statement
from tfmemlint.report.figures import amount
from tfmemlint.verify.benches import Bench
from tfmemlint.verify.own import Request, Unmended, mend, weigh
from tfmemlint.verify.own_lines import forking
from tfmemlint.verify.weighing import Settings
from tfmemlint.vocabulary import Metric

_WANT = re.compile(r'(TFM\d+) "([^"]*)"')
FOLDER = registry.folder(next(iter(registry.load().values()))).parent / "programs"
PROGRAMS = sorted(FOLDER.glob("*.py"))

each_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)


def wanted(path: Path) -> set[tuple[int, str, str]]:
    """The marked lines, each with a code and words of the message."""
    return {
        (number, code, words)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for code, words in _WANT.findall(line.partition("# want ")[2])
    }


def test_there_are_twelve_of_a_length_that_people_write() -> None:
    assert len(PROGRAMS) == 12
    for path in PROGRAMS:
        assert 60 <= len(path.read_text("utf-8").splitlines()) <= 150, path.name


@each_program
def test_what_is_marked_is_found_and_nothing_else(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", "--no-cache", "--exit-zero", "--output-format", "json", str(path)])
    found = json.loads(capsys.readouterr().out)
    wants = wanted(path)
    assert 1 <= len(wants) <= 2
    assert {(each["location"]["row"], each["code"]) for each in found} == {
        (line, code) for line, code, _ in wants
    }
    for line, code, words in wants:
        assert any(
            words in each["message"]
            for each in found
            if (each["location"]["row"], each["code"]) == (line, code)
        )


@pytest.mark.tensorflow
@pytest.mark.slow
@each_program
def test_the_line_that_an_expert_would_name_is_named(
    path: Path, tmp_path: Path, own_bench: Bench
) -> None:
    wants = wanted(path)
    of_numpy = {code for _, code, _ in wants} & _OF_NUMPY  # told by the host's memory
    start = forking(own_bench, "auto", of_host=bool(of_numpy))
    with (tmp_path / "output").open("w", encoding="utf-8") as out:
        account = measure(path, out=out, errors=out, start=start)
    assert (account.ended, account.status) == ("finished", 0)
    named = {line.statement for line in account.held if line.bytes > 0.4 * account.held_bytes}
    named |= set(account.stack)
    named |= {each.grows.statement for each in account.held_by if each.grows}
    most = [each.place for each in account.held_by if each.bytes > 0.3 * account.held_bytes]
    named |= {Statement(place[0], place[1], place[1], "") for place in most if place}
    text = path.read_text("utf-8").splitlines()
    if any(text[each.line - 1].strip() == _BESIDE.get(path.stem) for each in named):
        return
    if of_numpy:
        named = {statement for statement, _ in account.host.rises[:3]}
    assert any(each.line <= line <= each.end for each in named for line, _, _ in wants), named
    assert (account.explained or 0) > 0.9


@pytest.mark.tensorflow
@pytest.mark.slow
@each_program
def test_the_fixes_of_a_program_save_memory(path: Path, own_bench: Bench) -> None:
    """As `verify --unsafe-fixes` has it, by the peak that the finding is about."""
    request = Request(str(path), unsafe=True)
    mended = mend(request)
    assert not isinstance(mended, Unmended)
    of_numpy = {code for _, code, _ in wanted(path)} & _OF_NUMPY
    metric = Metric.HOST_PEAK if of_numpy else Metric.DEVICE_PEAK
    settings = Settings(device="cpu", seconds=3600)
    saving = weigh(
        request,
        mended,
        settings,
        lambda _: None,
        own_bench.run,
        look=lambda *_: None,
        metrics=[metric],
    )
    (found,) = saving.measurements
    fixed = ", ".join(code for code, _ in saving.mended.fixed)
    before, after = (amount(metric, each) for each in (found.bad_figure, found.fixed_figure))
    print(f"| {path.name} | {fixed} | {metric.value} | {before} | {after} |")

    assert saving.doubt is None


_OF_NUMPY = {"TFM215", "TFM601"}
"""What these find is in NumPy's arrays, of which TensorFlow's allocator knows nothing."""
_BESIDE = {"gan": "gradients = tape.gradient(loss, generator_weights)"}
"""What is asked of a tape that is marked: its memory is at work there, and no longer the tape's."""
