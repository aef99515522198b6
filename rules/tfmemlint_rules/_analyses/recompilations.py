"""Models that loops compile anew, each time with an optimizer that keeps something."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.flow.many_rounds import ManyRounds
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument, given_to
from tfmemlint.facts.library.training import FITS
from tfmemlint.facts.syntax.nodes import nodes_of, root_name, same_code, within
from tfmemlint.facts.syntax.tree import LOOPS
from tfmemlint.light_typing import NamedTuple

_WITHOUT_SLOTS = frozenset({"keras.optimizers.SGD", "keras.optimizers.legacy.SGD"})
_CHANGES = frozenset({"add", "compile", "set_weights", "load_weights"})


class Recompilation(NamedTuple):
    """A `compile` in a loop: the optimizer of each round stays in memory."""

    call: ast.Call
    loop: Loop
    rounds: int | None
    once: bool
    """Whether the loop would do the same with the model compiled before it, but for the state."""


class Recompilations:
    """Such calls of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._values = tf.values
        self._sources = tf.sources
        self._loops = tf.loops
        self._remade_models = tf.remade_models
        self._many_rounds = tf.of(ManyRounds)

    @cached_property
    def all(self) -> tuple[Recompilation, ...]:
        """Every such call, in source order."""
        found = (self._of(call, method) for call, method in self._tree.methods("compile"))
        return tuple(each for each in found if each is not None)

    def _of(self, call: ast.Call, method: ast.Attribute) -> Recompilation | None:
        model = method.value
        if not self._has_slots(call) or self._values.of(model).kind is not Kind.MODEL:
            return None
        rounds = self._many_rounds.of(call)
        if rounds is None:
            return None
        loop, fitted = rounds[0], self._fitted(rounds[0])
        held = [each.node for each in self._sources.same(model) if each.frame is None]
        for each in held:
            if not isinstance(each, ast.expr) or not self._is_before(each, loop):
                continue
            if any(same_code(one, each) or self._are_one(one, each) for one in fitted):
                once = each is model and self._is_same(call, loop)
                return Recompilation(call, *rounds, once)
        return None

    def _is_before(self, model: ast.expr, loop: Loop) -> bool:
        """Whether a model is made before a loop, be it that a function of it compiles the model."""
        made = self._values.of(model).origin
        extent = self._loops.extent(loop)
        if made is not None and self._tree.function(made) is None:
            return not self._tree.inside(made, extent)
        beside = self._tree.inside(model, extent)
        return beside and bool(root_name(model)) and self._loops.invariant(model, loop)

    def _are_one(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether two expressions stand for what one call at the top of the file has made."""
        made = self._values.of(one).origin
        return (
            made is not None
            and self._values.of(other).origin is made
            and self._tree.function(made) is None
        )

    def _fitted(self, loop: Loop) -> list[ast.expr]:
        """The models that are trained in a loop."""
        methods = (each.func for each in self._remade_models.ran(loop))
        return [
            each.value for each in methods if isinstance(each, ast.Attribute) and each.attr in FITS
        ]

    def _is_same(self, call: ast.Call, loop: Loop) -> bool:
        """Whether nothing of the loop decides how the model is compiled, or what it is."""
        if not isinstance(loop.node, LOOPS) or self._tree.statement(call) not in loop.node.body:
            return False
        if not isinstance(call.func, ast.Attribute) or not self._loops.invariant(call.func, loop):
            return False
        given = given_to(call)
        if not all(self._loops.invariant(each, loop) for each in given):
            return False
        before: list[ast.stmt] = []
        for statement in loop.node.body:
            if statement is self._tree.statement(call):
                break
            before.append(statement)
        changed = nodes_of(ast.Attribute, loop.node)
        return not any(each.attr in ("add", "trainable") for each in changed) and not any(
            isinstance(each, ast.Call) and getattr(each.func, "attr", "") in _CHANGES
            for each in within(before)
        )

    def _has_slots(self, call: ast.Call) -> bool:
        """Whether a model is compiled with another optimizer each time that keeps more than one."""
        given = argument(call, 0, "optimizer")
        if given is None:
            return bool(call.args or call.keywords)  # "rmsprop"
        if isinstance(given, ast.Constant):
            return isinstance(given.value, str) and given.value.lower() != "sgd"
        if isinstance(given, ast.Name):
            binding = self._bindings.only(given)
            loops = self._loops.around(call)
            if binding is None or not loops:
                return False
            if not any(self._tree.inside(binding.node, each.node) for each in loops):
                return False
            given = binding.value
        name = self._names.called(given)
        return name.startswith("keras.optimizers.") and name not in _WITHOUT_SLOTS
