"""`tfmemlint verify FILE.py`: says what the fixes save in a user's own program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from tfmemlint.config import ConfigError
from tfmemlint.decoding import UndecodableError
from tfmemlint.measure.showing import children, keeping, quoted
from tfmemlint.report.figures import amount, size
from tfmemlint.verify.benches import Bench
from tfmemlint.verify.own import Request, Saving, Unmended, mend, planned, weigh
from tfmemlint.verify.own_lines import Remains, look
from tfmemlint.verify.page import Entry
from tfmemlint.verify.pairs import Measurement
from tfmemlint.verify.pictures import NO_PICTURES, Pictures, curves
from tfmemlint.verify.processes import ProgramError
from tfmemlint.verify.ranges import difference
from tfmemlint.verify.record import device_record, pair_record, text
from tfmemlint.verify.terminal import (
    GOOD,
    NOT_GOOD,
    Progress,
    UsageError,
    in_good_order,
    last_lines,
    printable,
)
from tfmemlint.verify.weighing import Settings
from tfmemlint.writing import WriteError, replace


def measure(
    request: Request,
    settings: Settings,
    pictures: Pictures = NO_PICTURES,
    *,
    write: bool = False,
    as_json: bool = False,
) -> int:
    """Fix a copy of a program, run both, print what came of it; the exit code."""
    return in_good_order(
        lambda progress: _measure(request, settings, pictures, write, as_json, progress)
    )


def _measure(
    request: Request,
    settings: Settings,
    pictures: Pictures,
    write: bool,
    as_json: bool,
    progress: Progress,
) -> int:
    pictures.refuse_unwritable()
    try:
        mended = mend(request)
    except (ConfigError, UndecodableError) as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"{request.path} cannot be read: {error.strerror}") from error
    if isinstance(mended, Unmended):
        if mended.failed:
            raise UsageError(f"{request.path}: {mended.why}")
        return _answer({"error": None, "nothing": mended.why}, [mended.why], as_json, GOOD)
    try:
        progress.plan(planned(mended, settings))
        with Bench(settings.device) as bench:
            lines = partial(look, bench=bench)
            saving = weigh(request, mended, settings, progress.tell, bench.run, lines)
    except ProgramError as failure:
        said = last_lines(failure.stderr)
        entry = {"error": str(failure), "stderr": said}
        return _answer(entry, [f"error: {failure}", *(f"    {line}" for line in said)], as_json)
    finally:
        progress.clear()
    status = NOT_GOOD if saving.doubt else GOOD
    told = [*_rows(saving), _conclusion(request, saving, write)]
    if write and not saving.doubt:
        try:
            replace(request.path, mended.change.before, mended.change.after)
        except WriteError as error:
            raise UsageError(str(error)) from error
    pictures.write(f"What the fixes save in {request.path}", [_entry(request, saving)])
    return _answer({"error": None, **_record(saving)}, told, as_json, status)


def _answer(entry: dict[str, Any], lines: list[str], as_json: bool, status: int = NOT_GOOD) -> int:
    print(text(entry) if as_json else "\n".join(map(printable, lines)) + "\n", end="")
    return status


def _conclusion(request: Request, saving: Saving, write: bool) -> str:
    if saving.doubt:
        yet = " yet, below what is left" if saving.is_below else ""
        return f"not worth it{yet}: {saving.doubt}" + ("; nothing was written" if write else "")
    return f"{request.path} written" if write else f"--write puts the fixes into {request.path}"


def _entry(request: Request, saving: Saving) -> Entry:
    peaks = ", ".join(f"{each.metric.value} {_told(each)}" for each in saving.measurements)
    words = saving.doubt or f"{peaks}; {saving.outputs.words}"
    content = pair_record(saving.measurements, saving.machine)
    over_time = curves(saving.measurements)
    differs = saving.outputs.same is False
    return Entry("", request.path, content, not saving.doubt, words, over_time, differs)


def _rows(saving: Saving) -> Iterator[str]:
    """What was measured, for people."""
    yield f"fixed in a copy: {_counted(saving.mended.fixed)}"
    yield f"{'':<13} {'before':>12} {'after':>12} {'saved':>12} {'noise':>12}  runs"
    for one in saving.measurements:
        yield _row(one)
    yield saving.outputs.words
    yield from children(saving.children)
    yield from saving.machine.remarks
    if saving.remains:
        yield from _of_lines(saving.remains)
    if saving.mended.left_out:
        yield f"left out, as results may differ: {_counted(saving.mended.left_out.fixed)}; with it"
        for one in saving.with_all:
            yield _row(one)


def _row(one: Measurement) -> str:
    found = difference(one)
    weights = (one.bad_figure, one.fixed_figure, found.saved, found.noise)
    figures = " ".join(f"{amount(one.metric, each):>12}" for each in weights)
    return f"{one.metric.value:<13} {figures}  {len(one.bad):>4}  {_told(one)}"


def _told(one: Measurement) -> str:
    """How much less it is, if that can be told."""
    found = difference(one)
    if found.told:
        return f"{abs(1 - one.ratio):.0%} {'less' if found.saved > 0 else 'more'}"
    return "the same" if one.bad_figure == one.fixed_figure else "cannot be told from noise"


def _of_lines(remains: Remains) -> Iterator[str]:
    """What the findings' own lines hold, whatever holds more elsewhere; and what is left."""
    for spot in remains.spots:
        held = f"{size(spot.before)} before, {size(spot.after)} after"
        if not spot.before and not spot.after:
            held = "nothing that TensorFlow's allocator sees"
        yield f"{spot.code} at line {spot.line}: at most {held}"
    if remains.eased:
        eased = remains.eased
        yield (
            f"held less by most: {size(eased.before)} before, {size(eased.after)} after, by "
            f"{quoted(eased.statement)}"
        )
    if remains.line:
        yield (
            f"what is left: {size(remains.peak)}, {remains.share:.0%} of it by "
            f"{quoted(remains.line.statement)}"
        )
    if remains.keeper:
        yield f"  most of it is held by {keeping(remains.keeper)}"


