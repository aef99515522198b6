"""What every round of a loop loads anew, though it is the same each time."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.syntax.tree import LOOPS, FunctionNode
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts import TensorFlow

_LOADS = frozenset(
    {
        *(
            "keras.models.load_model",
            "keras.saving.load_model",
            "tensorflow.keras.models.load_model",
        ),
        *("tensorflow.saved_model.load", "tensorflow_hub.load", "tensorflow_hub.KerasLayer"),
    }
)
_MAX_HOPS = 4


class PerRound(NamedTuple):
    """One call that each round of a loop makes again."""

    call: ast.Call
    loop: Loop
    here: bool
    """Whether the loop is around the call itself, and not around a call of its function."""
    same: bool
    """Whether what the call is given is the same in each round."""


class PerRounds:
    """Such calls of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._functions = tf.functions
        self._loops = tf.loops

    @cached_property
    def loaded(self) -> tuple[PerRound, ...]:
        """The models that are loaded in each round, from a path that stays the same."""
        found: list[PerRound] = []
        for call, _ in self._names.calls(_LOADS):
            each = self._around(call)
            if each is not None and each.same and not self._is_kept_for_all(call):
                found.append(each)
        return tuple(found)

    def _around(self, call: ast.Call) -> PerRound | None:
        """The loop that has a call made again, be it through functions of the module."""
        node: ast.AST = call
        given = _given(call)
        for hop in range(_MAX_HOPS):
            if self._tree.is_conditional(node):
                return None
            loops = [each for each in self._loops.around(node) if isinstance(each.node, LOOPS)]
            if loops:
                if loops[0].over is Over.LITERAL:
                    return None
                same = hop > 0 or all(self._is_same(each, loops[0]) for each in given)
                return PerRound(call, loops[0], hop == 0, same)
            function = self._tree.function(node)
            if function is None or isinstance(function, ast.Lambda) or function.name == "__init__":
                return None
            calls = self._functions.calls_of(function)
            if len(calls) != 1 or function.decorator_list or self._reads_arguments(given, function):
                return None
            node = calls[0]
        return None

    def _reads_arguments(self, given: list[ast.expr], function: FunctionNode) -> bool:
        """Whether what a call is given depends on what its function is given."""
        own = {each.name for each in self._functions.parameters(function)} - {"self"}
        names = (each for part in given for each in ast.walk(part) if isinstance(each, ast.Name))
        return any(each.id in own for each in names)

    def _is_same(self, node: ast.expr, loop: Loop) -> bool:
        """Whether an expression gives an equal thing each time, as far as it reads nothing new."""
        return self._loops.invariant(node, loop)

    def _is_kept_for_all(self, call: ast.Call) -> bool:
        """Whether a model goes into a list or a dictionary: several are wanted at once."""
        above = self._tree.parent(call)
        target = above.targets[0] if isinstance(above, ast.Assign) else None
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            return True
        return (
            isinstance(above, ast.Call)
            and isinstance(above.func, ast.Attribute)
            and (above.func.attr in ("append", "extend", "setdefault"))
        )

    def can_be_lifted(self, found: PerRound) -> bool:
        """Whether the call's statement can stand before the loop as it is."""
        statement = self._tree.statement(found.call)
        node = found.loop.node
        if not found.here or not found.same or not isinstance(node, LOOPS):
            return False
        if statement not in node.body or not isinstance(statement, (ast.Assign, ast.Expr)):
            return False
        stored = {
            each.id
            for each in ast.walk(statement)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        others = _stored(each for each in node.body if each is not statement)
        return not stored & (others | found.loop.targets)


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(each.value for each in call.keywords)]


def _stored(statements: Iterable[ast.stmt]) -> set[str]:
    nodes = (each for statement in statements for each in ast.walk(statement))
    names = (each for each in nodes if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, ast.Store)}
