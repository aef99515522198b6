"""Which lines of a user's program hold memory before and after its fixes, and what is left."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tfmemlint.lines import Lines
from tfmemlint.measure.account import Account, Keeper, Line, UnusableError
from tfmemlint.measure.command import Finished, Start, measure
from tfmemlint.measure.statements import Statement
from tfmemlint.verify.benches import Bench
from tfmemlint.verify.devices import SetupError
from tfmemlint.verify.processes import Launch, environment_of_own
from tfmemlint.vocabulary import Finding, Metric

if TYPE_CHECKING:
    from tfmemlint.run import Change

_LONGEST = 24 * 3600.0  # seconds
_MATTERS = 0.01
"""The part of the peak from which on it is worth a word what a line saves."""
Region = tuple[int, int]
"""The first line and the last one."""


class Spot(NamedTuple):
    """The lines of one fixed finding, and the most that they ever held."""

    code: str
    line: int
    before: int
    after: int


class Eased(NamedTuple):
    """A line that holds less with the fixes, though it is none of theirs."""

    statement: Statement
    """In the program as it is."""
    before: int
    after: int

    @property
    def saved(self) -> int:
        return self.before - self.after


class Remains(NamedTuple):
    """What is known, from one run of each program under `tfmemlint measure`."""

    spots: tuple[Spot, ...]
    peak: int
    """With the fixes."""
    line: Line | None
    """The one that holds most of what is left."""
    share: float
    keeper: Keeper | None
    eased: Eased | None = None
    """Where the fixes save most: what a pipeline holds is held by the line that reads it."""


def look(
    path: str,
    arguments: Sequence[str],
    device: str,
    change: Change,
    fixed: Sequence[Finding],
    bench: Bench | None = None,
) -> Remains | None:
    """Trace the program before and after; None where that comes to nothing.

    With a bench, in forks where there can be any.
    """
    start = forking(bench, device) if bench else None
    accounts: list[Account] = []
    for text in change:
        with Path("/dev/null").open("w", encoding="utf-8") as nowhere:
            try:
                account = measure(
                    Path(path),
                    arguments,
                    device=device,
                    out=nowhere,
                    errors=nowhere,
                    text=text,
                    start=start,
                )
            except (SetupError, UnusableError, OSError):
                return None
        if account.requested is None or account.ended != "finished" or account.status:
            return None
        accounts.append(account)
    return remains(accounts[0], accounts[1], change, fixed, str(Path(path).resolve()))


def forking(bench: Bench, device: str, *, of_host: bool = False) -> Start:
    """What runs a program in a fork, to be measured, and drops what it prints."""

    def start(request: Mapping[str, object]) -> Finished | None:
        path = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        environment = environment_of_own(device, [Metric.DEVICE_PEAK])
        request = {"measure": request, "path": path}
        launch = Launch(request, environment, None, _LONGEST, of_host)
        ended = bench.fork(launch)
        if ended is None or ended.status is None:
            return None
        return Finished(ended.status, children=ended.children)

    return start


def remains(
    before: Account, after: Account, change: Change, fixed: Sequence[Finding], program: str
) -> Remains:
    """Hold two accounts of a program against each other."""
    first = after.held[0] if after.held else None
    text = change.before.decode("utf-8", "replace")
    moved = counterparts(text.splitlines(), change.after.decode("utf-8", "replace").splitlines())
    lines = [(each.code, _own(each, Lines(text))) for each in fixed]
    return Remains(
        spots=tuple(
            Spot(
                code,
                min(own),
                _most(before.most.items(), own),
                _most(after.most.items(), {new for old in own for new in moved[old]}),
            )
            for code, own in lines
        ),
        peak=after.peak,
        line=first if first and first.statement.line else None,
        share=first.bytes / after.held_bytes if first and after.held_bytes else 0.0,
        keeper=after.held_by[0] if after.held_by else None,
        eased=_eased(before, after, moved, {line for _, own in lines for line in own}, program),
    )


def _own(finding: Finding, lines: Lines) -> set[int]:
    """The lines of a finding and of its fix."""
    spans = [finding.diagnostic.span]
    spans += [edit.span for edit in finding.diagnostic.fix.edits] if finding.diagnostic.fix else []
    return {
        line
        for start, end in spans
        for line in range(lines.position(start)[0], lines.position(end)[0] + 1)
    }


def _eased(
    before: Account, after: Account, moved: Mapping[int, set[int]], own: set[int], program: str
) -> Eased | None:
    """The line, of those without a fix, that holds less by most: by a hundredth of the peak."""
    best: Eased | None = None
    for statement, most in before.most.items():
        lines = set(range(statement.line, statement.end + 1))
        if statement.path != program or lines & own or not statement.line:
            continue
        left = {new for old in lines for new in moved.get(old, ())}
        eased = Eased(statement, most, _most(after.most.items(), left))
        if best is None or eased.saved > best.saved:
            best = eased
    return best if best and best.saved >= _MATTERS * before.peak else None


def counterparts(before: Sequence[str], after: Sequence[str]) -> Mapping[int, set[int]]:
    """For each line of a text, by number, the lines that stand in its place in another."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        for index in range(start, end):
            if tag == "equal":
                found[index + 1] = {new_start + index - start + 1}
            else:
                found[index + 1] = set(range(new_start + 1, new_end + 1))
        if tag == "insert" and start:  # what is put in goes with the line before it
            found[start] |= set(range(new_start + 1, new_end + 1))
    return found


def _most(held: Iterable[tuple[object, int]], lines: set[int]) -> int:
    """The most that statements on these lines held, each at its own time; at least that much."""
    return max((size for each, size in held if _is_on(each, lines)), default=0)


def _is_on(statement: object, lines: set[int]) -> bool:
    first, last = getattr(statement, "line", 0), getattr(statement, "end", 0)
    return any(first <= line <= last for line in lines)
