"""Loops that go over data once, from its beginning to its end, and train on none of it."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.syntax.tree import FunctionNode
from tfmemlint_rules._analyses.lifetimes import repeats
from tfmemlint_rules._analyses.training_steps import TrainingSteps

_DATA = frozenset({Over.ARRAY, Over.DATASET, Over.UNKNOWN})
_MAX_HOPS = 4


class SinglePasses:
    """Which loops of a module run once, over data that ends."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._functions = tf.functions
        self._callers = tf.callers
        self._loops = tf.loops
        self._counted_rounds = tf.counted_rounds
        self._datasets = tf.datasets
        self._lengths = tf.lengths
        self._training = tf.of(TrainingSteps)

    def is_single(self, loop: Loop) -> bool:
        """Whether nothing in sight has a loop begin again, its rounds train on nothing, and nobody
        tells how many there are."""
        told = self._counted_rounds.left_after(loop) or loop.trips
        if loop.over not in _DATA or told is not None or self._training.is_in(loop):
            return False
        chains = self._datasets.of(loop.iterable) if loop.iterable is not None else ()
        if any(repeats(each) or self._lengths.at_most(each) is not None for each in chains):
            return False
        return self._runs_once(loop.node, _MAX_HOPS)

    def _runs_once(self, node: ast.AST, hops: int) -> bool:
        """Whether no loop is around code, nor around calls of its function."""
        if self._loops.around(node):
            return False
        function = self._tree.function(node)
        if function is None or not hops:
            return True
        calls = self._callers.calls_of(function)
        return not self._is_for_others(function) and all(
            self._runs_once(each, hops - 1)
            for each in calls
            if self._tree.function(each) is not function
        )

    def _is_for_others(self, function: FunctionNode) -> bool:
        """Whether a library may call it: a method of a class of which it knows the base."""
        owner = self._tree.parent(function)
        lineage = self._functions.lineage(owner) if isinstance(owner, ast.ClassDef) else ()
        return any(self._names.qualified(base) for each in lineage for base in each.bases)
