"""What is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple


class Theme(Enum):
    """What a plot is looked at on."""

    LIGHT = "light"
    DARK = "dark"


class Bar(NamedTuple):
    """What is left of something, as a share, with what to call it."""

    name: str
    about: str
    share: float
    words: str


class Group(NamedTuple):
    """Bars with something in common."""

    name: str
    bars: Sequence[Bar]


class Series(NamedTuple):
    """Points of one line, from left to right; `kind` is `bad` or `fixed`."""

    kind: str
    name: str
    points: Sequence[tuple[float, float]]


class Axis(NamedTuple):
    """Values along one side of a plot, and how to write them."""

    ticks: Sequence[float]
    write: Callable[[float], str]

    @property
    def end(self) -> float:
        return self.ticks[-1]


def ticks(most: float, *, base: int = 10) -> list[float]:
    """Round values from nothing to at least `most`; round in powers of `base` as well as of ten."""
    if most <= 0:
        return [0, 1]
    unit = float(base ** math.floor(math.log(most, base)))
    rough = most / unit / 4
    size = 10 ** math.floor(math.log10(rough))
    step = next(each * size for each in (1, 2, 5, 10) if rough <= each * size)
    count = math.ceil(most / unit / step - 1e-9)
    return [number * step * unit for number in range(count + 1)]
