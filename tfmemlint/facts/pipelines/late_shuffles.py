"""The shuffles that stand behind a map which makes elements larger, or makes new ones."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.pipelines.chains import BATCHING, Chain
from tfmemlint.facts.pipelines.elements import Passage
from tfmemlint.light_typing import NamedTuple

_PASSES = BATCHING | {"prefetch", "repeat", "shard", "skip", "take", "with_options"}


class LateShuffle(NamedTuple):
    """A `shuffle` in a chain and a `map` before it, by their places."""

    chain: Chain
    map: int
    shuffle: int
    passage: Passage

    @property
    def is_batched(self) -> bool:
        """Whether batches are made between the two."""
        return not BATCHING.isdisjoint(self.chain.methods[self.map : self.shuffle])


class LateShuffles:
    """The shuffles of a file that would hold less before a `map`."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._datasets = tf.datasets
        self._elements = tf.elements
        self._conditions = tf.conditions

    @cached_property
    def all(self) -> Mapping[ast.Call, tuple[LateShuffle, ...]]:
        """By each `shuffle`, the maps that make elements larger, in each chain."""
        found: dict[ast.Call, tuple[LateShuffle, ...]] = {}
        for chain in self._datasets.chains:
            for place, step in enumerate(chain.steps):
                if step.method != "shuffle" or isinstance(self._tree.parent(step.call), ast.Expr):
                    continue
                ways = ((each, begun + place) for each, begun in ((chain, 0), *chain.zipped))
                late = filter(None, (self._enlarged(each, at) for each, at in ways))
                found[step.call] = (*found.get(step.call, ()), *late)
        found = {call: late for call, late in found.items() if late}
        return {call: late for call, late in found.items() if not all(map(self._is_cached, late))}

    def _enlarged(self, chain: Chain, shuffle: int) -> LateShuffle | None:
        """The last `map` before which a `shuffle` would hold least, if that is worth while."""
        if chain.steps[shuffle].argument("buffer_size") is None:
            return None
        passages = self._elements.passages(chain, shuffle, _PASSES)
        best = max(passages, key=lambda found: found[1].growth, default=None)
        if best is None:
            return None
        late = LateShuffle(chain, best[0], shuffle, best[1])
        if late.passage.added is not None and not late.is_batched:
            return late if late.passage.added > 0 else None
        return late if late.passage.growth >= 2 else None

    def _is_cached(self, late: LateShuffle) -> bool:
        """Whether a `cache` stands between in a branch that is not expected to be left out."""
        enlarging, shuffle = late.chain.calls[late.map], late.chain.calls[late.shuffle]
        for chain in self._datasets.chains:
            if enlarging in chain.calls and shuffle in chain.calls:
                first, last = chain.calls.index(enlarging), chain.calls.index(shuffle)
                for step in chain.steps[first:last]:
                    if step.method == "cache":
                        return self._conditions.runs(step.call, step.frame) is not False
        return False
