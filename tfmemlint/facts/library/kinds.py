"""What is known of a value: its kind, how much of the data it is, its type and its size."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from enum import Enum

from tfmemlint.facts.library.makers import DTYPE_BYTES
from tfmemlint.facts.library.promotion import of_arrays, quotient
from tfmemlint.facts.library.shapes import Shape, total
from tfmemlint.light_typing import NamedTuple


class Kind(Enum):
    """What sort of thing a value is."""

    ARRAY = "NumPy array"
    TENSOR = "tensor"
    VARIABLE = "variable"
    FRAME = "data frame"
    DATASET = "dataset"
    MODEL = "model"
    LAYER = "layer"
    NUMBER = "number"
    LIST = "list"
    PATHS = "paths"
    PATH = "path"
    STORED = "array in an open file"
    UNKNOWN = "unknown"


class Extent(Enum):
    """How much of the data a value is."""

    WHOLE = "whole"
    """All there is: a loaded file, a data set's array, an array made at its full size."""
    PART = "part"
    """A batch, an example, a slice."""
    UNKNOWN = "unknown"


class Value(NamedTuple):
    """What is known of one expression's value; every field may be unknown."""

    kind: Kind = Kind.UNKNOWN
    extent: Extent = Extent.UNKNOWN
    dtype: str | None = None
    shape: Shape | None = None
    origin: ast.expr | None = None
    """The expression that first made it, as `np.load(path)`."""

    @property
    def elements(self) -> int | None:
        """How many numbers it holds."""
        return total(self.shape)

    @property
    def nbytes(self) -> int | None:
        """Its size, where shape and dtype are known."""
        count = self.elements
        width = DTYPE_BYTES.get(self.dtype or "")
        return None if count is None or width is None else count * width

    @property
    def is_array(self) -> bool:
        """Whether it is numbers in an array, on either side."""
        return self.kind in (Kind.ARRAY, Kind.TENSOR)


UNKNOWN = Value()


def common(values: Iterable[Value]) -> Value:
    """What several possible values agree on."""
    found = list(values)
    if not found:
        return UNKNOWN
    first, rest = found[0], found[1:]
    return Value(
        first.kind if all(each.kind is first.kind for each in rest) else Kind.UNKNOWN,
        first.extent if all(each.extent is first.extent for each in rest) else Extent.UNKNOWN,
        first.dtype if all(each.dtype == first.dtype for each in rest) else None,
        first.shape if all(each.shape == first.shape for each in rest) else None,
        first.origin,
    )


def arithmetic(node: ast.BinOp, left: Value, right: Value) -> Value:
    """What an operator makes of two values."""
    if isinstance(node.op, ast.MatMult):
        return left._replace(shape=None) if left.is_array else UNKNOWN
    for one, other in ((left, right), (right, left)):
        if one.is_array and other.kind in (Kind.NUMBER, Kind.UNKNOWN):
            return one._replace(dtype=_promoted(node.op, one, other))
    if left.is_array and right.is_array:
        joined = _of_both(node.op, left, right)
        for one, other in ((left, right), (right, left)):
            if one.extent is Extent.WHOLE and other.extent is Extent.UNKNOWN:  # a mean, say
                joined = joined._replace(extent=one.extent, shape=one.shape, origin=one.origin)
        return joined
    if left.kind is Kind.PATHS and isinstance(node.op, ast.Add):
        return left
    if Kind.PATH in (left.kind, right.kind):
        return Value(Kind.PATH, Extent.PART, origin=left.origin or right.origin)
    if isinstance(node.op, ast.Mult) and Kind.LIST in (left.kind, right.kind):
        return Value(Kind.LIST, origin=node)
    number = left.kind is Kind.NUMBER and right.kind is Kind.NUMBER
    return Value(Kind.NUMBER, origin=node) if number else UNKNOWN


def _of_both(operation: ast.operator, left: Value, right: Value) -> Value:
    """Of two arrays, or of an array that becomes a tensor because the other is one."""
    joined = common([left, right])._replace(origin=left.origin)
    tensors = [each for each in (left, right) if each.kind is Kind.TENSOR]
    divides = isinstance(operation, ast.Div)
    if len(tensors) == 1:
        joined = joined._replace(kind=Kind.TENSOR, dtype=tensors[0].dtype)
    elif not tensors:
        joined = joined._replace(dtype=of_arrays(left.dtype, right.dtype))
    dtype = quotient(joined.dtype, tensor=bool(tensors)) if divides else joined.dtype
    return joined._replace(dtype=dtype)


def _promoted(operation: ast.operator, array: Value, other: Value) -> str | None:
    """The dtype of what an operator makes of an array and a number, or what may be one."""
    if array.dtype is None or array.dtype.startswith(("float", "bfloat", "complex")):
        return array.dtype
    number = other.origin.value if isinstance(other.origin, ast.Constant) else None
    if isinstance(operation, ast.Div) or isinstance(number, float):
        return "float64" if array.kind is Kind.ARRAY else None
    return array.dtype if isinstance(number, int) and array.dtype != "bool" else None
