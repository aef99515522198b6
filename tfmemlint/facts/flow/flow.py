"""How values travel: from an assignment, an argument or an attribute to where they are used."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts import TensorFlow

_MAX_FRAMES = 5
_MAX_CALLS = 8
"""Callers looked at for the value of a parameter; a function called from more places is unknown."""


class Frame(NamedTuple):
    """One call being followed into a function of the module; None stands for any call."""

    function: FunctionNode
    call: ast.Call
    outer: Frame | None

    @property
    def depth(self) -> int:
        return 1 if self.outer is None else 1 + self.outer.depth


class Origin(NamedTuple):
    """An expression that may give a name its value, and how the name takes it."""

    value: ast.expr
    how: How = How.ASSIGNED
    path: tuple[int, ...] = ()
    """Which element of the value, after unpacking."""
    frame: Frame | None = None
    """The call within which `value` is to be read."""
    binding: Binding | None = None


class Flow:
    """Backwards along assignments, arguments and attributes, one step at a time."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._functions = tf.functions

    def origins(
        self, expression: ast.expr, frame: Frame | None = None
    ) -> tuple[Origin, ...] | None:
        """Everything that may give a name or `self.attribute` its value; None if unknown."""
        if isinstance(expression, ast.Name):
            found: list[Origin] = []
            for binding in self._bindings.reaching(expression):
                if binding.how is How.PARAMETER:
                    passed = self._passed(binding, frame)
                    if passed is None:
                        return None
                    found += passed
                elif binding.value is not None:
                    inner = self._frame_at(binding.node, frame)
                    found.append(Origin(binding.value, binding.how, binding.path, inner, binding))
                else:
                    return None
            return tuple(found) or None
        if isinstance(expression, ast.Attribute) and expression.attr in self._functions.members:
            owner = self._functions.instance_of(expression.value)
            found_in = self._functions.unpacked_attributes(owner, expression.attr) if owner else ()
            values = tuple(Origin(value, path=path) for value, path in found_in)
            return self._latest(expression, values) or None
        if isinstance(expression, ast.Attribute):
            number = self._functions.class_constant(expression)
            return None if number is None else (Origin(number),)
        return None

    def enter(self, call: ast.Call, frame: Frame | None) -> Frame | None:
        """The frame of a call to a function of this module; None for others and when too deep."""
        function = self._functions.function(call.func)
        if function is None or (frame is not None and frame.depth >= _MAX_FRAMES):
            return None
        return Frame(function, call, frame)

    def returned(self, call: ast.Call, frame: Frame | None) -> Iterator[Origin]:
        """What a call to a function of this module may give back."""
        inner = self.enter(call, frame)
        if inner is not None:
            for value in self._functions.returns(inner.function):
                yield Origin(value, frame=inner)

    def _latest(self, use: ast.Attribute, values: tuple[Origin, ...]) -> tuple[Origin, ...]:
        """What `self.attribute` may have last before its use, else all that it is ever given."""
        tree = self._tree
        function, at = tree.function(use), tree.statement(use)
        binding = self._bindings.only(use.value) if isinstance(use.value, ast.Name) else None
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
        function = next(
            each for each in self._tree.ancestors(binding.node) if isinstance(each, FUNCTIONS)
        )
        if frame is not None and frame.function is function:
            calls, outer = [frame.call], frame.outer
        else:
            calls, outer = [*self._functions.calls_of(function)], None
            if len(calls) > _MAX_CALLS:
                return None
        found: list[Origin] = []
        for call in calls:
            value = self._functions.argument(call, function, binding.name)
            if value is None:
                return None
            found.append(Origin(value, frame=outer, binding=binding))
        return found or None

    def _frame_at(self, node: ast.AST, frame: Frame | None) -> Frame | None:
        """The frame for code at `node`: the one being followed if `node` is in its function."""
        if frame is not None and self._tree.function(node) is frame.function:
            return frame
        return None
