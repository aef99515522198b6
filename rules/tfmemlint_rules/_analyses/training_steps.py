"""Loops that train on one batch in each round."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.training import STEPS
from tfmemlint.facts.syntax.nodes import children, names_in, nodes_of, stored_in, within
from tfmemlint.facts.syntax.tree import LOOPS, FunctionNode

_MAX_HOPS = 3
_OF_WHOLES = frozenset({"validation_data", "validation_split"})


class TrainingSteps:
    """Where a module trains, a batch at a time."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._functions = tf.functions
        self._known: dict[FunctionNode, bool] = {}

    def is_in(self, loop: Loop) -> bool:
        """Whether each round of a loop trains on one batch: what is beside it is for one, too."""
        if isinstance(loop.node, ast.comprehension):
            return False
        return any(self._trains(each, _MAX_HOPS) for each in _level_of(loop.node.body))

    def _trains(self, node: ast.AST, hops: int) -> bool:
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute) and node.func.attr in STEPS:
            return True
        function = self._functions.function(node.func)
        if function is None:
            is_fit = isinstance(node.func, ast.Attribute) and node.func.attr == "fit"
            return is_fit and self._learns_from_predictions(node)
        if not hops:
            return False
        return self.is_of(function, hops - 1)

    def is_of(self, function: FunctionNode, hops: int = _MAX_HOPS) -> bool:
        """Whether a function trains on one batch each time that it is called."""
        if function not in self._known:
            self._known[function] = False  # what calls itself has no end
            body = function.body if isinstance(function.body, list) else [function.body]
            self._known[function] = any(self._trains(each, hops) for each in _level_of(body))
        return self._known[function]

    def _learns_from_predictions(self, fit: ast.Call) -> bool:
        """Whether the targets of `fit` are made of what is predicted there, as where agents learn
        from a few of their memories at a time."""
        targets = makers.argument(fit, 1, "y")
        if targets is None or any(each.arg in _OF_WHOLES for each in fit.keywords):
            return False
        function = self._tree.function(fit)
        code = [*within([function or next(self._tree.loops(fit), fit)])]
        made = [*filter(None, map(_puts, code))]
        predicted = {name for names, value in made if _predicts(value) for name in names}
        for names, value in made * 2:
            if not predicted.isdisjoint(names_in(value)):
                predicted |= names
        return _predicts(targets) or not predicted.isdisjoint(names_in(targets))


def _puts(node: ast.AST) -> tuple[set[str], ast.expr] | None:
    """The names of what code puts something in, and what: `xs[0] = x`, `xs.append(x)`."""
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {name for each in targets for name in _changed(each)}, node.value
    method = node.func if isinstance(node, ast.Call) and len(node.args) == 1 else None
    if isinstance(node, ast.Call) and isinstance(method, ast.Attribute) and method.attr == "append":
        return _changed(method.value), node.args[0]
    return None


def _changed(target: ast.expr) -> set[str]:
    while isinstance(target, ast.Subscript):
        target = target.value
    return {target.id} if isinstance(target, ast.Name) else stored_in(target)


def _predicts(expression: ast.expr) -> bool:
    methods = (each.func for each in nodes_of(ast.Call, expression))
    return any(isinstance(each, ast.Attribute) and each.attr == "predict" for each in methods)


def _level_of(body: list[ast.stmt] | list[ast.expr]) -> Iterator[ast.AST]:
    pending: list[ast.AST] = [*body]
    for node in pending:
        if isinstance(node, (*LOOPS, ast.Lambda, ast.FunctionDef, ast.ClassDef, ast.ListComp)):
            continue
        yield node
        pending += children(node)
