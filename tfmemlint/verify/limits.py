"""The limits that a test's mark sets, read and held against what was measured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tfmemlint.report.figures import amount
from tfmemlint.verify.meters import FEWEST_STEPS
from tfmemlint.verify.pairs import RESOLUTION
from tfmemlint.vocabulary import Metric

_METRICS = {
    "device_peak": Metric.DEVICE_PEAK,
    "host_peak": Metric.HOST_PEAK,
    "growth_per_step": Metric.DEVICE_GROWTH,
    "host_growth_per_step": Metric.HOST_GROWTH,
}
_GROWTHS = (Metric.DEVICE_GROWTH, Metric.HOST_GROWTH)
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b\s*", re.IGNORECASE)
_SECONDS = 300


class Limits(NamedTuple):
    """What a marked test may take, and how it is run to find out."""

    bytes: Mapping[Metric, float]
    steps: int
    seconds: float

    @property
    def stepwise(self) -> bool:
        """Whether growth is limited, which shows in repetition only."""
        return any(metric in _GROWTHS for metric in self.bytes)


def limits(args: tuple[object, ...], kwargs: Mapping[str, Any]) -> Limits:
    """What the arguments of a mark say; raises ValueError."""
    wrong = [name for name in kwargs if name not in (*_METRICS, "steps", "seconds")]
    if args or wrong:
        named = f"`{wrong[0]}` is none" if wrong else "give each by its name"
        raise ValueError(f"the limits are {', '.join(_METRICS)}, with steps and seconds; {named}")
    found = {metric: size(kwargs[name]) for name, metric in _METRICS.items() if name in kwargs}
    if not found:
        raise ValueError(f"no limit is set: {', '.join(_METRICS)}")
    steps, seconds = kwargs.get("steps", FEWEST_STEPS), kwargs.get("seconds", _SECONDS)
    if not isinstance(steps, int) or steps < FEWEST_STEPS:
        raise ValueError(f"it takes {FEWEST_STEPS} steps or more to tell growth, not {steps!r}")
    if not isinstance(seconds, (int, float)) or not 0 < seconds < float("inf"):
        raise ValueError(f"seconds are a number above zero, not {seconds!r}")
    return Limits(found, steps, seconds)


def size(text: object) -> float:
    """Bytes, given as a number or as in `100 MB`, which is 100 * 2^20; raises ValueError."""
    if isinstance(text, (int, float)) and 0 <= text < float("inf"):
        return text
    match = _AMOUNT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"a limit is bytes, or text like '100 MB', not {text!r}")
    thousands = " kmgt".index(match[2].lower() or " ")
    return float(match[1]) * float(1 << 10 * thousands)


def excess(metric: Metric, limit: float, measured: float) -> str | None:
    """What is wrong with this figure; None if nothing is, as far as the meter can tell.

    A peak is held against its limit as it is; growth may differ from none by the meter's noise.
    """
    allowance = RESOLUTION[metric] if metric in _GROWTHS else 0
    if measured <= limit + allowance:
        return None
    return f"{metric.value}: {amount(metric, measured)}, the limit is {amount(metric, limit)}"
