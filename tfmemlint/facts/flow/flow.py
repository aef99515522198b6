"""How values travel: from an assignment, an argument or an attribute to where they are used."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame, entered, frame_at
from tfmemlint.facts.flow.paths import ANY, End
from tfmemlint.facts.flow.solver import Question
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import is_none
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode
from tfmemlint.light_typing import NamedTuple

_MAX_CALLS = 8
"""Callers looked at for the value of a parameter; a function called from more places is unknown."""
_MOST_BINDINGS = 60
"""Statements that may give a name its value: what more of them give is unknown."""


class Origin(NamedTuple):
    """An expression that may give a name its value, and how the name takes it."""

    value: ast.expr
    how: How = How.ASSIGNED
    path: tuple[int, ...] = ()
    """Which element of the value, after unpacking."""
    frame: Frame | None = None
    """The call within which `value` is to be read."""
    binding: Binding | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the name is given the value as it stands."""
        return self.how is How.ASSIGNED and not self.path


class Flow:
    """Backwards along assignments, arguments and attributes, one step at a time."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._functions = tf.functions
        self._names = tf.names
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._classes = tf.classes
        self._members = tf.members
        self._sources = tf.sources
        self._solver = tf.solver

    def origins(
        self, expression: ast.expr, frame: Frame | None = None
    ) -> tuple[Origin, ...] | None:
        """Everything that may give an expression its value as it stands; None if unknown."""
        if not isinstance(expression, _FOLLOWED):
            return None
        found: tuple[Origin, ...] | None
        found = self._solver.ask(_ORIGINS, self._origins, expression, frame)
        return found

    def _origins(self, expression: ast.expr, frame: Frame | None) -> tuple[Origin, ...] | None:
        if isinstance(expression, ast.Name):
            found = self.named(expression, frame)
            if found is None or any(each.path or each.how is How.LOOPED for each in found):
                read = self._read(expression, frame)
                if read is not None and (found is None or all(each.is_whole for each in read)):
                    return read
            return found
        if isinstance(expression, ast.Attribute):
            return self._of_attribute(expression, frame)
        read = self._read(expression, frame)
        return read if read is not None and all(each.is_whole for each in read) else None

    def one_before(self, expression: ast.expr, frame: Frame | None = None) -> Origin | None:
        """What alone gives an expression its value, as it stands."""
        found = self.origins(expression, frame) or ()
        return found[0] if len(found) == 1 and found[0].is_whole else None

    def meant(self, expression: ast.expr, frame: Frame | None = None) -> ast.expr:
        """What alone gives an expression its value, or the expression itself."""
        before = self.one_before(expression, frame)
        return expression if before is None else before.value

    def same(self, expression: ast.expr, frame: Frame | None = None) -> tuple[ast.expr, ...]:
        """An expression, and those before it that surely gave it its value, wherever they stand."""
        way = self._sources.same(expression, frame)
        return tuple(each.node for each in way if isinstance(each.node, ast.expr))

    def made(
        self, expression: ast.expr, frame: Frame | None = None
    ) -> tuple[ast.expr, Frame | None]:
        """What surely gave an expression its value first, and the call it is to be read within."""
        made = (expression, frame)
        for node, _, inner in self._sources.same(expression, frame):
            if isinstance(node, ast.expr):
                made = node, inner
        return made

    def called(self, call: ast.Call) -> FunctionNode | None:
        """The function of the module that a call surely runs, wherever that was put on the way."""
        known = self._functions.function(call.func)
        if known is not None or self._names.qualified(call.func) is not None:
            return known
        return self._led_to(call.func, None)

    def _led_to(self, callee: ast.expr, frame: Frame | None) -> FunctionNode | None:
        """The one function that an expression surely means, as far back as it can be followed."""
        only = self._sources.definitions(callee, frame).only
        return only.node if only is not None and isinstance(only.node, FUNCTIONS) else None

    def put_there(self, expression: ast.expr) -> ast.expr | None:
        """What surely was put where an expression reads it, as it stands in the same function.

        `y` for `box.x` behind `box.x = y`, for `x` behind `pair = (y, z)` and `x, _ = pair`.
        """
        if isinstance(expression, ast.Name):
            binding = self._bindings.only(expression)
            if binding is None or binding.how not in _TAKES_APART:
                return None
            if binding.is_whole:
                return None
        elif not isinstance(expression, (ast.Attribute, ast.Subscript)):
            return None
        way = self._sources.same(expression)
        found = way[1].node if len(way) > 1 and way[1].frame is None else None
        here = self._tree.function(expression)
        within = found is not None and self._tree.function(found) is here
        return found if within and isinstance(found, ast.expr) else None

    def enter(self, call: ast.Call, frame: Frame | None) -> Frame | None:
        """The frame of a call to a function of this module; None for others and when too deep."""
        function = self._functions.function(call.func)
        if function is None and frame is not None and isinstance(call.func, _NAMED):
            function = self._led_to(call.func, frame)
        return None if function is None else entered(function, call, frame)

    def returned(self, call: ast.Call, frame: Frame | None) -> Iterator[Origin]:
        """What a call to a function of this module, or one of several, may give back."""
        inner = self.enter(call, frame)
        frames = [inner] if inner is not None else self._any_of(call, frame)
        for each in frames:
            for value in self._bodies.returns(each.function):
                yield Origin(value, frame=each)

    def _any_of(self, call: ast.Call, frame: Frame | None) -> list[Frame]:
        """The frames of all functions of which a call surely runs one."""
        several = self._functions.definitions(call.func)
        found = [entered(each, call, frame) for each in several if isinstance(each, FUNCTIONS)]
        frames = [each for each in found if each is not None]
        return frames if len(frames) == len(several) > 1 else []

    def named(self, name: ast.Name, frame: Frame | None = None) -> tuple[Origin, ...] | None:
        """What its bindings give a name, one step back; None if that is out of sight."""
        found: list[Origin] = []
        bindings = self._bindings.reaching(name)
        if len(bindings) > _MOST_BINDINGS:
            return None
        for binding in bindings:
            if binding.how is How.PARAMETER:
                passed = self._passed(binding, frame)
                if passed is None:
                    return None
                found += passed
            elif binding.value is not None:
                inner = frame_at(self._tree, binding.node, frame)
                found.append(Origin(binding.value, binding.how, binding.path, inner, binding))
            else:
                return None
        return tuple(found) or None

    def _of_attribute(
        self, attribute: ast.Attribute, frame: Frame | None
    ) -> tuple[Origin, ...] | None:
        if not self._members.may_be_held(attribute):
            return None
        values: tuple[Origin, ...] = ()
        if attribute.attr in self._members.names:
            owner = self._functions.instance_of(attribute.value)
            given = self._functions.unpacked_attributes(owner, attribute.attr) if owner else ()
            values = tuple(Origin(value, path=path) for value, path in given)
            latest = self._latest(attribute, values)
            if len(latest) < len(values):
                return latest
        read = self._read(attribute, frame)
        if read is not None:
            return read
        number = None if values else self._classes.class_constant(attribute)
        return values or (None if number is None else (Origin(number),))

    def _read(self, expression: ast.expr, frame: Frame | None) -> tuple[Origin, ...] | None:
        """What gives an expression its value, wherever that was put on the way."""
        ends = self._sources.read(expression, frame)
        if not ends.complete:
            return None
        found: dict[Origin, None] = {}
        for end in ends.found:
            origin = _origin(end) if end.node is not expression else None
            if origin is None:
                return None
            found[origin] = None
        some = tuple(each for each in found if not is_none(each.value))
        return some or tuple(found) or None

    def _latest(self, use: ast.Attribute, values: tuple[Origin, ...]) -> tuple[Origin, ...]:
        """What `self.attribute` may have last before its use, else all that it is ever given."""
        tree = self._tree
        function, at = tree.function(use), tree.statement(use)
        binding = self._bindings.only(use.value)
        if len(values) < 2 or binding is None or binding.how is not How.PARAMETER:
            return values
        given = {tree.statement(each.value): each for each in values}
        here = [statement for statement in given if tree.function(statement) is function]
        earlier = [each for each in here if each is not at and each.lineno <= at.lineno]
        earlier.sort(key=lambda each: (each.lineno, each.col_offset), reverse=True)
        for found, each in enumerate(earlier, 1):
            block, place = tree.place(each)
            if any(tree.inside(use, following) for following in block[place + 1 :]):  # surely
                between = [loop for loop in tree.loops(use) if not tree.inside(each, loop)]
                comes_round = any(tree.inside(one, loop) for loop in between for one in here)
                reaching = [one for one in given if one in earlier[:found]]
                return values if comes_round else tuple(map(given.__getitem__, reaching))
        return values

    def _passed(self, binding: Binding, frame: Frame | None) -> list[Origin] | None:
        function = self._tree.taker(binding.node)
        if frame is not None and frame.function is function:
            calls, outer = [frame.call], frame.outer
        else:
            calls, outer = [*self._callers.calls_of(function)], None
            if len(calls) > _MAX_CALLS:
                return None
        found: list[Origin] = []
        for call in calls:
            value = self._callers.argument(call, function, binding.name)
            if value is None:
                return None
            found.append(Origin(value, frame=outer, binding=binding))
        return found or None


_ORIGINS = Question("origins", None, None)
_TAKES_APART = frozenset({How.ASSIGNED, How.LOOPED})
_NAMED = (ast.Attribute, ast.Name, ast.Subscript)
_FOLLOWED = (*_NAMED, ast.Call)


def _origin(end: End) -> Origin | None:
    """What an end says of a value, if it is an expression, or an element of what that gives."""
    if not isinstance(end.node, ast.expr):
        return None
    how, path = How.ASSIGNED, end.path
    if path and path[0] == ANY:
        how, path = How.LOOPED, path[1:]
    places = [each[0] for each in path if isinstance(each, tuple)]
    numbers = tuple(each for each in places if isinstance(each, int) and each >= 0)
    return Origin(end.node, how, numbers, end.frame) if len(numbers) == len(path) else None
