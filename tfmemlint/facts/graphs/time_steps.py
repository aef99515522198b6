"""How many time steps the input of a layer has, where the model spells it out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import makers
from tfmemlint.facts.syntax.bindings import How

_MAX_HOPS = 60
_INPUTS = frozenset({"keras.Input", "keras.layers.InputLayer"})
_SHAPES = ("input_shape", "batch_input_shape", "shape", "batch_shape")


class TimeSteps:
    """The lengths of sequences."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._values = tf.values

    def of(self, layer: ast.Call) -> int | None:
        """The number of time steps that a layer gets: that of the last thing to set it."""
        for before in (layer, *self._before(layer)):
            steps = self._set_by(before)
            if steps is not None:
                return steps
        return None

    def _set_by(self, layer: ast.Call) -> int | None:
        """How many time steps a layer, an input or a layer's `input_shape` says there are."""
        name = self._names.qualified(layer.func) or ""
        if name == "keras.layers.RepeatVector" and layer.args:
            return self._whole(layer.args[0])
        if name == "keras.layers.Embedding":
            return self._whole(makers.argument(layer, None, "input_length"))
        place = 0 if name in _INPUTS else None
        for keyword in _SHAPES:
            shape = makers.argument(layer, place, keyword)
            first = 1 if keyword.startswith("batch") else 0
            if isinstance(shape, (ast.Tuple, ast.List)) and len(shape.elts) > first:
                return self._whole(shape.elts[first])
        return None

    def _whole(self, node: ast.expr | None) -> int | None:
        number = self._values.number(node)
        return number if isinstance(number, int) else None

    def _before(self, layer: ast.Call) -> Iterator[ast.Call]:
        """The layers in front of one, nearest first: in a list, in `add` calls, or applied."""
        inner: ast.AST = layer
        above = self._tree.parent(layer)
        while isinstance(above, ast.Call) and inner in above.args:  # Bidirectional(LSTM(...))
            if isinstance(above.func, ast.Attribute) and above.func.attr == "add":
                yield from self._added(above, above.func.value)
                return
            inner, above = above, self._tree.parent(above)
        if isinstance(above, (ast.List, ast.Tuple)):
            place = next(i for i, each in enumerate(above.elts) if each is inner)
            yield from (each for each in above.elts[:place][::-1] if isinstance(each, ast.Call))
        elif isinstance(above, ast.Call) and above.func is inner and above.args:
            yield from self._applied(above.args[0])

    def _added(self, call: ast.Call, model: ast.expr) -> Iterator[ast.Call]:
        """The layers that `model.add` was given above, and those the model was made with."""
        for other, method in [*self._tree.methods("add")][::-1]:
            given = other.args[0] if other.lineno < call.lineno and other.args else None
            if isinstance(given, ast.Call) and self._bindings.same(method.value, model):
                yield given
        binding = self._bindings.only(model)
        made = binding.value if binding is not None else None
        listed = made.args[0] if isinstance(made, ast.Call) and made.args else None
        if isinstance(listed, ast.List):
            yield from (each for each in listed.elts[::-1] if isinstance(each, ast.Call))

    def _applied(self, given: ast.expr) -> Iterator[ast.Call]:
        """The layers a tensor of the functional API went through, back to its input."""
        for _ in range(_MAX_HOPS):
            if isinstance(given, ast.Name):
                found = self._bindings.reaching(given)
                value = found[0].value if found and found[0].how is How.ASSIGNED else None
                if value is None or found[0].path:
                    return
                given = value
            elif isinstance(given, ast.Call) and isinstance(given.func, ast.Call):
                yield given.func
                if not given.args:
                    return
                given = given.args[0]
            else:
                if isinstance(given, ast.Call):
                    yield given
                return
