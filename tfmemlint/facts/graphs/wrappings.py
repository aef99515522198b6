"""Traced functions as code makes them: decorated definitions, and calls of `tf.function`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.uses import Trail
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.syntax.bindings import Binding
from tfmemlint.facts.syntax.nodes import nodes_of
from tfmemlint.facts.syntax.tracers import TF_FUNCTION
from tfmemlint.facts.syntax.tree import FunctionNode

RUNS = frozenset({"experimental_run_v2", "run"})
"""Methods of distribution strategies that call what they are given."""
DATA = frozenset({Kind.ARRAY, Kind.DATASET, Kind.NUMBER, Kind.TENSOR})
"""What could be passed to a function instead of being read by it."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef
Made = Definition | ast.Call


class Wrappings:
    """What a module wraps in `tf.function`: what it reads, and where it goes."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._callers = tf.callers
        self._members = tf.members
        self._tracers = tf.tracers
        self._values = tf.values
        self._uses = tf.uses
        self._reads: dict[ast.AST, tuple[list[ast.Name], list[FunctionNode]]] = {}

    @cached_property
    def all(self) -> tuple[Made, ...]:
        """Every traced function that is made: decorated definitions, and calls of `tf.function`."""
        return tuple(self._find())

    def _find(self) -> Iterator[Made]:
        if not self._names.mentions(TF_FUNCTION):
            return
        wraps = self._tracers.makes_tf_function
        for definition in self._tree.all(ast.FunctionDef, ast.AsyncFunctionDef):
            is_method = self._members.class_of(definition) is not None
            if not is_method and any(map(wraps, definition.decorator_list)):
                yield definition
        for call in self._tree.calls(self._tracers.words):
            if wrapped_by(call) is not None and wraps(call.func):
                yield call

    def wrapped(self, made: Made) -> FunctionNode | None:
        """The function of this module that is traced, if in sight."""
        if not isinstance(made, ast.Call):
            return made
        function = wrapped_by(made)
        return self._functions.function(function) if function is not None else None

    def run_with(self, made: Made) -> list[ast.AST]:
        """What is traced of this module: the function and those it calls."""
        inside: list[ast.AST] = [made]
        wrapped = self.wrapped(made)
        if wrapped is not None and wrapped is not made:
            inside.append(wrapped)
        for each in inside:
            calls = nodes_of(ast.Call, each)
            called = (self._functions.function(call.func) for call in calls)
            inside += [found for found in called if found is not None and found not in inside]
        return inside

    def objects(self, made: Made) -> list[ast.Name]:
        """What a traced function, or one that it calls, reads around it that is more than data."""
        inside: list[ast.AST] = [made]
        wrapped = self.wrapped(made)
        if wrapped is not None and wrapped is not made:
            inside.append(wrapped)
        met = set(inside)
        found: list[ast.Name] = []
        for each in inside:
            objects, called = self._read(each)
            found += objects
            inside += [one for one in called if one not in met]
            met.update(called)
        return found

    def _read(self, code: ast.AST) -> tuple[list[ast.Name], list[FunctionNode]]:
        """The objects that code reads from around it, and the functions of this module."""
        if code not in self._reads:
            objects: list[ast.Name] = []
            called: dict[FunctionNode, None] = {}
            for name in ast.walk(code):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load):
                    home = self._bindings.home(name.id, name)
                    if home is not None and not self._tree.inside(home, code):
                        objects += [name] if self._is_object(name) else []
                        function = self._functions.function(name)
                        called |= {} if function is None else {function: None}
            self._reads[code] = objects, list(called)
        return self._reads[code]

    def _is_object(self, name: ast.Name) -> bool:
        above = self._tree.parent(name)
        if isinstance(above, ast.Attribute):
            return above.attr not in ("T", "dtype", "shape")
        if isinstance(above, ast.keyword):
            above = self._tree.parent(above)
        if not isinstance(above, ast.Call):
            return not isinstance(above, (ast.BinOp, ast.Compare, ast.UnaryOp))
        ours = self._functions.definition(above.func) is not None
        return above.func is name or ours or self._tracers.makes_tf_function(above.func)

    def is_own_object(self, binding: Binding) -> bool:
        """Whether a name is given more than data: something that a function is made for."""
        maker = self._names.qualified(getattr(binding.value, "func", None)) or ""
        is_metric = maker.startswith("keras.metrics.")  # one would do: it can be reset
        return not is_metric and self._values.bound(binding).kind not in DATA

    def trails(self, made: Made) -> list[Trail]:
        """The ways to the uses of what is made; none where something may keep it for later."""
        found: list[Trail] = []
        for start in self.starts(made):
            trails = self._uses.of(start)
            if trails is None or any(map(self.is_put_away, trails)):
                return []
            found += trails
        return found

    def starts(self, made: Made) -> list[ast.expr]:
        """The expressions that stand for what is made first: the call, or the definition's name."""
        if isinstance(made, ast.Call):
            return [made]
        starts: list[ast.expr] = []
        for binding in self._bindings.of(self._tree.scope(made), made.name):
            if binding.node is made:
                starts += self._bindings.readers(binding)
        return starts

    def is_put_away(self, trail: Trail) -> bool:
        """Whether a use may keep the function: `steps.append(step)`, `{"train": step}`."""
        above = self._tree.parent(trail[-1])
        looked_at = isinstance(above, (ast.Attribute, ast.Expr))
        return not looked_at and self.call_with(trail[-1]) is None

    def call_with(self, use: ast.expr) -> ast.Call | None:
        """The call that runs a function at one of its uses, or hands it to what does."""
        call = self._tree.parent(use)
        if not isinstance(call, ast.Call):
            return None
        if call.func is use:
            return call
        runs = isinstance(call.func, ast.Attribute) and call.func.attr in RUNS
        if runs and call.args[:1] == [use]:
            return call
        function = self._functions.function(call.func)
        if function is None:
            return None
        taken = self._callers.taken_as(use, call, function)
        for reader in self._bindings.readers(taken) if taken is not None else ():
            above = self._tree.parent(reader)
            if isinstance(above, ast.Call) and above.func is reader:
                return call
        return None


def wrapped_by(call: ast.Call) -> ast.expr | None:
    """What a call of `tf.function` wraps."""
    if call.args:
        return None if isinstance(call.args[0], ast.Starred) else call.args[0]
    return next((each.value for each in call.keywords if each.arg == "func"), None)


def is_plain(decorator: ast.expr) -> bool:
    """Whether a decorator leaves a function what it is."""
    return isinstance(decorator, ast.Name) and decorator.id in ("classmethod", "staticmethod")
