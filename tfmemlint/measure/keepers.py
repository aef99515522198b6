"""The holders of what was alive at the peak, numbered, in the words of JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfmemlint.measure.allocations import Allocation
from tfmemlint.measure.growth import growth
from tfmemlint.measure.holders import WORK, Holder, Holders
from tfmemlint.measure.statements import Statements


class Keepers:
    """Finds who holds what; each holder has a number from then on."""

    def __init__(self, holders: Holders | None, statements: Statements, peak: int) -> None:
        self._holders = holders
        self._statements = statements
        self._peak = peak
        self._numbers: dict[Holder, int] = {}

    def number(self, allocation: Allocation) -> int | None:
        """Which holder keeps this; None where nobody has looked."""
        if self._holders is None:
            return None
        statement = self._statements.all[allocation.origin.holder if allocation.origin else 0]
        place = (statement.path, statement.line)
        holder = self._holders.holder_of(allocation, place, self._peak)
        return self._numbers.setdefault(holder, len(self._numbers))

    def entries(self) -> Iterator[dict[str, Any]]:
        """Each holder, by number."""
        if self._holders is None:
            return
        looks = [look for look in self._holders.looks if look.nanoseconds <= self._peak]
        looks = looks or self._holders.looks[:1]
        files = {each.path for each in self._statements.all if each.path}
        for holder in self._numbers:
            grown = None
            if holder.name and holder.kind != WORK:
                grown = growth(holder, looks, files, self._statements.at)
            yield {**holder._asdict(), "grows": grown and grown._asdict()}
