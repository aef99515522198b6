"""What classes hold: their methods and attributes, and who is `self`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import children
from tfmemlint.facts.syntax.targets import element, targets
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode, positional


class Members:
    """The methods and attributes of the classes of one module, as far as syntax shows them."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._imports = tf.imports
        self._receivers: dict[ast.AST, ast.ClassDef | None] = {}

    def class_of(self, function: ast.AST) -> ast.ClassDef | None:
        """The class a method is defined in."""
        above = self._tree.parent(function)
        return above if isinstance(above, ast.ClassDef) else None

    def enclosing_class(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around a node."""
        return next(
            (each for each in self._tree.ancestors(node) if isinstance(each, ast.ClassDef)), None
        )

    def receiver(self, parameter: ast.AST) -> ast.ClassDef | None:
        """The class whose instances a parameter takes because it is the `self` of a method."""
        if parameter not in self._receivers:
            self._receivers[parameter] = self._receiver(parameter)
        return self._receivers[parameter]

    def _receiver(self, parameter: ast.AST) -> ast.ClassDef | None:
        function = self._tree.taker(parameter)
        owner = self.class_of(function)
        if owner is None or parameter not in positional(function)[:1]:
            return None
        return None if is_decorated(function, {"staticmethod", "classmethod"}) else owner

    @cached_property
    def taken_by_methods(self) -> Mapping[ast.AST, ast.ClassDef]:
        """The class, or an heir of it, that each `cls` of a method is, by that parameter."""
        return {
            positional(each)[0]: owner
            for owner in self._tree.all(ast.ClassDef)
            for each in owner.body
            if isinstance(each, ast.FunctionDef) and each.decorator_list
            if is_decorated(each, {"classmethod"}) and positional(each)
        }

    def binds_first(self, function: FunctionNode) -> bool:
        """Whether calls leave out the first parameter: `self` or `cls`."""
        return self.class_of(function) is not None and not is_decorated(function, {"staticmethod"})

    def receiver_named(self, expression: ast.expr) -> ast.ClassDef | None:
        """The class of `self`, where an expression is that."""
        binding = self._bindings.only(expression)
        is_parameter = binding is not None and binding.how is How.PARAMETER
        return self.receiver(binding.node) if binding and is_parameter else None

    def is_property(self, method: FunctionNode) -> bool:
        """Whether a method is called by reading it like an attribute."""
        return is_decorated(method, {"property", "cached_property"})

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of methods and of attributes that the module gives values to."""
        methods = {
            each.name
            for each in self._tree.all(ast.FunctionDef, ast.AsyncFunctionDef)
            if isinstance(self._tree.parent(each), ast.ClassDef)
        }
        attributes = self._tree.all(ast.Attribute)
        written = {each.attr for each in attributes if isinstance(each.ctx, ast.Store)}
        return frozenset(methods | written)

    @cached_property
    def fields(self) -> frozenset[str]:
        """The names that classes declare in their bodies: `build: Callable`."""
        return frozenset(
            each.target.id
            for owner in self._tree.all(ast.ClassDef)
            for each in owner.body
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        )

    def may_have(self, name: str) -> bool:
        """Whether a class of the project may have a member of a name."""
        return name in self.names or (self._imports.any and self._imports.may_give(name))

    def may_be_held(self, attribute: ast.Attribute) -> bool:
        """Whether anything may have been given an attribute of this name, in whatever way."""
        home = self._tree.elsewhere(attribute)
        if home is not None:
            return home.members.may_be_held(attribute)
        name = attribute.attr
        return name in self._given_names or self._imports.may_give(name)

    @cached_property
    def _given_names(self) -> frozenset[str]:
        """All names that this file gives anything: variables, members, keywords, and in strings."""
        found = {*self.names, *self.fields, *(each.name for each in self._bindings.all)}
        found.update(each.arg for each in self._tree.all(ast.keyword) if each.arg is not None)
        for each in self._tree.all(ast.Constant):
            if isinstance(each.value, str):  # `setattr(x, "name", y)`, `namedtuple("T", "a, b")`
                found.update(each.value.replace(",", " ").split())
        return frozenset(found)

    def assigned_here(
        self, owner: ast.ClassDef, name: str
    ) -> Iterable[tuple[ast.expr, tuple[int, ...]]]:
        """What methods of this module assign to `self.name` of a class, bases left out."""
        return self._assigned.get((owner, name), ()) if name in self.names else ()

    @cached_property
    def _assigned(
        self,
    ) -> Mapping[tuple[ast.ClassDef, str], list[tuple[ast.expr, tuple[int, ...]]]]:
        everything: dict[tuple[ast.ClassDef, str], list[tuple[ast.expr, tuple[int, ...]]]] = {}
        for assignment in self._tree.all(ast.Assign):
            given = assignment.targets
            unpacked = [each for target in given for each in targets(target, ast.Attribute)]
            for attribute, path in unpacked:
                owner = self.receiver_named(attribute.value)
                if owner is not None:
                    value = element(assignment.value, path)
                    everything.setdefault((owner, attribute.attr), []).append(value)
        return everything

    @cached_property
    def in_bodies(self) -> Mapping[str, list[tuple[ast.ClassDef, ast.expr | None]]]:
        """What classes give names in their bodies; None for fields, which instances may set."""
        found: dict[str, list[tuple[ast.ClassDef, ast.expr | None]]] = {}
        for owner in self._tree.all(ast.ClassDef):
            pending: list[ast.AST] = [*owner.body]
            for node in pending:
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    given = self._tree.parent(node)
                    alone = isinstance(given, ast.Assign) and given in owner.body
                    value = given.value if alone and isinstance(given, ast.Assign) else None
                    found.setdefault(node.id, []).append((owner, value))
                elif not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                    pending += children(node)
        return found


def body_values(owner: ast.ClassDef, name: str) -> Iterator[ast.expr]:
    """What the body of a class gives a name: one for all its instances."""
    for statement in owner.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            given = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(each, ast.Name) and each.id == name for each in given):
                yield statement.value


def is_decorated(function: FunctionNode, names: set[str]) -> bool:
    decorators = getattr(function, "decorator_list", ())
    called = (getattr(each, "attr", getattr(each, "id", "")) for each in decorators)
    return not names.isdisjoint(called)
