"""Whose dtype a tensor has: for code that has to name it before the tensor is there."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.signatures import APIS
from tfmemlint.facts.syntax.bindings import How

_MAX_DEPTH = 20

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.MatMult, ast.Pow, ast.Mod, ast.FloorDiv)
_HAS_DTYPE_OF = {name: row.dtype_of for name, row in APIS.items() if row.dtype_of is not None}
"""Functions whose result has the dtype of an argument, and the place of that argument."""


class Dtypes:
    """Dtypes, followed backwards through the operations that keep them."""

    def __init__(self, tf: TensorFlow) -> None:
        self._bindings = tf.bindings
        self._names = tf.names
        self._values = tf.values
        self._tensors = tf.tensors

    def of(self, expression: ast.expr, known: Callable[[ast.Name], bool]) -> ast.expr | str | None:
        """What surely has the dtype of an expression: other expressions, or a dtype's own name.

        Names are followed back until one is met that is `known`: a tensor that is there already.
        """
        return self._dtype(expression, known, _MAX_DEPTH)

    def _dtype(
        self, node: ast.expr, known: Callable[[ast.Name], bool], depth: int
    ) -> ast.expr | str | None:
        if depth == 0:
            return None
        if isinstance(node, ast.Name):
            if known(node):
                return node
            binding = self._bindings.only(node)
            if binding is None or binding.value is None or binding.path:
                return None
            if binding.how in (How.ASSIGNED, How.LOOPED):
                return self._dtype(binding.value, known, depth - 1)
            return None
        if isinstance(node, ast.Attribute):
            return node if self._values.of(node).kind is Kind.VARIABLE else None
        if isinstance(node, ast.Subscript):
            is_tensor = self._tensors.is_tensor(node.value)
            return self._dtype(node.value, known, depth - 1) if is_tensor else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._dtype(node.operand, known, depth - 1)
        if isinstance(node, ast.BinOp):
            return self._dtype_of_arithmetic(node, known, depth - 1)
        if isinstance(node, ast.Call):
            return self._dtype_of_call(node, known, depth - 1)
        return None

    def _dtype_of_arithmetic(
        self, node: ast.BinOp, known: Callable[[ast.Name], bool], depth: int
    ) -> ast.expr | str | None:
        """TensorFlow promotes nothing: both operands have one dtype, or one is a Python number."""
        halves = isinstance(node.op, ast.Div) and any(
            isinstance(each, ast.Constant) and isinstance(each.value, float)
            for each in (node.left, node.right)
        )
        if not halves and not isinstance(node.op, _ARITHMETIC):
            return None
        left = self._dtype(node.left, known, depth)
        return left if left is not None else self._dtype(node.right, known, depth)

    def _dtype_of_call(
        self, node: ast.Call, known: Callable[[ast.Name], bool], depth: int
    ) -> ast.expr | str | None:
        name = self._names.qualified(node.func) or ""
        if name in ("tensorflow.cast", "keras.ops.cast"):
            given = makers.argument(node, 1, "dtype")
        elif name in makers.FILLED and name.startswith("tensorflow."):
            given = makers.argument(node, makers.FILLED[name].dtype_place, "dtype")
            if given is None:
                return makers.FILLED[name].dtype
        elif name in _HAS_DTYPE_OF and not any(each.arg == "dtype" for each in node.keywords):
            place = _HAS_DTYPE_OF[name]
            source = node.args[place] if place < len(node.args) else None
            if isinstance(source, (ast.List, ast.Tuple)):
                source = source.elts[0] if source.elts else None
            return None if source is None else self._dtype(source, known, depth)
        else:
            return None
        if isinstance(given, ast.Attribute) and given.attr == "dtype":
            return self._dtype(given.value, known, depth)
        named = (self._names.qualified(given) or "").rpartition(".")[2]
        if isinstance(given, ast.Constant) and isinstance(given.value, str):
            named = given.value
        return named if named in makers.DTYPE_BYTES else None
