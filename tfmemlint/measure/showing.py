"""An account for people, and for machines."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TextIO, TypeVar

from tfmemlint import report
from tfmemlint.measure.account import Account, Failure, Holding, Host, Keeper, Line
from tfmemlint.measure.advice import Advice
from tfmemlint.measure.statements import Statement
from tfmemlint.report.escape import encodable, show, show_path
from tfmemlint.report.figures import size
from tfmemlint.verify.family import Children

_LINES, _HOLDINGS = 8, 3
"""How much of what was held is shown to people."""
_SHOWN = 0.01
"""The part of the peak under which a line is not shown."""
_INNER = " " * 21
_RISES, _RISEN = 3, 0.05
"""How many statements are shown that drove the host's peak up, and by what part of it at least."""
_BARS = "▁▂▃▄▅▆▇█"
_PLAIN_BARS = "_.-:=+*#"
_WIDTH, _LONGEST = 60, 88


class _Weighty(Protocol):
    @property
    def bytes(self) -> int: ...


_Part = TypeVar("_Part", bound=_Weighty)


def write(account: Account, advice: Advice, out: TextIO, limit: int | None = None) -> None:
    """Write what happened in words."""
    for line in _report(account, advice, _bars(out), limit):
        print(line, file=out)
    if advice.here:
        print(file=out)
        here = [each._replace(path=_near(each.path)) for each in advice.here]
        report.write(here, "full", out, root=os.getcwd())  # noqa: PTH109


def write_json(account: Account, advice: Advice, out: TextIO, limit: int | None = None) -> None:
    """Write everything that is known as JSON."""
    findings = io.StringIO()
    report.write(
        advice.here,
        "json",
        findings,
        root=os.getcwd(),  # noqa: PTH109
    )
    failure = account.failure
    content: dict[str, Any] = {
        "ended": account.ended,
        "status": account.status,
        "failure": failure and _failure(failure),
        "device": account.device,
        "limit": limit,
        "peak": {
            "requested": account.requested,
            "in_use": account.in_use,
            "seconds": account.peak_seconds,
            "stack": [_place(statement) for statement in account.stack],
        },
        "held": [_line(line) for line in account.held],
        "held_by": [_keeper(keeper) for keeper in account.held_by],
        "traced": account.requested is not None,
        "explained": account.explained,
        "host": {
            "before": account.host_before,
            "peak": account.host_peak,
            "anonymous": account.host.anonymous,
            "files": account.host.files,
            "outside": account.host.outside,
            "rises": [
                {**_place(statement), "bytes": risen} for statement, risen in account.host.rises
            ],
        },
        "processes": account.children._asdict(),
        "curve": account.curve,
        "seconds": account.seconds,
        "own_seconds": account.own_seconds,
        "findings": json.loads(findings.getvalue()),
        "findings_elsewhere": advice.elsewhere,
        "versions": dict(account.versions),
        "notes": [*account.notes, *([advice.problem] if advice.problem else [])],
    }
    out.write(encodable(json.dumps(content, indent=2, ensure_ascii=False)) + "\n")


