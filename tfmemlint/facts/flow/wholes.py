"""Arrays that hold all rows there are, made once by the program."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library import makers, traits
from tfmemlint.facts.library.kinds import Extent, Kind
from tfmemlint.facts.library.known_data import READ_DATA_SETS
from tfmemlint.facts.library.reading import LOADS
from tfmemlint.facts.library.shapes import width
from tfmemlint.facts.library.signatures import having
from tfmemlint.facts.syntax.arithmetic import constant
from tfmemlint.facts.syntax.nodes import names_in
from tfmemlint.facts.syntax.tree import parameters
from tfmemlint.light_typing import NamedTuple

_MAX_HOPS = 5
_MAKES = (
    having(traits.FRAME | traits.LOADS | traits.STORED | traits.GENERATOR)
    | READ_DATA_SETS
    | {*makers.FILLED}
)
_OF_LISTS = having(traits.JOINS | traits.LISTED)
_PARSES = frozenset({"json.load", "ujson.load"})
_LARGE_BATCH = 2_048
"""Rows that people choose as one batch, and benchmarks make as one."""
_READ = makers.LOADS_WHOLE | READ_DATA_SETS | (makers.FRAMES - {"pandas.DataFrame"})


class Whole(NamedTuple):
    """All the rows of an array, and what is known of their number and width."""

    rows: int | None
    width: int | None
    """How many numbers a row holds."""
    loaded: bool
    """Whether it was read from a file or is a ready-made data set."""
    given: bool
    """Whether it was read from what a function is given that nothing in the module calls.

    Such a function may be called for each of many files, or once.
    """

    @property
    def is_told(self) -> bool:
        """Whether its size is known, or it is all of something that is loaded."""
        return self.loaded or (self.rows is not None and self.width is not None)

    @property
    def is_no_batch(self) -> bool:
        """Whether it has more rows, as far as is known, than anybody chooses for one batch."""
        return self.rows is None or self.rows > _LARGE_BATCH


class Wholes:
    """The arrays of a file that are not parts of others, nor one of many."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._callers = tf.callers
        self._members = tf.members
        self._flow = tf.flow
        self._values = tf.values
        self._passes = tf.passes
        self._loading = tf.loading
        self._per_batch = tf.per_batch
        self._sources = tf.sources

    @cached_property
    def any_made(self) -> bool:
        """Whether anything in the file loads an array, or makes one of nothing but numbers."""
        makes = self._names.may_use(("keras.datasets",)) or self._names.mentions(_MAKES)
        return makes or self._names.mentions(_PARSES | LOADS)

    def of(self, expression: ast.expr, frame: Frame | None = None) -> Whole | None:
        """The array an expression is, if it holds all rows; sizes are upper bounds."""
        value = self._values.of(expression, frame)
        origin = value.origin
        if not value.is_array or value.extent is Extent.PART or origin is None:
            return None
        gathered = value.extent is Extent.UNKNOWN and self._is_gathered(origin)
        if (value.extent is Extent.UNKNOWN and not gathered) or self._per_batch.runs_again(origin):
            return None
        made = self._values.of(origin).shape
        shape = value.shape or made
        rows = shape[0] if shape else None
        if rows is None and made:
            rows = made[0]
        return Whole(
            rows, width(shape), gathered or self._is_loaded(origin), self._is_given(origin)
        )

    def stored_in(self, expression: ast.expr) -> Whole | None:
        """The array an expression is, if it is one of several that a file holds: `np.load(f)[2]`.

        It may be a row of one array, too, where nothing else tells.
        """
        made = self._flow.meant(expression)
        if not isinstance(made, ast.Subscript) or not isinstance(constant(made.slice), int):
            return None
        several = self.of(made.value)
        return None if several is None else several._replace(rows=None, width=None)

    def named(self, expression: ast.expr) -> ast.expr | None:
        """The name or attribute of a whole array whose rows these are, whatever their type."""
        inner: ast.expr | None = expression
        while inner is not None and not isinstance(inner, (ast.Name, ast.Attribute)):
            inner = self._passes.converted(inner)
        base: ast.expr | None = inner
        while isinstance(base, ast.Attribute):
            base = base.value
        return inner if inner and isinstance(base, ast.Name) and self.of(inner) else None

    def _is_given(self, node: ast.AST, hops: int = _MAX_HOPS) -> bool:
        """Whether `node` depends on an argument of a function that nothing in the module calls."""
        function = self._tree.function(node) if hops else None
        if function is None or isinstance(function, ast.Lambda) or function.name == "__init__":
            return False
        taken = parameters(function)[self._members.binds_first(function) :]
        names = {each.arg for each in taken}
        if names_in(node).isdisjoint(names):
            return False
        calls = self._callers.calls_of(function)
        return not calls or any(self._is_given(call, hops - 1) for call in calls)

    def _is_gathered(self, origin: ast.expr) -> bool:
        """Whether an array is made of a list that is loaded from all files, or parsed."""
        if not isinstance(origin, ast.Call) or not origin.args:
            return False
        if not self._names.is_any(origin.func, _OF_LISTS):
            return False
        given = origin.args[0]
        ends = (each.node for each in self._sources.of(given).found)
        parsed = (self._names.call_of(each, _PARSES) is not None for each in ends)
        return any(parsed) or self._loading.gathered(given) is not None

    def _is_loaded(self, origin: ast.expr) -> bool:
        name = self._names.called(origin)
        if name in _READ or name.startswith("keras.datasets."):
            return True
        stored = origin.value if isinstance(origin, ast.Subscript) else None
        if isinstance(origin, ast.Call) and origin.args:
            stored = origin.args[0]
        return stored is not None and self._values.of(stored).kind is Kind.STORED
