"""Loops that train on one batch in each round."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.library.training import STEPS
from tfmemlint.facts.syntax.nodes import children
from tfmemlint.facts.syntax.tree import LOOPS, FunctionNode

_MAX_HOPS = 3


class TrainingSteps:
    """Where a module trains, a batch at a time."""

    def __init__(self, tf: TensorFlow) -> None:
        self._functions = tf.functions
        self._known: dict[FunctionNode, bool] = {}

    def is_in(self, loop: Loop) -> bool:
        """Whether each round of a loop trains on one batch: what is beside it is for one, too."""
        if isinstance(loop.node, ast.comprehension):
            return False
        if loop.over is Over.EPOCHS and not self._has(loop, directly=True):
            return False
        return self._has(loop, directly=False)

    def _has(self, loop: Loop, *, directly: bool) -> bool:
        assert isinstance(loop.node, LOOPS)
        return any(self._trains(each, 0 if directly else _MAX_HOPS) for each in _level(loop))

    def _trains(self, node: ast.AST, hops: int) -> bool:
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute) and node.func.attr in STEPS:
            return True
        function = self._functions.function(node.func) if hops else None
        if function is None:
            return False
        if function not in self._known:
            self._known[function] = False  # what calls itself has no end
            body = function.body if isinstance(function.body, list) else [function.body]
            level = _level_of(body)
            self._known[function] = any(self._trains(each, hops - 1) for each in level)
        return self._known[function]


def _level(loop: Loop) -> Iterator[ast.AST]:
    """The code of each round but that of loops within."""
    return _level_of(loop.node.body) if isinstance(loop.node, LOOPS) else iter(())


def _level_of(body: list[ast.stmt] | list[ast.expr]) -> Iterator[ast.AST]:
    pending: list[ast.AST] = [*body]
    for node in pending:
        if isinstance(node, (*LOOPS, ast.Lambda, ast.FunctionDef, ast.ClassDef, ast.ListComp)):
            continue
        yield node
        pending += children(node)
