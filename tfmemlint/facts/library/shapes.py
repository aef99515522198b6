"""What operations make of shapes; sizes that are not known are None."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from math import ceil, inf, isfinite, prod

from tfmemlint.facts.syntax.nodes import is_literal, is_none

Shape = tuple[int | None, ...]


def any_rows(shape: Shape | None) -> Shape | None:
    """The same shape of nobody knows how many rows."""
    return (None, *shape[1:]) if shape else None


def reshaped(shape: Shape | None, wanted: Shape | None) -> Shape | None:
    """A shape given anew, where one size may be -1: what is left; None where that does not fit."""
    if wanted is None or -1 not in wanted:
        return wanted
    rest = [size for size in wanted if size != -1]
    left: int | None = None
    if shape is not None and None not in (*shape, *rest):
        count, taken = prod(map(int, filter(None, shape))), prod(map(int, filter(None, rest)))
        if 0 in (*shape, *rest) or count % taken:
            return None
        left = count // taken
    return tuple(left if size == -1 else size for size in wanted)


def expanded(shape: Shape | None, axis: float | None) -> Shape | None:
    """A shape with an axis of size 1 put in."""
    if shape is None or axis is None:
        return None
    place = int(axis) if axis >= 0 else len(shape) + 1 + int(axis)
    return (*shape[:place], 1, *shape[place:]) if 0 <= place <= len(shape) else None


def squeezed(shape: Shape | None, axis: float | None) -> Shape | None:
    """A shape without one axis of size 1, or without any of them where it is not said which."""
    if shape is None or (axis is None and None in shape):
        return None
    if axis is None:
        return tuple(size for size in shape if size != 1)
    place = int(axis) if axis >= 0 else len(shape) + int(axis)
    return (*shape[:place], *shape[place + 1 :]) if 0 <= place < len(shape) else None


def indexed(shape: Shape | None, indices: Sequence[ast.expr]) -> Shape | None:
    """The shape of `x[:, None]` and the like, which take all rows; what is not told is unknown."""
    if shape is None:
        return None
    if not all(is_all(each) or is_rest(each) or is_new(each) for each in indices):
        return (*shape[:1], None)
    left, made = list(shape), list[int | None]()
    after = sum(is_all(each) for each in indices)
    for each in indices:
        if is_new(each):
            made.append(1)
        elif is_rest(each):
            made += left[: len(shape) - after]
            del left[: len(shape) - after]
        else:
            made += left[:1]
            del left[:1]
    return (*made, *left)


def joined(shapes: Sequence[Shape | None], axis: float | None) -> Shape | None:
    """The shape of arrays that are joined along an axis; None where they are not known to fit."""
    known = [each for each in shapes if each]
    first = known[0] if known else ()
    place = len(first) if axis is None else int(axis)
    fit = len(known) == len(shapes) and all(len(each) == len(first) for each in known)
    if not fit or not -len(first) <= place < len(first):
        return None
    sizes = [set(each) for each in zip(*known, strict=True)]
    made = [each.pop() if len(each) == 1 else None for each in sizes]
    along = [each[place] for each in known]
    made[place] = None if None in along else sum(filter(None, along))
    return tuple(made)


def resized(shape: Shape | None, size: Shape | None) -> Shape | None:
    """The shape of images of another size, with their batch if they are in one."""
    if shape is None or len(shape) not in (3, 4) or size is None or len(size) != 2:
        return None
    return (*shape[:-3], *size, shape[-1])


def total(shape: Shape | None) -> int | None:
    """How many numbers something of a shape holds."""
    known = [each for each in shape or () if each is not None]
    return prod(known) if shape is not None and len(known) == len(shape) else None


def width(shape: Shape | None) -> int | None:
    """How many numbers a row holds."""
    return total(shape[1:]) if shape else None


def counted(start: float, stop: float, step: float) -> int | None:
    """How many numbers there are from one to another."""
    steps = (stop - start) / step if step else inf
    return max(0, ceil(steps)) if isfinite(steps) else None


def written_out(listed: ast.List | ast.Tuple | ast.Set) -> int | None:
    """How many elements are written down; None where a star, `[*paths]`, puts others in."""
    starred = any(isinstance(each, ast.Starred) for each in listed.elts)
    return None if starred else len(listed.elts)


def is_all(index: ast.expr | None) -> bool:
    """Whether an index is `:`."""
    return isinstance(index, ast.Slice) and index.lower is index.upper is index.step is None


def is_rest(index: ast.expr | None) -> bool:
    """Whether an index is `...`."""
    return is_literal(index, Ellipsis)


def is_new(index: ast.expr | None) -> bool:
    """Whether an index adds an axis: `None`, `np.newaxis`, `tf.newaxis`."""
    if isinstance(index, ast.Attribute):
        return index.attr == "newaxis"
    return is_none(index)
