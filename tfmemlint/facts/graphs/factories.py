"""The functions of a module at which other files get another traced function with every call."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.graphs.wrappings import Made, is_plain
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.light_typing import NamedTuple


class Factory(NamedTuple):
    """A function at which every call makes another traced function."""

    gives: bool
    """Whether it is returned; else it is called there and then."""
    reads: tuple[str, ...]
    """The parameters in which the traced function finds its model and the like."""
    parameters: tuple[str, ...]
    """Those that take positional arguments, without the receiver."""
    receiver: str | None
    """What a method calls the object that it belongs to."""

    def given(self, call: ast.Call) -> Iterator[ast.expr | None]:
        """What a call gives for all that is read; None for what cannot be told."""
        if any(isinstance(each, ast.Starred) for each in call.args):
            yield None
            return
        named = {each.arg: each.value for each in call.keywords}
        for name in self.reads:
            if name == self.receiver:
                yield call.func.value if isinstance(call.func, ast.Attribute) else None
                continue
            place = self.parameters.index(name) if name in self.parameters else len(call.args)
            if place < len(call.args):
                yield call.args[place]
            elif name in named:
                yield named[name]
            elif None in named:
                yield None  # `**options`; what is left out is the same with every call


class Factories:
    """What makes a traced function and returns it, or makes one to call it there and then."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._bodies = tf.bodies
        self._members = tf.members
        self._tracing = tf.tracing
        self._uses = tf.uses
        self._remade_functions = tf.remade_functions
        self._wrappings = tf.wrappings

    @cached_property
    def all(self) -> Mapping[ast.FunctionDef, Factory]:
        """Every factory that other files can call.

        Those are left out that make what the traced function is for as well, such as its model, or
        that may keep it for later, and those that make it to call it where `remakes` speaks of it.
        """
        spoken_of = {each.within for each in self._remade_functions.own}
        found: dict[ast.FunctionDef, Factory] = {}
        for made in self._wrappings.all:
            within = self._tree.function(made)
            if not isinstance(within, ast.FunctionDef) or not self._is_public(within):
                continue
            gives, reads = self._gives(made, within), self._reads(made, within)
            if gives is None or reads is None or (not gives and within in spoken_of):
                continue
            if within not in found or gives:
                found[within] = self._factory(within, reads, gives=gives)
        return found

    def _is_public(self, function: ast.FunctionDef) -> bool:
        """Whether other files can call a function, and there is no doubt which one they get."""
        owner = self._members.class_of(function)
        if function.name == "__init__" or not all(map(is_plain, function.decorator_list)):
            return False
        outer = owner or function
        if self._tree.parent(outer) is not self._tree.module:
            return False
        if len(self._bindings.of(self._tree.module, outer.name)) != 1:
            return False
        return owner is None or len(self._bindings.of(owner, function.name)) == 1

    def _gives(self, made: Made, within: ast.FunctionDef) -> bool | None:
        """Whether a function returns what it makes, or else calls it.

        None where it does neither, may keep it, or does not make it every time.
        """
        wrappings = self._wrappings
        if self._tree.is_conditional(made) or self._tracing.why(made) is not None:
            return None
        ends: list[ast.expr] = []
        for start in wrappings.starts(made):
            trails = self._uses.here(start)
            if trails is None:
                return None
            ends += (trail[-1] for trail in trails)
        returned = [each for each in ends if isinstance(self._tree.parent(each), ast.Return)]
        others = [each for each in ends if each not in returned]
        if any(self._tree.function(each) is not within for each in ends):
            return None
        if any(wrappings.is_put_away((each,)) for each in others):
            return None
        if returned:
            only = len(self._bodies.returns(within)) == 1
            return True if only and not any(map(self._tree.is_conditional, returned)) else None
        return False if any(map(wrappings.call_with, others)) else None

    def _reads(self, made: Made, within: ast.FunctionDef) -> tuple[str, ...] | None:
        """The parameters of `within` in which a traced function finds its model and the like.

        None where it is `within` that makes them.
        """
        found: dict[str, None] = {}
        for name in self._wrappings.objects(made):
            for binding in self._bindings.reaching(name):
                if binding.how in (How.DEFINED, How.IMPORTED):
                    continue
                if binding.how is How.PARAMETER:
                    if not self._tree.inside(binding.node, within.args):
                        return None
                    found[binding.name] = None
                elif self._tree.function(binding.node) and self._wrappings.is_own_object(binding):
                    return None
        return tuple(found)

    def _factory(self, within: ast.FunctionDef, reads: tuple[str, ...], *, gives: bool) -> Factory:
        taken = [each.arg for each in (*within.args.posonlyargs, *within.args.args)]
        has_receiver = taken and self._members.binds_first(within)
        receiver = taken.pop(0) if has_receiver else None
        return Factory(gives, reads, tuple(taken), receiver)
