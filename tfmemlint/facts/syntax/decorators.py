"""Decorators that leave a function what it is: each call of it runs its body, once."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.tree import FunctionNode

_WRAPS = frozenset({"functools.wraps"})
_BUILT_IN = frozenset({"classmethod", "staticmethod"})
_RUN_IT = frozenset(
    {"line_profiler.profile", "memory_profiler.profile", "skopt.utils.use_named_args"}
)
_PUT_THERE = "profile"
"""What profilers put among the built-in functions, so that programs need not import it."""


class Decorators:
    """What the decorators of a file's functions do to them."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._names = tf.names
        self._known: dict[FunctionNode, bool] = {}

    def leave(self, function: FunctionNode) -> bool:
        """Whether a function is what it would be without them."""
        home = self._tree.elsewhere(function)
        if home is not None:
            return home.of(Decorators).leave(function)
        decorators: list[ast.expr] = getattr(function, "decorator_list", [])
        return all(map(self._is_plain, decorators))

    def _is_plain(self, decorator: ast.expr) -> bool:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        if self._names.is_any(named, _RUN_IT):
            return True
        if isinstance(named, ast.Name) and not self._bindings.named(named.id):
            return named.id == _PUT_THERE or (named is decorator and named.id in _BUILT_IN)
        made = self._functions.definition(named)
        if isinstance(made, ast.FunctionDef) and named is not decorator:
            made = None if made.decorator_list else self._only_inner(made)
        return isinstance(made, ast.FunctionDef) and self._hands_through(made)

    def _hands_through(self, decorator: ast.FunctionDef) -> bool:
        """Whether a decorator gives back what but calls the function, once, for its result."""
        if decorator not in self._known:
            wrapper = None if decorator.decorator_list else self._only_inner(decorator)
            taken = [each.arg for each in decorator.args.args]
            self._known[decorator] = (
                wrapper is not None
                and len(taken) == 1
                and all(map(self._is_wraps, wrapper.decorator_list))
                and self._returns_call_of(wrapper, taken[0])
            )
        return self._known[decorator]

    def _only_inner(self, function: ast.FunctionDef) -> ast.FunctionDef | None:
        """The function that another one has in it and gives back, whatever it is given."""
        returned = self._bodies.returns(function)
        inner = [each for each in function.body if isinstance(each, ast.FunctionDef)]
        if len(returned) != 1 or len(inner) != 1 or not isinstance(returned[0], ast.Name):
            return None
        return inner[0] if returned[0].id == inner[0].name else None

    def _is_wraps(self, decorator: ast.expr) -> bool:
        return self._names.call_of(decorator, _WRAPS) is not None

    def _returns_call_of(self, wrapper: ast.FunctionDef, name: str) -> bool:
        """Whether all that a function returns is the one call of another, made in each run."""
        returned = self._bodies.returns(wrapper)
        within = list(self._bodies.body(wrapper))
        reads = [each for each in within if isinstance(each, ast.Name) and each.id == name]
        result = returned[0] if len(returned) == 1 else None
        if isinstance(result, ast.Name):
            named = [each for each in within if isinstance(each, ast.Name) and each.id == result.id]
            if len(named) != 2:
                return False  # who else reads it may keep it
            plain = (each for each in wrapper.body if isinstance(each, ast.Assign))
            result = next((each.value for each in plain if each.targets == named[:1]), None)
        called = isinstance(result, ast.Call) and [result.func] == reads
        return called and isinstance(wrapper.body[-1], ast.Return)
