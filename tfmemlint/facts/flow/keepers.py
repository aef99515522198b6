"""Functions that may give back what an earlier call of them has made, and kept."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import root
from tfmemlint.facts.syntax.tree import FunctionNode

_MOST_HOPS = 4
_LOOKS_UP = frozenset({"get", "pop", "setdefault"})

_Place = ast.Attribute | ast.Name | ast.Subscript


class Keepers:
    """Which functions read what they give back from where it outlives the call."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._known: dict[FunctionNode, bool] = {}
        self._stores: dict[tuple[str, FunctionNode, int], bool] = {}

    def may_keep(self, function: FunctionNode) -> bool:
        """Whether not every call surely gives something else: `if key not in made: made[key] = …`.

        What nobody knows counts for nothing.
        """
        if function not in self._known:
            self._known[function] = False  # as far as what calls itself is concerned
            returned = self._bodies.returns(function)
            self._known[function] = any(
                self._outlives(each, function, _MOST_HOPS) for each in returned
            )
        return self._known[function]

    def _outlives(self, value: ast.expr, function: FunctionNode, hops: int) -> bool:
        """Whether a value may have been there before the call."""
        if hops == 0:
            return False
        if isinstance(value, ast.IfExp):
            return any(self._outlives(each, function, hops) for each in (value.body, value.orelse))
        if isinstance(value, ast.BoolOp):
            return any(self._outlives(each, function, hops) for each in value.values)
        if isinstance(value, ast.Call):
            if isinstance(value.func, ast.Attribute) and value.func.attr in _LOOKS_UP:
                return self._is_from_outside(root(value.func), function)
            called = self._functions.function(value.func)
            return called is not None and self.may_keep(called)
        if not isinstance(value, _Place):
            return False
        if isinstance(value, ast.Name) and self._bindings.home(value.id, value) is function:
            found = self._bindings.reaching(value)
            given = [each.value for each in found if each.is_whole]
            return any(each and self._outlives(each, function, hops - 1) for each in given)
        if not self._is_from_outside(root(value), function):
            return False
        return not self._surely_stores(value, function, hops)

    def _surely_stores(self, place: _Place, function: FunctionNode, hops: int) -> bool:
        """Whether every call puts something there, itself or by a method that it calls."""
        for node in self._bodies.body(function):
            if isinstance(node, _Place):
                stores = isinstance(node.ctx, ast.Store) and _is_alike(node, place)
            elif isinstance(node, ast.Call) and isinstance(place, ast.Attribute) and hops:
                called = self._functions.function(node.func)
                stores = called is not None and self._method_stores(place, called, hops - 1)
            else:
                continue
            if stores and self._is_always_reached(node, function):
                return True
        return False

    def _method_stores(self, place: ast.Attribute, called: FunctionNode, hops: int) -> bool:
        about = place.attr, called, hops
        if about not in self._stores:
            self._stores[about] = self._surely_stores(place, called, hops)
        return self._stores[about]

    def _is_always_reached(self, node: ast.expr, function: FunctionNode) -> bool:
        """Whether neither a test nor a `return` before it may keep a call from getting there."""
        if self._tree.is_conditional(node):
            return False
        exits = (each for each in self._bodies.body(function) if isinstance(each, ast.Return))
        return not any(
            (each.end_lineno, each.end_col_offset) < (node.lineno, node.col_offset)
            for each in exits
        )

    def _is_from_outside(self, node: ast.AST, function: FunctionNode) -> bool:
        """Whether a name means what is there before the function is called."""
        if not isinstance(node, ast.Name):
            return False
        if self._bindings.home(node.id, node) is not function:
            return True
        found = self._bindings.reaching(node)
        return bool(found) and all(each.how is How.PARAMETER for each in found)


def _is_alike(target: _Place, place: _Place) -> bool:
    """Whether two places have the same spelling, or are attributes of the same name."""
    if isinstance(target, ast.Attribute) and isinstance(place, ast.Attribute):
        return target.attr == place.attr
    return ast.unparse(target) == ast.unparse(place)
