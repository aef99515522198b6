"""The rounds in which arrays grow: how many there are, and what they copy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from math import prod

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.labels import Labels
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.graphs.graph_loops import InGraph
from tfmemlint.facts.graphs.tracing import TracedBy
from tfmemlint.facts.library.makers import RANGES, argument
from tfmemlint.facts.library.training import TRAINS
from tfmemlint.facts.syntax.nodes import called, is_literal, same_code, within
from tfmemlint.facts.syntax.tree import LoopNode
from tfmemlint_rules._analyses.joins import Joined, Joins

_OF_DATA = frozenset({Over.ARRAY, Over.DATASET, Over.OFFSETS, Over.TENSOR})
_COUNTS = frozenset(
    f"tensorflow.{module}{name}"
    for module in ("", "math.")
    for name in ("argmax", "argmin", "argsort", "count_nonzero", "shape", "size")
)
"""Functions that give whole numbers, unless they are told a dtype."""
_OF_LISTS = {
    "tensorflow.constant": "value",
    "tensorflow.convert_to_tensor": "value",
    "tensorflow.cumsum": "x",
    "tensorflow.math.cumsum": "x",
}
"""Functions that make a tensor of as many numbers as a list has."""
_SPACED = frozenset({"tensorflow.linspace", "numpy.linspace", "numpy.geomspace", "numpy.logspace"})
"""What gives numbers at even distances: levels and schedules, if nobody says how many."""
_NUMBER_BY_NUMBER = frozenset(
    f"{module}{name}"
    for module in ("numpy.", "tensorflow.", "tensorflow.math.")
    for name in ("cast", "exp", "flip", "log", "reverse", "sqrt", "square")
)
_GRADIENTS = frozenset({"tensorflow.GradientTape", "tensorflow.gradients"})
_WIDE = 33
"""Numbers in a row: fewer are 256 bytes, less than most of what they are about."""
_WHOLE = ("bool", "int", "uint")
_MAX_HOPS = 4
_BY_ROWS = frozenset({"numpy.append", "numpy.concatenate", "numpy.vstack"})
_FROM_MODEL = frozenset({"numpy", "predict", "predict_on_batch"})


class GrowingRounds:
    """The loops of a file in which arrays are joined to more."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._flow = tf.flow
        self._values = tf.values
        self._dtypes = tf.dtypes
        self._datasets = tf.datasets
        self._lengths = tf.lengths
        self._iterables = tf.iterables
        self._tensors = tf.tensors
        self._tracing = tf.tracing
        self._graph_loops = tf.graph_loops
        self._joins = tf.of(Joins)
        self._loading = tf.loading
        self._labels = tf.of(Labels)
        self._growths = tf.growths
        self._little: dict[LoopNode | ast.comprehension, bool] = {}

    def are_many(self, joined: Joined, few: int) -> bool:
        """Whether one of the loops has more rounds than a few, or as many as there is data."""
        return any(self._is_long(joined, each, few) for each in joined.loops)

    def copy_tensors(self, joined: Joined) -> bool:
        """Whether the code copies, as it runs, tensors or what comes of them.

        A loop that tracing writes out does not, nor one that makes a graph by hand: there it is
        the graph that grows.
        """
        if self._tracing.by_hand:
            return False
        if self._tracing.why(joined.node) is not None:
            loops = map(self._graph_loops.becomes, joined.loops)
            return InGraph.LOOP in loops and self.is_for_gradient(joined)
        loop = joined.loops[0]
        if loop.node not in self._little:
            self._little[loop.node] = self._gathers_little(loop)
        if self._little[loop.node]:
            return False
        iterable = loop.iterable
        lists = iterable is not None and self._lists_batches(iterable)
        over_data = lists or (loop.over is not Over.ARRAY and self._gives_data(iterable))
        return (
            over_data
            or self.is_for_gradient(joined)
            or any(map(self._is_from_model, self.made_of(joined)))
            or any(called(each) == "next" for each in self.made_of(joined))
            or self.are_of_files(joined)
            or (not joined.is_numpy and self._tracing.surely_eager(joined.node))
        )

    def _gathers_little(self, loop: Loop) -> bool:
        """Whether NumPy gathers nothing in a loop but a few numbers for each example."""
        if any(self._tree.inside(each, loop.node) for each in self._growths.places):
            return False
        joins = [each for each in self._joins.all if each.loops[0].node is loop.node]
        return all(each.is_numpy and self._adds_little(each) for each in joins)

    def _adds_little(self, joined: Joined) -> bool:
        added, labels = joined.added, self._labels
        if any(map(labels.are_scores, (joined.target, *added))) or self._is_narrow(joined):
            return True
        return all(labels.are_in(each) or self._is_measured(each) for each in added)

    def _is_measured(self, node: ast.expr) -> bool:
        """Whether this is what a metric has come to: `accuracy.result()`."""
        method = node.func if isinstance(node, ast.Call) else None
        if not isinstance(method, ast.Attribute) or method.attr != "result":
            return False
        made, _ = self._flow.made(method.value)
        return self._names.called(made).startswith("keras.metrics.")

    def _is_narrow(self, joined: Joined) -> bool:
        """Whether an array starts as no rows, of a few numbers each: `np.empty((0, 10))`."""
        if joined.function == "numpy.append" and argument(joined.call, 2, "axis") is None:
            return False
        starts = (self._values.bound(each).shape for each in self._bindings.sharing(joined.target))
        known = (each[1:] for each in starts if each and each[0] == 0)
        return any(row and prod(each or _WIDE for each in row) < _WIDE for row in known)

    def are_of_files(self, joined: Joined) -> bool:
        """Whether NumPy joins, row by row, what each round reads from a file to what there was."""
        axis = argument(joined.call, 2 if joined.function == "numpy.append" else 1, "axis")
        by_rows = joined.function in _BY_ROWS and (axis is None or is_literal(axis, 0))
        return by_rows and self._loading.loads_in(joined.loops[0], joined.added)

    def is_for_gradient(self, joined: Joined) -> bool:
        """Whether a gradient is seen to be taken of the copies that a graph makes, or of a tape.

        A model's `call` is there to be trained; what only serves or exports keeps nothing.
        """
        if not self.may_have_gradient(joined) or any(map(_is_inference, self.made_of(joined))):
            return False
        traced = self._tracing.why(joined.node)
        trained = traced is not None and (traced.by is TracedBy.KERAS or self._trains)
        return trained or self._joins.tape(joined) is not None

    @cached_property
    def _trains(self) -> bool:
        """Whether anything in the file is trained, or asked for gradients."""
        return self._names.mentions(_GRADIENTS) or any(self._tree.methods(*TRAINS))

    def may_have_gradient(self, joined: Joined) -> bool:
        """Whether copies may be kept for a gradient: of whole numbers none is taken."""
        target = joined.target
        starts = (
            binding.value
            for each in ast.walk(joined.call)
            if isinstance(each, ast.Name) and isinstance(target, ast.Name) and each.id == target.id
            for binding in self._bindings.reaching(each)
            if binding.value is not None and not binding.path
        )
        return not any(map(self._is_of_whole_numbers, (*joined.added, *starts)))

    def _is_of_whole_numbers(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call) and self._names.is_any(node.func, _COUNTS):
            return not any(each.arg in ("out_type", "output_type") for each in node.keywords)
        dtype = self._dtypes.of(node, lambda _: False)
        return isinstance(dtype, str) and dtype.startswith(_WHOLE)

    def made_of(self, joined: Joined) -> Iterator[ast.AST]:
        """The code that makes, in a round of the innermost loop, what the array is joined to."""
        pending: list[ast.AST] = [*joined.added]
        seen: set[ast.AST] = set()
        for each in pending:
            for node in within([each]):
                yield node
                if not isinstance(node, ast.Name):
                    continue
                for binding in self._bindings.reaching(node):
                    value = binding.value
                    inside = self._tree.inside(binding.node, joined.loops[0].node)
                    if inside and value is not None and value not in seen:
                        seen.add(value)
                        pending.append(value)

    def _is_long(self, joined: Joined, loop: Loop, few: int) -> bool:
        if loop.trips is not None:
            return loop.trips > few
        if loop.iterable is None:
            return self._graph_loops.becomes(loop) is InGraph.LOOP
        if loop.over in _OF_DATA:
            return all(most is None or most > few for most in self._bounds(loop.iterable))
        listed, counted = self._listed(loop.iterable), self._iterables.counted(loop.iterable)
        if listed is not None and listed <= few:
            return False
        if counted is not None:
            is_data = self._values.of(counted).is_array or self._tensors.is_tensor(counted)
            return is_data or any(_takes_next(each, counted) for each in self.made_of(joined))
        if self._gives_data(loop.iterable) or self._are_slices_added(joined, loop):
            return True
        if self._counts_batches(loop.iterable) or self._lists_batches(loop.iterable):
            return True
        return loop is joined.loops[0] and self.are_of_files(joined)

    def _counts_batches(self, iterable: ast.expr) -> bool:
        """Whether a loop has as many rounds as there are batches: `range(rows // size)`."""
        counts = isinstance(iterable, ast.Call) and called(iterable) in RANGES
        bound = iterable.args[0] if isinstance(iterable, ast.Call) and counts else None
        for _ in range(_MAX_HOPS):
            if isinstance(bound, ast.BinOp):
                if isinstance(bound.op, (ast.Div, ast.FloorDiv)):
                    return True
                bound = bound.left if isinstance(bound.op, (ast.Add, ast.Sub)) else None
            elif isinstance(bound, ast.Call) and len(bound.args) == 1:
                bound = bound.args[0]  # `int(rows / size)`
            else:
                before = None if bound is None else self._flow.one_before(bound)
                bound = None if before is None else before.value
        return False

    def _lists_batches(self, iterable: ast.expr) -> bool:
        """Whether a list has what each round of a comprehension takes to NumPy, or predicts."""
        rest = iterable.slice if isinstance(iterable, ast.Subscript) else None
        if isinstance(rest, ast.Slice) and isinstance(iterable, ast.Subscript):
            iterable = iterable.value if rest.upper is None else iterable  # `batches[1:]`
        listed = self._followed(iterable)
        return isinstance(listed, ast.ListComp) and self._is_from_model(listed.elt)

    def _bounds(self, iterable: ast.expr) -> Iterator[float | None]:
        """How much there is at the most: so many elements of a pipeline, `n` for `rows[:n]`."""
        yield from map(self._lengths.elements, self._datasets.of(iterable))
        yield self._listed(iterable)
        cut = iterable.slice if isinstance(iterable, ast.Subscript) else None
        if isinstance(cut, ast.Slice) and cut.upper is not None:
            yield self._values.number(cut.upper)

    def _listed(self, iterable: ast.expr) -> float | None:
        """How many numbers Python lists or lays out for a tensor: none known to be many."""
        listed = self._followed(iterable)
        if not isinstance(listed, ast.Call):
            return None
        while isinstance(listed, ast.Call):
            name = self._names.qualified(listed.func) or ""
            if name in _SPACED:
                return self._values.number(argument(listed, 2, "num")) or 0
            keyword = "x" if name in _NUMBER_BY_NUMBER else _OF_LISTS.get(name)
            given = argument(listed, 0, keyword) if keyword is not None else None
            if given is None:
                return None
            listed = self._followed(given)
        if isinstance(listed, (ast.List, ast.Tuple)):
            return len(listed.elts)
        if isinstance(listed, ast.ListComp):
            over = listed.generators[0].iter
            if self._is_from_model(listed.elt):
                return None
            return None if self._gives_data(over) or self._values.of(over).is_array else 0
        return None

    def _followed(self, node: ast.expr) -> ast.expr:
        """What a name is given, through as many names as there are in between."""
        for _ in range(_MAX_HOPS):
            before = self._flow.one_before(node) if isinstance(node, ast.Name) else None
            if before is None:
                break
            node = before.value
        return node

    def _gives_data(self, iterable: ast.expr | None) -> bool:
        return iterable is not None and (
            self._datasets.is_dataset(iterable) or self._iterables.gives_data(iterable)
        )

    def _are_slices_added(self, joined: Joined, loop: Loop) -> bool:
        """Whether what is added is made of rows that the loop's variable picks: `x[i : i + n]`."""
        slices = (
            each.slice
            for each in self.made_of(joined)
            if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Slice)
        )
        return any(
            isinstance(name, ast.Name) and name.id in loop.targets
            for each in slices
            for name in within([each])
        )

    def _is_from_model(self, node: ast.AST) -> bool:
        """Whether this is `model.predict(...)` or `tensor.numpy()`."""
        method = node.func if isinstance(node, ast.Call) else None
        if not isinstance(method, ast.Attribute) or method.attr not in _FROM_MODEL:
            return False
        return self._names.qualified(method) is None


def _takes_next(node: ast.AST, iterator: ast.expr) -> bool:
    """Whether this is `next(batches)`, as in `for _ in range(len(batches))`."""
    taken = node.args[0] if isinstance(node, ast.Call) and node.args else None
    return called(node) == "next" and taken is not None and same_code(taken, iterator)


def _is_inference(node: ast.AST) -> bool:
    """Whether a model is told that it is not trained: `model(x, training=False)`."""
    return isinstance(node, ast.Call) and is_literal(argument(node, None, "training"), False)
