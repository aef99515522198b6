"""Results that are read as one row: `argmax(model.predict(x)[0])`."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import makers
from tfmemlint.facts.syntax.arithmetic import constant
from tfmemlint.facts.syntax.nodes import called

_OF_ALL = frozenset({"amax", "argmax", "argmin", "max", "min"})
"""Functions that take what they are given for one row, unless they are told an axis."""
_OF_EACH = _OF_ALL | {"argsort", "mean", "softmax", "sum"}
_MAKES_MODEL = frozenset({"keras.Model", "keras.Sequential"})


class ReadsOfOne:
    """The predictions of a module of which only the first row is read."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._flow = tf.flow
        self._uses = tf.uses
        self._values = tf.values

    def of(self, call: ast.Call) -> bool:
        """Whether what a call of a model's method gives is surely read as one row.

        Some use reads one, and none reads several.
        """
        assert isinstance(call.func, ast.Attribute)
        above = self._tree.parent(call)
        if isinstance(above, ast.Assign) and _is_unpacked(above):  # each name is of one output
            reads = [self._reads(each, True) for each in self._uses.of_names_in(above)]
            return True in reads and False not in reads
        return self._is_read(call, self._gives_one_output(call.func.value) or _is_of_one(call))

    def _is_read(self, made: ast.expr, alone: bool) -> bool:
        trails = self._uses.of(made) or self._uses.here(made) or ()
        reads = [self._reads(trail[-1], alone) for trail in trails]
        return True in reads and (False not in reads)

    def _reads(self, use: ast.expr, alone: bool) -> bool | None:
        """Whether a use reads one row; None if it says nothing of rows, or may be of outputs."""
        above = self._tree.parent(use)
        if not isinstance(above, ast.Subscript) or above.value is not use:
            each = self._of_each_row(use)
            if self._fills_row(use) or (each is not None and self._is_read(each, True)):
                return True
            return self._reads_all(use) or (False if self._goes_over(use) else None)
        index = above.slice
        if isinstance(index, ast.Tuple):
            return bool(index.elts and _is_zero(index.elts[0]))
        if not _is_zero(index):
            return False
        of_row = isinstance(self._tree.parent(above), ast.Subscript)
        return alone or of_row or self._reads_all(above) or False

    def _fills_row(self, use: ast.expr) -> bool:
        """Whether all of it becomes one row of an array: `features[i, :] = y.reshape(-1)`."""
        method = self._tree.parent(use)
        call = self._tree.parent(method) if isinstance(method, ast.Attribute) else None
        if not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call):
            return False
        flat = method.attr in ("flatten", "ravel") and not call.args
        if not flat and not (method.attr == "reshape" and _is_minus_one(call.args)):
            return False
        filled = self._tree.parent(call)
        target = filled.targets[0] if isinstance(filled, ast.Assign) else None
        index = target.slice if isinstance(target, ast.Subscript) else None
        first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
        return isinstance(first, ast.Name)

    def _of_each_row(self, use: ast.expr) -> ast.Call | None:
        """What makes something of each row: `np.argmax(use, axis=-1)`, `use.argmax(axis=1)`."""
        above = self._tree.parent(use)
        method = above.attr if isinstance(above, ast.Attribute) else None
        call = self._tree.parent(above) if isinstance(above, ast.Attribute) else above
        if not isinstance(call, ast.Call) or (method is None and call.args[:1] != [use]):
            return None
        name = method or (self._names.qualified(call.func) or "").rpartition(".")[2]
        axis = makers.argument(call, 1 if method is None else 0, "axis")
        number = None if axis is None else constant(axis)
        return call if name in _OF_EACH and number is not None and number != 0 else None

    def _goes_over(self, use: ast.expr) -> bool:
        """Whether code takes one row after the other, or asks how many there are."""
        above = self._tree.parent(use)
        if isinstance(above, (ast.For, ast.comprehension)):
            return above.iter is use
        if isinstance(above, ast.Attribute):
            call = self._tree.parent(above)
            told = isinstance(call, ast.Call) and call.func is above and above.attr in _OF_ALL
            return told and isinstance(call, ast.Call) and bool(call.args or call.keywords)
        if isinstance(above, ast.Call) and use in above.args:
            axis = any(each.arg == "axis" for each in above.keywords)
            return axis or called(above) in ("enumerate", "len", "list", "zip")
        return isinstance(above, ast.Starred) or _is_unpacked(above)

    def _reads_all(self, use: ast.expr) -> bool:
        """Whether a use makes one number of an array: `np.argmax(y)`, `float(y)`, `y.item()`."""
        above = self._tree.parent(use)
        if isinstance(above, ast.Attribute):
            call = self._tree.parent(above)
            whole = isinstance(call, ast.Call) and not call.args and not call.keywords
            return whole and (above.attr == "item" or above.attr in _OF_ALL)
        if not isinstance(above, ast.Call) or above.args != [use] or above.keywords:
            return False
        if called(above) in ("float", "int"):
            return True
        name = self._names.qualified(above.func) or ""
        return name.startswith("numpy.") and name.rpartition(".")[2] in _OF_ALL

    def _gives_one_output(self, model: ast.expr) -> bool:
        """Whether a model surely has one output: then `[0]` is a row and no array of several."""
        origin = self._values.of(model).origin
        if not isinstance(origin, ast.Call):
            return False
        name = self._names.qualified(origin.func) or ""
        if name.startswith("keras.applications.") or name == "keras.Sequential":
            return True
        outputs = makers.argument(origin, 1, "outputs") if name in _MAKES_MODEL else None
        if isinstance(outputs, ast.Name):
            made = self._flow.origins(outputs) or ()
            return bool(made) and all(_is_layer(each.value) and not each.path for each in made)
        return outputs is not None and _is_layer(outputs)


def _is_of_one(call: ast.Call) -> bool:
    """`predict(x, batch_size=1)`: told to take the rows one at a time, there are no more."""
    told = makers.argument(call, 1, "batch_size")
    return isinstance(told, ast.Constant) and told.value == 1


def _is_layer(made: ast.expr) -> bool:
    """`Dense(10)(x)`: a layer that is made and called on the spot."""
    return isinstance(made, ast.Call) and isinstance(made.func, ast.Call)


def _is_unpacked(above: ast.AST | None) -> bool:
    targets = above.targets if isinstance(above, ast.Assign) else []
    return any(isinstance(each, (ast.Tuple, ast.List)) for each in targets)


def _is_minus_one(given: list[ast.expr]) -> bool:
    return len(given) == 1 and ast.unparse(given[0]) == "-1"


def _is_zero(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value == 0 and index.value is not False
