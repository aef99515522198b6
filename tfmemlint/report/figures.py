"""Bytes, and what was measured, in the words of reports."""

from __future__ import annotations

from collections.abc import Mapping

from tfmemlint.light_typing import TYPE_CHECKING
from tfmemlint.vocabulary import Metric

if TYPE_CHECKING:
    from typing import Any

_UNITS = {
    Metric.TRACES: "traces",
    Metric.STEP_TIME: "seconds",
    Metric.DEVICE_GROWTH: "bytes per step",
    Metric.HOST_GROWTH: "bytes per step",
}
_SUFFIXES = {"traces": " traces", "bytes per step": " a step"}


def size(amount: float) -> str:
    """Bytes in the unit that suits them; a megabyte is 2**20."""
    unit = "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if abs(amount) < 1023.5:
            break
        amount, unit = amount / 1024, larger
    digits = 0 if unit == "B" or abs(amount) >= 9.95 else 1
    return f"{amount:.{digits}f} {unit}"


def figure(amount: float, unit: str) -> str:
    """A measured amount in words; `unit` is as in `measured.json`."""
    if unit == "traces":
        return f"{amount:g}"
    if unit == "seconds":
        return f"{amount * 1000:.3g} ms"
    return size(amount)


def unit(metric: Metric) -> str:
    """What a metric is measured in, as in `measured.json`."""
    return _UNITS.get(metric, "bytes")


def amount(metric: Metric, measured: float) -> str:
    """A figure that stands by itself: in words, with what it is of."""
    of = unit(metric)
    return figure(measured, of) + _SUFFIXES.get(of, "")


def measured(figures: Mapping[str, Any]) -> str:
    """What the claim's two programs were measured to take; empty where the claim does not hold."""
    try:
        claim = figures["claim"]
        metric: str = claim["metric"]
        taken = figures["metrics"][metric]
        bad, fixed = (figure(taken[which]["figure"], taken["unit"]) for which in ("bad", "fixed"))
        each = " a step" if taken["unit"] == "bytes per step" else ""
        return f"{metric} {bad} -> {fixed}{each}" if claim["holds"] else ""
    except (KeyError, TypeError):
        return ""
