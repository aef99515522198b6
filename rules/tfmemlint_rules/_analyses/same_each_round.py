"""What every round of a loop loads or makes anew, though it is the same each time."""

from __future__ import annotations

import ast
from functools import cached_property
from itertools import takewhile

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.library.keras_apis import SLOTS
from tfmemlint.facts.library.makers import argument, given_to
from tfmemlint.facts.library.ready_made import COUNTED
from tfmemlint.facts.library.training import TRAINS
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.decorators import Decorators
from tfmemlint.facts.syntax.nodes import called, names_in, nodes_of, root_name, stored_in, within
from tfmemlint.facts.syntax.tree import LOOPS, FunctionNode, LoopNode
from tfmemlint.light_typing import NamedTuple
from tfmemlint_rules._analyses.trainings import Trainings

_LOADS = frozenset(
    {
        *("keras.models.load_model", "tensorflow.saved_model.load"),
        *("tensorflow_hub.load", "tensorflow_hub.KerasLayer"),
        *("keras_hub.models.Model.from_preset", "transformers.TFModel.from_pretrained"),
    }
)
_KEEPS_BEST = frozenset({"keras.callbacks.ModelCheckpoint"})
"""What writes the file while a model is trained, wherever it was made."""
_MAX_HOPS = 4
_OPTIMIZERS = frozenset(
    f"{package}.{name}"
    for package in ("keras.optimizers", "keras.optimizers.legacy", "tensorflow.optimizers")
    for name in (*SLOTS, "Adafactor", "SGD")
)
_APPLIES = ("apply", "apply_gradients", "minimize")
_BEGINS_ANEW = ("build", "load_weights", "restore", "set_weights")
_WEIGHTS = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})
_PLACES = (ast.Name, ast.Attribute)
_ASKS_MORE = (ast.ExceptHandler, ast.In, ast.NamedExpr, ast.NotIn, ast.Subscript, ast.match_case)
_FEW = 10
"""Rounds that are a few trials, and no steps."""


class InEachRound(NamedTuple):
    """One call that each round of a loop makes again."""

    call: ast.Call
    loop: Loop
    here: bool
    """Whether the loop is around the call itself, and not around a call of its function."""
    same: bool
    """Whether what the call is given is the same in each round."""


