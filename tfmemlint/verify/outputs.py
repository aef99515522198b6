"""What two programs print: whether it is the same, and where it is not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, combinations, zip_longest
from typing import NamedTuple

from tfmemlint.verify.processes import Output

Outputs = tuple[Output, ...]
"""What the runs of one program printed."""

# As in the progress that Keras prints: 12ms/step, 3s, 0.5 s.
_DURATION = re.compile(r"\b\d+(?:\.\d+)? ?(?:us|\N{MICRO SIGN}s|ms|s|min|h)(?:/\w+)?\b")

# What Keras and tqdm draw while something goes on: steps done, steps in all, and a bar; or a share.
_BAR = re.compile(r"(\d+)/(\d+|Unknown)\b.*[\u2501\u2588=>.]{3}|(\d+)%\|")


class Agreement(NamedTuple):
    """Whether two programs print the same, and how that is known."""

    same: bool | None
    """None where there is nothing to go by."""
    words: str


def same(bad: Outputs, fixed: Outputs) -> bool | None:
    """Whether all runs of both print the same; None where they print nothing."""
    outputs = {*bad, *fixed}
    return len(outputs) == 1 if any(output.text for output in outputs) else None


def difference(names: Sequence[str], pair: tuple[Outputs, Outputs]) -> str | None:
    """Where two runs first print different lines; None if none do so in what was kept of them."""
    first_from: dict[Output, str] = {}
    for name, outputs in zip(names, pair, strict=True):
        for output in outputs:
            first_from.setdefault(output, name)
    for (one, name), (other, other_name) in combinations(first_from.items(), 2):
        lines = zip_longest(one.text.splitlines(), other.text.splitlines(), fillvalue="")
        for number, (line, other_line) in enumerate(lines, 1):
            if line != other_line:
                return f"line {number}: {name} prints {line!r}, {other_name} {other_line!r}"
    return None


def agreement(before: Outputs, after: Outputs) -> Agreement:
    """The same for programs that print times and progress, too: by the lines that are steady.

    A line is steady if every run of a program prints it. Times within lines do not count.
    """
    if same(before, after) is not False:
        printed = any(output.text for output in before)
        return Agreement(True, "outputs agree") if printed else Agreement(None, "nothing printed")
    runs = [[_lines(output) for output in outputs] for outputs in (before, after)]
    (steady_before, ever_before), (steady_after, ever_after) = map(_steady_and_ever, runs)
    if lost := steady_before - ever_after:
        return Agreement(False, f"outputs differ: without the fixes there is {_first(lost)!r}")
    if new := steady_after - ever_before:
        return Agreement(False, f"outputs differ: with the fixes there is {_first(new)!r}")
    shared = steady_before & steady_after
    if not shared:
        return Agreement(None, "outputs cannot be compared: no line is the same in every run")
    orders = [{tuple(line for line in run if line in shared) for run in each} for each in runs]
    if all(len(each) == 1 for each in orders) and orders[0] != orders[1]:
        return Agreement(False, "outputs differ: the lines come in another order")
    if len({tuple(run) for run in chain(*runs)}) == 1:
        return Agreement(True, "outputs agree but for the times in them")
    return Agreement(True, "outputs agree in all lines that do not change from run to run")


def _lines(output: Output) -> list[str]:
    return [_DURATION.sub("_", line) for line in output.text.splitlines() if not _BAR.search(line)]


def _steady_and_ever(runs: Sequence[Sequence[str]]) -> tuple[Counter[str], Counter[str]]:
    """The lines that every run has, and those that any has."""
    steady, ever = Counter(runs[0]), Counter(runs[0])
    for run in runs[1:]:
        steady &= Counter(run)
        ever |= Counter(run)
    return steady, ever


def _first(lines: Iterable[str]) -> str:
    return next(iter(lines))
