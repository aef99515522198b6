"""Tensors in traced code: which expressions are one, and whose size a number is."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.solver import Question
from tfmemlint.facts.graphs.tracing import TracedBy
from tfmemlint.facts.library import traits
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.signatures import having
from tfmemlint.facts.syntax.bindings import Binding, How

_DESCRIBES_TENSOR = frozenset({"dtype", "get_shape", "shape"})
_TAKES_TENSOR = having(traits.TENSOR_FIRST)
"""Functions that nobody gives a list of tensors first."""
_SHAPE_OF = having(traits.GIVES_SHAPE)

_IS_TENSOR = Question("is tensor", nothing=False, unknown=False)


class Tensors:
    """What can be said of tensors whose values only a run will know."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._values = tf.values
        self._tracing = tf.tracing
        self._solver = tf.solver

    def is_tensor(self, expression: ast.expr) -> bool:
        """Whether an expression in traced code is surely a tensor."""
        found: bool = self._solver.ask(_IS_TENSOR, self._is_tensor, expression)
        return found

    def starts_as_tensor(self, binding: Binding) -> bool:
        """Whether a binding surely gives its name a tensor."""
        if self._values.bound(binding).kind in (Kind.TENSOR, Kind.VARIABLE):
            return True
        if binding.value is not None and binding.is_whole:
            return self.is_tensor(binding.value)
        return any(
            self.is_tensor(use)
            for use in self._bindings.readers(binding)
            if self._bindings.only(use) is binding
        )

    def size_of(self, number: ast.expr) -> tuple[ast.expr, int] | None:
        """The tensor and the axis whose size a number is: `x`, 1 for `tf.shape(x)[1]`."""
        if isinstance(number, ast.Name):
            binding = self._bindings.only(number)
            if binding is None or binding.how is not How.ASSIGNED or binding.value is None:
                return None
            if not binding.path:
                return self.size_of(binding.value)
            shaped = self._shaped(binding.value)
            return (shaped, binding.path[0]) if shaped and len(binding.path) == 1 else None
        if isinstance(number, ast.Call) and isinstance(number.func, ast.Name):
            inner = number.args[0] if len(number.args) == 1 else None
            if inner is not None and number.func.id == "int":
                return self.size_of(inner)
            if inner is not None and number.func.id == "len" and self.is_tensor(inner):
                return inner, 0
        if isinstance(number, ast.Subscript):
            shaped = self._shaped(number.value)
            axis = number.slice.value if isinstance(number.slice, ast.Constant) else None
            return (shaped, axis) if shaped and isinstance(axis, int) else None
        return None

    def _is_tensor(self, node: ast.expr) -> bool:
        kind = self._values.of(node).kind
        if kind in (Kind.TENSOR, Kind.VARIABLE):
            return True
        if isinstance(node, ast.Name):
            found = self._origins(node)
            if kind is Kind.ARRAY:  # arrays given to a traced function arrive as tensors
                return all(self._is_argument_of_graph(each) for each in found)
            if kind is not Kind.UNKNOWN:
                return False
            described = {use for each in found for use in self._bindings.readers(each)}
            return any(map(self._is_described, described)) or any(
                self.starts_as_tensor(each)
                for each in found
                if each.how in (How.ASSIGNED, How.LOOPED)
            )
        if isinstance(node, ast.Subscript) and kind is Kind.UNKNOWN:
            return isinstance(node.slice, ast.Tuple) or self.is_tensor(node.value)
        if isinstance(node, ast.BinOp) and kind is Kind.UNKNOWN:
            return self.is_tensor(node.left) or self.is_tensor(node.right)
        if isinstance(node, ast.UnaryOp):
            return self.is_tensor(node.operand)
        return False

    def _origins(self, name: ast.Name) -> list[Binding]:
        """The bindings that may give a name its value, and those that `+=` has added to."""
        found = list(self._bindings.reaching(name))
        for each in found:
            if each.how is How.AUGMENTED and isinstance(each.node, ast.Name):
                found += [more for more in self._bindings.reaching(each.node) if more not in found]
        return found

    def _is_described(self, use: ast.Name) -> bool:
        parent = self._tree.parent(use)
        if isinstance(parent, ast.Subscript) and parent.value is use:
            return isinstance(parent.slice, ast.Tuple)
        if isinstance(parent, ast.BinOp):
            return isinstance(parent.op, ast.MatMult)
        if isinstance(parent, ast.Call) and parent.args[:1] == [use]:
            return self._names.is_any(parent.func, _TAKES_TENSOR)
        return isinstance(parent, ast.Attribute) and parent.attr in _DESCRIBES_TENSOR

    def _is_argument_of_graph(self, binding: Binding) -> bool:
        if binding.how is not How.PARAMETER:
            return False
        why = self._tracing.functions.get(self._tree.taker(binding.node))
        return why is not None and why.by is not TracedBy.CALLER

    def _shaped(self, shape: ast.expr) -> ast.expr | None:
        """`x` for `x.shape`, `tf.shape(x)`, `x.get_shape().as_list()` and names that hold these."""
        if isinstance(shape, ast.Name):
            given = self._bindings.assigned(shape)
            return self._shaped(given) if given is not None else None
        if isinstance(shape, ast.Attribute):
            return shape.value if shape.attr == "shape" else None
        if isinstance(shape, ast.Call):
            if self._names.is_any(shape.func, _SHAPE_OF):
                return shape.args[0] if shape.args else None
            if self._names.qualified(shape.func) == "tensorflow.unstack" and shape.args:
                return self._shaped(shape.args[0])
            method = shape.func if isinstance(shape.func, ast.Attribute) else None
            if method is not None and method.attr == "get_shape":
                return method.value
            if method is not None and method.attr == "as_list":
                return self._shaped(method.value)
        return None
