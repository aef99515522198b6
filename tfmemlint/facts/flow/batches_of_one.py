"""Batches of one: `np.expand_dims(image, 0)`, `image[np.newaxis]`, `np.array([image])`."""

from __future__ import annotations

import ast
from itertools import dropwhile, islice

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.flow import Origin
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.solver import Question
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.shapes import is_new
from tfmemlint.facts.syntax.arithmetic import constant
from tfmemlint.facts.syntax.bindings import How

_ONE = Question("batch of one", nothing=False, unknown=False)
_KEEPING_METHODS = frozenset({"astype", "copy", "numpy"})


class BatchesOfOne:
    """What surely holds one example along its first axis, so that its first entry is all of it."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._flow = tf.flow
        self._solver = tf.solver

    def of(self, node: ast.expr, frame: Frame | None) -> bool:
        """Whether an expression is one."""
        found: bool = self._solver.ask(_ONE, self._is_one, node, frame)
        return found

    def _is_one(self, node: ast.expr, frame: Frame | None) -> bool:
        if isinstance(node, (ast.List, ast.Tuple)):
            return len(node.elts) == 1 and not isinstance(node.elts[0], ast.Starred)
        if isinstance(node, ast.Subscript):
            return adds_first_axis(node.slice)
        if isinstance(node, ast.BinOp):
            return self.of(node.left, frame) or self.of(node.right, frame)
        if isinstance(node, ast.Call):
            return self._makes_one(node, frame)
        origins = self._flow.origins(node, frame)
        return bool(origins) and all(map(self._gives_one, origins or ()))

    def _gives_one(self, origin: Origin) -> bool:
        if origin.how is How.AUGMENTED and origin.binding is not None:
            before = origin.binding.node
            return isinstance(before, ast.Name) and self.of(before, origin.frame)
        return origin.is_whole and self.of(origin.value, origin.frame)

    def _makes_one(self, call: ast.Call, frame: Frame | None) -> bool:
        name = self._names.qualified(call.func) or ""
        given = call.args[0] if call.args else None
        if name.endswith(".expand_dims"):
            axis = makers.argument(call, 1, "axis")
            return axis is not None and constant(axis) == 0
        if name in makers.KEEPS_SHAPE or name.endswith(".preprocess_input"):
            return given is not None and self.of(given, frame)
        method = call.func.attr if isinstance(call.func, ast.Attribute) and not name else ""
        if method in _KEEPING_METHODS and isinstance(call.func, ast.Attribute):
            return self.of(call.func.value, frame)
        if name == "numpy.reshape" or method == "reshape":
            told = call.args[1:] if name else call.args
            sizes = told[0].elts if told and isinstance(told[0], (ast.Tuple, ast.List)) else told
            return len(sizes) > 1 and constant(sizes[0]) == 1
        returned = list(self._flow.returned(call, frame))
        return bool(returned) and all(map(self._gives_one, returned))


def adds_first_axis(index: ast.expr) -> bool:
    """Whether what is taken has one row: of `x[None]`, `x[np.newaxis, ..., 0]` or `x[0, None]`."""
    indices = index.elts if isinstance(index, ast.Tuple) else [index]
    behind = dropwhile(lambda each: isinstance(constant(each), int), indices)
    return any(map(is_new, islice(behind, 1)))
