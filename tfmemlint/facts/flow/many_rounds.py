"""Code that loops run more than a few times, be it under a test that holds in many rounds."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import entered
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.library.element_ops import RANDOM
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.syntax.decorators import Decorators
from tfmemlint.facts.syntax.tree import FUNCTIONS, LEAVES, LOOPS, FunctionNode

_FEWEST = 2
"""Rounds that are worth a word at all."""
_MAX_HOPS = 4
_SPLITTERS = frozenset(
    f"sklearn.model_selection.{name}"
    for name in (
        *("GroupKFold", "GroupShuffleSplit", "KFold", "ShuffleSplit", "StratifiedGroupKFold"),
        *("StratifiedKFold", "StratifiedShuffleSplit", "TimeSeriesSplit"),
    )
)


class ManyRounds:
    """Which loop runs some code again and again, also where that is in functions it calls."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._callers = tf.callers
        self._flow = tf.flow
        self._values = tf.values
        self._loops = tf.loops
        self._tracing = tf.tracing
        self._conditions = tf.conditions
        self._counted_rounds = tf.counted_rounds
        self._decorators = tf.of(Decorators)
        self._called_in: dict[tuple[FunctionNode, int], tuple[Loop, int | None] | None] = {}

    def of(self, node: ast.AST) -> tuple[Loop, int | None] | None:
        """The loop that surely runs `node` more than a few times, and how often."""
        return self._of(node, _MAX_HOPS)

    def _of(self, node: ast.AST, hops: int) -> tuple[Loop, int | None] | None:
        if self._tracing.why(node) is not None:
            return None
        tested = self._tree.is_conditional(node)
        if tested and not self._is_often(node):
            return self._where_it_holds(node, hops)
        times: int | None = 1
        many: Loop | None = None
        for loop in self._loops.around(node):
            if not isinstance(loop.node, ast.comprehension) and _leaves(loop.node.body):
                continue
            trips = loop.trips if loop.iterable is None else self._folds(loop.iterable, loop.trips)
            times = None if trips is None or times is None else times * trips
            if many is None and (times is None or times > _FEWEST):
                many = loop
        if many is not None:
            return many, None if tested else times
        function = self._tree.function(node)
        if not isinstance(function, ast.FunctionDef) or hops == 0:
            return None
        if not self._decorators.leave(function):
            return None
        state = function, hops  # what is not found in a few calls may be in some more
        if state not in self._called_in:
            found = (self._of(call, hops - 1) for call in self._callers.calls_of(function))
            self._called_in[state] = next(filter(None, found), None)
        return self._called_in[state]

    def _where_it_holds(self, node: ast.AST, hops: int) -> tuple[Loop, int | None] | None:
        """As `_of`, of code under tests of its function that hold in the calls of some loop."""
        function = self._tree.function(node)
        if not isinstance(function, ast.FunctionDef) or hops == 0 or any(self._loops.around(node)):
            return None
        if self._is_handler(node) or not self._decorators.leave(function):
            return None
        for call in self._callers.calls_of(function):
            if self._conditions.runs(node, entered(function, call, None)) is True:
                found = self._of(call, hops - 1)
                if found is not None:
                    return found
        return None

    # Tests that hold in many rounds.

    def _is_often(self, node: ast.AST) -> bool:
        """Whether all tests between `node` and its loop surely let it run in many rounds."""
        loops = list(self._loops.around(node))
        if not loops or self._is_handler(node):
            return False
        tests = self._tree.tests(node, loops[0].node)
        return all(any(self._holds(test, held, each) for each in loops) for test, held in tests)

    def _is_handler(self, node: ast.AST) -> bool:
        """Whether only an error, or the case of a `match`, has code of a loop or function run."""
        for above in self._tree.ancestors(node):
            if isinstance(above, (ast.ExceptHandler, ast.match_case)):
                return True
            if isinstance(above, (*FUNCTIONS, *LOOPS)):
                return False
        return False

    def _holds(self, test: ast.expr, held: bool, loop: Loop) -> bool:
        if self._counted_rounds.holds_on(test, loop, held=held):
            return True
        return isinstance(test, ast.Compare) and any(
            self._is_drawn(each, loop) for each in (test.left, *test.comparators)
        )

    def _is_drawn(self, node: ast.expr, loop: Loop) -> bool:
        """Whether a number is drawn by chance in every round: `np.random.rand()`."""
        if isinstance(node, ast.Call):
            return (self._names.qualified(node.func) or "").startswith(RANDOM)
        bound = self._bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(bound) and all(
            isinstance(each.value, ast.Call)
            and self._tree.inside(each.node, loop.node)
            and self._is_drawn(each.value, loop)
            for each in bound
        )

    def _folds(self, iterable: ast.expr, otherwise: int | None) -> int | None:
        """Into how many folds scikit-learn splits: 3 for `KFold(3).split(x)`."""
        method = iterable.func if isinstance(iterable, ast.Call) else None
        if not isinstance(method, ast.Attribute) or method.attr != "split":
            return otherwise
        made = self._flow.meant(method.value)
        if not isinstance(made, ast.Call) or not self._names.is_any(made.func, _SPLITTERS):
            return otherwise
        folds = self._values.number(argument(made, 0, "n_splits"))
        known = [int(each) for each in (folds, otherwise) if each is not None]
        return min(known, default=None)  # a loop may be left before its end


def _leaves(block: list[ast.stmt]) -> bool:
    """Whether a loop ends where its body does: the first round is the last, unless it failed."""
    last = block[-1]
    if isinstance(last, ast.With):
        return _leaves(last.body)
    if isinstance(last, ast.Try):
        return _leaves(last.orelse or last.body)
    return isinstance(last, LEAVES)
