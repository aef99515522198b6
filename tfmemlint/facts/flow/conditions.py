"""What tests of `if` come to, as constants and defaults tell, and which exclude each other."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import islice

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.flow import Origin
from tfmemlint.facts.flow.frames import Frame, entered
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.bodies import default
from tfmemlint.facts.syntax.nodes import called, holds
from tfmemlint.light_typing import NamedTuple

_MAX_HOPS = 4
_MOST_TESTS = 30
"""Tests around a place that tell it from others: each `elif` stands under those before it."""

_KINDS = {kind.__name__: kind for kind in (bool, float, int, str)}


class _Known(NamedTuple):
    """A constant that a test reads."""

    value: object


class Conditions:
    """The tests of a module that code stands under."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._callers = tf.callers
        self._flow = tf.flow
        self._tests: dict[ast.AST, dict[tuple[str, bool], list[ast.expr]]] = {}
        self._spelled: dict[tuple[ast.expr, bool], list[tuple[str, bool, ast.expr]]] = {}

    def runs(self, node: ast.AST, frame: Frame | None = None) -> bool | None:
        """Whether the tests around code are expected to let it run, in a call of its function.

        In any of them, if it is not said in which. A parameter that no call in sight gives is
        expected to have its default. None where a test is not understood.
        """
        function = self._tree.function(node) if frame is None else None
        calls = () if function is None else self._callers.calls_of(function)
        if function is None or not calls:
            return self._runs(node, frame)
        found = {self._runs(node, entered(function, call, None)) for call in calls}
        return True if True in found else None if None in found else False

    def _runs(self, node: ast.AST, frame: Frame | None) -> bool | None:
        wanted = [(self.expected(test, frame), holds) for test, holds in self._around(node)]
        if any(found is not None and found is not holds for found, holds in wanted):
            return False
        return None if any(found is None for found, _ in wanted) else True

    def exclude(self, node: ast.AST, others: Iterable[ast.AST]) -> bool:
        """Whether no run comes to a place and to one of others: a test holds for one of them alone.

        The places are those of one call of a function.
        """
        wanted = self._held(node)
        if not wanted:
            return False
        return any(
            self._bindings.same(one, each)
            for other in others
            for (text, holds), found in self._held(other).items()
            for one in wanted.get((text, not holds), ())
            for each in found
        )

    def _held(self, node: ast.AST) -> dict[tuple[str, bool], list[ast.expr]]:
        """The tests around code, by their text and whether they hold there; those of calls not."""
        if node not in self._tests:
            found: dict[tuple[str, bool], list[ast.expr]] = {}
            for around in self._around(node, _MOST_TESTS):
                if around not in self._spelled:
                    self._spelled[around] = _spelled(*around)
                for text, holds, one in self._spelled[around]:
                    found.setdefault((text, holds), []).append(one)
            self._tests[node] = found
        return self._tests[node]

    def expected(self, test: ast.expr, frame: Frame | None = None) -> bool | None:
        """What a test is expected to come to."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            found = self.expected(test.operand, frame)
            return None if found is None else not found
        if isinstance(test, ast.BoolOp):
            several = [self.expected(each, frame) for each in test.values]
            decides = isinstance(test.op, ast.Or)
            if decides in several:
                return decides
            return None if None in several else not decides
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return self._compared(test, frame)
        if called(test) == "isinstance" and isinstance(test, ast.Call) and len(test.args) == 2:
            kind = _KINDS.get(getattr(test.args[1], "id", ""))
            known = self._constant(test.args[0], frame, _MAX_HOPS)
            return None if kind is None or known is None else isinstance(known.value, kind)
        known = self._constant(test, frame, _MAX_HOPS)
        return None if known is None else bool(known.value)

    def _compared(self, test: ast.Compare, frame: Frame | None) -> bool | None:
        left = self._constant(test.left, frame, _MAX_HOPS)
        right = self._constant(test.comparators[0], frame, _MAX_HOPS)
        if left is None or right is None:
            return None
        one, other = left.value, right.value
        match test.ops[0]:
            case ast.Is() | ast.Eq():
                return one == other
            case ast.IsNot() | ast.NotEq():
                return one != other
            case _ if not isinstance(one, (int, float)) or not isinstance(other, (int, float)):
                return None
            case ast.Gt():
                return one > other
            case ast.GtE():
                return one >= other
            case ast.Lt():
                return one < other
            case ast.LtE():
                return one <= other
            case _:
                return None

    def _constant(self, node: ast.expr, frame: Frame | None, hops: int) -> _Known | None:
        if isinstance(node, ast.Constant):
            return _Known(node.value)
        if not isinstance(node, (ast.Name, ast.Attribute)) or not hops:
            return None
        origins = self._flow.origins(node, frame)
        if origins is None:
            origins = self._by_default(node)
        found = {
            self._constant(each.value, each.frame, hops - 1) if each.is_whole else None
            for each in origins
        }
        return found.pop() if len(found) == 1 else None

    def _by_default(self, node: ast.expr) -> tuple[Origin, ...]:
        """The default of a parameter, or of the one that an attribute is set to."""
        binding = self._bindings.only(node)
        if binding is None or binding.how is not How.PARAMETER:
            return ()
        value = default(self._tree.taker(binding.node), binding.name)
        return () if value is None else (Origin(value),)

    def _around(self, node: ast.AST, most: int | None = None) -> list[tuple[ast.expr, bool]]:
        """The tests that code stands under, the nearest first."""
        tests = self._tree.tests(node, self._tree.function(node) or self._tree.module)
        return list(islice(tests, most))


def _spelled(test: ast.expr, held: bool) -> list[tuple[str, bool, ast.expr]]:
    """What a test without calls tells, by its text and whether it holds."""
    if holds(ast.Call, test):
        return []
    return [(ast.unparse(one), holds, one) for one, holds in _apart(test, held)]


def _apart(test: ast.expr, holds: bool) -> list[tuple[ast.expr, bool]]:
    """What holds, or does not, for sure: `a` and not `b` where `a and not b` holds."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or):
        return [one for each in test.values for one in _apart(each, holds)]
    return [(test, holds)]