class SameEachRound:
    """Such calls of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._bindings = tf.bindings
        self._loops = tf.loops
        self._sources = tf.sources
        self._objects = tf.objects
        self._decorators = tf.of(Decorators)
        self._tracing = tf.tracing
        self._consumers = tf.consumers
        self._remade_models = tf.remade_models
        self._trainings = tf.of(Trainings)

    @cached_property
    def loads(self) -> tuple[ast.Call, ...]:
        """The calls that load a model, with all its weights."""
        ready_made = (
            call
            for call in self._tree.calls(frozenset(COUNTED))
            if self._names.called(call).startswith("keras.applications.")
        )
        return (*(call for call, _ in self._names.calls(_LOADS)), *ready_made)

    @cached_property
    def loaded(self) -> tuple[InEachRound, ...]:
        """The models that are loaded in each round, from a path that stays the same."""
        found: list[InEachRound] = []
        for call in self.loads:
            each = self._around(call, given_to(call))
            if each is None or not each.same or self._is_kept_for_all(call):
                continue
            if not self._is_trained(each) and not self._is_written_again(each):
                found.append(each)
        return tuple(found)

    def _is_trained(self, found: InEachRound) -> bool:
        """Whether a round trains what it loads, be it as a part: the next would go on with that."""
        if any(each.made is found.call for each in self._trainings.all):
            return True
        if self._names.is_any(found.call.func, _LOADS):
            return False
        ran = (each.func for each in self._remade_models.ran(found.loop))
        return any(isinstance(each, ast.Attribute) and each.attr in TRAINS for each in ran)

    def _is_written_again(self, found: InEachRound) -> bool:
        """Whether the path is given to something else in the loop, or to what keeps the best."""
        path = next(iter(given_to(found.call)), None)
        text = self._text(path) if path is not None else None
        if text is None:
            return False
        here, extent = self._tree.function(found.call), self._loops.extent(found.loop)
        loads = {*self.loads}
        loaders = {function for each in loads if (function := self._tree.function(each))}
        loads.update(call for each in loaders for call in self._callers.calls_of(each))
        others = [call for call, _ in self._names.calls(_KEEPS_BEST)]
        for call in self._tree.all(ast.Call):
            is_in = self._tree.inside(call, extent) or (here and self._tree.function(call) is here)
            if is_in and call not in loads:
                others.append(call)
        return any(text in map(self._text, given_to(each)) for each in others)

    def _text(self, node: ast.expr) -> object:
        """What a path is, as far as it is written down; else how it is written."""
        literal = self._sources.constant(node)
        return literal.value if literal is not None else ast.unparse(node)

    @cached_property
    def optimizers(self) -> tuple[InEachRound, ...]:
        """The optimizers that are made in each step, for weights that stay."""
        applied = [*self._tree.methods(*_APPLIES)]
        found: list[InEachRound] = []
        for call, name in self._names.calls(_OPTIMIZERS) if applied else ():
            uses = [each for each, method in applied if self._is_of(method.value, call)]
            each = self._around(call, []) if uses and self._keeps(call, name) else None
            if each is not None and each.same and self._tracing.why(call) is None:
                few = each.loop.trips is not None and each.loop.trips <= _FEW
                if not few and all(self._is_step_of(use, each) for use in uses):
                    found.append(each)
        return tuple(found)

    def _keeps(self, call: ast.Call, name: str) -> bool:
        """Whether an optimizer keeps numbers of its own, as SGD does for momentum alone."""
        if not name.endswith("SGD"):
            return True
        momentum = argument(call, 1, "momentum")
        return momentum is not None and not (
            isinstance(momentum, ast.Constant) and not momentum.value
        )

    def _is_of(self, holder: ast.expr, call: ast.Call) -> bool:
        made = self._objects.made(holder) or ()
        return any(each.node is call for each in made)

    def _is_step_of(self, use: ast.Call, found: InEachRound) -> bool:
        """Whether gradients are given once a round, to weights that are there before the loop."""
        loop = found.loop
        if self._tree.function(use) is not self._tree.function(found.call):
            return False
        around = [each for each in self._loops.around(use) if isinstance(each.node, LOOPS)]
        if found.here != bool(around) or (around and around[0].node is not loop.node):
            return False
        extent = self._loops.extent(loop)
        begins_anew = any(
            self._tree.inside(each, extent) for each, _ in self._tree.methods(*_BEGINS_ANEW)
        )
        return not begins_anew and all(self._stays(each, use, found) for each in self._trained(use))

    def _trained(self, use: ast.Call) -> list[ast.expr]:
        """What has the weights that are given to `apply_gradients`, or to `minimize`."""
        given = [part for each in given_to(use) for part in ast.walk(each)]
        owners = [
            each.value
            for each in given
            if isinstance(each, ast.Attribute) and each.attr in _WEIGHTS
        ]
        pairs = [each for each in given if isinstance(each, ast.Tuple) and len(each.elts) == 2]
        return owners or [each.elts[1] for each in pairs]

    def _stays(self, owner: ast.expr, use: ast.Call, found: InEachRound) -> bool:
        """Whether a model, or a list of weights, is the same in each round."""
        if found.here:
            return self._is_same(owner, found.loop)
        function, name = self._tree.function(use), root_name(owner)
        calls = self._callers.calls_of(function) if function is not None else ()
        own = function is not None and any(
            each.name == name for each in self._bodies.parameters(function)
        )
        if not own or function is None or name == "self":
            return not any(
                self._tree.inside(each.node, found.loop.node)
                for scope in (self._tree.scope(use), self._tree.module)
                for each in self._bindings.of(scope, name)
            )
        given = [self._callers.argument(each, function, name) for each in calls]
        return all(each is not None and self._is_same(each, found.loop) for each in given)

    def _around(self, call: ast.Call, given: list[ast.expr]) -> InEachRound | None:
        """The loop that has a call made again, be it through functions of the module.

        It is the same each time if what is `given` is.
        """
        return self._repeated(call, call, given, frozenset(), _MAX_HOPS)

    def _repeated(
        self,
        call: ast.Call,
        node: ast.AST,
        given: list[ast.expr],
        asked: frozenset[str],
        hops: int,
    ) -> InEachRound | None:
        """As `_around`, of what has the call made, where no round tells what is `asked` anew."""
        tests = self._tests(node)
        if hops == 0 or tests is None:
            return None
        given = [*given, *(name for test in tests for name in nodes_of(ast.Name, test))]
        asked |= {_word(each) for each in within(tests) if isinstance(each, _PLACES)}
        loops = [each for each in self._loops.around(node) if isinstance(each.node, LOOPS)]
        if loops:
            if loops[0].over is Over.LITERAL:
                return None
            same = all(self._is_same(each, loops[0]) for each in given)
            same = same and not (asked and self._tells(loops[0], asked))
            return InEachRound(call, loops[0], node is call, same)
        function = self._tree.function(node)
        if function is None or isinstance(function, ast.Lambda) or function.name == "__init__":
            return None
        if not self._decorators.leave(function):
            return None
        first: InEachRound | None = None
        for caller in self._callers.calls_of(function):
            handed = [self._handed(each, function, caller) for each in given]
            known = [part for parts in handed if parts is not None for part in parts]
            if None not in handed:
                found = self._repeated(call, caller, known, asked, hops - 1)
                if found is not None and found.same:
                    return found
                first = first or found
        return first

    def _tests(self, node: ast.AST) -> list[ast.expr] | None:
        """The tests that code stands under; None where they ask more than what it was told.

        A cache is asked what it has, an error whether there was one: code runs once for that.
        """
        if not self._tree.is_conditional(node):
            return []
        outer = next(self._tree.loops(node), self._tree.function(node)) or self._tree.module
        between = [*takewhile(lambda above: above is not outer, self._tree.ancestors(node))]
        tests = [test for test, _ in self._tree.tests(node, outer)]
        more = any(isinstance(each, _ASKS_MORE) for each in (*between, *within(tests)))
        plain = all(called(each) == "isinstance" for each in nodes_of(ast.Call, *tests))
        return tests if plain and not more else None

    def _tells(self, loop: Loop, asked: frozenset[str]) -> bool:
        """Whether a round gives something new to what has one of these names."""
        ran = self._consumers.run_by(loop.node.body if isinstance(loop.node, LOOPS) else ())
        return any(
            isinstance(each, _PLACES) and isinstance(each.ctx, ast.Store) and _word(each) in asked
            for each in ran
        )

    def _handed(
        self, part: ast.expr, function: FunctionNode, caller: ast.Call, hops: int = _MAX_HOPS
    ) -> list[ast.expr] | None:
        """What a call gives its function of what it reads there; None if that is made of it."""
        names = [*nodes_of(ast.Name, part)]
        own = [each for each in names if self._bindings.home(each.id, each) is function]
        if not own:
            return [part]
        if hops == 0 or any(True for _ in nodes_of(ast.Call, part)):
            return None
        handed: list[ast.expr] = []
        for name in own:
            passed = self._passed(name, function, caller, hops)
            if passed is None:
                return None
            handed += passed
        return handed + [each for each in names if each not in own]

    def _passed(
        self, name: ast.Name, function: FunctionNode, caller: ast.Call, hops: int
    ) -> list[ast.expr] | None:
        """What stands in a call for a name of its function, or in the call's object for `self`."""
        binding = self._bindings.only(name)
        if binding is None:
            return None
        if binding.how is How.ASSIGNED and binding.is_whole and binding.value is not None:
            return self._handed(binding.value, function, caller, hops - 1)
        if binding.how is not How.PARAMETER:
            return None
        passed = self._callers.argument(caller, function, name.id)
        if passed is None and name.id == "self" and isinstance(caller.func, ast.Attribute):
            passed = caller.func.value
        return None if passed is None else [passed]

    def _is_same(self, node: ast.expr, loop: Loop) -> bool:
        """Whether an expression gives an equal thing each time, as far as it reads nothing new."""
        return self._loops.unvarying(node, loop)

    def _is_kept_for_all(self, call: ast.Call) -> bool:
        """Whether a model goes into a list or a dictionary: several are wanted at once."""
        above = self._tree.parent(call)
        target = above.targets[0] if isinstance(above, ast.Assign) else None
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            return True
        return (
            isinstance(above, ast.Call)
            and isinstance(above.func, ast.Attribute)
            and (above.func.attr in ("append", "extend", "setdefault"))
        )

    def once(self, call: ast.Call) -> tuple[ast.Assign, LoopNode] | None:
        """The statement of a call to a model that gives the same in each round of a loop.

        Nothing else in the loop is done with the model, or to what it is asked about.
        """
        loop = next(iter(self._loops.around(call)), None)
        asked = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        training = argument(call, None, "training")
        if loop is None or not isinstance(loop.node, LOOPS):
            return None
        if not isinstance(asked, ast.Name) or training is not None:
            return None
        ran = list(self._consumers.run_by(loop.node.body))
        named = [each for each in ran if isinstance(each, ast.Name) and each.id == asked.id]
        given = names_in(*given_to(call))
        written = (each for each in ran if isinstance(each, (ast.Attribute, ast.Subscript)))
        changed = {root_name(each) for each in written if not isinstance(each.ctx, ast.Load)}
        if len(named) > 1 or not changed.isdisjoint(given):
            return None
        same = all(self._is_same(each, loop) for each in (asked, *given_to(call)))
        return self.liftable(InEachRound(call, loop, here=True, same=same))

    def liftable(self, found: InEachRound) -> tuple[ast.Assign, LoopNode] | None:
        """The statement that gives the call's result a name, if it can stand before the loop."""
        statement = self._tree.statement(found.call)
        node = found.loop.node
        if not found.here or not found.same or not isinstance(node, LOOPS):
            return None
        if statement not in node.body or not isinstance(statement, ast.Assign):
            return None
        if statement.value is not found.call:
            return None
        if not all(self._loops.invariant(each, found.loop) for each in given_to(found.call)):
            return None  # it is put where it is read from in the loop
        stored = stored_in(statement)
        others = stored_in(*(each for each in node.body if each is not statement))
        return None if stored & (others | found.loop.targets) else (statement, node)


def _word(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr
