"""What traced functions do with the numbers they are given."""

from __future__ import annotations

import ast
from enum import Enum

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import called
from tfmemlint.facts.syntax.tree import FunctionNode

_MAX_HOPS = 5
_PACKS = frozenset(
    {
        "keras.ops.convert_to_tensor",
        "keras.ops.stack",
        "tensorflow.constant",
        "tensorflow.convert_to_tensor",
        "tensorflow.stack",
    }
)
_ASKS = frozenset({"bool", "float", "int", "max", "min", "print", "round"})
_STRUCTURAL = frozenset({"format", "getattr", "range", "str"})
_SIZE_NAMES = frozenset({"axis", "depth", "k", "multiples", "num", "paddings", "shape", "size"})
_SIZES = frozenset(
    {
        "tensorflow.eye",
        "tensorflow.fill",
        "tensorflow.image.central_crop",
        "tensorflow.image.resize",
        "tensorflow.linspace",
        "tensorflow.math.top_k",
        "tensorflow.nn.top_k",
        "tensorflow.ones",
        "tensorflow.range",
        "tensorflow.repeat",
        "tensorflow.reshape",
        "tensorflow.split",
        "tensorflow.tile",
        "tensorflow.zeros",
    }
)


class Handled(Enum):
    """What a traced function does with a number."""

    CAST = "is given to `tf.cast`"
    SUMMARY = "is the step of a summary"
    OPERAND = "is an operand or argument of TensorFlow's"
    ARITHMETIC = "is added, multiplied, compared"
    BRANCH = "is asked for by Python"
    STRUCTURE = "says what the graph looks like: a count, a size, a key"
    OTHER = "goes out of sight"


class Handling:
    """What becomes of the parameters of a module's functions."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._callers = tf.callers
        self._tensors = tf.tensors

    def of(
        self, function: FunctionNode, parameter: str, hops: int = _MAX_HOPS
    ) -> frozenset[Handled]:
        """Everything that a function, and those it passes the number to, do with it."""
        found: set[Handled] = set()
        for binding in self._bindings.of(function, parameter):
            if binding.how is not How.PARAMETER:
                return frozenset({Handled.OTHER})
            for use in self._bindings.readers(binding):
                found.update(self._handles(use, hops))
        return frozenset(found)

    # What is done with it.

    def _handles(self, use: ast.expr, hops: int) -> frozenset[Handled]:
        node: ast.AST = use
        above = self._tree.parent(node)
        arithmetic = False
        while isinstance(above, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp)):
            node, above, arithmetic = above, self._tree.parent(above), True
        if isinstance(above, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            return frozenset({Handled.BRANCH})
        if isinstance(above, ast.FormattedValue):
            return frozenset({Handled.BRANCH})
        keyword = above if isinstance(above, ast.keyword) else None
        if keyword is not None:
            above = self._tree.parent(keyword)
        if isinstance(above, ast.Call) and above.func is not node:
            found = self._given(above, node, keyword, arithmetic, hops)
        elif isinstance(above, ast.Subscript):
            several = isinstance(above.slice, ast.Tuple) or self._tensors.is_tensor(above.value)
            found = frozenset({Handled.OPERAND if several else Handled.STRUCTURE})
        elif isinstance(above, ast.Tuple) and isinstance(self._tree.parent(above), ast.Subscript):
            found = frozenset({Handled.OPERAND})
        elif isinstance(above, (ast.List, ast.Tuple)):
            found = frozenset({Handled.OPERAND if self._is_packed(above) else Handled.STRUCTURE})
        elif isinstance(above, (ast.Slice, ast.Dict)):
            found = frozenset({Handled.STRUCTURE})
        else:
            found = frozenset({Handled.OTHER})
        return found | {Handled.ARITHMETIC} if arithmetic else found

    def _is_packed(self, several: ast.List | ast.Tuple) -> bool:
        """Whether what is listed is data: `tf.stack([seed, 0])`, `run(step, args=(x, n))`."""
        above = self._tree.parent(several)
        if isinstance(above, ast.keyword):
            return above.arg in ("args", "seed")
        return self._names.call_of(above, _PACKS) is not None

    def _given(
        self,
        call: ast.Call,
        node: ast.AST,
        keyword: ast.keyword | None,
        arithmetic: bool,
        hops: int,
    ) -> frozenset[Handled]:
        """What is done with a number by what it is an argument of."""
        function = self._functions.function(call.func)
        if function is not None and hops:
            taken = self._callers.taken_as(node, call, function)
            other = frozenset({Handled.OTHER})
            return other if taken is None else self.of(function, taken.name, hops - 1)
        name = self._names.qualified(call.func) or ""
        if called(call) in _STRUCTURAL:
            return frozenset({Handled.STRUCTURE})
        if called(call) in _ASKS:
            return frozenset({Handled.BRANCH})
        if name == "tensorflow.cast" and call.args[:1] == [node] and not arithmetic:
            return frozenset({Handled.CAST})
        is_step = keyword is not None and keyword.arg == "step"
        if name.startswith("tensorflow.summary.") and is_step and not arithmetic:
            return frozenset({Handled.SUMMARY})
        if name in _SIZES or (keyword is not None and keyword.arg in _SIZE_NAMES):
            return frozenset({Handled.STRUCTURE})
        if name.startswith(("tensorflow.", "keras.")):
            return frozenset({Handled.OPERAND})
        if name:
            return frozenset({Handled.BRANCH})  # NumPy and the like want Python's own
        return frozenset({Handled.OTHER})
