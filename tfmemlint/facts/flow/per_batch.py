"""Code that runs again and again, for each batch or example, though no loop stands around it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Over
from tfmemlint.facts.graphs.tracing import RUNS_PYTHON
from tfmemlint.facts.library.makers import given_to
from tfmemlint.facts.syntax.nodes import called
from tfmemlint.facts.syntax.tree import FunctionNode

_MAX_HOPS = 8


class PerBatch:
    """What the callers of code say about how often it runs on what."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._members = tf.members
        self._loops = tf.loops
        self._tracing = tf.tracing

    def varies(self, read: Iterable[ast.expr], at: ast.AST) -> bool:
        """Whether a loop around `at` changes what is read, trip for trip.

        A loop over a literal, `for split in ("train", "test")`, is taken for code written twice.
        """
        expressions = tuple(read)
        return any(
            loop.over is not Over.LITERAL
            and not all(self._loops.invariant(each, loop) for each in expressions)
            for loop in self._loops.around(at)
        )

    def runs_once(self, node: ast.AST, hops: int = _MAX_HOPS) -> bool:
        """Whether nothing shows that `node` runs many times, each on another part of the data."""
        if isinstance(node, ast.Call):
            passed = given_to(node)
            if self.varies(passed, node):
                return False
        function = self._tree.function(node)
        if function is None or hops == 0:
            return True
        if self._tracing.why(node) is not None or self._is_per_item(function):
            return False
        calls = self._callers.calls_of(function)
        return not calls or any(self.runs_once(call, hops - 1) for call in calls)

    def runs_again(self, node: ast.AST) -> bool:
        """Whether `node` is seen to run many times: in a loop, be it around a call."""
        leading = self._callers.leading_to(node, _MAX_HOPS)
        return any(loop for each in leading for loop in self._tree.loops(each))

    def _is_per_item(self, function: FunctionNode) -> bool:
        """Whether a function is made to be called again and again: a generator, `__getitem__`."""
        own = self._bodies.body(function)
        if any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in own):
            return True
        if any(self._is_mapped(each) for each in self._bodies.mentions(function)):
            return True
        owner = self._members.class_of(function)
        if owner is None or isinstance(function, ast.Lambda):
            return False
        serves = any(self._functions.method(owner, each) for each in _PER_ITEM)
        uncalled = function.name != "__init__" and not self._callers.calls_of(function)
        return function.name in _PER_ITEM or (serves and uncalled)

    def _is_mapped(self, function: ast.expr) -> bool:
        """Whether a function is handed to something that calls it for each of many elements."""
        call = self._tree.parent(function)
        if not isinstance(call, ast.Call) or function not in call.args:
            return False
        name = self._names.qualified(call.func)
        if name is not None:
            return name in _MAPS
        if isinstance(call.func, ast.Attribute):
            return call.func.attr in _MAPPING
        return called(call) in _MAPPING


_PER_ITEM = frozenset({"__getitem__", "__iter__", "__next__"})
_MAPS = RUNS_PYTHON | frozenset(
    {"functools.partial", "numpy.vectorize", "tensorflow.map_fn", "tensorflow.vectorized_map"}
)
_MAPPING = frozenset(
    {"apply", "filter", "imap", "imap_unordered", "map", "map_async", "starmap", "submit"}
)
