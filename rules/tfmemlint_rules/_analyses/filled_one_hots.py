"""Arrays of zeros in which a loop, or an index, sets a one for each word or label."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import DTYPE_BYTES, argument
from tfmemlint.facts.syntax.nodes import same_code
from tfmemlint.facts.syntax.targets import targets
from tfmemlint.facts.syntax.tree import LOOPS
from tfmemlint.light_typing import NamedTuple
from tfmemlint_rules._analyses.one_hots import A_FEW

_ZEROS = frozenset({"numpy.zeros"})
_TAKES = frozenset({"evaluate", "fit", "from_tensor_slices", "predict"})
_COUNTS = frozenset({"arange", "enumerate", "range", "trange"})
_MAX_HOPS = 6


class FilledOneHot(NamedTuple):
    """One array that is mostly zeros, with as many numbers a word as there are words."""

    made: ast.Call
    """`np.zeros(...)`."""
    name: str
    axes: tuple[ast.expr, ...]
    """What each axis is as long as: rows, perhaps steps, and the words or classes."""
    width: int
    """Bytes of each number."""
    total: int | None
    is_label: bool
    """Whether a model is trained to give it."""


class FilledOneHots:
    """Such arrays of a file, that models are given."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._loops = tf.loops
        self._names = tf.names
        self._bindings = tf.bindings
        self._callers = tf.callers
        self._values = tf.values
        self._per_batch = tf.per_batch
        self._tracing = tf.tracing

    @cached_property
    def all(self) -> tuple[FilledOneHot, ...]:
        """Every one, in source order."""
        made = (self._of(call) for call, _ in self._names.calls(_ZEROS))
        found = [each for each in made if each is not None]
        return tuple(each for each in found if not any(_is_beside(each, one) for one in found))

    def _of(self, made: ast.Call) -> FilledOneHot | None:
        shape, assignment = argument(made, 0, "shape"), self._tree.parent(made)
        if not isinstance(shape, (ast.Tuple, ast.List)) or not isinstance(assignment, ast.Assign):
            return None
        target, axes = assignment.targets[0], tuple(shape.elts)
        alike = any(same_code(each, axes[-1]) for each in axes[:-1])
        if len(axes) not in (2, 3) or alike or not isinstance(target, ast.Name):
            return None
        if isinstance(axes[0], ast.Constant):  # as many rows, whatever the data: a batch
            return None
        binding = self._bindings.at(target)
        if binding is None or not self._is_done_once(made):
            return None
        readers = self._bindings.readers(binding)
        if not self._is_marked(readers, axes):
            return None
        given = {each for use in readers for each in self._given(use, _MAX_HOPS)}
        if not given or (given == {"fed"} and len(axes) == 2):  # nobody says that rows are words
            return None
        named = argument(made, 1, "dtype")
        plain = named.id if isinstance(named, ast.Name) else ""
        dtype = {"bool": "bool", "int": "int64"}.get(plain) or self._values.dtype(named)
        width = 8 if named is None else DTYPE_BYTES.get(dtype or "", 8)
        numbers = self._values.of(made).elements
        total = None if numbers is None else numbers * width
        kinds, is_label = self._values.number(axes[-1]), given == {"label"}
        if is_label and len(axes) == 2 and kinds is not None and kinds <= A_FEW:
            return None
        return FilledOneHot(made, target.id, axes, width, total, is_label)

    def _is_done_once(self, made: ast.Call) -> bool:
        """Whether no batch is made so: not in a loop, a generator, or traced code."""
        if self._tracing.why(made) is not None or self._loops.around(made):
            return False
        return self._per_batch.runs_once(made)

    def _is_marked(self, readers: Iterable[ast.expr], axes: tuple[ast.expr, ...]) -> bool:
        """Whether ones are set in an array, and nothing else."""
        marks = [found for each in readers if (found := self._set(each)) is not None]
        return bool(marks) and all(self._is_mark(*each, axes) for each in marks)

    def _set(self, use: ast.expr) -> tuple[ast.expr, list[ast.expr]] | None:
        """What is given a value in an array, and its places: `x[i, k]`, `x[i][k]`, `x[i]`."""
        places: list[ast.expr] = []
        while isinstance(above := self._tree.parent(use), ast.Subscript) and above.value is use:
            places += above.slice.elts if isinstance(above.slice, ast.Tuple) else [above.slice]
            use = above
        stored = isinstance(use, ast.Subscript) and not isinstance(use.ctx, ast.Load)
        return (use, places) if stored else None

    def _is_mark(
        self, target: ast.expr, places: list[ast.expr], axes: tuple[ast.expr, ...]
    ) -> bool:
        """Whether a one is set at a row that is counted and a place that is looked up.

        Or a whole row is set that was made so.
        """
        statement = self._tree.parent(target)
        if not isinstance(statement, ast.Assign):
            return False
        if isinstance(statement.value, ast.Constant) and statement.value.value == 1:
            if len(places) != len(axes) or not self._is_counted(places[0]):
                return False
            steps = all(
                isinstance(each, ast.Slice) or self._is_counted(each) for each in places[1:-1]
            )
            return steps and self._is_looked_up(places[-1])
        places = [each for each in places if not isinstance(each, ast.Slice)]
        row = self._bindings.only(statement.value)
        made = self._names.call_of(row.value if row is not None else None, _ZEROS)
        shape, rest = made and argument(made, 0, "shape"), axes[len(places) :]
        if row is None or not isinstance(shape, (ast.Tuple, ast.List)) or not rest:
            return False
        alike = len(rest) == len(shape.elts) and all(map(same_code, shape.elts, rest))
        counted = all(map(self._is_counted, places))
        return alike and counted and self._is_marked(self._bindings.readers(row), rest)

    def _is_counted(self, place: ast.expr) -> bool:
        """Whether a place is that of a round, `i` of `for i, x in enumerate(xs)`, or all rows.

        Or so many before or behind it: `t - 1`.
        """
        if isinstance(place, ast.BinOp) and isinstance(place.op, (ast.Add, ast.Sub)):
            return isinstance(place.right, ast.Constant) and self._is_counted(place.left)
        if isinstance(place, ast.Call):
            return self._names.qualified(place.func) == "numpy.arange"
        return isinstance(place, ast.Name) and self._counter(place)

    def _counter(self, place: ast.Name) -> bool:
        for loop in self._tree.ancestors(place):
            if isinstance(loop, LOOPS) and not isinstance(loop, ast.While):
                for name, path in targets(loop.target, ast.Name):
                    if name.id == place.id:
                        return self._counts(loop.iter) and (not path or path == (0,))
        return False

    def _counts(self, iterable: ast.expr) -> bool:
        while isinstance(iterable, ast.Call) and iterable.args:
            word = getattr(iterable.func, "attr", getattr(iterable.func, "id", ""))
            if word in _COUNTS:
                return True
            iterable = iterable.args[0]
        return False

    def _is_looked_up(self, place: ast.expr) -> bool:
        """Whether a place comes from the data: `index[word]`, a label, all of them."""
        if isinstance(place, ast.Name):
            return not self._counter(place)
        return isinstance(place, (ast.Attribute, ast.Call, ast.Subscript))

    def _given(self, use: ast.expr, hops: int) -> Iterator[str]:
        """What a model takes an array for, or some of its rows: "label" or "input".

        Or that a session is "fed" with it, for whatever that may be.
        """
        above = self._tree.parent(use)
        if isinstance(above, ast.Subscript) and above.value is use and _is_of_rows(above.slice):
            yield from self._given(above, hops)
            return
        place, is_second = None, isinstance(above, ast.Tuple) and use in above.elts[1:]
        held: ast.AST = use
        while isinstance(above, (ast.Dict, ast.List, ast.Tuple, ast.keyword)):
            if isinstance(above, ast.Tuple) and not self._is_told(above):
                break
            place = above.arg if isinstance(above, ast.keyword) else place
            held, above = above, self._tree.parent(above)
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute):
            if place == "feed_dict":
                yield "fed"
            elif above.func.attr in _TAKES and held is not above.func.value:
                is_label = is_second or place == "y" or held in above.args[1:2]
                yield "label" if is_label else "input"
        elif hops and isinstance(above, ast.Assign):
            for each in self._read_as(above, ()):
                yield from self._given(each, hops - 1)
        elif hops and isinstance(above, (ast.Return, ast.Tuple)):
            yield from self._returned(use, above, hops)

    def _is_told(self, parts: ast.Tuple) -> bool:
        """Whether a pipeline is made of inputs and labels together."""
        call = self._tree.parent(parts)
        method = call.func if isinstance(call, ast.Call) else None
        return isinstance(method, ast.Attribute) and method.attr == "from_tensor_slices"

    def _returned(self, use: ast.expr, above: ast.Return | ast.Tuple, hops: int) -> Iterator[str]:
        """What a model takes a function's result for, be it one of several."""
        path = (above.elts.index(use),) if isinstance(above, ast.Tuple) else ()
        leaves = self._tree.parent(above) if isinstance(above, ast.Tuple) else above
        function = self._tree.function(use)
        if not isinstance(leaves, ast.Return) or function is None:
            return
        for call in self._callers.calls_of(function):
            statement = self._tree.parent(call)
            if isinstance(statement, ast.Assign):
                for each in self._read_as(statement, path):
                    yield from self._given(each, hops - 1)

    def _read_as(self, statement: ast.Assign, path: tuple[int, ...]) -> Iterator[ast.Name]:
        """Where the name is read that a statement gives its value to, or the part at a path."""
        for name, taken in targets(statement.targets[0], ast.Name):
            yield from self._bindings.read_of(name) if taken == path else ()


def _is_of_rows(place: ast.expr) -> bool:
    """Whether an index takes rows as they are: `y[:count]`, `y[train]`, no number of one."""
    return isinstance(place, (ast.Name, ast.Slice))


def _is_beside(small: FilledOneHot, large: FilledOneHot) -> bool:
    """Whether one has as many rows, of the same words, as a cube, which is so many times larger."""
    ends = zip((small.axes[0], small.axes[-1]), (large.axes[0], large.axes[-1]), strict=True)
    return len(small.axes) < len(large.axes) and all(same_code(*each) for each in ends)
