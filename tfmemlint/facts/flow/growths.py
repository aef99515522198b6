"""Lists that grow: wherever they are kept, whatever has the code run again that adds to them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame, entered, frame_at
from tfmemlint.facts.flow.loops import Growth, Loop, Over, added_elements
from tfmemlint.facts.flow.paths import End, is_entry
from tfmemlint.facts.syntax.bindings import Binding
from tfmemlint.facts.syntax.nodes import is_empty, is_none, same_code
from tfmemlint.facts.syntax.tree import MAY_BE_LIST, FunctionNode
from tfmemlint.light_typing import NamedTuple

_MOST_CALLERS = 8
_MOST_HOPS = 3
"""Callers of callers that may have the loop."""

Added = ast.Call | ast.AugAssign | ast.Assign


class Round(NamedTuple):
    """A loop that has a list grow, and the code in it that does: the growth itself, or a call."""

    loop: Loop
    at: ast.AST


class Grown(NamedTuple):
    """A list that begins empty and is added to again and again."""

    holder: ast.expr
    """The list, as it stands where it is added to."""
    made: ast.AST
    """What makes it, empty."""
    node: Added
    value: ast.expr
    """What is added: the element, or the list that `extend` and `+` take."""
    rounds: tuple[Round, ...]
    """The loops that do not also make the list anew, innermost first."""
    named: Growth | None = None
    """The same, where one function has all of it under one name."""

    @property
    def name(self) -> str:
        """How the code calls the list."""
        return ast.unparse(self.holder)

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops of its rounds."""
        return tuple(each.loop for each in self.rounds)

    @property
    def elements(self) -> list[ast.expr]:
        """What is added, element by element; empty where a whole list is, made elsewhere."""
        return added_elements(self.node, self.value)


