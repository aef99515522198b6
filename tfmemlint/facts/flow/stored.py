"""Data sets of HDF5 files: read whole, or left where they are."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow

_OPENS = "h5py.File"


class Stored:
    """Which expressions stand for data sets of files that are open."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._flow = tf.flow

    def data_set(self, expression: ast.expr | None) -> ast.Subscript | None:
        """`file["images"]` or `file["train"]["images"]`, wherever that was put on the way."""
        if expression is None:
            return None
        found = self._flow.same(expression)[-1]
        made = found
        while isinstance(made, ast.Subscript):
            if not _is_name(made.slice):
                return None
            made = self._flow.same(made.value)[-1]
        opened = isinstance(made, ast.Call) and self._names.qualified(made.func) == _OPENS
        return found if opened and isinstance(found, ast.Subscript) else None

    def everything(self, expression: ast.expr) -> ast.Subscript | None:
        """`file["images"][:]`, as it stands where the data set is read whole."""
        read = self._flow.same(expression)[-1]
        if not isinstance(read, ast.Subscript) or not is_everything(read.slice):
            return None
        return read if self.data_set(read.value) is not None else None


def is_everything(index: ast.expr) -> bool:
    """`[:]`, `[...]` and `[()]`."""
    if isinstance(index, ast.Slice):
        return index.lower is index.upper is index.step is None
    return ast.unparse(index) in ("...", "()")


def _is_name(index: ast.expr) -> bool:
    return not isinstance(index, (ast.Slice, ast.Tuple)) and not (
        isinstance(index, ast.Constant) and not isinstance(index.value, str)
    )
