"""Decorators that leave a function what it is: each call of it runs its body, once."""

from __future__ import annotations

import ast

from tfmemlint.facts.syntax.tree import FunctionNode
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.facts import TensorFlow

_BUILT_IN = frozenset({"classmethod", "staticmethod"})
_WATCHES = frozenset({"line_profiler.profile", "memory_profiler.profile"})
_PUT_THERE = "profile"
"""What profilers put among the built-in functions, so that programs need not import it."""


class Decorators:
    """What the decorators of a file's functions do to them."""

    def __init__(self, tf: TensorFlow) -> None:
        self._bindings = tf.bindings
        self._names = tf.names

    def leave(self, function: FunctionNode) -> bool:
        """Whether a function is what it would be without them."""
        decorators: list[ast.expr] = getattr(function, "decorator_list", [])
        return all(map(self._is_plain, decorators))

    def _is_plain(self, decorator: ast.expr) -> bool:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        if self._names.is_any(named, _WATCHES):
            return True
        if not isinstance(named, ast.Name) or self._bindings.named(named.id):
            return False
        return named.id == _PUT_THERE or (named is decorator and named.id in _BUILT_IN)