def _counted(fixed: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{code} x {number}" for code, number in fixed)


def _record(saving: Saving) -> dict[str, Any]:
    """The same for machines."""
    left_out = saving.mended.left_out
    return {
        "device": device_record(saving.machine),
        "doubt": saving.doubt,
        "fixed": dict(saving.mended.fixed),
        "outputs": saving.outputs._asdict(),
        "processes": saving.children._asdict(),
        "lines": saving.remains and [spot._asdict() for spot in saving.remains.spots],
        "remains": saving.remains and _remains(saving.remains),
        "left_out": left_out
        and {
            "fixed": dict(left_out.fixed),
            "peaks": _peaks(saving.with_all),
        },
        "peaks": _peaks(saving.measurements),
        "safe": saving.mended.safe,
        "versions": dict(saving.machine.versions),
    }


def _remains(remains: Remains) -> dict[str, Any]:
    statement, eased = remains.line.statement if remains.line else None, remains.eased
    return {
        "peak": remains.peak,
        "line": statement and statement.line,
        "path": statement and statement.path,
        "share": round(remains.share, 4),
        "eased": eased
        and {"line": eased.statement.line, "before": eased.before, "after": eased.after},
        "held_by": remains.keeper and keeping(remains.keeper),
    }


def _peaks(measurements: Iterable[Measurement]) -> dict[str, Any]:
    return {
        one.metric.value: {
            "before": round(one.bad_figure),
            "after": round(one.fixed_figure),
            "saved": round(difference(one).saved),
            "noise": round(difference(one).noise),
            "told": difference(one).told,
            "runs": {
                "before": [round(each) for each in one.bad],
                "after": [round(each) for each in one.fixed],
            },
        }
        for one in measurements
    }
