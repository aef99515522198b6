"""What the ready-made models of Keras make of their input, and how much their weights are."""

from __future__ import annotations

import ast

from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.library.ready_made import COUNTED, OWN_ORDER, side_of
from tfmemlint.facts.sizes.amounts import Amount, count, named
from tfmemlint.facts.syntax.nodes import is_none
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Numbers = Callable[[ast.expr], tuple[int, ...] | None]

PREFIX = "applications."
"""Begins the names of such models, where those of layers stand."""
_UNDERSTOOD = frozenset(
    {"classes", "classifier_activation", "include_top", "input_shape", "input_tensor", "name"}
    | {"pooling", "weights"}
)
_CLASSES = 1000
_CHANNELS = 3


def is_ready_made(name: str) -> bool:
    """Whether a layer, by its name, is a whole model of `keras.applications`."""
    return name.startswith(PREFIX)


def weights(name: str, made: ast.Call, numbers: Numbers) -> int | None:
    """How many numbers the weights of a model are, made by this call; None if not known."""
    counted = COUNTED.get(name.removeprefix(PREFIX))
    if counted is None or not _is_understood(name, made) or not _has_colours(made, numbers):
        return None
    top = _has_top(made)
    if top is None:
        return None
    if not top:
        return counted.weights(None)
    classes = _classes(made, numbers)
    return None if classes is None else counted.weights(classes)


def output(
    name: str, made: ast.Call, given: tuple[Amount, ...], numbers: Numbers
) -> tuple[Amount, ...] | None:
    """The shape of what a model makes of pictures."""
    short = name.removeprefix(PREFIX)
    counted, top = COUNTED.get(short), _has_top(made)
    if counted is None or top is None or not _is_understood(name, made) or not given:
        return None
    if top:
        classes = _classes(made, numbers)
        return None if classes is None else (given[0], count(classes))
    pooling = argument(made, None, "pooling")
    if isinstance(pooling, ast.Constant) and pooling.value in ("avg", "max"):
        return (given[0], count(counted.channels))
    if pooling is not None and not is_none(pooling):
        return None
    sides = [*given[1:3]] if len(given) == 4 else []
    made_of = [_halved(short, each) for each in sides]
    named_sides = [named("height"), named("width")]
    known = [each for each in made_of if each is not None]
    return (given[0], *(known if len(known) == 2 else named_sides), count(counted.channels))


def inputs(made: ast.Call, numbers: Numbers) -> tuple[Amount, ...] | None:
    """The shape that a model is told of what it will be given."""
    told = argument(made, None, "input_shape")
    sizes = numbers(told) if told is not None else None
    return None if sizes is None else (count(1), *map(count, sizes))


def _halved(name: str, side: Amount) -> Amount | None:
    made = None if side.value is None else side_of(name, int(side.value))
    return None if made is None else count(made)


def _is_understood(name: str, made: ast.Call) -> bool:
    by_place = len(made.args) <= (not name.removeprefix(PREFIX).startswith(OWN_ORDER))
    return by_place and all(each.arg in _UNDERSTOOD for each in made.keywords)


def _has_colours(made: ast.Call, numbers: Numbers) -> bool:
    """Whether pictures have three channels, as trained weights and whole models want them."""
    told = argument(made, None, "input_shape")
    sizes = numbers(told) if told is not None else None
    if sizes is not None:
        return sizes[-1] == _CHANNELS
    trained = argument(made, None, "weights")
    return not is_none(trained)


def _has_top(made: ast.Call) -> bool | None:
    given = argument(made, 0, "include_top")
    if given is None:
        return True
    return bool(given.value) if isinstance(given, ast.Constant) else None


def _classes(made: ast.Call, numbers: Numbers) -> int | None:
    told = argument(made, None, "classes")
    found = (_CLASSES,) if told is None else numbers(told)
    return found[0] if found else None
