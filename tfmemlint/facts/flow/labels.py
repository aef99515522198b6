"""Arrays with but one number for each example, as targets and classes are."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import called

_CLASSES = frozenset({"numpy.argmax", "tensorflow.argmax", "tensorflow.math.argmax"})
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
            if self._names.is_any(node.func, _CLASSES):
                return True
            name = self._names.qualified(node.func)
            method = node.func.value if isinstance(node.func, ast.Attribute) else None
            inner = method if name is None else next(iter(node.args), None)
            return inner is not None and self.are_in(inner, hops - 1)
        given = self._bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(given) and all(self._gives(each, hops - 1) for each in given)

    def _gives(self, binding: Binding, hops: int) -> bool:
        if binding.value is None:
            return False
        if binding.is_whole:
            return self.are_in(binding.value, hops)
        if binding.how is not How.LOOPED:
            return False
        if binding.path:
            return self._is_second(binding, binding.value)
        listed = binding.value.value if isinstance(binding.value, ast.Subscript) else binding.value
        made, _ = self._flow.made(listed)  # `[y.numpy() for _, y in ds]`
        return isinstance(made, ast.ListComp) and self.are_in(made.elt, hops)

    def _is_second(self, binding: Binding, iterable: ast.expr) -> bool:
        """Whether a name is the second of two: `for x, y in ds`."""
        beside = self._tree.parent(binding.node)
        if not isinstance(beside, ast.Tuple) or len(beside.elts) != 2:
            return False
        method = iterable.func if isinstance(iterable, ast.Call) else None
        by = method.attr if isinstance(method, ast.Attribute) else called(iterable)
        nested = by == "enumerate" and len(binding.path) > 1  # `for step, (x, y) in enumerate(ds)`
        return beside.elts[1] is binding.node and (nested or by not in _BESIDE)
