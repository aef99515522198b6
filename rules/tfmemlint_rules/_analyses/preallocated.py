"""Arrays that are made beforehand, and filled by a loop with what each file holds."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.files import Content
from tfmemlint.facts.flow.loadable import may_load
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.library.makers import FILLED, argument
from tfmemlint.light_typing import NamedTuple

_MAKES = frozenset({"numpy.empty", "numpy.ndarray", "numpy.ones", "numpy.zeros"})
_FEWEST_AXES = 2


class Preallocated(NamedTuple):
    """One array with room for what each file holds."""

    made: ast.Call
    told: ast.expr | None
    """The dtype, where one is given."""
    files: ast.expr
    """What the loop goes over that fills it."""


class PreallocatedArrays:
    """Such arrays of a file, each once."""

    def __init__(self, tf: TensorFlow) -> None:
        self._loading = tf.loading
        self._flow = tf.flow
        self._tree = tf.tree
        self._names = tf.names
        self._loops = tf.loops
        self._objects = tf.objects
        self._iterables = tf.iterables
        self._per_batch = tf.per_batch

    @cached_property
    def all(self) -> tuple[Preallocated, ...]:
        """Every one, in the order in which they are filled."""
        if not self._names.mentions(_MAKES) or not may_load(self._tree, self._names):
            return ()
        found: dict[ast.Call, Preallocated] = {}
        for assignment in self._tree.all(ast.Assign):
            target = assignment.targets[0]
            each = self._filled(target, assignment) if isinstance(target, ast.Subscript) else None
            if each is not None:
                found.setdefault(each.made, each)
        return tuple(found.values())

    def _filled(self, target: ast.Subscript, assignment: ast.Assign) -> Preallocated | None:
        parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        row = parts[0] if parts else None  # `a[()] = x`
        if not isinstance(row, (ast.Attribute, ast.Name)):
            return None
        files = self._loaded_each_round(assignment)
        made = self._made(target.value) if files is not None else None
        if made is None or files is None:
            return None
        if any(self._tree.inside(made, each.node) for each in self._loops.around(assignment)):
            return None
        given = argument(made, 0, "shape")
        shape = None if given is None else self._flow.same(given)[-1]
        if not isinstance(shape, (ast.List, ast.Tuple)) or len(shape.elts) < _FEWEST_AXES:
            return None
        if not self._per_batch.runs_once(made) or self._per_batch.varies([files], made):
            return None
        return Preallocated(made, argument(made, FILLED["numpy.empty"].dtype_place, "dtype"), files)

    def _loaded_each_round(self, assignment: ast.Assign) -> ast.expr | None:
        """What a loop goes over that has each file read of what is put into the array."""
        for loop in self._loops.around(assignment):
            if loop.iterable is None or isinstance(loop.node, ast.While):
                continue
            if self._loads(assignment.value, loop):
                whole = not self._iterables.is_part(loop.node.iter)
                return self._iterables.counted(loop.iterable) or loop.iterable if whole else None
        return None

    def _loads(self, value: ast.expr, loop: Loop) -> bool:
        return self._loading.contents(loop.node).of(value, None) is Content.ARRAY

    def _made(self, holder: ast.expr) -> ast.Call | None:
        made = self._objects.made_once(holder)
        only = made.node if made is not None else None
        return self._names.call_of(only, _MAKES)
