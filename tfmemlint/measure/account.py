"""What is known of a run, put together from the record that it left behind."""

from __future__ import annotations

import json
import signal
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tfmemlint.measure.statements import Statement
from tfmemlint.measure.watching import NOW_AT, PEAK, PEAK_AT, RISES
from tfmemlint.verify.family import Children

_TRACED = 0.9
"""The part of the allocator's own peak that the trace of a program that was killed has to explain.

It ends too early there, and where a program profiles itself.
"""
_EXPLAINED = 0.5
"""The part that the trace of any other has to explain to be shown; how much that is, is said."""

_BEFORE = Statement("", 0, 0, "")
"""Stands for what happened before the program's first statement."""


class Holding(NamedTuple):
    """Tensors alike that were held at the peak."""

    bytes: int
    tensors: int
    operation: str | None
    shape: str | None
    dtype: str | None
    written_at: Statement | None = None
    """Where the operation was written, if that is elsewhere."""
    layer: str | None = None
    phase: str | None = None
    """Of a step of a training: forward, gradient or pipeline."""


class Line(NamedTuple):
    """A statement, and what memory it answers for."""

    statement: Statement
    bytes: int
    holdings: tuple[Holding, ...]


class Growth(NamedTuple):
    """What adds to a holder, how often it had been run by then, and what each time added."""

    statement: Statement
    runs: int
    bytes: float


class Keeper(NamedTuple):
    """What kept tensors alive at the peak: an object of the program's, or what was at work."""

    name: str
    kind: str
    place: tuple[str, int] | None
    """Where it was made."""
    bytes: int
    tensors: int
    grows: Growth | None = None


class Host(NamedTuple):
    """What is known of the host's memory besides its peak; nothing but on Linux."""

    anonymous: int = 0
    """The most that was no page of a file."""
    files: int = 0
    outside: int = 0
    """The most that was neither pages of files nor known to TensorFlow's allocator."""
    rises: tuple[tuple[Statement, int], ...] = ()
    """What drove the peak up, most first."""


class Failure(NamedTuple):
    """What ended a program before its time."""

    what: str
    message: str
    exhausted: bool
    """Whether the device had no memory left."""
    statement: Statement | None
    operation: str | None
    written_at: Statement | None
    """Where the operation of a graph that failed was written."""
    requested: Holding | None


class Account(NamedTuple):
    """One run of a program."""

    ended: str
    """finished, raised, interrupted, killed."""
    status: int
    failure: Failure | None
    device: str | None
    """None where the program came to no use of TensorFlow."""
    requested: int | None
    """The most bytes that tensors asked for at once; None where that was not traced."""
    in_use: int
    """The most bytes that the allocator had given away."""
    peak_seconds: float | None
    stack: tuple[Statement, ...]
    """Where the program was when the peak stood: the innermost statement last."""
    held: tuple[Line, ...]
    """What was held then, or when the device ran out of memory; most first.

    If that was not traced, what drove the peak up.
    """
    held_bytes: int
    held_by: tuple[Keeper, ...]
    """The same memory by what kept it; most first. Empty where that was not looked for."""
    most: Mapping[Statement, int]
    """The most that each line ever held, peak or not."""
    explained: float | None
    """The part of what was in use at the peak that the trace explains; None without a trace."""
    host_before: int
    host_peak: int | None
    host: Host
    curve: tuple[tuple[float, int], ...]
    seconds: float
    own_seconds: float
    versions: Mapping[str, str]
    notes: tuple[str, ...]
    children: Children = Children()
    """What processes that the program started held besides."""

    @property
    def peak(self) -> int:
        """The best figure there is for the device's peak."""
        return self.in_use if self.requested is None else self.requested


class UnusableError(Exception):
    """The program could not be run at all; the message says why."""


