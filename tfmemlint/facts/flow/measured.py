"""The arrays whose sizes the code asks for: `len(x)`, `x.shape[0]`, `rows, width = x.shape`."""

from __future__ import annotations

import ast

from tfmemlint.facts.flow.flow import Flow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library import makers
from tfmemlint.facts.syntax.arithmetic import constant
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.names import Names
from tfmemlint.facts.syntax.nodes import called
from tfmemlint.facts.syntax.tree import Tree

_MAX_HOPS = 5
_MOVED = (ast.Attribute, ast.Call, ast.Name, ast.Subscript)


class Measured:
    """What sizes and shapes are those of, followed backwards."""

    def __init__(self, tree: Tree, names: Names, flow: Flow) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow

    def rows(
        self, expression: ast.expr, frame: Frame | None, hops: int = _MAX_HOPS
    ) -> tuple[ast.expr, Frame | None] | None:
        """The array whose length an expression is, and the call within which it is to be read.

        `x` for `len(x)`, `x.shape[0]` and the like.
        """
        array: ast.expr | None = None
        if isinstance(expression, ast.Call) and called(expression) in ("len", "int"):
            array = expression.args[0] if len(expression.args) == 1 else None
            if array is not None and called(expression) == "int":
                return self.rows(array, frame, hops)
        if array is not None:
            return array, frame
        if not hops or not isinstance(expression, _MOVED):
            return None
        measured = self.size_of(expression, frame)
        if measured is not None:
            return (measured[0], measured[1]) if measured[2] == 0 else None
        before = self._flow.one_before(expression, frame)
        return None if before is None else self.rows(before.value, before.frame, hops - 1)

    def size_of(
        self, node: ast.expr, frame: Frame | None
    ) -> tuple[ast.expr, Frame | None, int] | None:
        """The array and the axis of which an expression is the size.

        As `x.shape[1]` is, and a name to which a shape is unpacked: `rows, width = x.shape`.
        """
        if isinstance(node, ast.Subscript):
            return self._axis(node.value, frame, constant(node.slice))
        origins = self._flow.origins(node, frame) if isinstance(node, ast.Name) else None
        one = origins[0] if origins is not None and len(origins) == 1 else None
        if one is None or one.binding is None or one.how is not How.ASSIGNED or len(one.path) != 1:
            return None
        target = self._tree.parent(one.binding.node)
        taken = target.elts if isinstance(target, (ast.List, ast.Tuple)) else []
        stars = [at for at, each in enumerate(taken) if isinstance(each, ast.Starred)]
        behind = bool(stars) and one.path[0] > stars[0]
        return self._axis(one.value, one.frame, one.path[0] - (len(taken) if behind else 0))

    def _axis(
        self, shape: ast.expr, frame: Frame | None, axis: int | float | None
    ) -> tuple[ast.expr, Frame | None, int] | None:
        """The same for one of the sizes of a shape, or of a part: `h, w = x.shape[1:]`."""
        if not isinstance(axis, int):
            return None
        if isinstance(shape, ast.Subscript) and isinstance(shape.slice, ast.Slice):
            first, *others = shape.slice.lower, shape.slice.upper, shape.slice.step
            start = 0 if first is None else constant(first)
            if axis < 0 or not isinstance(start, int) or start < 0 or others[1] is not None:
                return None
            shape, axis = shape.value, start + axis
        measured = self.whole(shape, frame)
        return None if measured is None else (*measured, axis)

    def whole(self, shape: ast.expr, frame: Frame | None) -> tuple[ast.expr, Frame | None] | None:
        """The array that a shape is of: `x` for `x.shape`, `np.shape(x)`."""
        if not isinstance(shape, _MOVED):
            return None
        made, inner = self._flow.made(shape, frame)
        if isinstance(made, ast.Attribute) and made.attr == "shape":
            return made.value, inner
        if isinstance(made, ast.Call) and self._names.is_any(made.func, makers.SHAPE_OF):
            return (made.args[0], inner) if made.args else None
        return None
