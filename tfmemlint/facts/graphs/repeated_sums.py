"""Loops that add the same to a tensor in every round: what `n` times the thing would be."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.library.steady_words import COMPUTES, DRAWS, EXACT
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts import TensorFlow

_PLAIN = (
    *(ast.Attribute, ast.BinOp, ast.Constant, ast.List, ast.Name, ast.Slice, ast.Subscript),
    *(ast.Tuple, ast.UnaryOp, ast.expr_context, ast.keyword, ast.operator, ast.unaryop),
)
_RANGES = frozenset({Over.EPOCHS, Over.RANGE})


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


class RepeatedSums:
    """Such loops of a file, of tensors, where a graph or a tape holds what each round makes."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._loops = tf.loops
        self._tracing = tf.tracing
        self._tapes = tf.tapes
        self._functions = tf.functions

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
        loop, last = self._loops.loop(node), node.body[-1]
        added = _added(last)
        if loop.over not in _RANGES or added is None or len(loop.targets) != 1:
            return None
        name, value = added
        assigned: set[str] = set()
        read: set[str] = set()
        computed = False
        for statement in node.body:
            made = value if statement is last else _assigned(statement)
            if made is None or not self._is_plain(made):
                return None
            read = {each.id for each in ast.walk(made) if isinstance(each, ast.Name)}
            later = self._stored(node) - assigned
            if read & later or loop.targets & read:
                return None
            computed = computed or self._computes(made)
            assigned |= self._stored(statement)
        if not computed or not isinstance(last, (ast.Assign, ast.AugAssign)) or name in read:
            return None
        names = [each for statement in node.body for each in self._stored(statement)]
        once = len(names) == len(set(names))
        return RepeatedSum(loop, node, times, last, name, value) if once else None

    def _stored(self, node: ast.AST) -> set[str]:
        names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
        return {each.id for each in names if isinstance(each.ctx, ast.Store)}

    def _is_plain(self, node: ast.expr) -> bool:
        """Whether an expression is made of operations that give the same each time."""
        for each in ast.walk(node):
            if isinstance(each, ast.Call):
                name = self._names.qualified(each.func) or ""
                known = name in EXACT or name.startswith(COMPUTES)
                if not known or any(word in name for word in DRAWS):
                    return False
            elif not isinstance(each, _PLAIN):
                return False
        return True

    def _computes(self, node: ast.expr) -> bool:
        """Whether TensorFlow has something to compute there, so that the sum is of tensors."""
        return any(
            isinstance(each, ast.Call)
            and (self._names.qualified(each.func) or "").startswith("tensorflow.")
            for each in ast.walk(node)
        )

    def _is_held(self, node: ast.For) -> bool:
        """Whether what the rounds make stays: in a graph, or on a tape."""
        if self._tracing.why(node) is not None or self._tapes.recording(node):
            return True
        function = self._tree.function(node)
        if function is None:
            return False
        owner = self._functions.class_of(function)
        if owner is not None and self._functions.is_keras(owner):
            return getattr(function, "name", "") == "call"  # traced, or recorded to train it
        return any(self._tapes.recording(each) for each in self._functions.calls_of(function))


def _assigned(statement: ast.stmt) -> ast.expr | None:
    match statement:
        case ast.Assign([ast.Name()], value):
            return value
        case _:
            return None


def _added(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """The name and what is added to it: `total = total + x`, `total += x`."""
    match statement:
        case ast.AugAssign(ast.Name(name), ast.Add(), value):
            return name, value
        case ast.Assign([ast.Name(name)], ast.BinOp(left, ast.Add(), right)):
            for total, value in ((left, right), (right, left)):
                if isinstance(total, ast.Name) and total.id == name:
                    return name, value
        case _:
            pass
    return None