def read(record: Path, shared: Path, status: int) -> Account:
    """The account of a run that has ended with this status; raises UnusableError."""
    content: dict[str, Any] = json.loads(record.read_text("utf-8")) if record.exists() else {}
    if "unusable" in content:
        raise UnusableError(content["unusable"])
    figures = memoryview(shared.read_bytes()).cast("q") if shared.exists() else None
    if figures is None:
        raise UnusableError("the program could not be started")
    statements = [Statement(*each) for each in content.get("statements", ())]
    killed = content.get("ended") is None
    peak: Mapping[str, Any] = content.get("peak", {})
    in_use = max(figures[PEAK], peak.get("in_use") or 0)
    explained = (peak.get("rounded") or 0) / in_use if in_use and peak.get("rounded") else None
    traced = (explained or 0) >= (_TRACED if killed or content.get("gap") else _EXPLAINED)
    if traced:
        held = list(_held(content.get("held", ()), statements))
        stack = _known(peak.get("stack", ()), statements)
    else:
        held = list(_rises(figures, statements))
        stack = _known([figures[PEAK_AT]] if killed else peak["watched_stack"], statements)
    curve = content.get("curve" if traced else "watched_curve", ())
    device = content.get("device")
    return Account(
        ended="killed" if killed else content["ended"],
        status=128 - status if status < 0 else status,
        failure=(
            _death(status, _one(figures[NOW_AT], statements))
            if killed
            else _failure(content["error"], statements)
        ),
        device=device["address"] if device else None,
        requested=min(in_use, peak.get("requested") or 0) if traced else None,
        in_use=in_use,
        peak_seconds=peak.get("at") if traced else None,
        stack=stack,
        held=tuple(sorted(held, key=lambda line: -line.bytes)),
        held_bytes=sum(line.bytes for line in held),
        held_by=_held_by(content, statements) if traced else (),
        most={
            statement: size
            for number, size in content.get("most", ())
            if (statement := _one(number, statements))
        },
        explained=None if explained is None else min(1.0, explained),
        host_before=content.get("host", {}).get("before", 0),
        host_peak=content.get("host", {}).get("peak"),
        host=_host(content.get("host", {}), statements),
        curve=tuple((seconds, held) for seconds, held in curve),
        seconds=content.get("seconds", 0.0),
        own_seconds=content.get("own_seconds", 0.0),
        versions=content.get("versions", {}),
        notes=tuple(content.get("notes", ())),
    )


def _one(number: int | None, statements: Sequence[Statement]) -> Statement | None:
    """The statement of this number; 0 stands for the time before the first."""
    return statements[number] if number and number < len(statements) else None


def _known(numbers: Iterable[int], statements: Sequence[Statement]) -> tuple[Statement, ...]:
    found = (_one(number, statements) for number in numbers)
    return tuple(statement for statement in found if statement)


def _held(entries: Iterable[Mapping[str, Any]], statements: Sequence[Statement]) -> Iterator[Line]:
    lines: defaultdict[Statement, list[Holding]] = defaultdict(list)
    for entry in entries:
        statement = _one(entry["statement"], statements) or _BEFORE
        written_at = _one(entry["written_at"], statements)
        holding = Holding(
            entry["bytes"],
            entry["tensors"],
            entry["operation"],
            entry["shape"],
            entry["dtype"],
            None if written_at == statement else written_at,
            entry.get("layer"),
            entry.get("phase"),
        )
        lines[statement].append(holding)
    for statement, holdings in lines.items():
        holdings.sort(key=lambda holding: -holding.bytes)
        yield Line(statement, sum(each.bytes for each in holdings), tuple(holdings))


def _host(content: Mapping[str, Any], statements: Sequence[Statement]) -> Host:
    risen = ((_one(number, statements), size) for number, size in content.get("rises", ()))
    rises = sorted(((each, size) for each, size in risen if each), key=lambda rise: -rise[1])
    anonymous, files, outside = (content.get(name, 0) for name in ("anonymous", "files", "outside"))
    return Host(anonymous, files, outside, tuple(rises))


def _held_by(content: Mapping[str, Any], statements: Sequence[Statement]) -> tuple[Keeper, ...]:
    weights: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for entry in content.get("held", ()):
        if entry["holder"] is not None:
            weights[entry["holder"]][0] += entry["bytes"]
            weights[entry["holder"]][1] += entry["tensors"]
    found: list[Keeper] = []
    for number, holder in enumerate(content.get("holders", ())):
        grows, growth = holder["grows"], None
        if grows and (statement := _one(grows["statement"], statements)):
            growth = Growth(statement, grows["runs"], grows["bytes"])
        place = holder["place"] and (holder["place"][0], holder["place"][1])
        weight, tensors = weights[number]
        found.append(Keeper(holder["name"], holder["kind"], place, weight, tensors, growth))
    return tuple(sorted(found, key=lambda each: -each.bytes))


def _rises(figures: memoryview[int], statements: Sequence[Statement]) -> Iterator[Line]:
    for statement, risen in zip(statements, figures[RISES:], strict=False):
        if risen:
            yield Line(statement, risen, ())


def _failure(error: Mapping[str, Any] | None, statements: Sequence[Statement]) -> Failure | None:
    if error is None:
        return None
    wanted = error["requested"]
    return Failure(
        what=error["type"],
        message=error["message"],
        exhausted=error["exhausted"],
        statement=_one(error["statement"], statements),
        operation=error["operation"],
        written_at=_one(error["written_at"], statements),
        requested=(
            Holding(wanted["bytes"], 1, error["operation"], wanted["shape"], wanted["dtype"])
            if wanted
            else None
        ),
    )


def _death(status: int, statement: Statement | None) -> Failure:
    """A program that left no word."""
    what = signal.Signals(-status).name if status < 0 else "its own hand"
    return Failure(what, "", False, statement, None, None, None)
