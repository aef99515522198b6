"""Lists that `map` could make: one element for each of a sequence, by operations alone."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loading import Gathered
from tfmemlint.facts.flow.loops import Growth
from tfmemlint.light_typing import NamedTuple
from tfmemlint_rules._analyses.ops import Ops


class Filling(NamedTuple):
    """How an element of the list is made."""

    sequence: ast.expr
    each: str
    """What the code calls the element of the sequence."""
    made: ast.expr
    """The element of the list."""
    appends: tuple[ast.For, ast.Call] | None
    """The loop and the `append` it ends with; None where a comprehension makes the list."""


class Fillings:
    """How the lists of a module are filled, where TensorFlow alone could do it."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._loops = tf.loops
        self._iterables = tf.iterables
        self._ops = tf.of(Ops)

    def of(self, gathered: Gathered, reader: ast.expr) -> Filling | None:
        """How a list is filled that is there for one reader alone."""
        if gathered.comprehension is not None and gathered.comprehension is reader:
            return self._of_comprehension(gathered.comprehension)
        return self._of_loop(gathered.growth, reader) if gathered.growth is not None else None

    def _of_comprehension(self, made: ast.ListComp | ast.GeneratorExp) -> Filling | None:
        match made.generators:
            case [ast.comprehension(target=ast.Name(id=each), iter=sequence, ifs=[], is_async=0)]:
                could_map = self._ops.traceable([made.elt], [each])
            case _:
                return None
        if not could_map or not self._iterables.is_sequence(sequence):
            return None
        return Filling(sequence, each, made.elt, None)

    def _of_loop(self, growth: Growth, reader: ast.expr) -> Filling | None:
        """As a loop does that stands between the start of its list and the reader."""
        loop, append = growth.loops[0].node, growth.node
        match loop, append:
            case (
                ast.For(target=ast.Name(id=each), iter=sequence, body=[*before, last], orelse=[]),
                ast.Call(func=ast.Attribute(value=grown, attr="append")),
            ) if self._tree.parent(append) is last:
                could_map = self._ops.traceable([*before, growth.value], [each])
            case _:
                return None
        if (
            not could_map
            or isinstance(self._tree.scope(loop), ast.ClassDef)
            or not self._loops.is_closed(growth.loops[0])
            or not self._iterables.is_sequence(sequence)
            or not self._is_between(growth, loop, reader)
            or {*self._bindings.readers(growth.start)} != {grown, reader}
        ):
            return None
        return Filling(sequence, each, growth.value, (loop, append))

    def _is_between(self, growth: Growth, loop: ast.For, reader: ast.expr) -> bool:
        block, place = self._tree.place(loop)
        begun, used = self._tree.statement(growth.start.node), self._tree.statement(reader)
        alone = isinstance(begun, ast.Assign) and begun.targets == [growth.start.node]
        return alone and block[place - 1 : place + 2] == [begun, loop, used]
