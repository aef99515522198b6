"""Amounts of things or of bytes, in the user's own names and, where known, as numbers."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

from tfmemlint.light_typing import NamedTuple
from tfmemlint.units import size

AT_LEAST = "at the least"
"""The note of a sum of which some part is not known."""


class Amount(NamedTuple):
    """A product, as it can be read, and what is known of the number it comes to."""

    factors: tuple[str, ...] = ()
    """What is multiplied: names in backticks, numbers that are known."""
    unit: float | None = None
    """Bytes that this many times are held; None where it counts things, or bytes with no name."""
    value: float | None = None
    """What it comes to: the number that is most likely where that is not certain."""
    at_most: float | None = None
    """What it is sure not to exceed."""
    notes: tuple[str, ...] = ()
    """Where numbers come from that do not stand in the product: "for the 10 of `load(10)`"."""
    of_bytes: bool = False
    """Whether it is bytes that are counted, and not things."""
    stands_in: str = ""
    """The name of what only stands in for the data: random numbers, a list written down."""

    @property
    def is_plain(self) -> bool:
        """Whether it is but numbers that stand in the code."""
        return self.value is not None and not any("`" in each for each in self.factors)

    @property
    def text(self) -> str:
        """The product, as in "`len(paths)` times 588 KB", with the sign for it."""
        unit = [] if self.unit is None else [size(self.unit)]
        return " \u00d7 ".join([*self.factors, *unit]) or "1"

    @property
    def is_certain(self) -> bool:
        """Whether the number is known for sure."""
        return self.value is not None and self.value == self.at_most

    def times(self, other: Amount) -> Amount:
        """The product of two."""
        units = [each.unit for each in (self, other) if each.unit is not None]
        factors = (*self.factors, *(each for each in other.factors if each != "1"))
        return Amount(
            tuple(each for each in factors if each != "1") or factors[:1],
            units[0] if units else None,
            _multiplied(self.value, other.value),
            _multiplied(self.at_most, other.at_most),
            tuple(dict.fromkeys((*self.notes, *other.notes))),
            self.of_bytes or other.of_bytes,
            self.stands_in or other.stands_in,
        )

    def plus(self, other: Amount) -> Amount:
        """The sum of two."""
        if self == NOTHING or other == NOTHING:
            return other if self == NOTHING else self
        value, at_most = _added(self.value, other.value), _added(self.at_most, other.at_most)
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        stands_in = self.stands_in or other.stands_in
        of_bytes = self.of_bytes or other.of_bytes
        if value is not None and self.is_plain and other.is_plain:
            made = held(value) if of_bytes else count(value)
            return made._replace(at_most=at_most, notes=notes, stands_in=stands_in)
        text = f"({self.text} + {other.text})"
        return Amount((text,), None, value, at_most, notes, of_bytes, stands_in)

    def rounded_up(self, by: Amount) -> Amount:
        """How many lots of so many there are."""
        value, at_most = _lots(self.value, by.value), _lots(self.at_most, by.value)
        if value is not None and self.is_plain and by.is_plain:
            return count(value)._replace(at_most=at_most, stands_in=self.stands_in)
        text = f"({self.text} / {by.text})"
        notes = tuple(dict.fromkeys((*self.notes, *by.notes)))
        return Amount((text,), None, value, at_most, notes, stands_in=self.stands_in)

    def folded(self) -> Amount:
        """The same as one number of bytes, where all of it is numbers."""
        if not self.is_plain or self.value is None:
            return self
        return self._replace(factors=(), unit=self.value)


UNKNOWN = Amount()
"""Bytes or things of which nothing is known, not even a name."""
NOTHING = Amount(("0",), None, 0, 0, of_bytes=True)


def count(number: float) -> Amount:
    """So many things, for sure."""
    return Amount((_written(number),), None, number, number)


def negative(amount: Amount) -> Amount | None:
    """The number with the other sign, if it is known."""
    if amount.value is None:
        return None
    made = count(-amount.value)._replace(notes=amount.notes, stands_in=amount.stands_in)
    return made if amount.is_certain else made._replace(at_most=None)


def held(number: float) -> Amount:
    """So many bytes, for sure."""
    return Amount((), number, number, number, of_bytes=True)


def named(text: str) -> Amount:
    """Something that is known by its name alone."""
    return Amount((f"`{text}`",))


def smaller(one: Amount, other: Amount) -> Amount:
    """The smaller of two: of so many that are asked for and so many as there are.

    If it is not known how many there are, they are taken to suffice.
    """
    bounds = [each.at_most for each in (one, other) if each.at_most is not None]
    at_most = min(bounds) if bounds else None
    if one.value is None or other.value is None:
        return one._replace(at_most=at_most)
    found = one if one.value <= other.value else other
    return found._replace(at_most=at_most)


def total(amounts: Iterable[Amount]) -> Amount:
    """The sum of all."""
    found = NOTHING
    for each in amounts:
        found = found.plus(each)
    return found


def product(amounts: Iterable[Amount]) -> Amount:
    """All of them multiplied."""
    found = count(1)
    for each in amounts:
        found = found.times(each)
    return found


def one_of(amounts: Iterable[Amount]) -> Amount:
    """What is sure of something that is one of these."""
    found = list(amounts)
    first = found[0] if found else UNKNOWN
    if all(each == first for each in found):
        return first
    bounds = [each.at_most for each in found]
    known = [each for each in bounds if each is not None]
    largest = max(found, key=lambda each: -1 if each.value is None else each.value)
    values = [each.value for each in found]
    return largest._replace(
        value=None if None in values else largest.value,
        at_most=max(known) if len(known) == len(bounds) else None,
    )


def _written(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,}"


def _multiplied(one: float | None, other: float | None) -> float | None:
    if one == 0 or other == 0:
        return 0
    return None if one is None or other is None else one * other


def _added(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _lots(things: float | None, by: float | None) -> float | None:
    return None if things is None or not by or by < 0 else ceil(things / by)
