"""Whether the models that a file trains have a layer of many weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from math import prod

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.paths import ANY
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.library.training import FITS

_CONVOLUTIONS = frozenset(
    f"keras.layers.Conv{n}{t}" for n in ("2D", "3D") for t in ("", "Transpose")
)
_EMBEDDING = "keras.layers.Embedding"
_GATES = {"keras.layers.GRU": 3, "keras.layers.LSTM": 4}
_WIDE_LAYERS = frozenset(
    {
        *(*_CONVOLUTIONS, *_GATES, _EMBEDDING),
        *("keras.layers.Dense", "keras.layers.SeparableConv2D"),
    }
)
_FLATTEN = frozenset({"keras.layers.Flatten"})
_NETWORKS = ("keras.Model", "keras.Sequential", "keras.applications.", "keras.layers.")
_READY_MADE = ("keras.applications.", "keras_hub.models.", "transformers.TFModel")
_MODELS = frozenset({Kind.MODEL, Kind.UNKNOWN})
_LARGE = 1_100_000
"""Numbers of one weight, whose table is then as large as what is noticed."""
_SIDE = 3
_FLATTENED = 512
"""From so many units behind a layer that flattens pictures, weights are as a rule millions."""


class LargeWeights:
    """The models of a file that are given callbacks as they are trained."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._models = tf.models
        self._names = tf.names
        self._functions = tf.functions
        self._imports = tf.imports
        self._values = tf.values
        self._numbers = tf.numbers
        self._callers = tf.callers
        self._sources = tf.sources

    @cached_property
    def largest(self) -> int | None:
        """How many numbers the largest weight has; None where layers are out of sight."""
        found: list[int] = []
        for model in self._trained:
            runs = self._models.runs(model, None)
            weights = [None if each.is_ready_made else each.weights for each in runs or ()]
            if not weights or None in weights:
                return None
            found += [each for each in weights if each is not None]
        return max(found, default=None)

    @cached_property
    def may_be_large(self) -> bool:
        """Whether code that makes these models says that a layer is wide, or none is in sight."""
        return (
            self._has_wide_layer
            or self._is_out_of_sight
            or any(each.of(LargeWeights)._has_wide_layer for each in self._elsewhere)
        )

    @property
    def _is_out_of_sight(self) -> bool:
        """Whether a model comes from nowhere in sight, such as a parameter that no call gives."""
        given = [self._values.of(each) for each in self._trained]
        if not given or any(each.origin is not None or each.kind not in _MODELS for each in given):
            return False
        elsewhere = (each.of(LargeWeights) for each in self._elsewhere)
        return not any(each._makes_networks for each in (self, *elsewhere))

    @cached_property
    def _makes_networks(self) -> bool:
        """Whether a file has layers, or models, of its own."""
        called = (self._names.qualified(each.func) or "" for each in self._tree.all(ast.Call))
        bases = (base for each in self._tree.all(ast.ClassDef) for base in each.bases)
        inherited = (self._names.qualified(each) or "" for each in bases)
        return any(each.startswith(_NETWORKS) for each in (*called, *inherited))

    @cached_property
    def _trained(self) -> tuple[ast.expr, ...]:
        methods = self._tree.methods(*FITS)
        return tuple(
            m.value for call, m in methods if argument(call, None, "callbacks") is not None
        )

    @property
    def _elsewhere(self) -> Iterator[TensorFlow]:
        """The files that make the models, be they trained here or where this one is imported."""
        training = (each for each in self._imports.importers if not each.is_test)
        for each in (self, *(other.of(LargeWeights) for other in training)):
            for made in each._made:
                there = self._tree.elsewhere(made)
                if there is not None:
                    yield there

    @property
    def _made(self) -> Iterator[ast.AST]:
        """What makes the models that are trained here, and the classes that some are of."""
        for model in self._trained:
            for end in self._sources.of(model).found:
                yield end.node
                called = end.node.func if isinstance(end.node, ast.Call) else None
                owner = self._functions.definition(called) if called is not None else None
                if owner is not None:
                    yield owner

    @cached_property
    def _has_wide_layer(self) -> bool:
        for call in self._tree.all(ast.Call):
            if (self._names.qualified(call.func) or "").startswith(_READY_MADE):
                return True
        return any(
            self._numbers_of(call, name) >= _LARGE for call, name in self._names.calls(_WIDE_LAYERS)
        )

    def _numbers_of(self, call: ast.Call, name: str) -> float:
        """How many numbers a layer's largest weight has if as much comes in as goes out."""
        width = argument(call, 0, "filters" if "Conv" in name else "units")
        widest = max(self._widths(width), default=0.0) if width is not None else 0.0
        if name == _EMBEDDING:
            columns = argument(call, 1, "output_dim")
            across = max(self._widths(columns), default=0.0) if columns is not None else 0.0
            return widest * across
        if name == "keras.layers.Dense" and widest >= _FLATTENED and self._flattens(call):
            return _LARGE
        return widest * widest * _GATES.get(name, 1) * self._area(call, name)

    def _flattens(self, dense: ast.Call) -> bool:
        """Whether the code around a layer also makes one that flattens pictures."""
        here = self._tree.function(dense)
        flat = (call for call, _ in self._names.calls(_FLATTEN))
        return any(self._tree.function(each) is here for each in flat)

    def _area(self, call: ast.Call, name: str) -> float:
        """How many places a kernel covers, three to a side where that is not known."""
        if name not in _CONVOLUTIONS:
            return 1
        axes = 3 if "3D" in name else 2
        kernel = argument(call, 1, "kernel_size")
        sides = kernel.elts if isinstance(kernel, ast.Tuple) else [kernel] * axes
        amounts = [None if each is None else self._numbers.of(each).value for each in sides]
        return prod(_SIDE if each is None else each for each in amounts)

    def _widths(self, node: ast.expr) -> Iterator[float]:
        """How wide a layer may be: also each of several of a list, as by default."""
        given = [node]
        for end in self._sources.of(node).found:
            listed = self._callers.left_out(end.node) if isinstance(end.node, ast.expr) else None
            if end.path == (ANY,) and isinstance(listed, (ast.List, ast.Tuple)):
                given += listed.elts
        amounts = (self._numbers.of(each) for each in given)
        return (each.value for each in amounts if each.value is not None)
