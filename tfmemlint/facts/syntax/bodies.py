"""What functions consist of: what they take, run and give back."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.bindings import Binding
from tfmemlint.facts.syntax.nodes import children
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode, parameters, positional


class Bodies:
    """The bodies of the functions of one module."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings

    def mentions(self, function: FunctionNode) -> Iterator[ast.expr]:
        """Where a function may be meant by its name; a lambda is where it stands."""
        if isinstance(function, ast.Lambda):
            yield function
        elif isinstance(self._tree.parent(function), ast.ClassDef):
            yield from self._tree.attributes.get(function.name, ())
        else:
            for binding in self._bindings.of(self._tree.scope(function), function.name):
                yield from self._bindings.readers(binding)

    def returns(self, function: FunctionNode) -> tuple[ast.expr, ...]:
        """The expressions a function returns or yields nothing else than; empty for generators."""
        return self._given_back(function)[0]

    def yields(self, function: FunctionNode) -> tuple[ast.expr, ...]:
        """The expressions a generator yields, one at a time."""
        return self._given_back(function)[1]

    def _given_back(self, function: FunctionNode) -> tuple[tuple[ast.expr, ...], ...]:
        home = self._tree.elsewhere(function)
        if home is not None:
            return home.bodies._given_back(function)
        yielded = self._yielded.get(function)
        kept = () if yielded is None else tuple(each for each in yielded if each is not None)
        if isinstance(function, ast.Lambda):
            return (function.body,), kept
        return () if yielded is not None else tuple(self._returned.get(function, ())), kept

    @cached_property
    def _returned(self) -> Mapping[FunctionNode, Sequence[ast.expr]]:
        found: dict[FunctionNode, list[ast.expr]] = {}
        for each in self._tree.all(ast.Return):
            function = self._tree.function(each)
            if function is not None and each.value is not None:
                found.setdefault(function, []).append(each.value)
        return found

    @cached_property
    def _yielded(self) -> Mapping[FunctionNode, Sequence[ast.expr | None]]:
        """What generators yield one at a time; None stands for all that they yield otherwise."""
        found: dict[FunctionNode, list[ast.expr | None]] = {}
        for each in self._tree.all(ast.Yield, ast.YieldFrom):
            function = self._tree.function(each)
            if function is not None:
                one = each.value if isinstance(each, ast.Yield) else None
                found.setdefault(function, []).append(one)
        return found

    def body(self, function: FunctionNode) -> Iterator[ast.AST]:
        """The nodes a function itself runs, without those of functions defined inside it."""
        body: list[ast.AST] = (
            [function.body] if isinstance(function, ast.Lambda) else [*function.body]
        )
        pending = body[::-1]
        while pending:
            node = pending.pop()
            yield node
            if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                pending += children(node)[::-1]

    def parameters(self, function: FunctionNode) -> Iterator[Binding]:
        """The bindings of a function's parameters."""
        for each in parameters(function):
            found = self._bindings.of(function, each.arg)
            yield from (binding for binding in found if binding.node is each)


def default(function: FunctionNode, name: str) -> ast.expr | None:
    """The default of a parameter, if it has one."""
    arguments, by_place = function.args, positional(function)
    with_default = by_place[len(by_place) - len(arguments.defaults) :]
    pairs: Iterable[tuple[ast.arg, ast.expr | None]] = (
        *zip(with_default, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    )
    return next((value for parameter, value in pairs if parameter.arg == name), None)
