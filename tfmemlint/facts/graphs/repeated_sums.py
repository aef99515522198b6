"""Loops that add the same to a tensor in every round: what `n` times the thing would be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.flow.paths import End
from tfmemlint.facts.library.steady_words import COMPUTES, DRAWS, EXACT
from tfmemlint.facts.syntax.nodes import nodes_of, root_name, stored_in
from tfmemlint.light_typing import NamedTuple

_PLAIN = (
    *(ast.Attribute, ast.BinOp, ast.Constant, ast.List, ast.Name, ast.Slice, ast.Subscript),
    *(ast.Tuple, ast.UnaryOp, ast.expr_context, ast.keyword, ast.operator, ast.unaryop),
)
_PLACES = (ast.Attribute, ast.Name, ast.Subscript)
_RANGES = frozenset({Over.EPOCHS, Over.RANGE})
_MOST_HOPS = 24


class RepeatedSum(NamedTuple):
    """A loop that adds one value, the same in each round, to a name, and does no more."""

    loop: Loop
    node: ast.For
    times: ast.expr
    """How often, as the loop says it: `n` of `range(n)`."""
    addition: ast.Assign | ast.AugAssign
    name: str
    value: ast.expr
    """What is added."""
    is_all: bool
    """Whether the loop's own statements are all that there is to it, one name after the other."""


