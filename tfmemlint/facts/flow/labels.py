"""Arrays with but one number for each example, as targets and classes are."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import called

_CLASSES = frozenset(
    {"keras.ops.argmax", "numpy.argmax", "tensorflow.argmax", "tensorflow.math.argmax"}
)
_BESIDE = frozenset({"enumerate", "items", "zip"})
"""What a second thing is given by that is no target of a first: `for i, x in enumerate(xs)`."""
_MAX_HOPS = 8


class Labels:
    """Which expressions of a file are such arrays, by what gives them."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._bindings = tf.bindings
        self._flow = tf.flow

    def are_in(self, node: ast.expr, hops: int = _MAX_HOPS) -> bool:
        """Whether that is one number for each example: targets of a pipeline, or classes."""
        if not hops:
            return False
        if isinstance(node, ast.Call):
            inner = self._inner(node)
            return self._gives_classes(node) or (inner is not None and self.are_in(inner, hops - 1))
        if isinstance(node, ast.Subscript):  # `ids[mask]`
            return self.are_in(node.value, hops - 1)
        given = self._bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(given) and all(self._gives(each, hops - 1) for each in given)

    def are_scores(self, node: ast.expr) -> bool:
        """Whether it is asked somewhere which of them is the largest: what a classifier says."""
        return not self._compared.isdisjoint(self._bindings.sharing(node))

    @cached_property
    def _compared(self) -> frozenset[Binding]:
        calls = (each for each in self._tree.all(ast.Call) if self._gives_classes(each))
        asked = map(self._inner, calls)
        return frozenset(binding for each in asked for binding in self._bindings.sharing(each))

    def _inner(self, call: ast.Call) -> ast.expr | None:
        """What a function is given, or a method is asked of."""
        if self._names.qualified(call.func) is not None:
            return next(iter(call.args), None)
        return call.func.value if isinstance(call.func, ast.Attribute) else None

    def _gives_classes(self, call: ast.Call) -> bool:
        name = self._names.qualified(call.func)
        if name is None:
            return isinstance(call.func, ast.Attribute) and call.func.attr == "argmax"
        return name in _CLASSES

    def _gives(self, binding: Binding, hops: int) -> bool:
        if binding.value is None:
            return False
        if binding.is_whole:
            return self.are_in(binding.value, hops)
        if binding.path and self._is_of_round(binding.value):  # `x, y = batch`
            return self._is_second(binding, binding.value)
        if binding.how is not How.LOOPED:
            return False
        if binding.path:
            return self._is_second(binding, binding.value)
        listed = binding.value.value if isinstance(binding.value, ast.Subscript) else binding.value
        made, _ = self._flow.made(listed)  # `[y.numpy() for _, y in ds]`
        return isinstance(made, ast.ListComp) and self.are_in(made.elt, hops)

    def _is_of_round(self, node: ast.expr) -> bool:
        """Whether a loop gives this, whole."""
        given = self._bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(given) and all(each.how is How.LOOPED for each in given)

    def _is_second(self, binding: Binding, iterable: ast.expr) -> bool:
        """Whether a name is the second of two: `for x, y in ds`."""
        beside = self._tree.parent(binding.node)
        if not isinstance(beside, ast.Tuple) or len(beside.elts) != 2:
            return False
        method = iterable.func if isinstance(iterable, ast.Call) else None
        by = method.attr if isinstance(method, ast.Attribute) else called(iterable)
        nested = by == "enumerate" and len(binding.path) > 1  # `for step, (x, y) in enumerate(ds)`
        return beside.elts[1] is binding.node and (nested or by not in _BESIDE)
