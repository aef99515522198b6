"""What has as many rows as something else: arrays that are scaled, converted or cut by columns."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.shapes import is_all

_MAX_FITS = 4
_SCALES = makers.SCALES | {"inverse_transform"}
_ESTIMATORS = "sklearn."
_OF_PICTURES = frozenset({"tensorflow.image.resize"})
"""What gives one picture other rows, and several as many pictures."""


class RowKeepers:
    """The arrays that are made of others, row by row."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._flow = tf.flow

    def of(self, node: ast.expr, frame: Frame | None = None) -> ast.expr | None:
        """What an expression has as many rows as: `x` for `x[:, 0]`, `np.array(x)`, `x.values`."""
        if isinstance(node, ast.Subscript):
            taken = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
            return node.value if taken and is_all(taken[0]) else None
        if isinstance(node, ast.Attribute):
            return node.value if node.attr == "values" else None
        if not isinstance(node, ast.Call) or any(self._flow.returned(node, frame)):
            return None
        name = self._names.qualified(node.func)
        if name in _OF_PICTURES:
            return None
        if name is not None:
            kept = makers.KEEPS_ROWS.get(name)
            return makers.argument(node, 0, kept) if kept is not None else None
        if not isinstance(node.func, ast.Attribute):
            return None
        if node.func.attr in makers.METHODS_KEEP_ROWS:
            return node.func.value
        scales = node.func.attr in _SCALES and bool(node.args)
        return node.args[0] if scales and self._estimates(node.func.value, frame) else None

    def told(self, node: ast.expr) -> ast.expr | None:
        """The number of rows that an expression tells: `n` for `x.reshape(n, 1, -1)`."""
        if not isinstance(node, ast.Call):
            return None
        if self._names.qualified(node.func) == "numpy.reshape":
            shape = makers.argument(node, 1, "shape")
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "reshape" and node.args:
            shape = node.args[0]
        else:
            return None
        several = isinstance(shape, (ast.List, ast.Tuple)) and shape.elts
        return several[0] if several else shape

    def _estimates(self, node: ast.expr, frame: Frame | None, hops: int = _MAX_FITS) -> bool:
        """Whether scikit-learn made something, be it fitted since: `scaler = scaler.fit(x)`."""
        made, inner = self._flow.made(node, frame)
        if not isinstance(made, ast.Call) or hops == 0:
            return False
        name = self._names.qualified(made.func)
        if name is None and isinstance(made.func, ast.Attribute) and made.func.attr == "fit":
            return self._estimates(made.func.value, inner, hops - 1)
        return (name or "").startswith(_ESTIMATORS)