class Growths:
    """The lists of a file that grow."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._callers = tf.callers
        self._members = tf.members
        self._objects = tf.objects
        self._loops = tf.loops
        self._known: dict[ast.AST, tuple[Grown, ...]] = {}

    @cached_property
    def all(self) -> tuple[Grown, ...]:
        """Every place where one grows, in source order."""
        return tuple(each for node in self.places for each in self.at(node))

    @cached_property
    def places(self) -> Mapping[ast.AST, tuple[Added, ast.expr, ast.expr]]:
        """Where something is added to what may be a list, in source order: to what, and what."""
        found = sorted(self._added(), key=lambda each: (each[1].lineno, each[1].col_offset))
        return {node: (node, holder, value) for holder, node, value in found}

    def at(self, node: ast.AST) -> tuple[Grown, ...]:
        """The lists that grow at a place."""
        if node not in self._known:
            place = self.places.get(node)
            self._known[node] = tuple(self._at(*place)) if place is not None else ()
        return self._known[node]

    def _at(self, node: Added, holder: ast.expr, value: ast.expr) -> list[Grown]:
        known = self._named.get(node)
        if known is None or known.loops[0].trips == 1:
            return self._grown(holder, node, value)
        assert known.start.value is not None
        rounds = tuple(Round(each, node) for each in known.loops)
        return [Grown(holder, known.start.value, node, value, rounds, known)]

    @cached_property
    def _named(self) -> Mapping[ast.AST, Growth]:
        return {each.node: each for each in self._loops.growths}

    def of(self, expression: ast.expr, frame: Frame | None = None) -> tuple[Grown, ...]:
        """Where the list grows that an expression holds, in source order.

        What is made of it there, `self.xs = np.array(self.xs)`, comes after it.
        """
        ends = self._objects.made(expression, frame) or ()
        inside = self._tree.inside
        made = [end for end in ends if end.node is expression or not inside(expression, end.node)]
        if len(made) != 1 or not self._is_empty(made[0]):
            return ()
        return self.made_by(made[0].node)

    def made_by(self, made: ast.AST) -> tuple[Grown, ...]:
        """Where the list grows that an expression makes."""
        return tuple(each for each in self.all if each.made is made)

    def filling(self, expression: ast.expr, frame: Frame | None) -> tuple[Growth | Grown, ...]:
        """As `of`, by the one name that the list has where it has only one."""
        if isinstance(expression, ast.Name):
            binding = self._bindings.only(expression)
            named = self._loops.growths_of(binding) if binding is not None else ()
            if named or (binding is not None and _is_given(binding)):
                return named
        elif isinstance(expression, ast.List):
            return () if expression.elts else self.made_by(expression)
        elif not isinstance(expression, (ast.Attribute, ast.Call, ast.Subscript)):
            return ()
        return self.of(expression, frame)

    def is_emptied(self, growth: Growth | Grown) -> bool:
        """Whether what is added to a list is taken out again: `xs.pop(0)`, `del xs[0]`."""
        if isinstance(growth, Growth):
            return any(map(self._is_taken_from, self._bindings.readers(growth.start)))
        return any(map(self._is_taken_from, self._objects.uses(growth.made) or ()))

    def _is_taken_from(self, use: ast.expr) -> bool:
        above = self._tree.parent(use)
        if isinstance(above, ast.Subscript):
            return above.value is use and isinstance(above.ctx, ast.Del)
        return isinstance(above, ast.Attribute) and above.attr in ("clear", "pop")

    def run_at(self, grown: Grown, frame: Frame | None) -> tuple[ast.AST, Frame | None]:
        """Where a loop adds to a list, be it by a call that adds once; and the frame of what does.

        `self.add(path)`, say, in a loop over paths.
        """
        function, inside = self._tree.function(grown.node), frame_at(self._tree, grown.node, frame)
        calls = self._callers.calls_of(function) if function is not None else ()
        at = next((each.at for each in grown.rounds if each.at in calls), None)
        if function is None or not isinstance(at, ast.Call):
            return grown.node, inside
        return at, entered(function, at, inside)

    def _added(self) -> Iterator[tuple[ast.expr, Added, ast.expr]]:
        for call, method in self._tree.methods("append", "extend"):
            if len(call.args) == 1:
                yield method.value, call, call.args[0]
        for augmented in self._tree.all(ast.AugAssign):
            if isinstance(augmented.op, ast.Add) and isinstance(augmented.value, MAY_BE_LIST):
                yield augmented.target, augmented, augmented.value
        for assignment in self._tree.all(ast.Assign):
            value, target = assignment.value, assignment.targets[0]
            if not (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add)):
                continue
            right = isinstance(value.right, MAY_BE_LIST)
            if right and ast.unparse(value.left) == ast.unparse(target):
                yield value.left, assignment, value.right

    def _grown(self, holder: ast.expr, node: Added, value: ast.expr) -> list[Grown]:
        function = self._tree.function(node)
        here = self._empty(holder, None)
        if here:
            told = (
                (each, tuple(self._rounds(node, holder, each, None, _MOST_HOPS))) for each in here
            )
            return [Grown(holder, each, node, value, rounds) for each, rounds in told if rounds]
        found: dict[ast.AST, tuple[Round, ...]] = {}
        for frame in self._frames(function, None):
            for made in self._empty(holder, frame)[:1]:
                rounds = tuple(self._rounds(node, holder, made, frame, 1))
                if rounds:
                    found.setdefault(made, rounds)
        return [Grown(holder, made, node, value, rounds) for made, rounds in [*found.items()][:1]]

    def _frames(self, function: FunctionNode | None, outer: Frame | None) -> Iterator[Frame]:
        calls = self._callers.calls_of(function) if function is not None else ()
        for call in calls[:_MOST_CALLERS]:
            frame = entered(function, call, outer) if function is not None else None
            if frame is not None:
                yield frame

    def _empty(self, holder: ast.expr, frame: Frame | None) -> list[ast.AST]:
        """What makes a list, if that is one place alone, and it is empty there.

        Or the entries of one dictionary, of which any may be meant: `lists[split]`.
        """
        ends = self._objects.made(holder, frame) or ()
        lists = [each for each in ends if not self._is_no_list(each.node, holder)]
        owners = [*{self._tree.parent(each.node) for each in lists}]
        one = len(lists) == 1 or (len(owners) == 1 and isinstance(owners[0], ast.Dict))
        return [each.node for each in lists] if one and all(map(self._is_empty, lists)) else []

    def _is_no_list(self, made: ast.AST, holder: ast.expr) -> bool:
        """Whether nothing can be appended: `None`, or the array that a list becomes at last."""
        if not isinstance(made, ast.Call):
            return is_none(made)
        name = self._names.qualified(made.func) or ""
        joined = name.startswith(("numpy.", "tensorflow."))
        return joined and any(same_code(each, holder) for each in made.args)

    def _is_empty(self, end: End) -> bool:
        node = end.node
        if isinstance(node, ast.Call) and self._names.called(node) == "collections.defaultdict":
            factory = node.args[0] if node.args else None
            is_list = isinstance(factory, ast.Name) and factory.id == "list"
            return is_list and len(end.path) == 1 and is_entry(end.path[0])
        return isinstance(node, ast.expr) and is_empty(node) and not end.path

    # How often.

    def _rounds(
        self, at: ast.AST, holder: ast.expr, made: ast.AST, frame: Frame | None, hops: int
    ) -> Iterator[Round]:
        """The loops around code, and around calls of its function, that leave the list alone."""
        yield from (
            Round(each, at) for each in self._loops.around(at) if self._is_outside(made, each)
        )
        function = self._tree.function(at)
        if function is None or self._tree.inside(made, function) or not hops:
            return
        if frame is not None and frame.function is function:
            frames = [frame]
        else:
            frames = [*self._frames(function, None)]
        for each in frames:
            ends = self._objects.made(holder, each)
            if ends is not None and any(end.node is made for end in ends):
                yield from self._rounds(each.call, holder, made, each.outer, hops - 1)

    def _is_outside(self, made: ast.AST, loop: Loop) -> bool:
        """Whether a loop of several trips does not make the list again in each of them."""
        if loop.over is Over.LITERAL and loop.trips == 1:
            return False
        pending: list[ast.AST] = [made]
        for each in pending:
            if self._tree.inside(each, loop.node):
                return False
            if len(pending) > _MOST_CALLERS:
                break
            function = self._tree.function(each)
            owner = self._members.class_of(function) if function is not None else None
            makes = function is not None and getattr(function, "name", "") == "__init__"
            if owner is not None and makes:
                pending += self._callers.calls_of(owner)
            elif function is not None:
                pending += self._callers.calls_of(function)
        return True


def _is_given(binding: Binding) -> bool:
    """Whether a name is given something there, as it is: what fills that has been told."""
    return binding.is_whole and not _is_moved(binding.value)


def _is_moved(value: ast.expr | None) -> bool:
    return isinstance(value, (ast.Attribute, ast.Call, ast.Name, ast.Subscript))