class RepeatedSums:
    """Such loops of a file, of tensors, where a graph or a tape holds what each round makes."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._bindings = tf.bindings
        self._sources = tf.sources
        self._loops = tf.loops
        self._tracing = tf.tracing
        self._tapes = tf.tapes
        self._functions = tf.functions
        self._callers = tf.callers
        self._classes = tf.classes
        self._members = tf.members

    @cached_property
    def all(self) -> tuple[RepeatedSum, ...]:
        """Every such loop, in source order."""
        found = (self._of(each) for each in self._tree.all(ast.For))
        return tuple(each for each in found if each is not None and self._is_held(each.node))

    def _of(self, node: ast.For) -> RepeatedSum | None:
        match node.iter:
            case ast.Call(ast.Name("range"), [times], []) if not node.orelse:
                pass
            case _:
                return None
        loop = self._loops.loop(node)
        body = [*self._flat(node.body)]
        last = body[-1]
        if loop.over not in _RANGES or len(loop.targets) != 1:
            return None
        added = self._added(last, node)
        if added is None or not isinstance(last, (ast.Assign, ast.AugAssign)):
            return None
        name, value, direct = added
        if not all(map(self._only_makes, body[:-1])):
            return None
        found = _Rounds(node, frozenset(self._put_in(node)), [])
        if not self._is_steady(value, found, _MOST_HOPS) or not found.computes:
            return None
        plain = direct and body == node.body and all(map(_is_named, body)) and value.frame is None
        names = [each for statement in body for each in stored_in(statement)]
        plain = plain and len(names) == len(set(names)) and isinstance(value.node, ast.expr)
        assert isinstance(value.node, ast.expr)
        return RepeatedSum(loop, node, times, last, name, value.node, plain)

    def _flat(self, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        """Statements, those of loops over one thing that is written there among them."""
        for each in body:
            loop = self._loops.loop(each) if isinstance(each, ast.For) else None
            if isinstance(each, ast.For) and loop is not None and loop.trips == 1:
                yield from self._flat(each.body)
            else:
                yield each

    def _added(self, statement: ast.stmt, loop: ast.For) -> tuple[str, End, bool] | None:
        """The place and what is added to it: `total = total + x`, `self.total += x`.

        And whether the place itself stands there.
        """
        if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
            return ast.unparse(statement.target), End(statement.value), True
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if not isinstance(target, _PLACES):
            return None
        for end in self._sources.same(statement.value):
            match end.node:
                case ast.BinOp(left, ast.Add(), right):
                    for total, value in ((left, right), (right, left)):
                        if self._is_before(total, end.frame, target, loop):
                            direct = ast.unparse(total) == ast.unparse(target)
                            return ast.unparse(target), End(value, (), end.frame), direct
                case _:
                    pass
        return None

    def _is_before(
        self, total: ast.expr, frame: Frame | None, target: ast.expr, loop: ast.For
    ) -> bool:
        """Whether something is what a place held before the round gives it more."""
        spelled = ast.unparse(target)
        return any(
            isinstance(each.node, _PLACES)
            and self._tree.inside(each.node, loop)
            and ast.unparse(each.node) == spelled
            for each in self._sources.same(total, frame)
        )

    def _only_makes(self, statement: ast.stmt) -> bool:
        """Whether a statement gives names or places values, and does nothing else."""
        if not isinstance(statement, ast.Assign):
            return False
        calls = nodes_of(ast.Call, statement)
        return all(self._is_known(each) or self._only_holds(each) for each in calls)

    def _only_holds(self, call: ast.Call) -> bool:
        name = self._names.qualified(call.func) or getattr(call.func, "id", "")
        return name in _HOLDERS or self._functions.definition(call.func) is not None

    def _put_in(self, node: ast.For) -> Iterator[str]:
        """The attributes, and the names of containers, that a loop puts something into."""
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                yield each.attr
            elif isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
                yield root_name(each)

    def _is_steady(self, end: End, rounds: _Rounds, hops: int) -> bool:
        """Whether an expression is the same in each round: nothing in it comes from another."""
        node, _, frame = end
        if not hops:
            return False
        if isinstance(node, _PLACES):
            behind = self._behind(node, frame, rounds)
            if behind is not None:
                return self._is_steady(behind, rounds, hops - 1)
            if isinstance(node, ast.Name):
                return not self._changes(node, frame, rounds)
            held = node.attr if isinstance(node, ast.Attribute) else root_name(node)
            if held in rounds.puts:
                return False
        if isinstance(node, ast.Call):
            if not self._is_known(node):
                way = self._sources.same(node, frame)
                return len(way) > 1 and self._is_steady(way[1], rounds, hops - 1)
            name = self._names.qualified(node.func) or ""
            rounds.calls.append(name)
        elif not isinstance(node, _PLAIN):
            return False
        inner = (each for each in ast.iter_child_nodes(node) if isinstance(each, _WITHIN))
        return all(self._is_steady(End(each, (), frame), rounds, hops - 1) for each in inner)

    def _behind(self, node: ast.expr, frame: Frame | None, rounds: _Rounds) -> End | None:
        """What a round gives a name or a place before it is read there."""
        if isinstance(node, ast.Name):
            binding = self._bindings.only(node)
            if binding is None or not self._is_of_round(binding.node, frame, rounds):
                return None
            if binding.value is not None and binding.is_whole:
                return End(binding.value, (), frame)
        elif self._names.qualified(node) is not None:
            return None
        way = self._sources.same(node, frame)
        before = way[1] if len(way) > 1 else None
        if before is None or frame is not None or self._is_of_round(before.node, None, rounds):
            return before
        return None

    def _changes(self, name: ast.Name, frame: Frame | None, rounds: _Rounds) -> bool:
        reaching = self._bindings.reaching(name)
        return any(self._is_of_round(each.node, frame, rounds) for each in reaching)

    def _is_of_round(self, node: ast.AST, frame: Frame | None, rounds: _Rounds) -> bool:
        """Whether code stands in a loop, or in what it calls."""
        if frame is not None and self._tree.inside(node, frame.function):
            return True
        return self._tree.inside(node, rounds.loop)

    def _is_known(self, call: ast.Call) -> bool:
        """Whether a call gives the same each time, if what it is given is the same."""
        name = self._names.qualified(call.func) or ""
        known = name in EXACT or name.startswith(COMPUTES)
        return known and not any(word in name for word in DRAWS)

    def _is_held(self, node: ast.For) -> bool:
        """Whether what the rounds make stays: in a graph, or on a tape."""
        if self._tracing.why(node) is not None or self._tapes.recording(node):
            return True
        function = self._tree.function(node)
        if function is None:
            return False
        owner = self._members.class_of(function)
        if owner is not None and self._classes.is_keras(owner):
            return getattr(function, "name", "") == "call"  # traced, or recorded to train it
        return any(self._tapes.recording(each) for each in self._callers.calls_of(function))


_HOLDERS = frozenset({"list", "tuple", "types.SimpleNamespace", "zip"})
_WITHIN = (ast.expr, ast.keyword)


class _Rounds(NamedTuple):
    """A loop, what it puts somewhere, and which operations were found in what it adds."""

    loop: ast.For
    puts: frozenset[str]
    calls: list[str]

    @property
    def computes(self) -> bool:
        """Whether TensorFlow has something to compute there, so that the sum is of tensors."""
        return any(each.startswith("tensorflow.") for each in self.calls)


def _is_named(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.target, ast.Name)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return len(targets) == 1 and isinstance(targets[0], ast.Name)
