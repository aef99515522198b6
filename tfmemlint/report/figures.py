"""Bytes, and what was measured, in the words of reports."""

from __future__ import annotations

from collections.abc import Mapping

from tfmemlint.light_typing import TYPE_CHECKING
from tfmemlint.units import size as size
from tfmemlint.vocabulary import Cost, Law, Metric

if TYPE_CHECKING:
    from typing import Any

_UNITS = {
    Metric.TRACES: "traces",
    Metric.STEP_TIME: "seconds",
    Metric.DEVICE_GROWTH: "bytes per step",
    Metric.HOST_GROWTH: "bytes per step",
}
_SUFFIXES = {"traces": " traces", "bytes per step": " a step"}


def figure(amount: float, unit: str) -> str:
    """A measured amount in words; `unit` is as in `measured.json`."""
    if unit == "traces":
        return f"{amount:g}"
    if unit == "seconds":
        return f"{amount * 1000:.3g} ms"
    return size(amount)


_GROWS = {
    Law.CONSTANT: "",
    Law.DATA: "grows with the data",
    Law.STEPS: "as much again each time",
    Law.SQUARE: "grows with the square of the steps",
}


def cost(found: Cost) -> str:
    """What is held, after the mending too, and how it grows, in one line."""
    parts = [_held(found.formula, found.bytes, found.at_most)]
    if found.notes:
        parts[0] = f"{parts[0]} {', '.join(found.notes)}".replace(" at the least", ", at the least")
    if found.fixed_bytes is not None or found.fixed:
        known = found.fixed_bytes is not None
        after = _held(found.fixed, found.fixed_bytes) if known else found.fixed
        parts.append(f"{after} after the fix")
    if found.law is not Law.CONSTANT:
        parts.append(_GROWS[found.law])
    return "; ".join(each for each in parts if each)


def _held(formula: str, amount: int | None, at_most: int | None = None) -> str:
    if amount is None and at_most is not None:
        return f"{formula}: at most {size(at_most)}" if formula else f"at most {size(at_most)}"
    if amount is None:
        return f"{formula}, of unknown size" if formula else "of unknown size"
    total = size(amount)
    return total if formula in ("", total) else f"{formula}: {total}"


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
