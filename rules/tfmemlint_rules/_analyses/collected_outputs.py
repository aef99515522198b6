"""Lists of what a model makes of each batch, that become one array."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.growths import Grown
from tfmemlint.facts.flow.stacks import Stack
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.syntax.nodes import is_literal, is_none
from tfmemlint.light_typing import NamedTuple

_PREDICTS = frozenset({"predict", "predict_on_batch"})
_MAX_HOPS = 4


class CollectedOutputs(NamedTuple):
    """One list of outputs, and the call that makes an array of it."""

    stack: Stack
    growth: Grown
    model: ast.expr
    output: ast.expr
    """What the model gives in each round."""


class Outputs:
    """Such lists of a file, in eager code."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._bindings = tf.bindings
        self._values = tf.values
        self._growths = tf.growths
        self._stacks = tf.stacks
        self._tracing = tf.tracing

    @cached_property
    def all(self) -> tuple[CollectedOutputs, ...]:
        """Every one, in source order."""
        found = (self._of(each) for each in self._stacks.all)
        return tuple(each for each in found if each is not None)

    def _of(self, stack: Stack) -> CollectedOutputs | None:
        if self._tracing.why(stack.call) is not None:
            return None
        grown = self._growths.of(stack.listed)
        if len(grown) != 1 or len(grown[0].elements) != 1:
            return None
        if any(self._tree.inside(stack.call, loop.node) for loop in grown[0].loops):
            return None
        output = self._output(grown[0].value, _MAX_HOPS)
        if output is None:
            return None
        return CollectedOutputs(stack, grown[0], output[0], output[1])

    def _output(self, node: ast.expr, hops: int) -> tuple[ast.expr, ast.expr] | None:
        """The model, and the call of it that an element is, be it as an array."""
        if isinstance(node, ast.Name):
            value = self._bindings.assigned(node)
            return self._output(value, hops - 1) if value is not None and hops else None
        if not isinstance(node, ast.Call):
            return None
        method = node.func
        if self._values.of(method).kind is Kind.MODEL:
            return method, node
        if isinstance(method, ast.Attribute):
            if method.attr in _PREDICTS and self._values.of(method.value).kind is Kind.MODEL:
                return method.value, node
            if method.attr == "numpy" and not node.args:
                return self._output(method.value, hops)
        return None

    def keeps_maps(self, found: CollectedOutputs) -> bool:
        """Whether a model of Keras's own is without its top: it gives maps, not a few numbers."""
        origin = self._values.of(found.model).origin
        name = self._names.called(origin)
        if not isinstance(origin, ast.Call) or not name.startswith("keras.applications."):
            return False
        told = {each.arg: each.value for each in origin.keywords}
        top, pooling = told.get("include_top"), told.get("pooling")
        pooled = pooling is not None and not is_none(pooling)
        return is_literal(top, False) and not pooled
