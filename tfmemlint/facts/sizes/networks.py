"""The layers that are called, and the shapes of what they make."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame, frame_at
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes import applications, layers
from tfmemlint.facts.sizes.amounts import count
from tfmemlint.facts.sizes.layer_calls import Dims, Layer
from tfmemlint.facts.sizes.sized import Ask, Sized
from tfmemlint.facts.sizes.told import Told

_RUNS = frozenset({"predict", "predict_on_batch", "__call__", "call"})


class Networks:
    """Layers, and models that are a row of them."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._values = tf.values
        self._told = tf.of(Told)

    def run(self, node: ast.Call, frame: Frame | None, ask: Ask) -> Sized | None:
        """What a layer, or a model that is a row of them, makes of its input."""
        callee = node.func
        if isinstance(callee, ast.Attribute) and callee.attr in _RUNS:
            callee = callee.value
        row = self.row_of(callee, frame)
        given = self._inputs(node, row, frame, ask)
        if not given or not row:
            return None
        made = layers.through(row, [each.dims or () for each in given])
        dtype = "float32" if (given[0].dtype or "").startswith(("int", "uint")) else given[0].dtype
        return None if made is None else Sized(made, dtype or "float32")

    def _inputs(
        self, node: ast.Call, row: list[Layer] | None, frame: Frame | None, ask: Ask
    ) -> list[Sized]:
        found = [ask(each, frame) for each in layers.several_given(node, row)]
        known = [each for each in found if each is not None and each.dims is not None]
        return known if len(known) == len(found) else []

    def row_of(self, callee: ast.expr, frame: Frame | None = None) -> list[Layer] | None:
        """The layers of a `Sequential`, or one layer by itself; None for anything else."""
        named = isinstance(callee, ast.Call) and self._names.qualified(callee.func) is not None
        made = callee if named else self._values.of(callee, frame).origin
        if not isinstance(made, ast.Call):
            return None
        name = self._names.qualified(made.func) or ""
        inside = frame_at(self._tree, made, frame)

        def numbers(node: ast.expr) -> tuple[int, ...] | None:
            sizes = self._told.shape(node, inside)
            return None if sizes is None else layers.wholes(sizes)

        if name == "keras.Sequential":
            listed = argument(made, 0, "layers")
            if not isinstance(listed, (ast.List, ast.Tuple)):
                return None
            found: list[Layer] = []
            for each in listed.elts:
                inner = self.row_of(each, frame)
                if inner is None:
                    return None
                found += inner
            return found
        if name == "keras.Input":
            return [Layer("InputLayer", made, numbers, None, inside)]
        if name.startswith("keras.applications."):
            ready = f"{applications.PREFIX}{name.rpartition('.')[2]}"
            return [Layer(ready, made, numbers, None, inside)]
        if not name.startswith("keras.layers."):
            return None
        return [Layer(name.rpartition(".")[2], made, numbers, self.row_of, inside)]

    def output_of(self, model: ast.expr, frame: Frame | None = None) -> Dims | None:
        """The shape of `model.output`, of a ready-made model that is told of its input."""
        row = self.row_of(model, frame)
        only = row[0] if row is not None and len(row) == 1 else None
        if only is None or not applications.is_ready_made(only.name):
            return None
        told = applications.inputs(only.made, only.numbers) or (count(1),)
        return layers.output(only, [told])
