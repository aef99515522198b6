"""How large things are: numbers, shapes and data types, where literals give them."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Mapping

from tfmemlint.facts.flow.flow import Flow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.measured import Measured
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.kinds import Value
from tfmemlint.facts.library.shapes import Shape, total
from tfmemlint.facts.syntax.arithmetic import ARITHMETIC, as_count, calculated, constant
from tfmemlint.facts.syntax.names import Names
from tfmemlint.facts.syntax.nodes import same_code

_MAX_DEPTH = 15
_BUILTIN = {"float": "float64", "int": "int64", "bool": "bool"}
_DTYPES = frozenset({"numpy.dtype", "tensorflow.as_dtype", "tensorflow.dtypes.as_dtype"})
_PRODUCTS = frozenset({"math.prod", "numpy.prod", "numpy.product"})
_WIDTHS = frozenset({"itemsize", "size"})

_MOVED = (ast.Attribute, ast.Call, ast.Name, ast.Subscript)

ValueOf = Callable[[ast.expr, Frame | None], Value]
"""What is known of an expression: handed in, for objects that hold each other are never freed."""
Expected = Callable[[ast.expr, Frame | None], int | float | None]
"""The number that an option is where nobody says otherwise."""

_MAKES_NUMBERS: Mapping[str, Callable[[float], float]] = {
    "float": float,
    "int": int,
    "math.ceil": math.ceil,
    "math.floor": math.floor,
    "numpy.ceil": math.ceil,
    "numpy.floor": math.floor,
    "round": round,
}


class Sizes:
    """Numbers, shapes and data types of expressions, followed backwards to literals."""

    def __init__(self, names: Names, flow: Flow, measured: Measured, expected: Expected) -> None:
        self._names = names
        self._flow = flow
        self._expected = expected
        self._measured = measured

    def number(
        self, expression: ast.expr | None, frame: Frame | None, value: ValueOf
    ) -> int | float | None:
        """The number an expression surely is: literals, constants, sizes and arithmetic on them."""
        return self._number(expression, frame, value, _MAX_DEPTH)

    def keeps_most(
        self, whole: ast.expr, part: ast.Slice, frame: Frame | None, value: ValueOf
    ) -> bool:
        """Whether a slice leaves out but an end: `xs[1:]`, `xs[: int(0.8 * len(xs))]`."""
        first, last = part.lower, part.upper
        start = first is None or isinstance(first, ast.Constant)
        end = last is None or (isinstance(last, ast.UnaryOp) and constant(last.operand) is not None)
        return (
            part.step is None
            and (start or self.share(first, whole, frame, value) is not None)
            and (end or self.share(last, whole, frame, value) is not None)
        )

    def share(
        self,
        number: ast.expr | None,
        whole: ast.expr,
        frame: Frame | None,
        value: ValueOf,
        hops: int = 5,
    ) -> float | None:
        """How much of all there is a number of things is that is worked out of how many there are.

        Of `xs`, `int(0.8 * len(xs))` is 0.8. It is 0 where it may be any part, and None of what is
        not worked out of their number.
        """
        if number is None or not hops:
            return None
        if isinstance(number, ast.BinOp):
            sides = (number.left, number.right)
            found = [self.share(each, whole, frame, value, hops - 1) for each in sides]
            if found == [None, None]:
                return None
            for part, other in zip(found, reversed(sides), strict=True):
                times = self.number(other, frame, value) if part else None
                if part and times is not None and isinstance(number.op, ast.Mult):
                    return part * times
            return 0.0
        measured = self._measured.rows(number, frame)
        if measured is not None:
            return 1.0 if same_code(measured[0], whole) else None
        if isinstance(number, ast.Call) and len(number.args) == 1:
            name = getattr(number.func, "id", getattr(number.func, "attr", ""))
            rounds = name in ("ceil", "floor", "int", "round")
            return self.share(number.args[0], whole, frame, value, hops - 1) if rounds else None
        before = self._flow.one_before(number, frame) if isinstance(number, _MOVED) else None
        if before is None:
            return None
        return self.share(before.value, whole, before.frame, value, hops - 1)

    def shape(self, node: ast.expr | None, frame: Frame | None, value: ValueOf) -> Shape | None:
        """The sizes a tuple, a list or a number gives; those that are not known are None."""
        if node is None:
            return None
        if isinstance(node, (ast.Tuple, ast.List)):
            return self.dimensions(node.elts, frame, value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            both = (node.left, node.right)
            if any(isinstance(each, (ast.Tuple, ast.List)) for each in both):  # `x.shape + (1,)`
                first, last = (self.shape(each, frame, value) for each in both)
                return None if first is None or last is None else (*first, *last)
        measured = self._measured.whole(node, frame)
        if measured is not None:
            return value(*measured).shape
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            measured = self._measured.whole(node.value, frame)
            if measured is not None:
                return self._cut(value(*measured).shape, node.slice)
        if isinstance(node, _MOVED):
            made, inner = self._flow.made(node, frame)
            if isinstance(made, (ast.Tuple, ast.List)):
                return self.dimensions(made.elts, inner, value)
        size = self.number(node, frame, value)
        known = as_count(size)
        return (known,) if known is not None else None

    def _cut(self, shape: Shape | None, part: ast.Slice) -> Shape | None:
        """A part of a shape: of `x.shape[1:]`, all but the rows."""
        told = [part.lower, part.upper, part.step]
        ends = [None if each is None else as_count(constant(each)) for each in told]
        known = all(each is None or end is not None for each, end in zip(told, ends, strict=True))
        return shape[slice(*ends)] if shape is not None and known and ends[2] != 0 else None

    def dimensions(
        self, nodes: Iterable[ast.expr], frame: Frame | None, value: ValueOf
    ) -> Shape | None:
        """The sizes these expressions are, one for each dimension."""
        sizes: list[int | None] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                inner = self.shape(node.value, frame, value)
                if inner is None:
                    return None
                sizes += inner
            else:
                sizes.append(as_count(self.number(node, frame, value)))
        return tuple(sizes)

    def dtype(self, node: ast.expr | None) -> str | None:
        """The data type that is named: `tf.float32`, `np.float32`, `"float32"`."""
        if isinstance(node, ast.Name) and node.id not in _BUILTIN:
            node = self._flow.meant(node)
        if node is None:
            return None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value if node.value in makers.DTYPE_BYTES else None
        if isinstance(node, ast.Name) and node.id in _BUILTIN:
            return _BUILTIN[node.id]
        name = (self._names.qualified(node) or "").rpartition(".")[2]
        return name if name in makers.DTYPE_BYTES else None

    def length(
        self, part: ast.Slice, rows: int | None, frame: Frame | None, value: ValueOf
    ) -> int | None:
        """How many elements a slice has: of so many, or from the first one on."""
        ends = [part.lower, part.upper, part.step]
        known = [None if each is None else self.number(each, frame, value) for each in ends]
        untold = any(
            end is not None and number is None for end, number in zip(ends, known, strict=True)
        )
        if rows is not None and not untold and known[2] != 0:
            return len(range(rows)[slice(*(None if each is None else int(each) for each in known))])
        first, last, _ = known
        from_first = part.step is None and (part.lower is None or first == 0)
        return int(last) if from_first and last is not None and last >= 0 else None

    def _number(
        self, node: ast.expr | None, frame: Frame | None, value: ValueOf, depth: int
    ) -> int | float | None:
        if node is None or depth == 0:
            return None
        literal = constant(node)
        if literal is not None:
            return literal
        if isinstance(node, ast.BinOp):
            operation = ARITHMETIC.get(type(node.op))
            left = self._number(node.left, frame, value, depth - 1) if operation else None
            right = self._number(node.right, frame, value, depth - 1) if operation else None
            if operation is None or left is None or right is None:
                return None
            return calculated(operation, left, right)
        rows = self._measured.rows(node, frame)
        if rows is not None:
            shape = value(*rows).shape
            return shape[0] if shape else None
        measured = self._measured.size_of(node, frame)
        if measured is not None:
            array, inner, axis = measured
            shape = value(array, inner).shape or ()
            return shape[axis] if -len(shape) <= axis < len(shape) else None
        if isinstance(node, ast.Call):
            converts = self._converts(node.func) if len(node.args) == 1 else None
            if converts is not None and not node.keywords:
                given = self._number(node.args[0], frame, value, depth - 1)
                return None if given is None else calculated(lambda one, _: converts(one), given, 0)
            if self._names.is_any(node.func, _PRODUCTS) and len(node.args) == 1:
                return total(self.shape(node.args[0], frame, value))
        if isinstance(node, ast.Attribute) and node.attr in _WIDTHS:
            width = self._width(node.value)
            if width is not None:
                return width
        origins = self._flow.origins(node, frame)
        if origins is None:
            return self._expected(node, frame)
        found: set[int | float] = set()
        for each in origins:
            whole = each.is_whole
            number = self._number(each.value, each.frame, value, depth - 1) if whole else None
            if number is None:  # no need to look further: functions that call themselves are many
                return None
            found.add(number)
        return found.pop() if len(found) == 1 else None

    def _width(self, node: ast.expr) -> int | None:
        """The bytes of a number: `tf.as_dtype("float32").size`."""
        made = self._names.call_of(node, _DTYPES)
        named = self.dtype(made.args[0]) if made is not None and made.args else None
        return makers.DTYPE_BYTES.get(named or "")

    def _converts(self, callee: ast.expr) -> Callable[[float], float] | None:
        if isinstance(callee, ast.Name) and callee.id in _MAKES_NUMBERS:
            return _MAKES_NUMBERS[callee.id]
        return _MAKES_NUMBERS.get(self._names.qualified(callee) or "")
