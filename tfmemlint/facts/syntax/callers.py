"""Who calls functions, and with what."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from weakref import ref

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.bodies import default
from tfmemlint.facts.syntax.imports import Lead
from tfmemlint.facts.syntax.members import is_decorated
from tfmemlint.facts.syntax.nodes import nodes_of
from tfmemlint.facts.syntax.tracers import PARTIAL
from tfmemlint.facts.syntax.tree import FunctionNode, parameters, positional
from tfmemlint.light_typing import NamedTuple

_MAX_PARTIALS = 10
_CLASSES = 8
"""As many as an object may be of."""
_HANDS_OVER = (How.LOOPED, How.PARAMETER)
_position = attrgetter("lineno", "col_offset")


class _HandedOn(NamedTuple):
    """What a function is given beside its parameters, and gives another as one of its own."""

    function: ast.FunctionDef
    place: int | None
    """Where among those that are given by place: 0 for the first of `*args`."""
    by_name: bool
    """Whether those that are given by name are handed on, too."""


class Callers:
    """The calls of one module by what they run, and what they pass to it."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._imports = tf.imports
        self._functions = tf.functions
        self._members = tf.members
        self._tf = ref(tf)
        """What was answered while callers were not all known is forgotten."""
        self._called: dict[ast.AST, list[ast.Call]] | None = None
        self._abroad: dict[ast.Call, Lead] = {}
        """The calls of what other files define: who asks of no other file needs none of them."""
        self._looking = 0
        """How many lists of calls are being made, of which others see what there is so far."""
        self._known: dict[FunctionNode | ast.ClassDef, tuple[ast.Call, ...]] = {}
        self._led_into: dict[ast.Module, dict[ast.AST, list[ast.Call]]] = {}
        self._homes_between: dict[ast.ClassDef, tuple[ast.Module, ...]] = {}

    def calls_of(self, function: FunctionNode | ast.ClassDef) -> tuple[ast.Call, ...]:
        """The calls that run a function (or make an instance of a class).

        In this module and in that of the function; of a method, in those of the classes between its
        own and one of this module, too; of a function of this module, in all others of the project.
        """
        if function in self._known:
            return self._known[function]
        home = self._tree.elsewhere(function)
        if home is None:
            others: Iterable[TensorFlow] = self._imports.importers
        else:
            owner = home.members.class_of(function)
            others = [home] if owner is None else [home, *self._between(owner, home)]
        several = (self, *(each.callers for each in others))
        found = tuple(call for each in several for call in each.calls_here(function))
        if home is None and isinstance(self._tree.parent(function), ast.ClassDef):
            found += tuple(self._calls_of_handed(function))
        if not any(each._looking for each in several):
            self._known[function] = found
        return found

    def _calls_of_handed(self, function: FunctionNode | ast.ClassDef) -> Iterator[ast.Call]:
        """The calls of a method in files that do not import this one: they are handed objects."""
        name = getattr(function, "name", "")
        for each in self._imports.beside(name):
            for call, _ in each.tree.methods(name):
                if function in each.callers._run_by(call):
                    yield call

    def _between(self, owner: ast.ClassDef, home: TensorFlow) -> tuple[TensorFlow, ...]:
        """The files of classes that inherit from one, and that classes of this module inherit."""
        if owner not in self._homes_between:
            lineages = (self._functions.lineage(each) for each in self._functions.heirs_here(owner))
            homes = [self._tree.elsewhere(each) for lineage in lineages for each in lineage]
            others = (each.tree.module for each in homes if each is not None and each is not home)
            self._homes_between[owner] = tuple(dict.fromkeys(others))
        return self._tree.forest.facts_of(self._homes_between[owner])

    def calls_here(self, function: FunctionNode | ast.ClassDef) -> tuple[ast.Call, ...]:
        """The calls in this module that run a function (or make an instance of a class)."""
        here = self._calls.get(function, ())
        home = self._tree.elsewhere(function) if self._abroad else None
        led = self._calls_into(home).get(function) if home is not None else None
        return tuple(here) if not led else (*sorted((*here, *led), key=_position),)

    @cached_property
    def called_elsewhere(self) -> tuple[tuple[ast.FunctionDef, Sequence[ast.Call]], ...]:
        """The functions of other files that are called here, each with its calls.

        Those of files that have no word for what traces functions are left out.
        """
        found = {each: [*calls] for each, calls in self._calls.items()}
        for call, lead in self._abroad.items():
            if self._imports.may_trace(lead):
                self._note(found, call, self._functions.definition(call.func))
        return tuple(
            (each, sorted(calls, key=_position))
            for each, calls in found.items()
            if isinstance(each, ast.FunctionDef) and self._tree.elsewhere(each) is not None
        )

    def _calls_into(self, home: TensorFlow) -> Mapping[ast.AST, list[ast.Call]]:
        """The calls by the names of other files that may run what stands in one, by that."""
        if home.tree.module not in self._led_into:
            found = self._led_into[home.tree.module] = {}
            self._looking += 1
            for call, lead in self._abroad.items():
                if self._imports.may_reach(lead, home):
                    self._note(found, call, self._functions.definition(call.func))
            self._looking -= 1
        return self._led_into[home.tree.module]

    def calls_through_bases(self, function: FunctionNode) -> Iterator[ast.Call]:
        """The calls by which methods that a class inherits run one of its own: `self.step(x)`."""
        owner = self._members.class_of(function)
        if owner is None or isinstance(function, ast.Lambda):
            return
        functions = self._functions
        bases = (functions.method(each, function.name) for each in functions.lineage(owner)[1:])
        for replaced in dict.fromkeys(each for each in bases if each not in (None, function)):
            assert replaced is not None
            for call in self.calls_of(replaced):
                receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
                taken = getattr(getattr(self._tree.function(call), "args", None), "args", ())
                if isinstance(receiver, ast.Name) and taken and taken[0].arg == receiver.id:
                    yield call

    @property
    def _calls(self) -> Mapping[ast.AST, list[ast.Call]]:
        """The calls by what they run.

        To follow a call through values, callers have to be known: while that goes on, those are
        that names lead to. What was answered with them alone is asked again afterwards.
        """
        if self._called is None:
            found = self._called = {}
            self._looking += 1
            some = {"", *self._functions.given, *self._members.names, *self._members.fields}
            some.update(each.name for each in self._bindings.all if each.how in _HANDS_OVER)
            calls = [*self._tree.all(ast.Call)] if self._imports.any else self._tree.calls(some)
            for call in calls:
                lead = self._imports.lead_of(call.func) if self._imports.any else None
                if lead is not None and len(lead.names) == 1:
                    self._abroad[call] = lead
            named = [call for call in calls if call not in self._abroad]
            for call in named:
                self._note(found, call, self._functions.named(call.func))
            unnamed = [call for call in named if call.func in self._functions.unnamed]
            tf = self._tf()

            def led() -> list[bool]:
                pairs = ((call, each) for call in unnamed for each in self._run_by(call))
                return [self._note(found, call, each) for call, each in pairs]

            # Who asks for callers may be answering what they are led to by: that waits.
            if tf is not None and True in tf.solver.apart(led):
                tf.solver.forget()
                for each in found.values():
                    each.sort(key=_position)
            self._looking -= 1
        return self._called

    def _run_by(self, call: ast.Call) -> tuple[FunctionNode | ast.ClassDef, ...]:
        """What a call runs: one thing, a method of any class that an object may be of, or what each
        caller of its function hands over by name. Of what a loop goes over, each may run but once.
        """
        several = self._functions.all_led_to(call.func, surely=False)
        if len(several) <= (_CLASSES if isinstance(call.func, ast.Attribute) else 1):
            return several
        function = self._tree.function(call)
        if not isinstance(call.func, ast.Name) or function is None:
            return ()
        given = [self.argument(each, function, call.func.id) for each in self.calls_of(function)]
        by_name = all(each is not None and self._functions.named(each) for each in given)
        return several if given and by_name else ()

    def _note(
        self,
        found: dict[ast.AST, list[ast.Call]],
        call: ast.Call,
        called: FunctionNode | ast.ClassDef | None,
    ) -> bool:
        """Note a call under all that it runs; whether that is known."""
        if called is not None:
            found.setdefault(called, []).append(call)
        if isinstance(called, ast.ClassDef):
            made_by = self._functions.method(called, "__init__")
            if made_by is not None:
                found.setdefault(made_by, []).append(call)
        return called is not None

    def argument(self, call: ast.Call, function: FunctionNode, name: str) -> ast.expr | None:
        """What a call passes for a parameter; None where it cannot be told.

        A parameter that is left out has its default.
        """
        bound, named = self._bound_by_partial(call.func, _MAX_PARTIALS)
        given = [*bound, *call.args]
        for keyword in (*call.keywords, *named):
            if keyword.arg == name:
                return keyword.value
            if keyword.arg is None:
                return None
        place = self._place(call, function, name)
        if place is not None:
            if any(isinstance(each, ast.Starred) for each in given[: place + 1]):
                return None
            if 0 <= place < len(given):
                return given[place]
        return default(function, name)

    def around(self, node: ast.AST) -> tuple[ast.Call, ...]:
        """The calls that run the function that code stands in; none for that of no function."""
        function = self._tree.function(node)
        return () if function is None else self.calls_of(function)

    def leading_to(self, node: ast.AST, hops: int) -> Iterator[ast.AST]:
        """Code, then the calls that run its function, and those that run theirs in turn."""
        yield node
        for call in self.around(node) if hops else ():
            yield from self.leading_to(call, hops - 1)

    def given_for(self, parameter: Binding) -> list[ast.expr | None]:
        """What each call in sight passes for a parameter; None where it cannot be told."""
        function = self._tree.taker(parameter.node)
        return [self.argument(each, function, parameter.name) for each in self.calls_of(function)]

    def taken_as(self, given: ast.AST, call: ast.Call, function: FunctionNode) -> Binding | None:
        """The parameter for which a call passes an expression, if there is one."""
        for each in parameters(function):
            if self.argument(call, function, each.arg) is given:
                bound = self._bindings.of(function, each.arg)
                return next((binding for binding in bound if binding.node is each), None)
        return None

    def left_out(self, node: ast.expr) -> ast.expr | None:
        """The default of a parameter that no call in sight, or not every one, is given."""
        binding = self._bindings.only(node)
        if binding is None or binding.how is not How.PARAMETER:
            return None
        given = any(self.given_for(binding))
        return None if given else default(self._tree.taker(binding.node), binding.name)

    def is_always_given(self, node: ast.expr) -> bool:
        """Whether an expression is a parameter for which there are calls, and each is given it."""
        binding = self._bindings.only(node)
        if binding is None or binding.how is not How.PARAMETER:
            return False
        given = self.given_for(binding)
        return bool(given) and all(each is not None for each in given)

    def handed_on(
        self, call: ast.Call, function: FunctionNode, name: str, run_by: ast.Call | None
    ) -> list[ast.expr]:
        """What a call passes for a parameter, of what its own function was given by its calls.

        `super().__init__(*args, **kwargs)`, where nothing else is done to `args` and `kwargs`. All
        that it may be, run by one call or by any; none where that is unknown.
        """
        rest = self._handed_on(call, function, name)
        if rest is None:
            return []
        calls = [run_by] if run_by is not None else self.calls_of(rest.function)
        given = [self._given_on(each, rest, name) for each in calls]
        known = [each for each in given if each is not None]
        return known if len(known) == len(given) else []

    def _handed_on(self, call: ast.Call, function: FunctionNode, name: str) -> _HandedOn | None:
        inside = self._tree.function(call)
        if not isinstance(inside, ast.FunctionDef):
            return None
        rest, others = inside.args.vararg, inside.args.kwarg
        starred = [each for each in call.args if isinstance(each, ast.Starred)]
        place = self._place(call, function, name) if len(starred) <= 1 else None
        after = place - len(call.args) + 1 if starred and place is not None else None
        if starred and (call.args[-1] is not starred[0] or not self._is(starred[0].value, rest)):
            return None
        by_name = [each.value for each in call.keywords if each.arg is None]
        if by_name and not all(self._is(each, others) for each in by_name):
            return None
        if not by_name and (after is None or after < 0):
            return None
        return _HandedOn(inside, after if after is not None and after >= 0 else None, bool(by_name))

    def _is(self, node: ast.expr, parameter: ast.arg | None) -> bool:
        """Whether an expression is a parameter that its function only hands on."""
        if parameter is None or not isinstance(node, ast.Name) or node.id != parameter.arg:
            return False
        function = self._tree.function(node)
        uses = [each for each in nodes_of(ast.Name, function or node) if each.id == node.id]
        return all(isinstance(self._tree.parent(each), (ast.Starred, ast.keyword)) for each in uses)

    def _given_on(self, call: ast.Call, rest: _HandedOn, name: str) -> ast.expr | None:
        """What a call gives a function that hands it on as a parameter of another."""
        for keyword in call.keywords:
            if keyword.arg == name and rest.by_name:
                return keyword.value
        if rest.place is None:
            return None
        place = len(positional(rest.function)) - self._bound_first(call, rest.function) + rest.place
        starred = any(isinstance(each, ast.Starred) for each in call.args[: place + 1])
        return call.args[place] if place < len(call.args) and not starred else None

    def _place(self, call: ast.Call, function: FunctionNode, name: str) -> int | None:
        """Where among the arguments of a call a parameter stands, if it may stand there."""
        names = [each.arg for each in positional(function)]
        if name not in names:
            return None
        return names.index(name) - self._bound_first(call, function)

    def _bound_first(self, call: ast.Call, function: FunctionNode) -> int:
        """How many of the first parameters the call does not pass itself: 1 for `self`."""
        if not self._members.binds_first(function):
            return 0
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        by_class = holder and isinstance(self._functions.definition(holder), ast.ClassDef)
        return 0 if by_class and not is_decorated(function, {"classmethod"}) else 1

    def _bound_by_partial(
        self, callee: ast.expr, hops: int
    ) -> tuple[list[ast.expr], list[ast.keyword]]:
        """The arguments that `functools.partial` gave what is called before the call does."""
        if isinstance(callee, ast.Name):
            value = self._bindings.assigned(callee) if hops else None
            return ([], []) if value is None else self._bound_by_partial(value, hops - 1)
        if not isinstance(callee, ast.Call) or not callee.args:
            return [], []
        inner, named = self._bound_by_partial(callee.args[0], hops)
        if not self._names.is_any(callee.func, PARTIAL):
            return inner, named
        return [*inner, *callee.args[1:]], [*callee.keywords, *named]
