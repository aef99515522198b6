"""Rounds that loops count, and what tests of the count leave of them: `if i == 10: break`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import RANGES, WRAPS_ITERABLE
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import called, nodes_of, same_code
from tfmemlint.facts.syntax.tree import LEAVES, LOOPS
from tfmemlint.light_typing import NamedTuple

_ADDS = frozenset({"append", "extend"})
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
}
_FIRST_HOLDS: dict[type[ast.cmpop], int] = {ast.Eq: 1, ast.Gt: 2, ast.GtE: 1}
"""How many rounds after as many as the number such a test has held."""
_LAST_HOLDS: dict[type[ast.cmpop], int] = {ast.Lt: 0, ast.LtE: 1}


class _Addition(NamedTuple):
    """`n += 1`, or `n = n + 1`."""

    counted: ast.Name
    added: ast.expr


class CountedRounds:
    """How many rounds loops make at most by what they count, whatever they go over."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._callers = tf.callers
        self._names = tf.names
        self._values = tf.values

    def left_after(self, loop: Loop) -> int | None:
        """After how many rounds a loop is surely left before its end; None if nothing says so."""
        bounds: list[int | None] = []
        if isinstance(loop.node, LOOPS):
            bounds += [self._leaves(each, loop) for each in _always(loop.node.body)]
        if not isinstance(loop.node, ast.While):
            bounds += [*self._beside(loop.node.iter), self._asked_for(loop.iterable)]
        return min((each for each in bounds if each is not None), default=None)

    def awaited(self, loop: Loop) -> Iterator[ast.expr | None]:
        """The number of rounds, or about so, that each `break` or `return` of a loop waits for.

        `n` for `if i == n: break`; None for each that waits for something else. What leaves a loop
        within it alone is none of them.
        """
        for each in loop.body:
            ends = isinstance(each, ast.Break) and next(self._tree.loops(each), None) is loop.node
            if ends or isinstance(each, ast.Return):
                above = self._tree.parent(each)
                ours = isinstance(above, ast.If) and self._tree.parent(above) is loop.node
                test = above.test if isinstance(above, ast.If) and ours else None
                yield self._counted_to(test, loop) if each in getattr(above, "body", ()) else None

    def _counted_to(self, test: ast.expr | None, loop: Loop) -> ast.expr | None:
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return None
        one, other, compares = test.left, test.comparators[0], type(test.ops[0])
        if compares in _FIRST_HOLDS and self._counts(one, loop):
            return other
        mirrored = _MIRRORED.get(compares, ast.NotEq) in _FIRST_HOLDS
        return one if mirrored and self._counts(other, loop) else None

    def holds_for(self, test: ast.expr, loop: Loop) -> int | None:
        """In how many rounds a test of a count may hold, from the first: 5 for `i < 5`."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            bounds = [self.holds_for(each, loop) for each in test.values]
            return min((each for each in bounds if each is not None), default=None)
        return self._compared(test, loop, _LAST_HOLDS)

    def holds_on(self, test: ast.expr, loop: Loop, *, held: bool) -> bool:
        """Whether a test of a count comes out that way for the rest of a loop: `i >= n`, `i > 5`.

        `held` tells which way: `i == 0` fails for the rest, once it has held.
        """
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return False
        compares, left, right = type(test.ops[0]), test.left, test.comparators[0]
        wanted = (ast.Gt, ast.GtE) if held else (ast.Eq, ast.Lt, ast.LtE)
        if compares in wanted and self._counts(left, loop):
            return self._comes_soon(right, loop)
        mirrored = _MIRRORED.get(compares, ast.NotEq) in wanted
        return mirrored and self._counts(right, loop) and self._comes_soon(left, loop)

    def _comes_soon(self, number: ast.expr, loop: Loop) -> bool:
        """Whether a count is not known to reach a number in the second half of a loop at most."""
        known = self._values.number(number)
        return known is None or loop.trips is None or known * 2 <= loop.trips

    def are_few(self, node: ast.AST, loop: Loop, few: int, *, every: int = 0) -> bool:
        """Whether a test of a count keeps `node` for some rounds: `step % 100 == 0`, `i < 5`.

        A remainder leaves few of them, unless it is that of a division by no more than `every`.
        """
        for test, is_held in self._tree.tests(node, loop.node):
            parts = [*nodes_of(ast.BinOp, test)]
            divided = [each.right for each in parts if isinstance(each.op, ast.Mod)]
            if any(not self._is_often(each, loop, few, every) for each in divided):
                return True
            holds = self.holds_for(test, loop) if is_held else None
            if holds is not None and holds <= few:
                return True
        return False

    def _is_often(self, divisor: ast.expr, loop: Loop, few: int, every: int) -> bool:
        """Whether one of so many rounds is one of many."""
        number = self._values.number(divisor)
        if number is None or not 1 <= number <= every:
            return False
        return loop.trips is None or loop.trips / number > few

    def _leaves(self, statement: ast.stmt, loop: Loop) -> int | None:
        if isinstance(statement, LEAVES):
            skips = any(isinstance(each, ast.Continue) for each in loop.body)
            return None if skips else 1
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], LEAVES):
            return self._held_by(statement.test, loop)
        return None

    def _held_by(self, test: ast.expr, loop: Loop) -> int | None:
        """After how many rounds a test has surely held."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
            bounds = [self._held_by(each, loop) for each in test.values]
            return min((each for each in bounds if each is not None), default=None)
        return self._compared(test, loop, _FIRST_HOLDS)

    def _compared(self, test: ast.expr, loop: Loop, more: dict[type[ast.cmpop], int]) -> int | None:
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return None
        left, right, compares = test.left, test.comparators[0], type(test.ops[0])
        if self._values.number(right) is None:
            left, right, compares = right, left, _MIRRORED.get(compares, ast.NotEq)
        number = self._values.number(right)
        if compares not in more or number is None or number < 0 or not self._counts(left, loop):
            return None
        return int(number) + more[compares]

    def _counts(self, node: ast.expr, loop: Loop) -> bool:
        """Whether an expression begins at nothing or more, and grows in each round."""
        if isinstance(node, ast.Call) and called(node) == "len" and len(node.args) == 1:
            return any(
                isinstance(each, ast.Attribute)
                and each.attr in _ADDS
                and same_code(each.value, node.args[0])
                for each in loop.body
            )
        if not isinstance(node, ast.Name):
            return False
        bindings = self._bindings.reaching(node)
        inside = [each for each in bindings if self._tree.inside(each.node, loop.node)]
        if [each.how for each in inside] == [How.LOOPED]:
            counted = not isinstance(loop.node, ast.While) and _is_range(loop.node.iter)
            upwards = counted or self._values.of(node).kind is Kind.NUMBER
            return upwards and not _is_range(loop.iterable, steps=3)
        return bool(inside) and all(self._adds(each, loop) for each in inside)

    def _adds(self, binding: Binding, loop: Loop) -> bool:
        addition = _addition(self._tree.statement(binding.node))
        if addition is None:
            return False
        for each in self._bindings.reaching(addition.counted):
            inside = self._tree.inside(each.node, loop.node)
            if inside and _addition(self._tree.statement(each.node)) is None:
                return False
        added = self._values.number(addition.added)
        return isinstance(added, int) and added > 0

    def _beside(self, iterable: ast.expr) -> Iterator[int | None]:
        """How many elements what goes along leaves: `zip(range(10), xs)`, `islice(xs, 10)`."""
        if not isinstance(iterable, ast.Call) or not iterable.args:
            return
        if called(iterable) == "zip":
            for each in iterable.args:
                if isinstance(each, ast.Call) and _is_range(each) and len(each.args) == 1:
                    yield self._whole(each.args[0])
        elif self._names.qualified(iterable.func) == "itertools.islice":
            yield self._whole(iterable.args[min(len(iterable.args), 3) - 1])
        elif called(iterable) in ("enumerate", "tqdm") or self._names.is_any(
            iterable.func, WRAPS_ITERABLE
        ):
            yield from self._beside(iterable.args[0])

    def _asked_for(self, iterable: ast.expr | None) -> int | None:
        """What all callers give a function for the `n` of its `range(n)`, at most."""
        if not isinstance(iterable, ast.Call) or not _is_range(iterable, steps=1):
            return None
        bound = iterable.args[0]
        binding = self._bindings.only(bound)
        if binding is None or binding.how is not How.PARAMETER:
            return None
        given = self._callers.given_for(binding)
        counts = [None if each is None else self._whole(each) for each in given]
        known = [each for each in counts if each is not None]
        return max(known) if known and len(known) == len(counts) else None

    def _whole(self, node: ast.expr) -> int | None:
        number = self._values.number(node)
        return number if isinstance(number, int) else None


def _addition(statement: ast.stmt) -> _Addition | None:
    match statement:
        case ast.AugAssign(target=ast.Name() as counted, op=ast.Add(), value=added):
            return _Addition(counted, added)
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.BinOp(left=one, op=ast.Add(), right=other)
        ):
            for before, added in ((one, other), (other, one)):
                if isinstance(before, ast.Name) and before.id == name:
                    return _Addition(before, added)
        case _:
            pass
    return None


def _always(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that each round comes to, if none before leaves it."""
    for each in body:
        yield each
        if isinstance(each, (ast.With, ast.AsyncWith, ast.Try)):
            yield from _always(each.body)


def _is_range(node: ast.expr | None, steps: int = 0) -> bool:
    """Whether an expression is a `range`, of as many arguments if a number is given."""
    if not isinstance(node, ast.Call) or called(node) not in RANGES:
        return False
    return steps in (0, len(node.args))
