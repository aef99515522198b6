"""Models that a server loads for every request, though it is the same one each time."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import given_to
from tfmemlint.facts.syntax.decorators import Decorators
from tfmemlint.facts.syntax.nodes import nodes_of
from tfmemlint.facts.syntax.tree import FunctionNode
from tfmemlint.light_typing import NamedTuple
from tfmemlint_rules._analyses.novelty import Novelty
from tfmemlint_rules._analyses.same_each_round import SameEachRound

_SERVERS = ("bottle", "django", "fastapi", "flask", "quart", "sanic", "starlette", "tornado")
_MAX_HOPS = 4


class PerRequest(NamedTuple):
    """One call that loads a model, and the function that serves requests with it."""

    call: ast.Call
    handler: FunctionNode


class LoadedPerRequest:
    """Such calls of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._bindings = tf.bindings
        self._callers = tf.callers
        self._loops = tf.loops
        self._novelty = tf.of(Novelty)
        self._loads = tf.of(SameEachRound).loads
        self._decorators = tf.of(Decorators)

    @cached_property
    def all(self) -> tuple[PerRequest, ...]:
        """Every one, in source order."""
        found: list[PerRequest] = []
        for call in self._loads:
            handler = self._handler(call)
            if handler is not None:
                found.append(PerRequest(call, handler))
        return tuple(found)

    def _handler(self, call: ast.Call) -> FunctionNode | None:
        """What serves requests and surely has a call made each time, with the same arguments."""
        node: ast.AST = call
        given: list[ast.expr] = given_to(call)
        for _ in range(_MAX_HOPS):
            function = self._tree.function(node)
            if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return None
            tests = [test for test, _ in self._tree.tests(node, function)]
            asked = bool(tests) and all(self._is_of_request(each, _MAX_HOPS) for each in tests)
            if self._tree.is_conditional(node) and not asked:
                return None
            if any(self._loops.around(node)):
                return None
            if not all(self._is_fixed(each, _MAX_HOPS) for each in given):
                return None
            if self._novelty.serves(function):
                return function
            calls = self._callers.calls_of(function)
            if len(calls) != 1 or not self._decorators.leave(function):
                return None
            (node,), given = calls, []
        return None

    def _is_of_request(self, test: ast.expr, hops: int) -> bool:
        """Whether all that a test reads comes from the request: `request.method == "POST"`."""
        called = {each.func for each in nodes_of(ast.Call, test)}
        names = [each for each in nodes_of(ast.Name, test) if each not in called]
        return bool(names) and all(self._comes_with_request(each, hops) for each in names)

    def _comes_with_request(self, name: ast.Name, hops: int) -> bool:
        qualified = self._names.qualified(name)
        if qualified is not None:
            return qualified.partition(".")[0] in _SERVERS
        value = self._bindings.assigned(name) if hops else None
        return value is not None and self._is_of_request(value, hops - 1)

    def _is_fixed(self, given: ast.expr, hops: int) -> bool:
        """Whether nothing that an argument reads comes from a request, or from who calls."""
        for each in ast.walk(given):
            if isinstance(each, ast.Call) and self._names.qualified(each.func) is None:
                return False
            if not isinstance(each, ast.Name):
                continue
            name = self._names.qualified(each)
            if name is not None and name.partition(".")[0] in _SERVERS:
                return False
            home = self._bindings.home(each.id, each)
            if home is not None and home is not self._tree.module:
                value = self._bindings.assigned(each) if hops else None
                if value is None or not self._is_fixed(value, hops - 1):
                    return False
        return True
