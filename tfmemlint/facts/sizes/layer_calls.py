"""A Keras layer as code makes it: its class, and what its arguments say."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library import keras_layers as known
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes.amounts import Amount
from tfmemlint.facts.syntax.nodes import is_none
from tfmemlint.light_typing import NamedTuple

Dims = tuple[Amount, ...]
Numbers = Callable[[ast.expr], tuple[int, ...] | None]
"""The whole numbers that a tuple, or one number, says."""
Rows = Callable[[ast.expr], "list[Layer] | None"]
"""The layers that an expression makes."""
UNTOLD = object()
"""What an argument says that is no literal."""
_AXES = ("1D", "2D", "3D")
_SEVERAL = (ast.List, ast.Tuple)


class Layer(NamedTuple):
    """A layer as code makes it."""

    name: str
    """Its class, as `Dense`."""
    made: ast.Call
    numbers: Numbers
    rows: Rows | None = None
    frame: Frame | None = None
    """The call in which it is made anew, of a function that makes layers."""

    @property
    def kind(self) -> str:
        """Its class without the number of axes, and by one name where there are several."""
        return kind_of(self.name)

    @property
    def axes(self) -> int | None:
        """Over how many axes it slides: 2 for `Conv2D` and `Conv2DTranspose`."""
        return next((axes for axes, each in enumerate(_AXES, 1) if each in self.name), None)

    def given(self, parameter: str) -> ast.expr | None:
        """An argument, be it given by name or by place."""
        own = known.PARAMETERS.get(self.name.replace("Convolution", "Conv"))
        order = (own or known.PARAMETERS.get(self.kind, "")).split()
        if self.sides:
            order = ["filters"]
        place = order.index(parameter) if parameter in order else None
        found = argument(self.made, place, parameter)
        former = known.FORMERLY.get(parameter)
        return argument(self.made, None, former) if found is None and former else found

    @property
    def sides(self) -> list[ast.expr]:
        """Those of a kernel as Keras 1 was told them, one by one: `Convolution2D(32, 3, 3)`."""
        axes = self.axes or 0
        given = self.made.args[1 : 1 + axes] if self.name.startswith("Convolution") else []
        each = len(given) == axes > 1 and not any(isinstance(one, _SEVERAL) for one in given)
        return given if each else []

    def several(
        self, parameter: str, otherwise: tuple[int, ...] | None = None
    ) -> tuple[int, ...] | None:
        """The numbers of an argument; None where they are not known."""
        given = self.given(parameter)
        if given is None or is_none(given):
            return otherwise
        return self.numbers(given)

    def one(self, parameter: str, otherwise: int | None = None) -> int | None:
        """The number of an argument."""
        found = self.several(parameter, None if otherwise is None else (otherwise,))
        return found[0] if found and len(found) == 1 else None

    def says(self, parameter: str, otherwise: object = None) -> object:
        """The text, or the truth, of an argument."""
        given = self.given(parameter)
        if given is None:
            return otherwise
        return given.value if isinstance(given, ast.Constant) else UNTOLD

    @property
    def is_understood(self) -> bool:
        """Whether it is given nothing that changes it in ways that nobody follows."""
        if any(isinstance(each, ast.Starred) for each in self.made.args):
            return False
        if any(each.arg is None for each in self.made.keywords):
            return False
        return all(self.says(each, may[0]) in may for each, may in known.OTHERWISE.items())

    @property
    def inner(self) -> list[Layer] | None:
        """The layers that it wraps; None where they are not in sight."""
        given = self.given("cell" if self.name == "RNN" else "layer")
        return None if given is None or self.rows is None else self.rows(given)


def kind_of(name: str) -> str:
    """A class without the number of axes, and by one name where there are several."""
    stem = name
    for each in _AXES:
        stem = stem.replace(each, "")
    return known.ALIASES.get(stem, stem)
