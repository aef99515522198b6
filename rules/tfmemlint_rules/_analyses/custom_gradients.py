"""Custom gradients: which code has TensorFlow keep, for good, the graphs it is traced into."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library.makers import given_to
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import within
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode

DECORATORS = frozenset({"keras.ops.custom_gradient", "tensorflow.custom_gradient"})
_ACTIVATIONS = frozenset({"silu", "swish"})
_GIVES = frozenset(
    {"keras.remat", "tensorflow.grad_pass_through", "tensorflow.recompute_grad"}
    | {
        f"{module}.{name}"
        for module in ("keras.activations", "keras.ops", "tensorflow.nn")
        for name in _ACTIVATIONS
    }
)
"""Functions that have a custom gradient, or give back one that has."""
_WORDS = frozenset(each.rpartition(".")[2] for each in _GIVES | DECORATORS)
_LARGE = re.compile(r"keras\.applications\.(.+\.)?EfficientNet(V2)?(B\d|S|M|L)")
_MODELS = frozenset({"keras.Model", "keras.Sequential"})
_METHODS = ("__init__", "build", "call")
_MAX_HOPS = 4


class CustomGradients:
    """Where a module's models and traced functions have custom gradients."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._classes = tf.classes
        self._flow = tf.flow

    @cached_property
    def any(self) -> bool:
        """Whether the file mentions one anywhere, by its name."""
        words = (
            *(each.value for each in self._tree.all(ast.Constant) if isinstance(each.value, str)),
            *(each.attr for each in self._tree.all(ast.Attribute)),
            *(each.name.rpartition(".")[2] for each in self._tree.all(ast.alias)),
        )
        return any(each in _WORDS or "EfficientNet" in each for each in words)

    def is_large(self, expression: ast.expr) -> bool:
        """Whether an expression is a large ready-made model whose activations have them."""
        return _LARGE.fullmatch(self._names.qualified(expression) or "") is not None

    def of_model(self, maker: ast.Call, around: ast.AST) -> ast.expr | None:
        """What gives a custom gradient to the model that a call makes.

        Where the call is of Keras itself, the layers are looked for in the code `around` it.
        """
        if self.is_large(maker.func):
            return maker.func
        if self._names.is_any(maker.func, _MODELS):
            calls = (each for each in within([around]) if isinstance(each, ast.Call))
            parts = (each for each in calls if self._is_of_keras(each) or self.is_large(each.func))
            found = (self._found(each, None) for part in parts for each in within([part]))
            return next(filter(None, found), None)
        return next(filter(None, self._run_by(maker, None, _MAX_HOPS)), None)

    def of_function(self, made: FunctionNode | ast.Call) -> ast.expr | None:
        """What gives a custom gradient to a function: in it, or in those of the module it calls."""
        pending: list[ast.AST] = [made]
        for each in pending:
            for node in _whole_body(each) if isinstance(each, FUNCTIONS) else within([each]):
                found = self._found(node, None)
                if found is not None:
                    return found
                called = self._functions.function(node.func) if isinstance(node, ast.Call) else None
                if called is not None and called not in pending:
                    pending.append(called)
            if isinstance(each, ast.Call):  # `tf.function(f)`
                given = self._functions.function(each)
                pending += [given] if given is not None and given not in pending else []
        return None

    def _run_by(self, call: ast.Call, outer: Frame | None, hops: int) -> Iterator[ast.expr | None]:
        """What is found in the function that a call runs, or the class it makes an instance of."""
        owner = self._functions.definition(call.func)
        if isinstance(owner, ast.ClassDef):
            if hops and self._classes.is_keras(owner):
                methods = (self._functions.method(owner, each) for each in _METHODS)
                bodies = (_whole_body(each) for each in methods if each is not None)
                yield from self._in((node for body in bodies for node in body), None, hops)
            return
        frame = self._flow.enter(call, outer)
        if frame is not None and hops:
            yield from self._in(_whole_body(frame.function), frame, hops)

    def _in(
        self, nodes: Iterable[ast.AST], frame: Frame | None, hops: int
    ) -> Iterator[ast.expr | None]:
        for node in nodes:
            yield self._found(node, frame)
            if isinstance(node, ast.Call):
                yield from self._run_by(node, frame, hops - 1)

    def _found(self, node: ast.AST, frame: Frame | None) -> ast.expr | None:
        """The node itself if it is a custom gradient, or the argument that names one."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            return node if self._is_one(node) or self.is_large(node) else None
        if isinstance(node, ast.Call) and self._is_of_keras(node):
            for given in given_to(node):
                if self._names_one(given, frame, _MAX_HOPS):
                    return given
        return None

    def _is_one(self, expression: ast.expr) -> bool:
        """Whether an expression is a function with a custom gradient."""
        if self._names.is_any(expression, _GIVES):
            return True
        called = self._functions.function(expression) if self._may_be_ours(expression) else None
        decorators = getattr(called, "decorator_list", [])
        if any(self._names.is_any(each, DECORATORS) for each in decorators):
            return True
        binding = self._bindings.only(expression)
        value = binding.value if binding is not None and binding.how is How.ASSIGNED else None
        return self._names.call_of(value, DECORATORS) is not None

    def _may_be_ours(self, expression: ast.expr) -> bool:
        name = getattr(expression, "id", "") or getattr(expression, "attr", "")
        return name in self._decorated

    @cached_property
    def _decorated(self) -> frozenset[str]:
        return frozenset(
            definition.name
            for definition in self._tree.all(ast.FunctionDef)
            if any(self._names.is_any(each, DECORATORS) for each in definition.decorator_list)
        )

    def _names_one(self, given: ast.expr, frame: Frame | None, hops: int) -> bool:
        """Whether an argument of a layer is surely "silu" or "swish", also as a constant."""
        if isinstance(given, ast.Constant):
            return given.value in _ACTIVATIONS
        if not isinstance(given, ast.Name) or hops == 0:
            return False
        origins = self._flow.origins(given, frame) or ()
        return bool(origins) and all(
            each.how is How.ASSIGNED
            and not each.path
            and (self._is_one(each.value) or self._names_one(each.value, each.frame, hops - 1))
            for each in origins
        )

    def _is_of_keras(self, node: ast.AST) -> bool:
        return self._names.called(node).startswith("keras.layers.")


def _whole_body(function: FunctionNode) -> Iterator[ast.AST]:
    """The nodes of a function, with those of the functions in it."""
    return within([function.body] if isinstance(function, ast.Lambda) else function.body)
