"""Makes a finding's cost of the amounts that the facts know."""

from __future__ import annotations

from tfmemlint.facts.sizes.amounts import AT_LEAST, UNKNOWN, Amount
from tfmemlint.units import size as size
from tfmemlint.vocabulary import Cost, Law

NOTICED = 256 << 20
"""Bytes, of what is saved once: half of what a process has that has but imported TensorFlow.

With 2.21 that is 573 MB. Of data that only stand in for others, and of what is read, nobody knows
what there will be; the data sets of tutorials are as large as they are, and saving less than this
of one of them is noticed by nobody whose program runs anyway.
"""
BUFFERED = 32 << 20
"""Bytes, in one buffer: what less than that is saved by is noticed by nobody, whatever the data."""
LABELS = 4
"""The part of an example that labels do not exceed: they are 40 bytes beside MNIST's 3,136."""


def worth(*, ready: bool, otherwise: int = 0) -> int:
    """What has to be saved of a ready-made data set, or of any other."""
    return NOTICED if ready else otherwise


def cost(now: Amount, law: Law = Law.CONSTANT, after: Amount | None = None, worth: int = 0) -> Cost:
    """What is held now, and once it is mended."""
    notes = now.notes
    if now.stands_in:
        notes = (*notes, f"here; grows with `{now.stands_in}`")
    known = now.value is not None
    return Cost(
        formula="" if now == UNKNOWN else now.text,
        bytes=_bytes(now),
        law=law,
        fixed="" if after is None or after == UNKNOWN else after.text,
        fixed_bytes=_bytes(after),
        at_most=_at_most(now, worth),
        notes=notes if known else (),
        worth=worth,
    )


def _at_most(now: Amount, worth: int) -> int | None:
    """What is not exceeded; of ready-made data, labels take a fraction of what they belong to."""
    if now.at_most is not None:
        return int(now.at_most) if now.of_bytes else None
    known = _bytes(now)
    return known + known // LABELS if known and worth == NOTICED and AT_LEAST in now.notes else None


def _bytes(amount: Amount | None) -> int | None:
    known = amount is not None and amount.of_bytes and amount.value is not None
    return int(amount.value) if known and amount is not None and amount.value is not None else None
