"""What is held at a time, and what for."""

from __future__ import annotations

import ast
from enum import Enum

from tfmemlint.facts.sizes.amounts import AT_LEAST, Amount
from tfmemlint.light_typing import NamedTuple


class Part(Enum):
    """What something in memory is there for."""

    DATA = "data"
    WEIGHTS = "weights"
    SLOTS = "optimiser's slots"
    GRADIENTS = "gradients"
    ACTIVATIONS = "activations"
    BUFFERS = "buffers of the pipeline"


class Item(NamedTuple):
    """Something that is held, and the code that answers for it."""

    node: ast.AST
    part: Part
    what: str
    amount: Amount
    on_host: bool = False


class Moment(NamedTuple):
    """Something that a program does, with all that it holds meanwhile."""

    items: tuple[Item, ...]

    def nbytes(self, *, on_host: bool) -> float:
        """The bytes that are known: on the device, or of a process on a machine without one."""
        mine = (each for each in self.items if on_host or not each.on_host)
        return sum(each.amount.value or 0 for each in mine if each.amount.of_bytes)

    @property
    def unknown(self) -> list[Item]:
        """What is there, but of no known size, or of which only a part has one."""
        partly = (each for each in self.items if AT_LEAST in each.amount.notes)
        parts = (each._replace(what=f"the rest of `{each.what}`") for each in partly)
        return [*(each for each in self.items if each.amount.value is None), *parts]


UNSEEN = Amount(("activations",), of_bytes=True)
"""Of something that is there, and of no known size."""
