"""Loops that are left early, or go over the first of something: how many rounds they begin."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import RANGES, argument
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import children
from tfmemlint.facts.syntax.tree import LEAVES, LOOPS, SCOPES, LoopNode

_FIRST_PAST: dict[type[ast.cmpop], int] = {ast.Eq: 0, ast.GtE: 0, ast.Gt: 1}
"""How far past a number a counter is when a comparison with it holds for the first time."""


class EarlyEnds:
    """Where loops say in which of their first rounds they end."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._values = tf.values

    def rounds(self, loop: LoopNode) -> int | None:
        """How many rounds a loop begins at the most, where a `break`, `return` or slice tells."""
        found = (self._left_in(loop), self._taken(loop))
        return min((each for each in found if each is not None), default=None)

    def _taken(self, loop: LoopNode) -> int | None:
        """How many of what nobody counts a slice takes: 4 of `rows[:4]`."""
        over = None if isinstance(loop, ast.While) else loop.iter
        part = over.slice if isinstance(over, ast.Subscript) else None
        if not isinstance(part, ast.Slice) or part.lower is not None or part.step is not None:
            return None
        most = self._values.number(part.upper)
        return most if isinstance(most, int) and most >= 0 else None

    def _left_in(self, loop: LoopNode) -> int | None:
        ends = isinstance(loop.body[-1], LEAVES)
        tests = [each for each in loop.body if isinstance(each, ast.If) and _leaves(each)]
        if not (ends or tests) or _goes_on(loop):
            return None
        if ends:
            return 1
        start = self._start(loop)
        found = (
            self._held_after(each.test, loop, start) or self._counted_up(each, loop)
            for each in tests
        )
        known = [each for each in found if each is not None]
        return min(known, default=None)

    def _held_after(self, test: ast.expr, loop: LoopNode, start: int | None) -> int | None:
        """In which round `i == 3` holds for the first time."""
        if start is None or not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return None
        past = _FIRST_PAST.get(type(test.ops[0]))
        last = self._values.number(test.comparators[0])
        if past is None or not isinstance(last, int) or not isinstance(test.left, ast.Name):
            return None
        counter = _counter(loop)
        found = self._bindings.reaching(test.left)
        counts = all(each.how is How.LOOPED and each.node is counter for each in found)
        rounds = last + past - start + 1
        return rounds if found and counts and rounds >= 1 else None

    def _counted_up(self, leaving: ast.If, loop: LoopNode) -> int | None:
        """In which round `done == 3` holds for the first time, where each says `done += 1`."""
        test = leaving.test
        if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name):
            return None
        past = _FIRST_PAST.get(type(test.ops[0])) if len(test.ops) == 1 else None
        last = self._values.number(test.comparators[0])
        bound = self._bindings.sharing(test.left)
        added = [each for each in loop.body if _adds_one(each, test.left.id)]
        if past is None or not isinstance(last, int) or len(bound) != 2 or len(added) != 1:
            return None
        starts = [each for each in bound if each.is_whole]
        if len(starts) != 1 or self._tree.inside(starts[0].node, loop):
            return None
        start = self._values.number(starts[0].value)
        if not isinstance(start, int):
            return None
        later = loop.body.index(added[0]) > loop.body.index(leaving)
        rounds = last + past - start + later
        return rounds if rounds >= 1 else None

    def _start(self, loop: LoopNode) -> int | None:
        """The counter's first value: 0 for `range(n)` and `enumerate(xs)`."""
        call = None if isinstance(loop, ast.While) else loop.iter
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        if call.func.id == "enumerate":
            first = argument(call, 1, "start")
        elif call.func.id in RANGES and len(call.args) <= 2:
            first = call.args[0] if len(call.args) == 2 else None
        else:
            return None
        number = 0 if first is None else self._values.number(first)
        return number if isinstance(number, int) else None


def _adds_one(statement: ast.stmt, name: str) -> bool:
    return (
        isinstance(statement, ast.AugAssign)
        and isinstance(statement.op, ast.Add)
        and isinstance(statement.target, ast.Name)
        and statement.target.id == name
        and isinstance(statement.value, ast.Constant)
        and statement.value.value == 1
    )


def _counter(loop: LoopNode) -> ast.AST | None:
    """`i` in `for i in range(n)` and in `for i, x in enumerate(xs)`."""
    if isinstance(loop, ast.While):
        return None
    return loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target


def _leaves(test: ast.If) -> bool:
    return isinstance(test.body[-1], LEAVES)


def _goes_on(loop: LoopNode) -> bool:
    """Whether a `continue` may pass over the end of a round."""
    pending: list[ast.AST] = [*loop.body]
    for node in pending:
        if isinstance(node, ast.Continue):
            return True
        if not isinstance(node, (*LOOPS, *SCOPES, ast.expr)):
            pending += children(node)
    return False
