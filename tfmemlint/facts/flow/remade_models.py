"""Models that loops make anew and drop again, and traced functions made for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.keepers import Keepers
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.flow.many_rounds import ManyRounds
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import MODELS
from tfmemlint.facts.library.training import FITS, RUNS, TRAINS
from tfmemlint.facts.syntax.decorators import Decorators
from tfmemlint.facts.syntax.nodes import within
from tfmemlint.facts.syntax.tree import FunctionNode, Tree
from tfmemlint.light_typing import NamedTuple

_MAX_HOPS = 4

_SETS = frozenset({"load_weights", "set_weights"})
_ASKS = frozenset(
    {"build", "compile", "count_params", "get_weights", "reset_metrics", "reset_states", "save"}
    | {"add", "save_weights", "summary", "to_json"}
)
_READS = frozenset(
    {"input_shape", "metrics_names", "name", "output_shape", "trainable", "trainable_variables"}
    | {"trainable_weights", "variables", "weights"}
)
_CHANGES = frozenset({"add", "compile", "trainable"})
FORGETS = frozenset({"keras.backend.clear_session"})
_TRAINS = TRAINS | {"train_step"}


class Anew(NamedTuple):
    """One model, or traced function, of which every round has another."""

    made: ast.Call | FunctionNode
    loop: Loop
    rounds: int | None
    """How many of them are made, where that is known."""
    uses: tuple[ast.expr, ...]
    """The expressions that stand for it where something is done with it."""


class RemadeModels:
    """What is made in every round of a loop, traced there, and dropped."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._callers = tf.callers
        self._members = tf.members
        self._tracers = tf.tracers
        self._values = tf.values
        self._loops = tf.loops
        self._uses = tf.uses
        self._keepers = tf.of(Keepers)
        self._decorators = tf.of(Decorators)
        self._many_rounds = tf.of(ManyRounds)

    @cached_property
    def models(self) -> tuple[Anew, ...]:
        """Every such model, in source order, by the call in the loop that makes it."""
        return tuple(
            each
            for each in self._dropped
            if any(map(self._runs, each.uses)) and not self._trains(each.loop)
        )

    @cached_property
    def _dropped(self) -> tuple[Anew, ...]:
        found: list[Anew] = []
        for call in self._tree.all(ast.Call):
            rounds = self._many_rounds.of(call) if self.may_make_model(call) else None
            if rounds is None or self._values.of(call).kind is not Kind.MODEL:
                continue
            uses = None if self._is_given_back(call) else self._used(call, _MAX_HOPS)
            if uses is not None:
                found.append(Anew(call, *rounds, tuple(uses)))
        return tuple(found)

    @cached_property
    def functions(self) -> tuple[Anew, ...]:
        """Every traced function that a loop makes, calls and drops."""
        found: list[Anew] = []
        wraps = self._tracers.makes_tf_function
        made: list[ast.Call | FunctionNode] = [
            each
            for each in self._tree.all(ast.FunctionDef, ast.AsyncFunctionDef)
            if any(map(wraps, each.decorator_list)) and self._members.class_of(each) is None
        ]
        applied = self._tree.calls(self._tracers.words)
        made += (each for each in applied if each.args and wraps(each.func))
        for each in made:
            rounds = self._many_rounds.of(each)
            calls = self._calls(each) if rounds is not None else None
            if rounds is not None and calls and not self._trains(rounds[0]):
                found.append(Anew(each, *rounds, tuple(calls)))
        return tuple(found)

    def set_first(self, made: Anew) -> bool:
        """Whether the model's weights are replaced, in every round, before they are made use of."""
        statement = self._tree.statement(made.made)
        block, place = self._tree.place(statement)
        assert isinstance(made.made, ast.Call)
        direct = [trail[-1] for trail in self._uses.of(made.made) or ()]
        for use in sorted(direct, key=lambda each: (each.lineno, each.col_offset)):
            method = self._tree.parent(use)
            attribute = method.attr if isinstance(method, ast.Attribute) else ""
            if attribute in _SETS:
                call = self._tree.parent(method) if method is not None else None
                at = self._tree.statement(use)
                whole = isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords
                return whole and at in block[place + 1 :] and isinstance(at, (ast.Expr, ast.Assign))
            if attribute not in ("build", "count_params", "name", "summary"):
                return False
        return False

    def same_before(self, made: Anew) -> bool:
        """Whether the model, made before its loop, would be as good for every round.

        Nothing that makes it reads what the loop binds, and no round adds to it, compiles it,
        forgets it or has Keras forget it.
        """
        around = self._loops.extent(made.loop)
        attributes = [getattr(self._tree.parent(use), "attr", "") for use in made.uses]
        if not _CHANGES.isdisjoint(attributes):
            return False
        for node in within([around]):
            if isinstance(node, ast.Delete):
                return False
            if isinstance(node, ast.Call) and self._forgets(node):
                return False
        making: list[ast.AST] = [made.made]
        for each in making:
            for node in within([each]):
                if isinstance(node, ast.Name) and self._is_bound_in(node, around, making):
                    return False
                called = (
                    self._functions.definition(node.func) if isinstance(node, ast.Call) else None
                )
                if called is not None and called not in making:
                    making.append(called)
        return True

    def _is_bound_in(self, name: ast.Name, around: ast.AST, making: list[ast.AST]) -> bool:
        return any(
            self._tree.inside(binding.node, around)
            and not any(self._tree.inside(binding.node, each) for each in making)
            for binding in self._bindings.reaching(name)
        )

    def may_make_model(self, call: ast.Call) -> bool:
        """Whether a call has the name of what makes models, or is of a function of the module."""
        name = self._names.qualified(call.func)
        if name is None:
            several = self._functions.definitions(call.func)
            return bool(several) and all(map(self._may_give_anew, several))
        return name in MODELS or name.startswith("keras.applications.")

    def _may_give_anew(self, made: FunctionNode | ast.ClassDef) -> bool:
        if isinstance(made, ast.ClassDef):
            return True
        return self._decorators.leave(made) and not self._keepers.may_keep(made)

    def _is_given_back(self, maker: ast.Call) -> bool:
        """Whether the function that makes a model returns it: then its caller makes one, too."""
        trails = self._uses.of(maker) or ()
        return any(isinstance(each, ast.Call) for trail in trails for each in trail[1:])

    def _used(self, maker: ast.expr, hops: int) -> list[ast.expr] | None:
        """The uses of a model, also in functions it is passed to; None where it may be kept."""
        trails = self._uses.of(maker)
        if trails is None or hops == 0:
            return None
        found: list[ast.expr] = []
        for trail in trails:
            passed = self._passed(trail[-1], hops)
            if passed is None:
                return None
            found += passed
        return found

    def _passed(self, use: ast.expr, hops: int) -> list[ast.expr] | None:
        if self._is_plain(use):
            return [use]
        call = self._tree.parent(use)
        function = self._functions.function(call.func) if isinstance(call, ast.Call) else None
        if function is None or not isinstance(call, ast.Call):
            return None
        taken = self._callers.taken_as(use, call, function)
        if taken is None:
            return None
        found: list[ast.expr] = []
        for reader in self._bindings.readers(taken):
            uses = self._used(reader, hops - 1)
            if uses is None:
                return None
            found += uses
        return found

    def _is_plain(self, use: ast.expr) -> bool:
        """Whether a use asks a model for something and leaves it at that."""
        above = self._tree.parent(use)
        if isinstance(above, ast.Call) and above.func is not use:
            return self._runs(use)
        return is_plain_use(self._tree, use) or isinstance(above, (ast.Expr, ast.Delete))

    def _runs(self, use: ast.expr) -> bool:
        """Whether a use has the model traced: `model.predict(x)`, `tf.function(model)(x)`."""
        above = self._tree.parent(use)
        if isinstance(above, ast.Attribute):
            return above.attr in RUNS
        if not isinstance(above, ast.Call) or above.args[:1] != [use]:
            return False
        return self._tracers.makes_tf_function(above.func) and bool(self._calls(above))

    def _forgets(self, call: ast.Call) -> bool:
        return self._names.is_any(call.func, FORGETS)

    def _calls(self, made: ast.Call | FunctionNode) -> list[ast.expr] | None:
        """The calls of a traced function, by what is called, if nothing else is done with it."""
        starts: list[ast.expr] = [made] if isinstance(made, ast.Call) else []
        if isinstance(made, ast.FunctionDef):
            for binding in self._bindings.of(self._tree.scope(made), made.name):
                if binding.node is made:
                    starts += self._bindings.readers(binding)
        found: list[ast.expr] = []
        for start in starts:
            for trail in self._uses.of(start) or ((start,),):
                above = self._tree.parent(trail[-1])
                if not isinstance(above, ast.Call) or above.func is not trail[-1]:
                    return None
                found.append(trail[-1])
        return found

    def _trains(self, loop: Loop) -> bool:
        """Whether anything is trained in a loop, in its functions too: an optimizer keeps graphs.

        Whatever the model is made of, then.
        """
        return any(
            isinstance(call.func, ast.Attribute) and call.func.attr in _TRAINS
            for call in self.ran(loop)
        )

    def ran(self, loop: Loop) -> Iterator[ast.Call]:
        """The calls of a loop, and of the functions of the module that it runs."""
        return self.ran_in(self._loops.extent(loop))

    def ran_in(self, code: ast.AST) -> Iterator[ast.Call]:
        """The calls of some code, and of the functions of the module that it runs."""
        pending = [code]
        for each in pending:
            for call in within([each]):
                if isinstance(call, ast.Call):
                    yield call
                    function = self._functions.function(call.func)
                    if function is not None and function not in pending:
                        pending.append(function)


def is_plain_use(tree: Tree, use: ast.expr) -> bool:
    """Whether a model is called or asked for something, as by one of its methods."""
    above = tree.parent(use)
    if isinstance(above, ast.Attribute):
        called = isinstance(call := tree.parent(above), ast.Call) and call.func is above
        return above.attr in (RUNS | FITS | _SETS | _ASKS if called else _READS)
    return isinstance(above, ast.Call) and above.func is use