def sparkline(curve: Sequence[tuple[float, int]], bars: str, width: int = _WIDTH) -> str:
    """The curve in one line: the highest point of each stretch of time."""
    if not curve:
        return ""
    start, end = curve[0][0], curve[-1][0]
    highest = max(held for _, held in curve) or 1
    slots: list[int | None] = [None] * width
    for moment, held in curve:
        slot = min(width - 1, int((moment - start) / ((end - start) or 1) * width))
        slots[slot] = max(held, slots[slot] or 0)
    line = ""
    for most in slots:
        line += line[-1] if most is None else bars[min(len(bars) - 1, most * len(bars) // highest)]
    return line


def _report(account: Account, advice: Advice, bars: str, limit: int | None) -> Iterator[str]:
    if account.failure:
        yield from _ending(account, account.failure, limit)
    elif account.ended == "interrupted":
        yield "The program was interrupted; this is what it had done until then."
    if account.device is None:
        yield "The program did not use TensorFlow: there is nothing to be said of a device."
    else:
        yield from _peak(account, limit)
    if account.host_peak is not None:
        before = f" ({size(account.host_before)} before the program began; the trace counts, too)"
        yield f"host peak    {size(account.host_peak)}{before}"
        yield from _host(account.host, account.host_peak)
    yield from children(account.children)
    if account.curve:
        line = sparkline(account.curve, bars)
        start, end = account.curve[0][0], account.curve[-1][0]
        yield f"over time    {line}  {start:.1f} to {end:.1f} s"
    yield (
        f"measuring    about {account.own_seconds:.1f} s of the {account.seconds:.1f} s that "
        "the program ran"
    )
    for note in (*account.notes, *([advice.problem] if advice.problem else [])):
        yield f"note         {show(note)}"
    if advice.elsewhere:
        number = "one" if advice.elsewhere == 1 else str(advice.elsewhere)
        yield f"findings     {number} on other lines; `tfmemlint check` tells"


def children(found: Children) -> Iterator[str]:
    """What processes held that the program has started; nothing where there were none."""
    if found.most:
        yield (
            f"processes    {found.most} more at once: the largest {size(found.largest)}, together "
            f"at most {size(found.together)}; not counted above"
        )


def _host(host: Host, peak: int) -> Iterator[str]:
    for statement, risen in host.rises[:_RISES]:
        if risen >= _RISEN * peak:
            yield f"  {size(risen):>9}  more after  {quoted(statement)}"
    if host.anonymous:
        yield (
            f"  of it      at most {size(host.files)} were pages of files; {size(host.outside)} "
            "neither those nor tensors that the allocator"
        )
        yield (
            "             knows: arrays of NumPy, Python's objects, strings, tables, TensorFlow "
            "itself"
        )


def _ending(account: Account, failure: Failure, limit: int | None) -> Iterator[str]:
    if account.ended == "killed":
        yield f"The program was ended by {failure.what}{_at(failure.statement)}"
        if limit:
            yield "  TensorFlow overlooks some allocations that fail; what it said last is above"
    elif failure.exhausted:
        yield f"The device ran out of memory{_at(failure.statement)}"
        if failure.requested:
            yield f"  asked for  {tensor(failure.requested)}: {size(failure.requested.bytes)}"
        if failure.written_at and failure.written_at != failure.statement:
            yield f"  written  {_at(failure.written_at)}"
        yield from _held(account)
    else:
        yield f"The program raised {show(failure.what)}{_at(failure.statement)}"
    yield ""


def _peak(account: Account, limit: int | None) -> Iterator[str]:
    of_limit = f" of {size(limit)}" if limit else ""
    if account.requested is None:
        figure = f"{size(account.in_use)}{of_limit} in use on {account.device}, rounding included"
    else:
        figure = (
            f"{size(account.requested)} asked for, {size(account.in_use)}{of_limit} in use "
            f"on {account.device}"
        )
    when = f", at {account.peak_seconds:.1f} s" if account.peak_seconds is not None else ""
    yield f"device peak  {figure}{when}"
    yield from _explained(account)
    for depth, statement in enumerate(reversed(account.stack)):
        word = "called at" if depth else "at"
        yield f"  {word:<9}  {quoted(statement)}"
    if not (account.failure and account.failure.exhausted):
        yield from _held(account)


def _explained(account: Account) -> Iterator[str]:
    if account.explained is None:
        yield "explained    nothing: what was held at the peak was not traced"
    else:
        little = "" if account.requested is not None else ", which is too little to go by"
        yield f"explained    {account.explained:.0%} of what was in use then, by the trace{little}"


def _held(account: Account) -> Iterator[str]:
    if account.requested is None:
        yield "driven up by (what was held is not known)"
    else:
        yield f"made by      {size(account.held_bytes)} were held then"
    total = account.held_bytes
    shown = _worth_showing(account.held, _LINES, total)
    for line in shown:
        yield f"  {size(line.bytes):>9}  {_share(line.bytes, total)}  {quoted(line.statement)}"
        holdings = _worth_showing(line.holdings, _HOLDINGS, total)
        for holding in holdings:
            yield f"{_INNER}{size(holding.bytes):>9}  {tensor(holding)}"
        yield from _more(_INNER, line.holdings[len(holdings) :], "kind")
    yield from _more("  ", account.held[len(shown) :], "line")
    if account.held_by:
        yield "held by"
    shown_keepers = _worth_showing(account.held_by, _LINES, total)
    for keeper in shown_keepers:
        yield f"  {size(keeper.bytes):>9}  {_share(keeper.bytes, total)}  {keeping(keeper)}"
        if keeper.grows and keeper.grows.bytes >= 1:
            grows = keeper.grows
            yield (
                f"{_INNER}{size(round(grows.bytes)):>9}  more each time, {grows.runs} times so far:"
                f" {quoted(grows.statement)}"
            )
    yield from _more("  ", account.held_by[len(shown_keepers) :], "other")


def _worth_showing(parts: Sequence[_Part], most: int, total: int) -> Sequence[_Part]:
    """The first ones, as long as they matter; never none, and one that is left is shown, too."""
    count = sum(part.bytes >= _SHOWN * total for part in parts[:most])
    return parts[: max(1, count)]


def _share(part: int, total: int) -> str:
    return f"{part / (total or 1):4.0%}"


def _more(indent: str, parts: Sequence[_Weighty], what: str) -> Iterator[str]:
    """What is not shown, so that all that is shown adds up."""
    if parts:
        plural = "" if len(parts) == 1 else "s"
        amount = size(sum(part.bytes for part in parts))
        yield f"{indent}{amount:>9}  and {len(parts)} more {what}{plural}"


def keeping(keeper: Keeper) -> str:
    """What kept tensors, in words."""
    made = ""
    if keeper.place:
        path, line = keeper.place
        made = f"{show_path(_path(Statement(path, line, line, '')))}:{line}"
    name, many = show(keeper.name), "" if keeper.tensors == 1 else "s"
    count = f"{keeper.tensors} tensor{many}"
    words = {
        "layer": f"the layer `{name}`{_in_brackets('made at', made)}: {count}",
        "optimiser": f"the slots of the optimiser `{name}`: {count}",
        "tape": f"a tape{_in_brackets('made at', made)}: {count}",
        "library": f"objects inside of TensorFlow or Keras: {count}",
        "work": f"the operations at work, or what waits for them: {count}",
        "pipeline": f"a tf.data pipeline{_in_brackets('kept by', made)}: {count}",
        "activations": f"a step, for `{name}`{_in_brackets('made at', made)}: {count}",
        "gradients": f"a step's gradients of `{name}`{_in_brackets('made at', made)}: {count}",
        "updates": f"a step, for what the optimiser `{name}` works out: {count}",
        "tensor": f"`{name}`",
    }
    return words.get(keeper.kind) or f"`{name}`, a {show(keeper.kind)}: {count}"


def _in_brackets(word: str, what: str) -> str:
    return f" ({word} {what})" if what else ""


def tensor(holding: Holding) -> str:
    """What was held: how often, by what operation, of what shape and type, and where written."""
    times = f"{holding.tensors} x " if holding.tensors > 1 else ""
    parts = (holding.operation, holding.shape, holding.dtype)
    at = holding.written_at
    phase = f", {holding.phase}" if holding.phase else ""
    layer = f" of `{show(holding.layer)}`" if holding.layer else ""
    written = f", written at {show_path(_path(at))}:{at.line}" if at else ""
    what = show(" ".join(part for part in parts if part) or "no operation named")
    return times + what + phase + layer + written


def _at(statement: Statement | None) -> str:
    return f" at {quoted(statement)}" if statement else ""


def quoted(statement: Statement) -> str:
    """Where a statement stands, and how it begins."""
    if not statement.line:
        return "before the program's first statement"
    text = show(_text(statement))
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    lines = (
        f"{statement.line}-{statement.end}" if statement.end > statement.line else statement.line
    )
    return f"{show_path(_path(statement))}:{lines}  {text}"


def _text(statement: Statement) -> str:
    """The first line of a statement; enough to know it by."""
    lines = _source(statement.path)
    if statement.line > len(lines):
        return ""
    more = " ..." if statement.end > statement.line else ""
    return lines[statement.line - 1].strip() + more


@cache
def _source(path: str) -> Sequence[str]:
    try:
        return Path(path).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return ()


def _path(statement: Statement) -> str:
    return _near(statement.path)


def _near(path: str) -> str:
    """A path as people write it here."""
    near = os.path.relpath(path)
    return path if near.startswith(os.pardir) else near


def _bars(out: TextIO) -> str:
    try:
        _BARS.encode(out.encoding or "ascii")
    except UnicodeEncodeError:
        return _PLAIN_BARS
    return _BARS


def _place(statement: Statement) -> dict[str, Any]:
    return {
        "path": statement.path,
        "line": statement.line,
        "end_line": statement.end,
        "function": statement.function or None,
        "text": _text(statement),
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        **_place(line.statement),
        "bytes": line.bytes,
        "holdings": [_holding(holding) for holding in line.holdings],
    }


def _holding(holding: Holding) -> dict[str, Any]:
    return {**holding._asdict(), "written_at": holding.written_at and _place(holding.written_at)}


def _keeper(keeper: Keeper) -> dict[str, Any]:
    grows = keeper.grows
    return {
        "name": keeper.name or None,
        "kind": keeper.kind,
        "path": keeper.place and keeper.place[0],
        "line": keeper.place and keeper.place[1],
        "bytes": keeper.bytes,
        "tensors": keeper.tensors,
        "grows": grows
        and {"at": _place(grows.statement), "runs": grows.runs, "bytes": round(grows.bytes)},
        "words": keeping(keeper),
    }


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        "type": failure.what,
        "message": failure.message,
        "out_of_memory": failure.exhausted,
        "at": failure.statement and _place(failure.statement),
        "written_at": failure.written_at and _place(failure.written_at),
        "operation": failure.operation,
        "requested": failure.requested and _holding(failure.requested),
    }
