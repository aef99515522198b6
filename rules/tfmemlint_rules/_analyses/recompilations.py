"""Models that loops compile anew, or train by new steps, with optimizers that keep something."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.flow.many_rounds import ManyRounds
from tfmemlint.facts.graphs.tracing import TracedBy
from tfmemlint.facts.library.keras_apis import SLOTS
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument, given_to
from tfmemlint.facts.library.training import APPLIES, FITS
from tfmemlint.facts.syntax.nodes import nodes_of, root_name, same_code, within
from tfmemlint.facts.syntax.tree import FUNCTIONS, LOOPS
from tfmemlint.light_typing import NamedTuple

_WITHOUT_SLOTS = frozenset({"keras.optimizers.SGD", "keras.optimizers.legacy.SGD"})
_WITH_SLOTS = frozenset(
    f"{package}.{name}"
    for package in ("keras.optimizers", "keras.optimizers.legacy", "tensorflow.optimizers")
    for name in SLOTS
)
_WEIGHTS = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})
_CHANGES = frozenset({"add", "compile", "set_weights", "load_weights"})


class Recompilation(NamedTuple):
    """A `compile` in a loop, or an optimizer for a new step: that of each round stays in memory."""

    call: ast.Call
    loop: Loop
    rounds: int | None
    once: bool
    """Whether the loop would do the same with the model compiled before it, but for the state."""
    model: ast.expr


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
        self._callers = tf.callers
        self._objects = tf.objects
        self._tracing = tf.tracing

    @cached_property
    def all(self) -> tuple[Recompilation, ...]:
        """Every such call, in source order."""
        found = [self._of(call, method) for call, method in self._tree.methods("compile")]
        found += map(self._stepped, self._made_for_steps)
        kept = (each for each in found if each is not None)
        return tuple(sorted(kept, key=lambda each: (each.call.lineno, each.call.col_offset)))

    @cached_property
    def _made_for_steps(self) -> tuple[ast.Call, ...]:
        """The optimizers with slots, where something applies gradients in a traced step."""
        return tuple(call for call, _ in self._names.calls(_WITH_SLOTS)) if self._steps else ()

    @cached_property
    def _steps(self) -> tuple[tuple[ast.Call, ast.Attribute], ...]:
        """What applies gradients in steps that `tf.function` traces."""
        applied = self._tree.methods(*APPLIES)
        traced = (each for each in applied if self._traced_at(each[0]))
        return tuple(traced)

    def _traced_at(self, node: ast.AST) -> ast.AST | None:
        """What has the step traced that code is part of."""
        roots = self._tracing.roots(node)
        return next((each.at for each in roots if each.by is TracedBy.TF_FUNCTION), None)

    def _stepped(self, made: ast.Call) -> Recompilation | None:
        """An optimizer of each round, for a model of all and a step that is traced anew."""
        rounds = self._many_rounds.of(made)
        for use, method in self._steps if rounds is not None else ():
            held = self._objects.made(method.value) or ()
            if rounds is None or all(each.node is not made for each in held):
                continue
            given = (part for each in given_to(use) for part in ast.walk(each))
            weights = (each for each in given if isinstance(each, ast.Attribute))
            models = [each.value for each in weights if each.attr in _WEIGHTS]
            traced = self._traced_at(use)
            if traced is None or not self._is_in_round(traced, rounds[0]):
                continue
            if models and all(self._is_of_all(each, rounds[0]) for each in models):
                return Recompilation(made, *rounds, once=False, model=models[0])
        return None

    def _is_of_all(self, model: ast.expr, loop: Loop) -> bool:
        """Whether a model of the module is made before a loop."""
        made = self._values.of(model).origin
        is_model = self._values.of(model).kind is Kind.MODEL
        return is_model and made is not None and self._is_before(model, loop)

    def _is_in_round(self, traced: ast.AST, loop: Loop) -> bool:
        """Whether a round makes a function, or calls what makes it."""
        extent, within = self._loops.extent(loop), self._tree.function(traced)
        around = within if not isinstance(traced, FUNCTIONS) else self._tree.function(traced)
        owner = self._tree.function(around) if around is not None else None
        factories = [each for each in (within, around, owner) if each is not None]
        calls = (call for each in factories for call in self._callers.calls_of(each))
        here = self._tree.inside(traced, extent)
        return here or any(self._tree.inside(each, extent) for each in calls)

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
                return Recompilation(call, *rounds, once, model)
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
