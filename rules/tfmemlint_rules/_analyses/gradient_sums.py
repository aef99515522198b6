"""Gradients of several rounds that are to be added up: the sums that start anew, the lists."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.growths import Grown
from tfmemlint.facts.syntax.bindings import Binding
from tfmemlint.facts.syntax.nodes import called, nodes_of, stored_in
from tfmemlint.facts.syntax.tree import FUNCTIONS, LOOPS, FunctionNode, LoopNode
from tfmemlint.light_typing import NamedTuple

_ZEROS = frozenset({"tensorflow.zeros", "tensorflow.zeros_like", "keras.ops.zeros_like"})
_APPLIES = frozenset({"apply", "apply_gradients"})
_ADDS_UP = frozenset(
    {
        *("keras.ops.mean", "keras.ops.sum", "numpy.mean", "numpy.sum", "tensorflow.add_n"),
        *("tensorflow.math.add_n", "tensorflow.math.reduce_mean", "tensorflow.math.reduce_sum"),
        *("tensorflow.reduce_mean", "tensorflow.reduce_sum"),
    }
)
_ALIKE = frozenset({"enumerate", "len", "map", "range", "zip"})


class Restarted(NamedTuple):
    """Sums of gradients that start from zero in every round, or are applied at the wrong time."""

    start: ast.Assign | None
    """What sets the sums to zero; None where they go on."""
    name: str
    """What the sums are called."""
    rounds: LoopNode | FunctionNode
    """The loop, or the function that one calls, whose every round begins so."""
    test: ast.expr
    """What tells in which rounds they are applied: `step % 4 == 0`."""
    counter: str
    """What that counts, if it never does."""


class GradientSums:
    """How the gradients of a file are added up."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._bindings = tf.bindings
        self._functions = tf.functions
        self._growths = tf.growths
        self._objects = tf.objects
        self._sources = tf.sources
        self._tapes = tf.tapes
        self._per_batch = tf.per_batch

    @cached_property
    def restarted(self) -> tuple[Restarted, ...]:
        """Every place where sums are applied after some rounds, and hold but the last one's."""
        found: list[Restarted] = []
        for call, _ in self._tree.methods(*_APPLIES):
            test = self._test(call)
            name = self._summed(call)
            if test is None or name is None or not self._tapes.all:
                continue
            start = self._start(name)
            rounds = self._rounds(call)
            if rounds is None:
                continue
            counter = self._stuck(test, rounds)
            restarts = start is not None and self._is_every_round(start, rounds, call)
            if restarts or counter:
                begun = start if restarts else None
                found.append(Restarted(begun, name.id, rounds, test, counter))
        return tuple(found)

    def _test(self, call: ast.Call) -> ast.expr | None:
        """The remainder that tells in which rounds gradients are applied."""
        for test, _ in self._tree.tests(call, self._tree.module):
            for way in self._sources.same(test):
                if isinstance(way.node, ast.expr) and any(map(_is_remainder, ast.walk(way.node))):
                    return way.node
        return None

    def _summed(self, call: ast.Call) -> ast.Name | None:
        """The name of the sums that are applied: `sums` of `zip(sums, variables)`."""
        given = call.args[0] if call.args else None
        if isinstance(given, ast.Call) and isinstance(given.func, ast.Name) and given.args:
            given = given.args[0] if given.func.id == "zip" else None
        return given if isinstance(given, ast.Name) else None

    def _start(self, name: ast.Name) -> ast.Assign | None:
        """The last statement before a use, in source order, that makes zeros of the sums."""
        starts = [each for each in self._bindings.sharing(name) if self._makes_zeros(each)]
        before = [each for each in starts if each.node.lineno < name.lineno]  # type: ignore[attr-defined]
        statement = self._tree.statement(before[-1].node) if before else None
        return statement if isinstance(statement, ast.Assign) else None

    def _makes_zeros(self, binding: Binding) -> bool:
        if binding.value is None or binding.path:
            return False
        made = [each.node for each in self._sources.of(binding.value).found if not each.path]
        return bool(made) and all(
            isinstance(each, (ast.ListComp, ast.List))
            and any(self._names.is_any(call.func, _ZEROS) for call in nodes_of(ast.Call, each))
            for each in made
        )

    def _rounds(self, call: ast.Call) -> LoopNode | FunctionNode | None:
        """The loop around a call, or the function that is called again and again."""
        for above in self._tree.ancestors(call):
            if isinstance(above, LOOPS):
                return above
            if isinstance(above, FUNCTIONS):
                return above if self._per_batch.runs_again(call) else None
        return None

    def _is_every_round(
        self, start: ast.Assign, rounds: LoopNode | FunctionNode, call: ast.Call
    ) -> bool:
        """Whether zeros are set in each round, and a round's gradients alone are added after."""
        if not self._tree.inside(start, rounds) or self._tree.is_conditional(start):
            return False
        around = next((each for each in self._tree.ancestors(start) if each is rounds), None)
        inner = [each for each in self._tree.loops(start) if self._tree.inside(each, rounds)]
        direct = around is not None and (not inner or inner[0] is rounds)
        return direct and start.lineno < call.lineno and not self._collects(start, rounds)

    def _collects(self, start: ast.Assign, rounds: LoopNode | FunctionNode) -> bool:
        """Whether a loop between zeros and the end takes gradients several times."""
        asked = [each for tape in self._tapes.all for each in tape.asked]
        for gradient in asked:
            if not self._tree.inside(gradient, rounds) or gradient.lineno < start.lineno:
                continue
            loops = [each for each in self._tree.loops(gradient) if each is not rounds]
            if any(self._tree.inside(each, rounds) for each in loops):
                return True
        return False

    def _stuck(self, test: ast.expr, rounds: LoopNode | FunctionNode) -> str:
        """The counter of a test that nothing in the loop counts; empty if all is well."""
        if not isinstance(rounds, LOOPS):
            return ""
        names = [
            each.left.id
            for each in ast.walk(test)
            if isinstance(each, ast.BinOp)
            and _is_remainder(each)
            and isinstance(each.left, ast.Name)
        ]
        if len(names) != 1:
            return ""
        bound = stored_in(rounds)
        outer = [each for each in self._tree.ancestors(rounds) if isinstance(each, LOOPS)]
        return "" if names[0] in bound or outer else names[0]

    @cached_property
    def listed(self) -> tuple[Grown, ...]:
        """The lists that keep each round's gradients, only to have them added up."""
        asked = {each for tape in self._tapes.all for each in tape.asked}
        if not asked:
            return ()
        found = (each for each in self._growths.all if self._is_gradient(each, asked))
        return tuple(each for each in found if self._is_added_up(each))

    def _is_gradient(self, growth: Grown, asked: set[ast.Call]) -> bool:
        if len(growth.elements) != 1 or self._tapes.recording(growth.node):
            return False
        made = self._sources.of(growth.elements[0])
        return made.complete and all(each.node in asked for each in made.found)

    def _is_added_up(self, growth: Grown) -> bool:
        """Whether a list is read but to add up its elements, place by place."""
        uses = [
            each
            for each in self._objects.uses(growth.made) or ()
            if not isinstance(self._tree.parent(each), ast.Attribute) and not self._hands_on(each)
        ]
        sums = [each for each in uses if any(self._adds_up(above) for above in self._around(each))]
        others = [each for each in uses if each not in sums and not self._is_counted(each)]
        return bool(sums) and not others

    def _hands_on(self, use: ast.expr) -> bool:
        """Whether a use only has the list stand elsewhere, where it is a use again."""
        above = self._tree.put_into(use)
        if isinstance(above, ast.Call):
            builtin = called(above) == "zip"
            paired = builtin and isinstance(self._tree.parent(above), (ast.For, ast.Assign))
            return paired or self._functions.definition(above.func) is not None
        return isinstance(above, (ast.Assign, ast.Return))

    def _around(self, use: ast.expr) -> Iterator[ast.AST]:
        """The expressions around a use, within its statement."""
        statement = self._tree.statement(use)
        for above in self._tree.ancestors(use):
            if above is statement:
                return
            yield above

    def _adds_up(self, node: ast.AST) -> bool:
        """`tf.add_n(xs)`, or `[tf.add_n(x) for x in zip(*xs)]`."""
        inner = node.elt if isinstance(node, (ast.ListComp, ast.GeneratorExp)) else node
        if isinstance(inner, ast.BinOp):
            inner = inner.left
        if not isinstance(inner, ast.Call):
            return False
        builtin = called(inner) == "sum"
        return builtin or self._names.is_any(inner.func, _ADDS_UP)

    def _is_counted(self, use: ast.expr) -> bool:
        call = self._tree.parent(use)
        return (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and (call.func.id in _ALIKE - {"zip", "map"})
        )


def _is_remainder(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
