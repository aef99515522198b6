"""Arrays that become constants of graphs that are made by hand, for sessions to run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from itertools import chain

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import traits
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.library.signatures import having
from tfmemlint.facts.sizes.amounts import Amount, count, held, product
from tfmemlint.facts.syntax.nodes import nodes_of
from tfmemlint.light_typing import NamedTuple

_MADE_BY_HAND = frozenset(
    {
        *("tensorflow.assign", "tensorflow.get_variable", "tensorflow.placeholder"),
        *("tensorflow.disable_eager_execution", "tensorflow.disable_v2_behavior"),
    }
)
_EAGER = (
    "tensorflow.contrib.eager",
    "tensorflow.enable_eager_execution",
    "tensorflow.enable_v2_behavior",
    "tensorflow.executing_eagerly",
)
_VARIABLES = frozenset({"tensorflow.Variable", "tensorflow.get_variable"})
LOOKS_UP = frozenset({"tensorflow.gather", "tensorflow.nn.embedding_lookup"})
_FINDS = frozenset({"tensorflow.where"})
_TAKES: dict[str, tuple[int | None, str]] = {
    "tensorflow.Variable": (0, "initial_value"),
    "tensorflow.assign": (1, "value"),
    "tensorflow.cast": (0, "x"),
    "tensorflow.constant": (0, "value"),
    "tensorflow.constant_initializer": (0, "value"),
    "tensorflow.convert_to_tensor": (0, "value"),
    "tensorflow.gather": (0, "params"),
    "tensorflow.get_variable": (None, "initializer"),
    "tensorflow.nn.embedding_lookup": (0, "params"),
}
_OF_LISTS = having(traits.LISTED)
_NUMBER = held(4)


class GraphConstant(NamedTuple):
    """One array that a graph holds."""

    array: ast.expr
    nbytes: Amount


class GraphConstants:
    """Such arrays of a file that are known to be many bytes, or to be whole tables."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._tracing = tf.tracing
        self._values = tf.values
        self._arrays = tf.arrays
        self._wholes = tf.wholes
        self._sources = tf.sources
        self._loops = tf.loops

    @cached_property
    def all(self) -> tuple[GraphConstant, ...]:
        """Every one, in source order."""
        by_hand = [call for call, _ in self._names.calls(_MADE_BY_HAND)]
        if not by_hand or self._names.uses(_EAGER):
            return ()
        outside = not all(map(self._has_own_graph, by_hand))
        found = (each for each in self._found() if outside or self._has_own_graph(each.array))
        return tuple(sorted(found, key=_place))

    def _has_own_graph(self, node: ast.AST) -> bool:
        """Whether a graph is told for this code alone: `with tf.Graph().as_default():`."""
        blocks = (each for each in self._tree.ancestors(node) if isinstance(each, ast.With))
        opened = (nodes_of(ast.Attribute, *block.items) for block in blocks)
        return any(each.attr == "as_default" for each in chain.from_iterable(opened))

    def _found(self) -> Iterator[GraphConstant]:
        for call, array, holder in self._taken:
            made = [each for each in self._ends(array) if self._is_array(each)]
            if made and self._tracing.why(call) is None:
                declared = None if self._values.of(array).nbytes else self._declared(holder)
                nbytes = declared or self._arrays.nbytes(array)
                is_table = any(map(self._is_whole, made)) and self._is_looked_up(holder)
                if declared or self._values.of(array).nbytes or is_table:
                    yield GraphConstant(array, nbytes)

    @cached_property
    def _taken(self) -> tuple[tuple[ast.Call, ast.expr, ast.expr], ...]:
        """The calls that make constants of arrays, and what then holds the numbers."""
        found: list[tuple[ast.Call, ast.expr, ast.expr]] = []
        for call, name in self._names.calls(frozenset(_TAKES)):
            array = argument(call, *_TAKES[name])
            holder = argument(call, 0, "ref") if name == "tensorflow.assign" else call
            if array is not None and holder is not None:
                found.append((call, array, holder))
        for call, method in self._tree.methods("assign"):
            if call.args and self._variable(method.value) is not None:
                found.append((call, call.args[0], method.value))
        return tuple(found)

    def _ends(self, node: ast.expr) -> list[ast.expr]:
        found = (each.node for each in self._sources.of(node).found)
        return [each for each in found if isinstance(each, ast.expr)]

    def _is_array(self, made: ast.expr) -> bool:
        return self._values.of(made).kind is Kind.ARRAY

    def _variable(self, node: ast.expr) -> ast.Call | None:
        """The call that makes a variable."""
        ends = self._ends(node)
        return self._names.call_of(ends[0], _VARIABLES) if len(ends) == 1 else None

    def _declared(self, holder: ast.expr) -> Amount | None:
        """What the variable holds that the array is for, by the shape it is declared with."""
        for each in self._held_by(holder):
            made = self._variable(each)
            shape = self._values.shape(argument(made, 1, "shape")) if made is not None else None
            if shape is not None and None not in shape:
                return product([*(count(size) for size in shape if size is not None), _NUMBER])
        return None

    def _held_by(self, holder: ast.expr) -> list[ast.expr]:
        """What holds the numbers in the end: the variable that gets the constant."""
        found = [holder]
        for each in found:
            for _, array, other in self._taken:
                if other not in found and each in self._ends(array):
                    found.append(other)
        return found

    def _is_whole(self, made: ast.expr) -> bool:
        """Whether an array is all that a file holds, or is filled row by row."""
        home = self._tree.elsewhere(made)
        there = home.of(GraphConstants) if home is not None else self
        whole = there._wholes.of(made)
        return there._is_filled(made) or (whole is not None and whole.loaded)

    def _is_filled(self, made: ast.expr) -> bool:
        """Whether a loop puts each row where there was made room for all."""
        listed = self._names.call_of(made, _OF_LISTS)
        rooms = set(self._ends(listed.args[0])) if listed is not None and listed.args else {made}
        return any(
            isinstance(target, ast.Subscript)
            and bool(self._loops.around(assignment))
            and not rooms.isdisjoint(self._ends(target.value))
            for assignment in self._tree.all(ast.Assign)
            for target in assignment.targets
        )

    def _is_looked_up(self, holder: ast.expr) -> bool:
        """Whether rows are taken out of what holds the numbers: it is a table."""
        for each in self._held_by(holder):
            for made in self._ends(each):
                home = self._tree.elsewhere(made)
                there = home.of(GraphConstants) if home is not None else self
                if made in there.tables:
                    return True
        return False

    @cached_property
    def tables(self) -> frozenset[ast.expr]:
        """What rows are looked up in, by numbers that come from elsewhere."""
        looked_up = (
            argument(call, *_TAKES[name])
            for call, name in self._names.calls(LOOKS_UP)
            if not self._are_found(argument(call, 1, "indices") or argument(call, 1, "ids"))
        )
        return frozenset(end for each in looked_up if each is not None for end in self._ends(each))

    def _are_found(self, ids: ast.expr | None) -> bool:
        """Whether rows are picked by what they are like: those of one of some clusters."""
        made = [ids, *self._ends(ids)] if ids is not None else []
        parts = chain.from_iterable(nodes_of(ast.Call, each) for each in made)
        return any(self._names.is_any(each.func, _FINDS) for each in parts)


def _place(found: GraphConstant) -> tuple[int, int]:
    return found.array.lineno, found.array.col_offset
