"""Traced functions that loops make anew, but that would be the same if made before them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.graphs.wrappings import DATA, Made
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import root_name


class SameGraphs:
    """Whether traced functions are traced to the same graph wherever they are made."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._values = tf.values
        self._loops = tf.loops
        self._wrappings = tf.wrappings

    def before(self, made: Made, loop: Loop) -> bool:
        """Whether the function, made before a loop, is the same one, traced to the same graph.

        It and what it calls in this module only compute, and read nothing that the loop binds or
        changes. What libraries and models do when they are called is taken to be that, too.
        """
        inside = self._wrappings.run_with(made)
        outside: set[str] = set()
        for each in inside:
            for node in ast.walk(each):
                if self._does_more(node):
                    return False
                if isinstance(node, ast.Name) and not self._bindings.is_own(node, inside):
                    if not isinstance(node.ctx, ast.Load) or self._is_bound_in(node, loop, made):
                        return False
                    outside.add(node.id)
        return not any(
            self._changes(node, outside)
            for node in ast.walk(self._loops.extent(loop))
            if not any(self._tree.inside(node, each) for each in inside)
        )

    def _is_ready_made(self, callee: ast.expr) -> bool:
        """Whether an expression, or what it is an attribute of, comes from a library."""
        for each in _chain(callee):
            if self._names.qualified(each) is not None:
                return True
            if isinstance(each, ast.Call):
                return self._is_ready_made(each.func)
            if self._values.of(each).kind in _LIBRARY:
                return True
            made = getattr(self._value(each), "func", None)
            if (self._names.qualified(made) or "").startswith(("keras.", "tensorflow.")):
                return True
            if isinstance(each, ast.Name) and self._bindings.home(each.id, each) is None:
                return hasattr(builtins, each.id)
        return False

    def _is_bound_in(self, name: ast.Name, loop: Loop, made: Made) -> bool:
        return any(
            self._tree.inside(binding.node, self._loops.extent(loop)) and binding.node is not made
            for binding in self._bindings.reaching(name)
        )

    def _does_more(self, node: ast.AST) -> bool:
        """Whether a node of a traced function does, while it is traced, what a graph does not."""
        if isinstance(node, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await)):
            return True
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return True
        if not isinstance(node, ast.Call):
            return False
        name = self._names.qualified(node.func) or ""
        if isinstance(node.func, ast.Attribute):
            made = self._names.qualified(getattr(self._value(node.func.value), "func", None))
            drawn = made in makers.RANDOM_GENERATORS
            return drawn or node.func.attr in _MUTATES or name.startswith(_PYTHON_STATE)
        return getattr(node.func, "id", "") in _SPEAKS or name.startswith(_PYTHON_STATE)

    def _value(self, expression: ast.expr) -> ast.expr | None:
        binding = self._bindings.only(expression)
        return binding.value if binding is not None else None

    def _changes(self, node: ast.AST, names: set[str]) -> bool:
        """Whether a node of a loop changes, or may change, what one of these names stands for."""
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            freezes = isinstance(node, ast.Attribute) and node.attr == "trainable"
            return freezes or root_name(node) in names
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            held = node.func.value
            is_ours = isinstance(held, ast.Name) and self._functions.instance_of(held) is not None
            if (node.func.attr in _MUTATES or is_ours) and root_name(node.func) in names:
                return True
        if isinstance(node, ast.Call) and not self._is_ready_made(node.func):
            given = (each for each in node.args if isinstance(each, ast.Name) and each.id in names)
            return any(self._is_plain_object(each) for each in given)
        return False

    def _is_plain_object(self, name: ast.Name) -> bool:
        """Whether a call that is given a name could change what it holds: a list, an object."""
        found = self._bindings.reaching(name)
        named = all(each.how in (How.DEFINED, How.IMPORTED) for each in found)
        return not (found and named) and not self._is_ready_made(name)


_LIBRARY = DATA | {Kind.LAYER, Kind.MODEL, Kind.VARIABLE}
_MUTATES = frozenset(
    {"add", "append", "clear", "discard", "extend", "insert", "pop", "popleft", "remove"}
    | {"appendleft", "setdefault", "sort", "update", "write"}
)
_SPEAKS = frozenset({"input", "next", "open", "print"})
_PYTHON_STATE = ("datetime.", "itertools.count", "numpy.random.", "random.", "time.", "uuid.")


def _chain(callee: ast.expr) -> Iterator[ast.expr]:
    """An expression and all that it is an attribute or element of, the innermost last."""
    yield callee
    while isinstance(callee, (ast.Attribute, ast.Subscript)):
        callee = callee.value
        yield callee
