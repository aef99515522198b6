"""What code says values are: `model: keras.Model`, `-> tf.data.Dataset`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.annotated import Annotated
from tfmemlint.facts.syntax.bindings import Binding

_WRAPS = frozenset({"typing.Annotated", "typing.ClassVar", "typing.Final", "typing.Optional"})


class Annotations:
    """The types that a module writes beside its names and functions."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions

    def of(self, expression: ast.expr) -> tuple[ast.expr, ...]:
        """The types that are said of a name, `self.attribute` or what a call gives.

        Each of a union but None; nothing where a type is not said, or only by a string.
        """
        found = [part for said in self._said(expression) for part in self._parts(said)]
        return tuple(found)

    def is_one_of(self, expression: ast.expr, names: frozenset[str]) -> bool:
        """Whether a value is said to be of one of these canonical types, and of no other."""
        said = self.of(expression)
        return bool(said) and all(self._names.is_any(each, names) for each in said)

    def _said(self, expression: ast.expr) -> Iterator[ast.expr]:
        if isinstance(expression, ast.Name):
            bindings = self._bindings.reaching(expression)
            found = [self._beside(each) for each in bindings]
            yield from (each for each in found if each is not None and None not in found)
        elif isinstance(expression, ast.Attribute):
            yield from self._of_attribute(expression)
        elif isinstance(expression, ast.Call):
            function = self._functions.function(expression.func)
            given = getattr(function, "returns", None)
            if isinstance(given, ast.expr) and not isinstance(function, ast.AsyncFunctionDef):
                yield given

    def _beside(self, binding: Binding) -> ast.expr | None:
        if isinstance(binding.node, ast.arg):
            return binding.node.annotation
        above = self._tree.parent(binding.node)
        if isinstance(above, (ast.AnnAssign, Annotated)) and above.target is binding.node:
            return above.annotation
        called = binding.value if not binding.path else None
        function = self._functions.function(called.func) if isinstance(called, ast.Call) else None
        given = getattr(function, "returns", None)
        return given if isinstance(given, ast.expr) else None

    def _of_attribute(self, attribute: ast.Attribute) -> Iterator[ast.expr]:
        """What a class says of a field, in its body or where a method sets it."""
        owner = self._functions.instance_of(attribute.value)
        if owner is None:
            return
        for each in self._tree.all(ast.AnnAssign, Annotated):
            target = each.target
            if isinstance(target, ast.Name):
                is_field = target.id == attribute.attr and each in owner.body
            else:
                is_field = (
                    isinstance(target, ast.Attribute)
                    and target.attr == attribute.attr
                    and self._functions.instance_of(target.value) is owner
                )
            if is_field:
                yield each.annotation
        for value in self._functions.attributes(owner, attribute.attr):
            if isinstance(value, ast.Name):
                yield from self._said(value)

    def _parts(self, said: ast.expr) -> Iterator[ast.expr]:
        if isinstance(said, ast.Constant):
            return  # None, or a string
        if isinstance(said, ast.BinOp) and isinstance(said.op, ast.BitOr):
            yield from (*self._parts(said.left), *self._parts(said.right))
        elif isinstance(said, ast.Subscript):
            name = self._names.qualified(said.value)
            if name == "typing.Union" and isinstance(said.slice, ast.Tuple):
                for each in said.slice.elts:
                    yield from self._parts(each)
            elif name in _WRAPS:
                inner = said.slice
                first = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
                yield from self._parts(first)
            else:
                yield said
        else:
            yield said
