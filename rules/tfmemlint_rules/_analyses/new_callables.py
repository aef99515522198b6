"""Functions that are another object at each call, given to traced functions.

What a traced function is given to call is part of what its graph is made for: the same function is
the same each time, but `self.step`, `lambda: ...` and `partial(...)` make an object at each call.
"""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import run_at
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.flow.remade_functions import A_FEW
from tfmemlint.facts.graphs.retraces import Given
from tfmemlint.facts.syntax.tracers import PARTIAL
from tfmemlint.light_typing import NamedTuple


class NewCallable(NamedTuple):
    """One argument of one call."""

    given: Given
    loop: Loop
    """What makes the next one."""


class NewCallables:
    """Where loops call traced functions with functions that they make for the call."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._functions = tf.functions
        self._sources = tf.sources
        self._retraces = tf.retraces
        self._changing_numbers = tf.changing_numbers

    @cached_property
    def all(self) -> tuple[NewCallable, ...]:
        """Every such argument, in source order."""
        found: list[NewCallable] = []
        for given in self._retraces.given(("input_signature",)):
            loop = self._makes_anew(given)
            if loop is not None:
                found.append(NewCallable(given, loop))
        return tuple(sorted(found, key=lambda each: each.given.call.lineno))

    def _makes_anew(self, given: Given) -> Loop | None:
        """The innermost loop of many rounds that makes what it gives in each of them."""
        if self._is_new(given.argument):
            around = self._changing_numbers.run_by(given.call)
            return next((each for each in around if _is_many(each)), None)
        for node, _, frame in self._sources.same(given.argument):
            if isinstance(node, ast.expr) and self._is_new(node):
                at = run_at(node, frame)
                around = self._changing_numbers.run_by(given.call)
                within = (each for each in around if self._tree.inside(at, each.node))
                return next(filter(_is_many, within), None)
        return None

    def _is_new(self, argument: ast.expr) -> bool:
        if isinstance(argument, ast.Lambda):
            return True
        if isinstance(argument, ast.Call):
            return self._names.is_any(argument.func, PARTIAL)
        if not isinstance(argument, ast.Attribute):
            return False
        owner = self._functions.instance_of(argument.value)
        method = self._functions.method(owner, argument.attr) if owner is not None else None
        plain = isinstance(method, ast.FunctionDef) and not method.decorator_list
        return plain and owner is not None and not self._functions.attributes(owner, argument.attr)


def _is_many(loop: Loop) -> bool:
    return loop.trips is None or loop.trips > A_FEW
