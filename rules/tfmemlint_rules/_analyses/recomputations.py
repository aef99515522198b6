"""Functions whose activations are to be computed again, all at once or one by one."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.syntax.nodes import names_in
from tfmemlint.facts.syntax.tree import LOOPS, FunctionNode
from tfmemlint.light_typing import NamedTuple

_RECOMPUTES = frozenset({"keras.remat", "tensorflow.recompute_grad"})


class Recomputed(NamedTuple):
    """One function that is recomputed, so that nothing is saved."""

    node: ast.expr
    """The call that wraps it, or the decorator."""
    wrapped: str
    is_whole: bool
    """Whether it is the whole network; else a single layer."""


class Recomputations:
    """Such functions of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._values = tf.values
        self._bindings = tf.bindings
        self._flow = tf.flow
        self._tapes = tf.tapes

    @cached_property
    def all(self) -> tuple[Recomputed, ...]:
        """Every one, in source order."""
        found: list[Recomputed] = []
        for call, _ in self._names.calls(_RECOMPUTES):
            if len(call.args) == 1:
                found += self._of_call(call, call.args[0])
        for function in self._tree.all(ast.FunctionDef):
            for decorator in function.decorator_list:
                if self._names.is_any(decorator, _RECOMPUTES) and self._goes_deep(function):
                    found.append(Recomputed(decorator, function.name, is_whole=True))
        return tuple(sorted(found, key=lambda each: (each.node.lineno, each.node.col_offset)))

    def _of_call(self, call: ast.Call, given: ast.expr) -> list[Recomputed]:
        name = ast.unparse(given)
        if self._is_one_layer(given):
            return [Recomputed(call, name, is_whole=False)]
        function = self._functions.function(given)
        repeated = any(self._tree.loops(call))
        deep = function is not None and self._goes_deep(function)
        whole = not repeated and (deep or self._is_all_that_learns(given))
        return [Recomputed(call, name, is_whole=True)] if whole else []

    def _is_one_layer(self, given: ast.expr) -> bool:
        """Whether it is a layer of Keras's own, or each of a model's layers."""
        made = given
        if isinstance(given, ast.Name):
            origins = self._flow.origins(given) or ()
            if len(origins) != 1:
                return False
            made, how = origins[0].value, origins[0].how
            if how.name == "LOOPED":
                return isinstance(made, ast.Attribute) and made.attr == "layers"
        return self._names.called(made).startswith("keras.layers.")

    def _goes_deep(self, function: FunctionNode) -> bool:
        """Whether a function goes through many blocks in turn: `for block in blocks: x = block(x)`.

        None of them with its own activations computed again.
        """
        for loop in self._bodies.body(function):
            if not isinstance(loop, LOOPS) or isinstance(loop, ast.While):
                continue
            for statement in loop.body:
                match statement:
                    case ast.Assign([ast.Name(name)], ast.Call(func, [ast.Name(given), *_])):
                        if name == given and self._is_of_round(func, loop):
                            return True
                    case _:
                        pass
        return False

    def _is_of_round(self, callee: ast.expr, loop: ast.For | ast.AsyncFor) -> bool:
        bound = names_in(loop.target)
        return isinstance(callee, ast.Name) and callee.id in bound

    def _is_all_that_learns(self, given: ast.expr) -> bool:
        """Whether it is a model, and gradients are taken of that model's weights alone."""
        if self._values.of(given).kind is not Kind.MODEL:
            return False
        owners: list[str] = []
        for asked in (each for tape in self._tapes.all for each in tape.asked):
            variables = asked.args[1] if len(asked.args) > 1 else None
            variables = self._bindings.assigned(variables) or variables
            if not isinstance(variables, ast.Attribute):
                return False
            owners.append(ast.unparse(variables.value))
        return bool(owners) and set(owners) == {ast.unparse(given)}
