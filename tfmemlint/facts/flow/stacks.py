"""Functions that copy the elements of a list into one array."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import traits
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.library.signatures import APIS, having
from tfmemlint.light_typing import NamedTuple


class Stack(NamedTuple):
    """One call that makes an array of what a list holds."""

    call: ast.Call
    name: str
    """The canonical name of what is called."""
    listed: ast.expr
    """The list that is copied."""

    @property
    def joins(self) -> bool:
        """Whether it puts the elements one behind the other, along an axis they already have."""
        return self.name in _JOINS

    @property
    def is_plain(self) -> bool:
        """Whether it is told nothing but the list."""
        return self.call.args == [self.listed] and not self.call.keywords


class Stacks:
    """Where the code of a module makes arrays of lists."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names

    @cached_property
    def all(self) -> tuple[Stack, ...]:
        """Every such call, in source order."""
        found: list[Stack] = []
        for call, name in self._names.calls(_NAMES):
            listed = argument(call, 0, _LISTED[name])
            if listed is not None:
                found.append(Stack(call, name, listed))
        return tuple(found)


_LISTED = {name: row.of for name, row in APIS.items() if row.of and row.traits & traits.LISTED}
"""What they call the list."""
_NAMES = having(traits.LISTED)
_JOINS = ("numpy.concatenate", "numpy.vstack", "tensorflow.concat")
