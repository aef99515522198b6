"""Looks for a device so small that a program runs out of memory on it, and its fix does not."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tfmemlint.verify.processes import Job, ProgramError, Run, run

if TYPE_CHECKING:
    from tfmemlint.verify.weighing import Pair

_RAISED = re.compile(r"^(?:[\w.]+\.)?ResourceExhaustedError\b", re.MULTILINE)
_TRIES = 4
_MB = 1 << 20
_OTHERWISE = "otherwise"


class Exhaustion(NamedTuple):
    """On a device of this many bytes the bad program dies and the fixed one finishes."""

    limit: int
    death: str
    """`ResourceExhaustedError`, or the signal that ended it."""


def find_exhaustion(
    pair: Pair,
    bad: float,
    fixed: float,
    tell: Callable[[str], None],
    run: Callable[[Job], Run] = run,
) -> Exhaustion | None:
    """Try limits between the peaks of two programs, which finish without one.

    An allocator cannot use its last bytes, and some programs get by with less than they take where
    there is more: so the middle is tried first, then what lies towards the one that did not do.
    """
    low, high = fixed / _MB, bad / _MB
    for _ in range(_TRIES):
        limit = between(low, high)
        if limit is None:
            return None
        tell(f"on a device of {limit} MB: {pair.fixed.called}")
        if _death(pair.fixed, limit, run) is not None:
            low = limit
            continue
        tell(f"on a device of {limit} MB: {pair.bad.called}")
        death = _death(pair.bad, limit, run)
        if death is not None:
            return None if death == _OTHERWISE else Exhaustion(limit * _MB, death)
        high = limit
    return None


def between(low: float, high: float) -> int | None:
    """A whole number near the middle, a round one if there is one; None if there is none.

    What is round does not change with the last digits of `low` and `high`.
    """
    middle = math.sqrt(max(low, 1) * max(high, 1))
    unit = 1 << math.floor(math.log2(middle))
    nearest = sorted((unit, 3 * unit // 2, 2 * unit), key=lambda each: abs(math.log(each / middle)))
    return next((each for each in (*nearest, round(middle)) if low < each < high), None)


def _death(job: Job, limit: int, run: Callable[[Job], Run]) -> str | None:
    """What a program dies of under a limit in MB; None if it finishes."""
    try:
        run(job._replace(limit=limit, curve=False))
    except ProgramError as failure:
        if _RAISED.search(failure.stderr):
            return "ResourceExhaustedError"
        killed = failure.status is not None and failure.status < 0
        return signal.Signals(-(failure.status or 0)).name if killed else _OTHERWISE
    return None
