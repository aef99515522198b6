"""Functions of the module: which definition an expression means."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cached_property
from weakref import ref

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.tracers import PARTIAL, TF_FUNCTION
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode

_MAX_HOPS = 10
Definition = FunctionNode | ast.ClassDef

CALL = "__call__"
"""The method that runs when an instance is called."""

STAYS_A_FUNCTION = TF_FUNCTION | PARTIAL | frozenset({"tensorflow.recompute_grad", "keras.remat"})
"""Calls that take a function first and give back one that runs it."""


class Functions:
    """What one module defines, as far as names, `self` and simple assignments lead to it."""

    def __init__(self, tf: TensorFlow) -> None:
        self.tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._imports = tf.imports
        self.members = tf.members
        self.bodies = tf.bodies
        self._tracers = tf.tracers
        self._tf = ref(tf)
        """What is followed anywhere needs functions, and functions may be led to so."""
        self._definitions: dict[ast.expr, Definition | None] = {}
        self.unnamed: set[ast.expr] = set()
        """What may be a definition, but by no name that leads there."""
        self._instances: dict[ast.expr, ast.ClassDef | None] = {}
        self._lineages: dict[ast.ClassDef, tuple[ast.ClassDef, ...]] = {}
        self._heirs_anywhere: dict[ast.ClassDef, tuple[ast.ClassDef, ...]] = {}
        self._methods: dict[ast.ClassDef, dict[str, FunctionNode]] = {}

    def definition(self, callee: ast.expr) -> Definition | None:
        """The function, lambda or class of this module that an expression means, if just one.

        Seen through `tf.function(f)`, `functools.partial(f, ...)`, assignments and `self.method`.
        """
        found = self.named(callee)
        return self.led_to(callee) if found is None and callee in self.unnamed else found

    def named(self, callee: ast.expr) -> Definition | None:
        """As `definition`, by names alone."""
        if callee in self._definitions:
            return self._definitions[callee]
        found = self._definitions[callee] = self._definition(callee, _MAX_HOPS)
        if found is None and self._may_be_led_to(callee):
            self.unnamed.add(callee)
        return found

    def _may_be_led_to(self, callee: ast.expr) -> bool:
        """Whether what an expression means may stand somewhere else than where names lead."""
        if isinstance(callee, ast.Attribute):
            known = callee.attr in self.members.fields or self.members.may_have(callee.attr)
            return known and self._names.qualified(callee) is None
        if isinstance(callee, ast.Name):
            reaching = self._bindings.reaching(callee)
            if len(reaching) > 1:
                return all(each.how in (How.ASSIGNED, How.DEFINED) for each in reaching)
            return any(
                each.how is How.LOOPED
                or bool(each.path)
                or isinstance(each.value, (ast.IfExp, ast.Subscript))
                or (each.how is How.PARAMETER and self.members.receiver(each.node) is None)
                for each in reaching
            )
        if isinstance(callee, ast.Call):
            called = self.tree.parent(callee)
            is_called = isinstance(called, ast.Call) and called.func is callee
            return is_called and isinstance(self.named(callee.func), FUNCTIONS)
        return isinstance(callee, (ast.IfExp, ast.Subscript))

    def definitions(self, callee: ast.expr) -> tuple[Definition, ...]:
        """As `definition`, but all that it surely is one of; of what is left to heirs, theirs."""
        found = self.named(callee)
        led_to = self.all_led_to(callee) if found is None and callee in self.unnamed else ()
        meant = led_to if found is None else (found,)
        return tuple(dict.fromkeys(each for one in meant for each in self._instead(one)))

    def _instead(self, meant: Definition) -> tuple[Definition, ...]:
        if isinstance(meant, ast.ClassDef) or not _is_abstract(meant):
            return (meant,)
        return self.overrides(meant) or (meant,)

    def led_to(self, callee: ast.expr) -> Definition | None:
        found = self.all_led_to(callee)
        return found[0] if len(found) == 1 else None

    def all_led_to(self, callee: ast.expr, *, surely: bool = True) -> tuple[Definition, ...]:
        """All that an expression may mean, by whatever way; none where there is something else.

        Or, if that need not be sure, something else than what libraries make: `load_model(path)`.
        """
        tf = self._tf()
        if tf is None:
            return ()
        ends = tf.sources.definitions(callee)
        if not ends.complete and (surely or not tf.sources.of(callee).but_for(tf.names.qualified)):
            return ()
        nodes = dict.fromkeys(each.node for each in ends.found)
        return tuple(each for each in nodes if isinstance(each, (*FUNCTIONS, ast.ClassDef)))

    def made_by(self, maker: FunctionNode) -> tuple[FunctionNode, ...]:
        """The functions of its own that a function returns, where it returns nothing else."""
        returned = self.bodies.returns(maker)
        found = [self.function(each) for each in returned]
        inner = [each for each in found if each is not None]
        own = all(self.tree.function(each) is maker for each in inner)
        return tuple(dict.fromkeys(inner)) if own and len(inner) == len(returned) else ()

    def function(self, callee: ast.expr) -> FunctionNode | None:
        """As `definition`, for functions and lambdas only."""
        found = self.definition(callee)
        return found if isinstance(found, FUNCTIONS) else None

    def method(self, owner: ast.ClassDef, name: str) -> FunctionNode | None:
        """A class's method, its own or inherited from another class of the module."""
        if owner not in self._methods:
            found: dict[str, FunctionNode] = {}
            for each in self.lineage(owner):
                for statement in each.body:
                    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                        found.setdefault(statement.name, statement)
            self._methods[owner] = found
        return self._methods[owner].get(name)

    def overrides(self, function: FunctionNode) -> tuple[FunctionNode, ...]:
        """What runs in place of a method in the classes of the module that inherit from its own."""
        owner = self.members.class_of(function)
        if owner is None or isinstance(function, ast.Lambda):
            return ()
        found = (self.method(each, function.name) for each in self.heirs(owner))
        return tuple({each: None for each in found if each is not None and each is not function})

    def lineage(self, owner: ast.ClassDef) -> tuple[ast.ClassDef, ...]:
        """The class and those of the module that it inherits from, nearest first."""
        if owner not in self._lineages:
            self._lineages[owner] = (owner,)  # should it be asked for on the way
            found = [owner]
            for each in found:
                bases = (self._definition(base, _MAX_HOPS) for base in each.bases)
                found += [
                    base for base in bases if isinstance(base, ast.ClassDef) and base not in found
                ]
            self._lineages[owner] = tuple(found)
        return self._lineages[owner]

    def heirs(self, owner: ast.ClassDef) -> tuple[ast.ClassDef, ...]:
        """The classes of the module that inherit from one, and those of its own module."""
        if owner not in self._heirs_anywhere:
            home = self.tree.elsewhere(owner)
            others = [home] if home is not None else self._imports.importers
            heirs = (each for other in others for each in other.functions.heirs_here(owner))
            self._heirs_anywhere[owner] = (*self.heirs_here(owner), *heirs)
        return self._heirs_anywhere[owner]

    def heirs_here(self, owner: ast.ClassDef) -> Sequence[ast.ClassDef]:
        """The classes of the module that inherit from one."""
        return self._heirs.get(owner, ())

    @cached_property
    def _heirs(self) -> Mapping[ast.ClassDef, Sequence[ast.ClassDef]]:
        found: dict[ast.ClassDef, list[ast.ClassDef]] = {}
        for each in self.tree.all(ast.ClassDef):
            for base in self.lineage(each)[1:]:
                found.setdefault(base, []).append(each)
        return found

    def attributes(self, owner: ast.ClassDef, name: str) -> tuple[ast.expr, ...]:
        """Everything the class's methods assign to `self.name`, whole assignments only."""
        return tuple(value for value, path in self.unpacked_attributes(owner, name) if not path)

    def unpacked_attributes(
        self, owner: ast.ClassDef, name: str
    ) -> tuple[tuple[ast.expr, tuple[int, ...]], ...]:
        """As `attributes`, each with its place in what is unpacked: `self.x, self.y = load()`."""
        found: list[tuple[ast.expr, tuple[int, ...]]] = []
        for each in self.lineage(owner):
            home = self.tree.elsewhere(each)
            if home is not None:
                found += home.members.assigned_here(each, name)
            found += self.members.assigned_here(each, name)
        return tuple(found)

    def _definition(self, callee: ast.expr, hops: int) -> Definition | None:
        if hops == 0:
            return None
        if isinstance(callee, ast.Lambda):
            return callee
        home = self.tree.elsewhere(callee)
        if home is not None:
            return home.functions._definition(callee, hops)
        if isinstance(callee, ast.Name):
            binding = self._bindings.only(callee) if callee.id in self.given else None
            if binding is None or binding.how is How.IMPORTED:
                return self._from_elsewhere(callee, hops - 1) if self._imports.any else None
            if binding.path:
                return None
            if binding.how is How.DEFINED:
                node = binding.node
                return node if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else None
            if binding.how is How.ASSIGNED and binding.value is not None:
                return self._definition(binding.value, hops - 1)
            return self.members.taken_by_methods.get(binding.node)
        if isinstance(callee, ast.Call):
            wraps = self._names.is_any(callee.func, STAYS_A_FUNCTION)
            wraps = wraps or self._tracers.makes_tf_function(callee.func)
            if not wraps or not callee.args:
                return self._called(callee, hops - 1)
            given = callee.args[0]
            return self._definition(given, hops - 1) or self._returned_by(given, hops - 1)
        if isinstance(callee, ast.Attribute):
            found = self._from_elsewhere(callee, hops - 1) if self._imports.any else None
            if found is None and self.members.may_have(callee.attr):
                return self._member(callee, hops - 1)
            return found
        return None

    def _called(self, made: ast.Call, hops: int) -> FunctionNode | None:
        """What runs when the instance that a call makes is called; of Keras it does more."""
        owner = self._definition(made.func, hops) if self.members.may_have(CALL) else None
        return self.method(owner, CALL) if isinstance(owner, ast.ClassDef) else None

    def _returned_by(self, made: ast.expr, hops: int) -> FunctionNode | None:
        """The function that another one makes and gives back: `tf.function(make())`."""
        maker = self._definition(made.func, hops) if isinstance(made, ast.Call) else None
        if not isinstance(maker, ast.FunctionDef) or maker.decorator_list:
            return None
        returned = self.bodies.returns(maker)
        found = self._definition(returned[0], hops - 1) if len(returned) == 1 else None
        return found if isinstance(found, FUNCTIONS) else None

    def _from_elsewhere(self, callee: ast.expr, hops: int) -> Definition | None:
        """What another file defines under the dotted name that begins with an import."""
        place = self._imports.of(callee)
        if place is None or not place.names or not hops:
            return None
        home = self.tree.elsewhere(place.module)
        return None if home is None else home.functions.handed_out(place.names, hops)

    def handed_out(self, names: tuple[str, ...], hops: int = _MAX_HOPS) -> Definition | None:
        """What other files get under a dotted name from this one."""
        bindings = self._imports.inside(names[0])
        if len(bindings) != 1 or bindings[0].path or not hops:
            return None
        node, value = bindings[0].node, bindings[0].value
        if isinstance(node, ast.alias):
            place = self._imports.of_alias(node)
            home = self.tree.elsewhere(place.module) if place is not None else None
            further = (*place.names, *names[1:]) if place is not None else ()
            return home.functions.handed_out(further, hops - 1) if home and further else None
        found = node if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else None
        if found is None and bindings[0].how is How.ASSIGNED and value is not None:
            found = self._definition(value, hops - 1)
        for name in names[1:]:
            found = self.method(found, name) if isinstance(found, ast.ClassDef) else None
        return found

    def _member(self, callee: ast.Attribute, hops: int) -> Definition | None:
        owner = self._instance_of(callee.value, hops)
        if owner is None:
            found = self._definition(callee.value, hops) if hops else None
            owner = found if isinstance(found, ast.ClassDef) else self._base(callee)
        if owner is None:
            return None
        method = self.method(owner, callee.attr)
        if method is not None:
            instead = self.overrides(method) if _is_abstract(method) else ()
            return instead[0] if len(instead) == 1 else method
        values = self.attributes(owner, callee.attr)
        return self._definition(values[0], hops) if len(values) == 1 and hops else None

    def _base(self, member: ast.Attribute) -> ast.ClassDef | None:
        """The class of the module that `super()` stands for."""
        called = member.value.func if isinstance(member.value, ast.Call) else None
        if not isinstance(called, ast.Name) or called.id != "super":
            return None
        owner = self.members.enclosing_class(member)
        return next(iter(self.lineage(owner)[1:]), None) if owner is not None else None

    def instance_of(self, expression: ast.expr) -> ast.ClassDef | None:
        """The class of this module that an expression is an instance of: `self`, `Class()`."""
        if expression not in self._instances:
            found = self._instance_of(expression, _MAX_HOPS)
            if found is None and self._has_classes:
                return self._led_to_instance(expression)
            self._instances[expression] = found
        return self._instances[expression]

    def _led_to_instance(self, expression: ast.expr) -> ast.ClassDef | None:
        if not isinstance(expression, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            return None
        tf = self._tf() if self._names.qualified(expression) is None else None
        found = tf.sources.classes(expression) if tf is not None else None
        return found.found[0] if found and found.sure and len(found.found) == 1 else None

    @cached_property
    def _has_classes(self) -> bool:
        return self._imports.any or any(True for _ in self.tree.all(ast.ClassDef))

    def _instance_of(self, expression: ast.expr, hops: int) -> ast.ClassDef | None:
        if hops == 0:
            return None
        home = self.tree.elsewhere(expression)
        if home is not None:
            return home.functions._instance_of(expression, hops)
        if isinstance(expression, ast.Call):
            found = self._definition(expression.func, hops - 1)
            return found if isinstance(found, ast.ClassDef) else None
        if isinstance(expression, ast.Name):
            binding = self._bindings.only(expression)
            if binding is None or binding.path:
                return None
            if binding.how is How.PARAMETER:
                return self.members.receiver(binding.node)
            if binding.how is How.ASSIGNED and binding.value is not None:
                return self._instance_of(binding.value, hops - 1)
        if isinstance(expression, ast.Attribute) and self.members.may_have(expression.attr):
            owner = self._instance_of(expression.value, hops - 1)
            values = self.attributes(owner, expression.attr) if owner else ()
            return self._instance_of(values[0], hops - 1) if len(values) == 1 else None
        return None

    @cached_property
    def given(self) -> frozenset[str]:
        """The names that definitions and assignments give their values, and `cls`."""
        gives, classes = (How.ASSIGNED, How.DEFINED), self.members.taken_by_methods
        given = (each.name for each in self._bindings.all if each.how in gives)
        return frozenset(given).union(getattr(each, "arg", "") for each in classes)


def _is_abstract(method: FunctionNode) -> bool:
    """Whether a method does nothing, and leaves that to those of heirs."""
    return not isinstance(method, ast.Lambda) and all(
        isinstance(each, (ast.Pass, ast.Raise))
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        for each in method.body
    )
