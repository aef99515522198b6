"""What becomes of pipelines further on: batched anew, taken apart, or read once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.pipelines.chains import REGROUPING, Chain

_TAKES_ONE = ("get_single_element", "next", "take")


class Further:
    """The datasets of a file by what is done with them, told by their calls."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._datasets = tf.datasets

    @cached_property
    def regrouped(self) -> frozenset[ast.expr]:
        """The datasets whose elements are batched or taken apart further on, by their calls."""
        return frozenset(
            call
            for chain in self._datasets.chains
            for place, method in enumerate(chain.methods)
            if method in REGROUPING
            for call in _from_source(chain, place)
            if call is not chain.calls[place]  # which may map its own elements
        )

    @cached_property
    def singles(self) -> frozenset[ast.expr]:
        """The datasets of which one element is taken, as `next(iter(ds))` does, by their calls."""
        if not self._datasets.any_certain:
            return frozenset()
        taken = (each for call in self._tree.calls(_TAKES_ONE) for each in self._single(call))
        return frozenset(
            call
            for dataset in taken
            for chain in self._datasets.of(dataset)
            if chain.is_certain
            for call in _from_source(chain)
        )

    def _single(self, call: ast.Call) -> Iterator[ast.expr]:
        callee, given = call.func, call.args[0] if call.args else None
        if isinstance(callee, ast.Attribute):
            one = isinstance(given, ast.Constant) and given.value == 1
            if callee.attr == "get_single_element":
                in_library = self._names.qualified(callee) is not None
                yield given if in_library and given else callee.value
            elif callee.attr == "take" and one:
                yield callee.value
        elif isinstance(callee, ast.Name) and callee.id == "next" and given:
            iterator: ast.expr | None = given
            if isinstance(given, ast.Name):  # where a loop calls `next`, it takes more than one
                binding = self._bindings.only(given)
                repeated = any(True for _ in self._tree.loops(call))
                iterator = None if binding is None or repeated else binding.value
            if isinstance(iterator, ast.Call):
                maker = iterator.func
                if isinstance(maker, ast.Name) and maker.id == "iter":
                    yield from iterator.args[:1]
                elif isinstance(maker, ast.Attribute) and maker.attr == "as_numpy_iterator":
                    yield maker.value


def _from_source(chain: Chain, end: int | None = None) -> tuple[ast.expr, ...]:
    """What a chain begins with, if in sight, and the calls of its steps up to a place."""
    source = () if chain.source.node is None else (chain.source.node,)
    return (*source, *chain.calls[:end])
