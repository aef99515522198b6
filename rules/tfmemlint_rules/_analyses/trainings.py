"""Models that loops make anew and train in graphs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.many_rounds import ManyRounds
from tfmemlint.facts.flow.remade_models import FORGETS, is_plain_use
from tfmemlint.facts.graphs.tracing import TracedBy
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import given_to
from tfmemlint.facts.library.training import APPLIES, CHECKPOINTS, FITS
from tfmemlint.facts.syntax.functions import STAYS_A_FUNCTION
from tfmemlint.facts.syntax.nodes import called
from tfmemlint.facts.syntax.targets import targets
from tfmemlint.facts.syntax.tree import LOOPS, FunctionNode, LoopNode
from tfmemlint.light_typing import NamedTuple
from tfmemlint_rules._analyses.searches import Searches

_MAX_HOPS = 4
_BESIDE = frozenset({"history", "optimizer"})
"""What a model has beside its layers, whose numbers do not lead back to it."""
_DISPLAYS = (ast.Dict, ast.List, ast.Tuple)
_SHOWS = frozenset({"id", "isinstance", "len", "print", "type"})


class Training(NamedTuple):
    """A call that is made again and again, and leaves something behind that is trained."""

    made: ast.Call
    again: LoopNode | ast.comprehension | ast.Call
    """What has it made: a loop, or the call of a search for good settings."""
    rounds: int | None
    runs: ast.AST
    """The code that each round runs."""


class Trainings:
    """What the loops of a module make anew and train in graphs."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._classes = tf.classes
        self._members = tf.members
        self._flow = tf.flow
        self._values = tf.values
        self._objects = tf.objects
        self._loops = tf.loops
        self._tracing = tf.tracing
        self._remade_models = tf.remade_models
        self._many_rounds = tf.of(ManyRounds)
        self._searches = tf.of(Searches)
        self._applying: dict[tuple[FunctionNode, int], bool] = {}

    @cached_property
    def all(self) -> tuple[Training, ...]:
        """Every such call, in source order, with what has it made first."""
        found: dict[ast.Call, Training] = {}
        for each in self._models():
            found.setdefault(each.made, each)
        return tuple(each for each in found.values() if not self._is_told_of_caller(each, found))

    def _is_told_of_caller(self, training: Training, found: Mapping[ast.Call, Training]) -> bool:
        """Whether the function that makes a model is one whose calls are told of."""
        others = [found[each] for each in self._callers.around(training.made) if each in found]
        return any(each.again is training.again for each in others)

    def forgets(self, training: Training) -> bool:
        """Whether the rounds have Keras forget what it made, which frees nothing of this."""
        ran = self._remade_models.ran_in(training.runs)
        return any(self._names.is_any(each.func, FORGETS) for each in ran)

    def _models(self) -> Iterator[Training]:
        for call in self._tree.all(ast.Call):
            if not self._makes_something(call):
                continue
            found = self._again(call)
            owner = self._owner(call) if found is not None else None
            if found is None or (owner is None and not self._makes_model(call)):
                continue
            if self._is_trained(call, found.runs, owner, _MAX_HOPS):
                yield found
        for search in self._searches.wrapped:
            for made in self._built(search.runs):
                yield Training(made, search.call, search.rounds, search.runs)
        for call, function in self._searches.fitted:
            again = self._many_rounds.of(call)
            for made in self._built(function) if again is not None else ():
                if again is not None:
                    loop, often = again
                    yield Training(made, loop.node, often, self._loops.extent(loop))

    def _built(self, function: FunctionNode) -> Iterator[ast.Call]:
        """The calls that make the models which a function returns."""
        for returned in self._bodies.returns(function):
            made = self._values.of(returned).origin if self._is_model(returned) else None
            if isinstance(made, ast.Call):
                yield made

    def _makes_something(self, call: ast.Call) -> bool:
        """Whether a call may make a model, or an object that has one."""
        owner = self._functions.definition(call.func)
        return isinstance(owner, ast.ClassDef) or self._remade_models.may_make_model(call)

    def _again(self, call: ast.Call) -> Training | None:
        """What has a call made again and again."""
        rounds = self._many_rounds.of(call)
        if rounds is not None:
            loop, often = rounds
            return Training(call, loop.node, often, self._loops.extent(loop))
        search = self._searches.around(call)
        if search is None:
            return None
        return Training(call, search.call, search.rounds, search.runs)

    def _makes_model(self, call: ast.Call) -> bool:
        """Whether a call makes a model, and does not give back what it was given."""
        if not self._remade_models.may_make_model(call):
            return False
        given = given_to(call)
        function = self._functions.function(call.func)
        if function is not None and any(self._is_model(each) for each in given):
            made = self._values.of(call).origin
            return isinstance(made, ast.Call) and self._tree.function(made) is function
        return self._is_model(call)

    def _is_model(self, node: ast.expr) -> bool:
        return self._values.of(node).kind is Kind.MODEL

    def _owner(self, call: ast.Call) -> ast.ClassDef | None:
        """The class of the module, not Keras's, of which a call makes an object with a model."""
        owner = self._functions.definition(call.func)
        if not isinstance(owner, ast.ClassDef) or self._classes.is_model(owner):
            return None
        first = self._functions.method(owner, "__init__")
        named = (
            (each.targets for each in self._bodies.body(first) if isinstance(each, ast.Assign))
            if first
            else ()
        )
        attributes = (
            each for targets in named for each in targets if isinstance(each, ast.Attribute)
        )
        return owner if any(map(self._is_model, attributes)) else None

    # What becomes of a model.

    def _is_trained(
        self, made: ast.expr, around: ast.AST, owner: ast.ClassDef | None, hops: int
    ) -> bool:
        """Whether what a call makes is trained in a graph, and nothing may keep it."""
        return self._becomes(made, around, owner, hops) is True

    def _becomes(
        self, made: ast.expr, around: ast.AST, owner: ast.ClassDef | None, hops: int
    ) -> bool | None:
        """Whether what an expression gives is trained; None where something may keep it."""
        uses = self._uses(made, around, hops)
        if uses is None:
            return None
        found = [self._use(each, around, owner, hops) for each in uses]
        return None if None in found else any(found)

    def _uses(self, node: ast.expr, around: ast.AST, hops: int) -> list[ast.expr] | None:
        """Where what an expression makes is used in its round; None where it may be kept."""
        above = self._tree.parent(node)
        if not isinstance(above, ast.Assign):
            return [node]
        found: list[ast.expr] = []
        for target in above.targets:
            if isinstance(target, ast.Attribute) and self._is_one_object(target, around):
                found += self._read_as(target, around)
                continue
            home = self._bindings.home(target.id, target) if isinstance(target, ast.Name) else None
            if not isinstance(target, ast.Name) or home is None or hops == 0:
                return None
            for binding in self._bindings.of(home, target.id):
                if binding.node is target:
                    found += self._bindings.readers(binding)
        if self._tree.inside(node, around):  # what comes after the loop sees the last of them
            found = [each for each in found if self._tree.inside(each, around)]
        return found

    def _is_one_object(self, target: ast.Attribute, around: ast.AST) -> bool:
        """Whether all rounds set an attribute of one object: the last of them stays."""
        if not isinstance(around, LOOPS):  # what a search tries settings with, itself or a method
            return (
                self._tree.function(target) is around
                and self._members.receiver_named(target.value) is not None
            )
        if self._tree.inside(target, around):
            return self._loops.invariant(target.value, self._loops.loop(around))
        owner = self._members.receiver_named(target.value)
        runs = self._members.enclosing_class(around)
        return (
            owner is not None
            and runs is not None
            and getattr(self._tree.function(around), "name", "__init__") != "__init__"
            and (owner in self._functions.lineage(runs) or runs in self._functions.lineage(owner))
        )

    def _read_as(self, target: ast.Attribute, around: ast.AST) -> Iterator[ast.expr]:
        """Where an attribute of that name is read, if it is not behind the loop."""
        here = self._tree.function(around)
        for each in self._tree.all(ast.Attribute):
            if each.attr != target.attr or not isinstance(each.ctx, ast.Load):
                continue
            if self._tree.function(each) is not here or self._tree.inside(each, around):
                yield each

    def _use(
        self, use: ast.expr, around: ast.AST, owner: ast.ClassDef | None, hops: int
    ) -> bool | None:
        """Whether a use trains a model; None where it may keep it."""
        above = self._tree.parent(use)
        if isinstance(above, ast.keyword):
            above = self._tree.parent(above)
        if owner is not None and isinstance(above, ast.Attribute):
            call = self._tree.parent(above)
            runs = isinstance(call, ast.Call) and call.func is above
            if not runs and self._is_model(above):
                return self._use(above, around, None, hops)
            method = self._functions.method(owner, above.attr) if runs else None
            return None if method is None else self._trains(method, owner, _MAX_HOPS)
        if is_plain_use(self._tree, use):
            attribute = above.attr if isinstance(above, ast.Attribute) else ""
            return attribute in FITS or self._is_of_traced_step(use)
        if isinstance(above, (ast.Expr, ast.Delete)):
            return False
        if isinstance(above, ast.Attribute):
            return self._use_of_part(above, around, hops)
        if isinstance(above, ast.Dict) and self._tree.function(use) is around:
            return False  # what a search is told of a try: `{"loss": loss, "model": model}`
        if isinstance(above, ast.Tuple) and isinstance(self._tree.parent(above), ast.Return):
            return self._handed_back(use, above, around, owner, hops)
        if isinstance(above, ast.Return):
            return self._given_back(use, around, owner, hops)
        given = self._tree.parent(above) if isinstance(above, ast.Tuple) else above
        if isinstance(given, ast.Assign) and self._is_one_of_many(given):
            return False
        if isinstance(above, ast.Assign):
            return self._becomes(use, around, owner, hops - 1) if hops else None
        if isinstance(use, ast.Call) and isinstance(above, _DISPLAYS) and hops:
            return self._put_away(use, around, owner, hops)
        if not isinstance(above, ast.Call):
            return None
        if self._names.is_any(above.func, CHECKPOINTS):
            return False
        if called(above) in _SHOWS:
            return False
        return self._passed(above, use, around, owner, hops)

    def _put_away(
        self, made: ast.Call, around: ast.AST, owner: ast.ClassDef | None, hops: int
    ) -> bool | None:
        """As `_use`, of what is made in a list or another display, and taken out of it again."""
        if not self._is_opened_alone(self._tree.parent(made), around):
            return None
        taken = [each for each in self._objects.uses(made) or () if each is not made]
        found = [self._use(each, around, owner, hops - 1) for each in taken]
        return None if not found or None in found else any(found)

    def _is_opened_alone(self, display: ast.AST | None, around: ast.AST) -> bool:
        """Whether a display has a name, and is only taken apart under it: `a, b = pair`."""
        given = self._tree.parent(display) if display is not None else None
        target = given.targets[0] if isinstance(given, ast.Assign) else None
        if not isinstance(target, ast.Name) or self._bindings.at(target) is None:
            return False
        readers = self._bindings.read_of(target)
        above = [self._tree.parent(each) for each in readers]
        return all(self._tree.inside(each, around) for each in readers) and all(
            isinstance(each, (ast.For, ast.Subscript))
            or (isinstance(each, ast.Assign) and isinstance(each.targets[0], (ast.List, ast.Tuple)))
            for each in above
        )

    def _is_one_of_many(self, given: ast.Assign) -> bool:
        """Whether one place gets the best model, or the first: memory keeps the others, too."""
        entries = (each for target in given.targets for each in targets(target, ast.Subscript))
        return self._tree.is_conditional(given) and not any(entries)

    def _given_back(
        self, use: ast.expr, around: ast.AST, owner: ast.ClassDef | None, hops: int
    ) -> bool | None:
        """As `_use`, of `return model`: False where the rounds drop it, be it trained there, too.

        What is trained there is told of the call that gives it.
        """
        calls = self._callers.around(use) if hops else ()
        here = [each for each in calls if self._tree.inside(each, around)]
        becomes = [self._becomes(each, around, owner, hops - 1) for each in here]
        return None if None in becomes or not becomes else False

    def _handed_back(
        self,
        use: ast.expr,
        row: ast.Tuple,
        around: ast.AST,
        owner: ast.ClassDef | None,
        hops: int,
    ) -> bool | None:
        """As `_use`, of `return model, history`: what becomes of it where it is unpacked."""
        calls = self._callers.around(use) if hops else ()
        found: list[bool | None] = [None] if not calls else []
        for call in calls:
            names = self._unpacked(call)
            if names is None or len(names) != len(row.elts):
                return None
            target = names[row.elts.index(use)]
            if self._bindings.at(target) is None:
                return None
            readers = self._bindings.read_of(target)
            inside = [each for each in readers if self._tree.inside(each, around)]
            found += [self._use(each, around, owner, hops - 1) for each in inside]
        return None if None in found else any(found)

    def _unpacked(self, call: ast.Call) -> list[ast.expr] | None:
        """The names of what a call gives: `model, history = train()`."""
        above = self._tree.parent(call)
        target = above.targets[0] if isinstance(above, ast.Assign) else None
        return target.elts if isinstance(target, ast.Tuple) else None

    def _use_of_part(self, part: ast.expr, around: ast.AST, hops: int) -> bool | None:
        """As `_use`, of what belongs to a model: its layers, by themselves or in another model."""
        above = self._tree.parent(part)
        while isinstance(above, (ast.List, ast.Subscript, ast.Tuple)):
            part, above = above, self._tree.parent(above)
        if is_plain_use(self._tree, part):
            return isinstance(above, ast.Attribute) and above.attr in FITS
        if isinstance(above, ast.For) and above.iter is part:
            return self._are_asked(above.target)
        if isinstance(above, ast.Attribute) and getattr(part, "attr", None) in _BESIDE:
            return False  # `model.optimizer.learning_rate`
        call = self._tree.parent(above) if isinstance(above, ast.Attribute) else None
        if isinstance(call, ast.Call) and isinstance(self._tree.parent(call), ast.Expr):
            return False  # a layer is told something, and nobody has the answer
        if isinstance(above, ast.Call) and hops and self._is_model(above):
            return self._becomes(above, around, None, hops - 1)
        return None

    def _are_asked(self, layer: ast.expr) -> bool | None:
        """False where a loop over layers asks or tells each something; None if it may keep one."""
        if not isinstance(layer, ast.Name):
            return None
        above = map(self._tree.parent, self._bindings.read_of(layer))
        return False if all(isinstance(each, ast.Attribute) for each in above) else None

    def _passed(
        self, call: ast.Call, use: ast.expr, around: ast.AST, owner: ast.ClassDef | None, hops: int
    ) -> bool | None:
        """As `_use`, of a function of the module that takes a model as an argument."""
        if self._names.is_any(call.func, STAYS_A_FUNCTION) and call.args[:1] == [use]:
            return False  # `tf.function(model)`
        function = self._run_by(call)
        if function is None or hops == 0:
            return None
        taken = self._callers.taken_as(use, call, function)
        readers = self._bindings.readers(taken) if taken is not None else []
        if taken is None:
            return None
        found = [
            False
            if isinstance(self._tree.parent(each), ast.Return)
            else self._use(each, around, owner, hops - 1)
            for each in readers
        ]
        return None if None in found else any(found)

    def _run_by(self, call: ast.Call) -> FunctionNode | None:
        """The function of the module that a call runs, be it one that another has returned."""
        function = self._functions.function(call.func)
        if function is not None:
            return function
        origins = self._flow.origins(call.func) or ()
        made = [each.value for each in origins if isinstance(each.value, ast.Call)]
        makers = [self._functions.function(each.func) for each in made]
        returned = [
            self._functions.function(value)
            for each in makers
            for value in (self._bodies.returns(each) if each is not None else ())
        ]
        return returned[0] if len(returned) == 1 else None

    # What trains.

    def _is_of_traced_step(self, node: ast.AST) -> bool:
        """Whether code is part of a step that `tf.function` traces with an optimizer in it."""
        function = self._tree.function(node)
        return (
            function is not None
            and self._is_graph(node)
            and (self._applies(function, _MAX_HOPS) or self._is_run_by_step(function))
        )

    def _is_run_by_step(self, function: FunctionNode) -> bool:
        callers = (self._tree.function(each) for each in self._callers.calls_of(function))
        return any(each is not None and self._applies(each, _MAX_HOPS) for each in callers)

    def _is_graph(self, node: ast.AST) -> bool:
        roots = self._tracing.roots(node)
        return any(each.by is TracedBy.TF_FUNCTION for each in roots)

    def _applies(self, function: FunctionNode, hops: int) -> bool:
        """Whether a function has an optimizer change variables, itself or by what it calls."""
        state = function, hops
        if state not in self._applying:
            self._applying[state] = any(
                (isinstance(each.func, ast.Attribute) and each.func.attr in APPLIES)
                or (
                    hops > 0
                    and (inner := self._functions.function(each.func)) is not None
                    and self._applies(inner, hops - 1)
                )
                for each in self._bodies.body(function)
                if isinstance(each, ast.Call)
            )
        return self._applying[state]

    def _trains(self, method: FunctionNode, owner: ast.ClassDef, hops: int) -> bool:
        """Whether a method trains a model of its object, in a graph."""
        for each in self._bodies.body(method):
            if not isinstance(each, ast.Call) or not isinstance(each.func, ast.Attribute):
                continue
            if each.func.attr in FITS and self._is_model(each.func.value):
                return True
            if each.func.attr in APPLIES and self._is_graph(each):
                return True
            inner = self._functions.function(each.func) if hops else None
            own = inner is not None and self._members.class_of(inner) is owner
            if own and inner is not None and self._trains(inner, owner, hops - 1):
                return True
        return False
