"""Traced functions that are made again and again: in a loop, by a factory, or at every call."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.flow.uses import Trail
from tfmemlint.facts.graphs.factories import Factory
from tfmemlint.facts.graphs.wrappings import DATA, Made, is_plain, wrapped_by
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import given_to
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import nodes_of, root_name, within
from tfmemlint.facts.syntax.tracers import TF_FUNCTION
from tfmemlint.facts.syntax.tree import LEAVES, FunctionNode, parameters
from tfmemlint.light_typing import NamedTuple

A_FEW = 8
"""As many as are worth no word: a handful of folds, of learning rates, of compared variants."""
_MOST_HOPS = 3
"""Functions that are called but once, one in the other."""


class Remake(NamedTuple):
    """One traced function that is made many times, and called each time."""

    made: Made | None
    """The decorated definition, or the call of `tf.function`; None where another file has it."""
    maker: Made
    """What stands in the code that repeats: `made`, or a call of the factory that holds it."""
    used: ast.Call
    """A call that has the new function traced."""
    loop: Loop | None
    """What repeats `maker`, or the calls of `within`; None where callers are out of sight."""
    within: FunctionNode | None
    """The function whose every call makes another; None where `maker` stands in the loop itself."""


class RemadeFunctions:
    """What is wrapped in `tf.function` where that happens more than once."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._functions = tf.functions
        self._callers = tf.callers
        self._members = tf.members
        self._values = tf.values
        self._flow = tf.flow
        self._sources = tf.sources
        self._loops = tf.loops
        self._tracing = tf.tracing
        self._wrappings = tf.wrappings

    @cached_property
    def all(self) -> tuple[Remake, ...]:
        """Every function remade, in source order of what repeats, each once."""
        if self._tracing.makes_no_functions:
            return ()
        found: dict[tuple[Made, Made], Remake] = {}
        for own in self.own:
            if own.made is not None:
                found[own.made, own.maker] = own
        for call, factory in self._factories():
            given = self._read(factory.given(call))
            if given is None:
                continue
            for trail in self._wrappings.trails(call) if factory.gives else [(call,)]:
                used = self._wrappings.call_with(trail[-1]) if factory.gives else call
                remake = self._remake(None, trail, used, given, only=False)
                if remake is not None and not self._is_reset(given, remake.loop):
                    found.setdefault((call, remake.maker), remake)
        ordered = sorted(found.items(), key=lambda each: (each[1].maker.lineno, each[0][0].lineno))
        return tuple(remake for _, remake in ordered)

    @cached_property
    def own(self) -> tuple[Remake, ...]:
        """Those that this file makes and remakes itself.

        What other files make is not asked for here: two files that import one another would ask
        for ever.
        """
        found: dict[tuple[Made, Made], Remake] = {}
        for made in self._wrappings.all:
            trails = self._wrappings.trails(made)
            read = self._wrappings.objects(made) if trails else []
            for trail in trails:
                used, only = self._wrappings.call_with(trail[-1]), len(trails) == 1
                remake = self._remake(made, trail, used, read, only=only)
                if remake is not None:
                    found.setdefault((made, remake.maker), remake)
        return tuple(found.values())

    def _factories(self) -> Iterator[tuple[ast.Call, Factory]]:
        """The calls of what makes traced functions in other files."""
        for function, calls in self._callers.called_elsewhere:
            home = self._tree.elsewhere(function)
            if home is None or home.is_test or not home.names.mentions(TF_FUNCTION):
                continue
            factory = home.factories.all.get(function)
            if factory is not None:
                yield from ((call, factory) for call in calls)

    def _remake(
        self,
        made: Made | None,
        trail: Trail,
        used: ast.Call | None,
        read: list[ast.Name],
        *,
        only: bool,
    ) -> Remake | None:
        """What the code on a trail makes again, where all it is made for stays the same."""
        calls = [each for each in trail if isinstance(each, ast.Call)]
        maker = calls[-1] if calls else made
        if maker is None or used is None:
            return None
        used = self._beside(used, maker)
        if self._tracing.why(maker) is not None or self._tree.is_conditional(maker):
            return None
        loop = self._many(maker, used)
        if loop is not None:
            private = any(self._renews(name, calls, self._loops.extent(loop)) for name in read)
            private = private or self._is_rebuilt(read, calls, loop)
            private = private or any(self._is_new_model(each, loop) for each in given_to(used))
            return None if private else Remake(made, maker, used, loop, None)
        within = self._tree.function(maker)
        if within is not self._tree.function(used) or not isinstance(within, ast.FunctionDef):
            return None
        once = within.name == "__init__" or not all(map(is_plain, within.decorator_list))
        if once or any(self._renews(name, calls, within) for name in read):
            return None
        callers = self._callers.calls_of(within)
        for call in callers:
            loop = self._many(call, call)
            if (
                loop is None
                or self._tree.is_conditional(call)
                or self._tracing.why(call) is not None
            ):
                continue
            passed = [*self._passed(read, within, call)]
            if self._is_reset(_names_in(passed), loop):
                continue
            if not any(self._is_new(each, self._loops.extent(loop)) for each in passed):
                return Remake(made, maker, used, loop, within)
        at_once = used.func is maker or (only and not self._loops.around(used))
        if callers or not at_once or not self._takes(within, used) or self._is_given(made):
            return None
        if self._tree.function(within) is not None:
            return None  # made by a function for somebody who may well run it once
        if self._is_unread(used):
            return None
        return Remake(made, maker, used, None, within)

    def _beside(self, used: ast.Call, maker: Made) -> ast.Call:
        """The call that has a function traced, as it stands in the function that makes it."""
        around, at = self._tree.function(maker), used
        for _ in range(_MOST_HOPS):
            calls = self._callers.around(at)
            if self._tree.function(at) is around or len(calls) != 1:
                break
            (at,) = calls
        return at if self._tree.function(at) is around else used

    def _many(self, node: ast.AST, used: ast.AST) -> Loop | None:
        """The innermost loop around both that goes round more than a few times."""
        trips = 1
        for loop in self._loops.around(node):
            if loop not in self._loops.around(used):
                continue
            if not isinstance(loop.node, ast.comprehension):
                last = loop.node.body[-1]
                if isinstance(last, LEAVES):
                    continue
            if loop.trips is None:
                return loop
            trips *= loop.trips
            if trips > A_FEW:
                return loop
        return None

    def _is_unread(self, used: ast.Call) -> bool:
        """Whether what a call gives is put into `_`: it is made once, for what it sets up."""
        assigned = self._tree.parent(used)
        names = assigned.targets if isinstance(assigned, ast.Assign) else []
        return bool(names) and all(isinstance(each, ast.Name) and each.id == "_" for each in names)

    def _is_given(self, made: Made | None) -> bool:
        """Whether callers say which function is traced: it may be another one each time."""
        given = wrapped_by(made) if isinstance(made, ast.Call) else None
        binding = self._bindings.only(given)
        return binding is not None and binding.how is How.PARAMETER

    def _takes(self, function: FunctionNode, used: ast.Call) -> bool:
        """Whether what a new function is called with comes from its maker's caller."""
        taken = parameters(function)[self._members.binds_first(function) :]
        names = {each.arg for each in taken}
        given = given_to(used)
        return any(
            isinstance(name, ast.Name) and name.id in names
            for each in given
            for name in ast.walk(each)
        )

    def _passed(
        self, read: list[ast.Name], within: FunctionNode, call: ast.Call
    ) -> Iterator[ast.expr | None]:
        """What a call gives `within` of all that the traced function reads from there."""
        for name in read:
            for binding in self._bindings.reaching(name):
                if binding.how is How.PARAMETER and self._tree.inside(binding.node, within):
                    yield self._taken(call, name)

    def _taken(self, call: ast.Call, name: ast.Name) -> ast.expr | None:
        """What a call gives its function for a parameter, be that the object of a method."""
        if self._functions.instance_of(name) and isinstance(call.func, ast.Attribute):
            return call.func.value
        function = self._flow.called(call)
        return None if function is None else self._callers.argument(call, function, name.id)

    def _held(self, call: ast.Call, name: ast.Name) -> ast.expr | None:
        """What a call surely has an attribute hold of the object that it is called on."""
        attribute, frame = self._attribute(name), self._flow.enter(call, None)
        way = self._sources.same(attribute, frame) if attribute is not None else ()
        found = [each.node for each in way if each.frame is None]
        return found[0] if found and isinstance(found[0], ast.expr) else None

    def _renews(self, name: ast.Name, calls: list[ast.Call], container: ast.AST) -> bool:
        """Whether what the function reads is itself another object each time: a model, say."""
        run = {self._flow.called(each): each for each in calls}
        factories = {each: call for each, call in run.items() if each is not None}
        above = self._tree.parent(name)
        item = above if isinstance(above, ast.Subscript) and above.value is name else None
        put = self._flow.put_there(self._attribute(name) or item or name)
        if put is not None:
            names = _names_in([put])
            inside = self._tree.inside(put, container) or self._tree.function(put) in factories
            if not inside:
                return False
            plain = isinstance(put, (ast.Attribute, ast.Name, ast.Subscript))
            return not plain or any(self._renews(each, calls, container) for each in names)
        for binding in self._bindings.reaching(name):
            if binding.how in (How.DEFINED, How.IMPORTED):
                continue
            if binding.how is How.PARAMETER:
                call = factories.get(self._tree.taker(binding.node))
                taken = self._taken(call, name) if call is not None else None
                around = self._tree.function(taken) if taken is not None else None
                further = _names_in([taken]) if around in factories else []
                if any(self._renews(each, calls, container) for each in further):
                    return True
                if call is not None and self._is_new(taken, container):
                    held = self._held(call, name)
                    if held is None or self._is_new(held, container):
                        return True
                continue  # of the container itself: its callers tell
            around = self._tree.function(binding.node)
            in_factory = around is not None and around in factories
            inside = in_factory or self._tree.inside(binding.node, container)
            if inside and self._wrappings.is_own_object(binding):
                return True
        return False

    def _read(self, given: Iterable[ast.expr | None]) -> list[ast.Name] | None:
        """The names of what a function is given to read; None where that is made for the call."""
        names: list[ast.Name] = []
        for each in given:
            if isinstance(each, (ast.Constant, ast.Lambda)):
                continue
            root = each
            while isinstance(root, ast.Attribute):
                root = root.value
            if not isinstance(root, ast.Name):
                return None
            names.append(root)
        return names

    def _is_reset(self, read: list[ast.Name], loop: Loop | None) -> bool:
        """Whether a loop sets what is read of an object: `self.model = build()`."""
        if loop is None:
            return False
        attributes = {ast.unparse(above) for name in read if (above := self._attribute(name))}
        return bool(attributes) and any(
            isinstance(each, ast.Attribute)
            and not isinstance(each.ctx, ast.Load)
            and ast.unparse(each) in attributes
            for each in ast.walk(self._loops.extent(loop))
        )

    def _is_rebuilt(self, read: list[ast.Name], calls: list[ast.Call], loop: Loop) -> bool:
        """Whether a loop gives a model another structure, for which its graphs would be stale."""
        taken = (self._taken(call, name) for call in calls for name in read)
        names = {root_name(each) for each in (*read, *taken) if each is not None} - {""}
        for node in ast.walk(loop.node):
            if isinstance(node, ast.Attribute) and root_name(node) in names:
                freezes = node.attr == "trainable" and isinstance(node.ctx, ast.Store)
                done = isinstance(self._tree.statement(node), ast.Expr)
                if freezes or (done and node.attr.partition("_")[0] in _REBUILDS):
                    return True
        return False

    def _is_new_model(self, given: ast.expr, loop: Loop) -> bool:
        """Whether what a function is called with may be a model that a loop makes anew."""
        bound = self._bindings.reaching(given) if isinstance(given, ast.Name) else ()
        extent = self._loops.extent(loop)
        return any(
            isinstance(each.value, ast.Call)
            and self._tree.inside(each.node, extent)
            and self._values.of(each.value).kind is Kind.MODEL
            for each in bound
        )

    def _attribute(self, name: ast.Name) -> ast.Attribute | None:
        above = self._tree.parent(name)
        return above if isinstance(above, ast.Attribute) else None

    def _is_new(self, expression: ast.expr | None, container: ast.AST) -> bool:
        """Whether an expression gives another object each time its container runs."""
        if expression is None:
            return True
        if self._values.of(expression).kind in DATA or isinstance(expression, ast.Constant):
            return False
        if isinstance(expression, ast.Lambda):
            return False
        if not isinstance(expression, (ast.Name, ast.Attribute)):
            return True
        names = nodes_of(ast.Name, expression)
        return any(
            self._tree.inside(binding.node, container) and binding.how is not How.DEFINED
            for name in names
            for binding in self._bindings.reaching(name)
        )


_REBUILDS = frozenset({"add", "freeze", "grow", "insert", "pop", "remove", "unfreeze"})
"""What the names of methods begin with that change which layers a model has, or trains."""


def _names_in(expressions: Iterable[ast.expr | None]) -> list[ast.Name]:
    nodes = within(each for each in expressions if each is not None)
    return [node for node in nodes if isinstance(node, ast.Name)]
