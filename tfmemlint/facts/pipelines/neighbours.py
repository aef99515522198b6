"""Steps of pipelines that stand next to each other, so that they may change places."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import pairwise

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.pipelines.chains import Step


class Neighbours:
    """Which steps take what others give, and nothing else does."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._objects = tf.objects
        self._sources = tf.sources

    def adjoin(self, steps: Iterable[Step]) -> bool:
        """Whether each of some steps adjoins the next."""
        return all(self.adjoining(one, other) for one, other in pairwise(steps))

    def follow(self, steps: Iterable[Step]) -> bool:
        """Whether each of some steps takes what the one before gives, and nothing else does.

        As `adjoin`, but what a step gives may be moved, or other code run, before the next.
        """
        return all(
            self.adjoining(one, other) or self._leads_to(one, other)
            for one, other in pairwise(steps)
        )

    def _leads_to(self, first: Step, second: Step) -> bool:
        callee = second.call.func
        taken = callee.value if isinstance(callee, ast.Attribute) else None
        way = self._sources.same(taken, second.frame) if taken is not None else ()
        between = {each.node for each in way}
        if first.call not in between:
            return False
        uses = self._objects.uses(first.call)
        return uses is not None and between.issuperset(uses)

    def adjoining(self, first: Step, second: Step) -> bool:
        """Whether `second` takes what `first` gives, nothing else does, and no code stands between.

        So in one fluent chain, and in two statements that give one name its next values (or return
        it): there the two calls may change places.
        """
        callee = second.call.func
        taken = callee.value if isinstance(callee, ast.Attribute) else None
        if not isinstance(taken, (ast.Name, ast.Attribute)):
            return taken is first.call
        made, used = self._tree.statement(first.call), self._tree.statement(second.call)
        block, place = self._tree.place(made)
        gives = _assigned(made)
        if block[place + 1 : place + 2] != [used] or gives != (ast.unparse(taken), first.call):
            return False
        if isinstance(taken, ast.Name):
            binding = self._bindings.only(taken)
            readers = [] if binding is None else self._bindings.readers(binding)
            ends_here = isinstance(used, ast.Return) or _assigned(used)[0] == taken.id
            return ends_here and readers == [taken]
        target, value = _assigned(used)
        readings = [each for each in ast.walk(value) if _is_spelled(each, target)] if value else []
        return target == gives[0] and readings == [taken]


def _assigned(statement: ast.stmt) -> tuple[str, ast.expr | None]:
    """The one name or attribute a statement gives a value to, and the value."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return ast.unparse(statement.targets[0]), statement.value
    return "", None


def _is_spelled(node: ast.AST, spelling: str) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node) == spelling
