"""The shapes and types of arrays and tensors, and what becomes of two of them."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library.promotion import of_arrays, quotient
from tfmemlint.facts.sizes import rows
from tfmemlint.facts.sizes.amounts import Amount, count
from tfmemlint.facts.sizes.rows import PYTHON_FLOATS
from tfmemlint.light_typing import NamedTuple


class Sized(NamedTuple):
    """The shape and the type of an array or a tensor, as far as they are known."""

    dims: tuple[Amount, ...] | None
    dtype: str | None = None
    stands_in: str = ""
    """The name of an array of made up numbers, which stands in for the data there will be."""

    @property
    def reversed(self) -> Sized:
        """The same with its axes in the opposite order."""
        return self._replace(dims=None if self.dims is None else self.dims[::-1])


Ask = Callable[[ast.expr, Frame | None], Sized | None]


def broadcast(left: Sized, right: Sized, dtype: str | None) -> Sized | None:
    """The shape of what is made of two arrays number by number."""
    if left.dims is None or right.dims is None:
        return None
    longer, shorter = sorted((left.dims, right.dims), key=len, reverse=True)
    padded = (*(count(1) for _ in range(len(longer) - len(shorter))), *shorter)
    pairs = zip(longer, padded, strict=True)
    dims = tuple(other if one.value == 1 else one for one, other in pairs)
    return Sized(dims, dtype)


def matmul(left: Sized, right: Sized) -> Sized | None:
    """The product of matrices, or of stacks of them."""
    if not left.dims or not right.dims:
        return None
    leading = left.dims[:-1]
    columns = right.dims[-1:] if len(right.dims) > 1 else ()
    return Sized((*leading, *columns), promoted(left, right))


def promoted(
    left: Sized, right: Sized, *, divides: bool = False, tensor: Sized | None = None
) -> str | None:
    """The type of what is made of two arrays: a plain number has none of its own.

    A tensor among them, `tensor`, has the other become one of its type.
    """
    if tensor is not None and tensor.dtype is not None:
        return quotient(tensor.dtype, tensor=True) if divides else tensor.dtype
    weak = [each for each in (left, right) if not each.dims and _is_weak(each.dtype)]
    if weak:
        other = right if left is weak[0] else left
        dtype = other.dtype
        if weak[0].dtype == PYTHON_FLOATS and dtype not in (None, PYTHON_FLOATS):
            dtype = of_arrays(dtype, "float16") if quotient(dtype) == dtype else "float64"
        if _is_weak(dtype):
            both = {each.dtype for each in (left, right)}
            dtype = PYTHON_FLOATS if divides or PYTHON_FLOATS in both else dtype
            return None if None in both else dtype
    elif left.dtype is None or right.dtype is None:
        dtype = left.dtype or right.dtype if not (left.dims and right.dims) else None
    else:
        dtype = of_arrays(left.dtype, right.dtype) if left.dtype != right.dtype else left.dtype
    return quotient(dtype) if divides else dtype


def _is_weak(dtype: str | None) -> bool:
    """Whether it is that of Python's own numbers, if of any."""
    return dtype is None or dtype in rows.LISTED
