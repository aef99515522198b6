"""Lists of traced code that `tf.TensorArray` or `tf.map_fn` could surely take the place of."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Growth, Loop
from tfmemlint.facts.graphs.graph_loops import InGraph
from tfmemlint.facts.graphs.loop_bodies import is_range
from tfmemlint.facts.library.makers import argument
from tfmemlint.light_typing import NamedTuple
from tfmemlint_rules._analyses.accumulations import Accumulated, Accumulations

_STACKS = frozenset({"tensorflow.convert_to_tensor", "tensorflow.stack", "keras.ops.stack"})
_JOINS = frozenset({"tensorflow.concat", "keras.ops.concatenate"})
_TAKES_TENSOR = (
    "tensorflow.math.reduce_",
    "tensorflow.reduce_",
    "tensorflow.reshape",
    "tensorflow.transpose",
)


class Reading(NamedTuple):
    """Where a list is taken for one tensor."""

    place: ast.expr
    """What stands for the tensor: `tf.stack(xs)`, or `xs` of `tf.transpose(xs)`."""
    joined: bool
    """Whether its elements are joined along their first axis, not stacked."""
    axis: int = 0
    """The one they are stacked along."""


class ArrayInLoop(NamedTuple):
    """A list that could be a `tf.TensorArray`, written to in each trip of a graph loop."""

    growth: Growth
    dtype: ast.expr | str
    """What has the dtype of its elements, or that dtype's name."""
    counter: str | None
    """The variable that counts the trips, if one does."""
    size: ast.expr | None
    """How many trips there are, where that is known beforehand."""
    start: ast.Assign
    value: ast.expr
    """The list as it starts."""
    loop: ast.stmt | None
    """The loop, if the array can be made right above it and no sooner: what it is made of gets its
    values below the list."""
    reading: Reading


class MappedRange(NamedTuple):
    """A comprehension over a range that could be a `tf.map_fn`."""

    made: ast.ListComp
    target: ast.Name
    dtype: ast.expr | str
    reading: Reading


class TensorArrays:
    """What could take the place of lists that traced code accumulates."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._values = tf.values
        self._tensors = tf.tensors
        self._dtypes = tf.dtypes
        self._loops = tf.loops
        self._loop_bodies = tf.loop_bodies
        self._graph_loops = tf.graph_loops
        self._accumulations = tf.of(Accumulations)

    def in_loop(self, loop: Loop, kind: InGraph) -> tuple[ArrayInLoop, ...]:
        """Arrays for all lists of a loop, which could surely be one graph loop; else none.

        Not for some of them: a list that is left would fail in a graph loop.
        """
        if not self._graph_loops.autograph(loop.node):
            return ()
        grown = [each for each in self._loops.growths if loop in each.loops]
        replaced = [self._tree.statement(each.node) for each in grown]
        if kind is InGraph.COPIES and not self._loop_bodies.fit_graph(loop, replaced):
            return ()
        arrays = [self._array(each, loop) for each in grown]
        whole = tuple(each for each in arrays if each is not None)
        return whole if len(whole) == len(arrays) else ()

    def mapped(self, found: Accumulated) -> MappedRange | None:
        """What a comprehension could be mapped by, if nothing but a stack reads it."""
        made, read = found.node, found.reads[0]
        reading = self._reading(read)
        if not isinstance(made, ast.ListComp) or len(made.generators) != 1:
            return None
        (clause,) = made.generators
        target = clause.target
        if reading is None or reading.joined or reading.place is made or read.args[:1] != [made]:
            return None
        if clause.ifs or clause.is_async or not is_range(clause.iter):
            return None
        if not isinstance(target, ast.Name) or not self._loop_bodies.takes_tensor(target):
            return None

        def is_there(name: ast.Name) -> bool:
            here = self._bindings.home(name.id, name) is made
            return not here and self._tensors.is_tensor(name)

        dtype = self._dtypes.of(made.elt, is_there)
        return MappedRange(made, target, dtype, reading) if dtype is not None else None

    def _array(self, growth: Growth, loop: Loop) -> ArrayInLoop | None:
        bodies, read = self._loop_bodies, self._only_read(growth, loop)
        reading = self._reading(read) if read is not None else None
        if reading is None:
            return None
        counter, size = self._graph_loops.counted(loop) or (None, None)
        if size is None and self._graph_loops.compiled(loop.node):
            return None
        dtype = self._dtypes.of(growth.elements[0], lambda name: bodies.carries(name, loop))
        start, value = self._tree.statement(growth.start.node), growth.start.value
        if dtype is None or value is None:
            return None
        if not isinstance(start, ast.Assign) or len(start.targets) != 1:
            return None
        parts = (each for each in (dtype, size) if isinstance(each, ast.expr))
        names = (name for each in parts for name in ast.walk(each) if isinstance(name, ast.Name))
        above = None
        if not all(bodies.brings(each, loop, start) for each in names):
            above = loop.node if isinstance(loop.node, ast.stmt) else None
            if above is None or start.value is not value or not self._tree.runs_with(above, start):
                return None
        return ArrayInLoop(growth, dtype, counter, size, start, value, above, reading)

    def _only_read(self, growth: Growth, loop: Loop) -> ast.Call | None:
        """What takes a list, if it grows by one in each trip of this loop and is read once behind.

        In one function, by its name, with nothing else done to it.
        """
        tree, node = self._tree, loop.node
        again = self._loops.growths_of(growth.start)
        found = (each for each in self._accumulations.all if each.node is growth.node)
        reads = [call for each in found for call in each.reads]
        uses = self._bindings.readers(growth.start)
        count = len(uses) + isinstance(growth.node, ast.AugAssign)
        once = len(growth.loops) == len(growth.elements) == len(reads) == len(again) == 1
        if isinstance(node, ast.comprehension) or not once or count != 2:
            return None
        (read,) = reads
        if tree.statement(growth.node) not in node.body or read.lineno < node.lineno:
            return None
        given = [*read.args[:1], *(each.value for each in read.keywords)]
        functions = {tree.function(each) for each in (growth.start.node, growth.node, read)}
        named = any(each in uses for each in given)
        return read if named and len(functions) == 1 and not tree.inside(read, node) else None

    def _reading(self, read: ast.Call) -> Reading | None:
        """How a call takes a list; None where it is told more than the axis, or that is unknown."""
        name, axis = self._names.qualified(read.func) or "", argument(read, 1, "axis")
        if name.startswith(_TAKES_TENSOR):
            return Reading(read.args[0], joined=False) if read.args else None
        place = 0 if axis is None else self._values.number(axis)
        plain = len(read.args) + len(read.keywords) == 1 + (axis is not None)
        if not plain or not isinstance(place, int):
            return None
        if name in _STACKS:
            return Reading(read, joined=False, axis=place)
        return Reading(read, joined=True) if name in _JOINS and place == 0 else None
