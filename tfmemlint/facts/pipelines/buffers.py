"""The caches and shuffles that would hold less before a map, as that makes elements larger."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import takewhile

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.pipelines.chains import BATCHING, Chain, From, Step
from tfmemlint.facts.pipelines.elements import OPENING, Passage
from tfmemlint.light_typing import NamedTuple

_FOR_TESTS = ("test", "valid")
_PLACING = methods.PASSING - {"with_options"}
_PASSES_CAST = _PLACING | {"batch"}
_PASSES_CACHED = _PLACING | BATCHING | {"filter", "with_options"}
_PASSES_SHUFFLED = BATCHING | methods.HANDS_ON | OPENING | {"concatenate", "filter"}


class Buffered(NamedTuple):
    """A `cache` or `shuffle` in a chain and a `map` before it, by their places."""

    chain: Chain
    map: int
    buffer: int
    passage: Passage
    """From the `map` on, as far as elements become larger."""

    @property
    def is_batched(self) -> bool:
        """Whether batches are made between the two."""
        return not BATCHING.isdisjoint(self.chain.methods[self.map : self.buffer])

    @property
    def is_for_tests(self) -> bool:
        """Whether it is a part of a ready-made data set that is left for tests: `data["test"]`."""
        source, split = self.chain.source, self.chain.source.split
        if split is None and isinstance(source.node, ast.Call):
            split = argument(source.node, None, "split")
        named = split.value if isinstance(split, ast.Constant) else None
        return source.kind is From.CATALOGUE and str(named).startswith(_FOR_TESTS)


class Buffers:
    """The caches and shuffles of a file that hold what would be smaller before a `map`."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._datasets = tf.datasets
        self._elements = tf.elements
        self._conditions = tf.conditions

    @cached_property
    def casts(self) -> Mapping[ast.Call, tuple[Buffered, ...]]:
        """By each `cache`, the maps that only cast elements to larger ones, in each chain."""
        return self._found(self._caches, self._cast)

    @cached_property
    def expansions(self) -> Mapping[ast.Call, tuple[Buffered, ...]]:
        """By each `cache`, the maps that make elements larger by more than casts, in each chain."""
        return self._found(self._caches, self._expanded)

    @cached_property
    def late_shuffles(self) -> Mapping[ast.Call, tuple[Buffered, ...]]:
        """By each `shuffle`, the maps that make elements larger or more, in each chain."""
        found = self._found(self._shuffles, self._enlarged)
        return {call: late for call, late in found.items() if not all(map(self._is_cached, late))}

    def _found(
        self, buffers: Callable[[Step], bool], look: Callable[[Chain, int], Buffered | None]
    ) -> Mapping[ast.Call, tuple[Buffered, ...]]:
        found: dict[ast.Call, tuple[Buffered, ...]] = {}
        for chain in self._datasets.chains:
            for place, step in enumerate(chain.steps):
                if buffers(step):
                    ways = ((each, begun + place) for each, begun in ((chain, 0), *chain.zipped))
                    buffered = filter(None, (look(each, at) for each, at in ways))
                    found[step.call] = (*found.get(step.call, ()), *buffered)
        return {call: buffered for call, buffered in found.items() if buffered}

    def _caches(self, step: Step) -> bool:
        return step.caches_in_memory and self._is_kept(step)

    def _shuffles(self, step: Step) -> bool:
        return step.method == "shuffle" and self._is_kept(step)

    def _is_kept(self, step: Step) -> bool:
        """Whether anything is done with what a step gives."""
        return not isinstance(self._tree.parent(step.call), ast.Expr)

    def _cast(self, chain: Chain, cache: int) -> Buffered | None:
        """From the one of the casts on that makes most of a difference."""
        passages = self._elements.passages(chain, cache, _PASSES_CAST)
        casts = takewhile(lambda found: found[1].is_exact, passages)
        best = max(casts, key=lambda found: found[1].growth, default=None)
        if best is None or best[1].growth < 2:
            return None
        return Buffered(chain, best[0], cache, best[1])

    def _expanded(self, chain: Chain, cache: int) -> Buffered | None:
        """The last `map` before which a `cache` would hold least; casts alone are no reason."""
        passages = list(self._elements.passages(chain, cache, _PASSES_CACHED))
        casts = list(takewhile(lambda found: found[1].is_exact, passages))
        end = casts[-1][0] if casts else cache
        larger = [(place, self._elements.passage(chain, place, end)) for place, _ in passages]
        best = max(larger, key=lambda found: found[1].growth, default=None)
        if best is None or best[0] >= end or best[1].growth < 2:
            return None
        return Buffered(chain, best[0], cache, best[1])

    def _enlarged(self, chain: Chain, shuffle: int) -> Buffered | None:
        """The last `map` before which a `shuffle` would hold least, if that is worth while."""
        if chain.steps[shuffle].argument("buffer_size") is None:
            return None
        passages = self._elements.passages(chain, shuffle, _PASSES_SHUFFLED)
        late = [Buffered(chain, place, shuffle, passage) for place, passage in passages]
        known = [each for each in late if each.passage.added is not None and not each.is_batched]
        best = max(late, key=lambda each: each.passage.growth, default=None)
        if best is None or (best.passage.growth >= 2 and best not in known):
            return best
        most = max(known, key=lambda each: each.passage.added or 0, default=None)
        return most if most is not None and (most.passage.added or 0) > 0 else None

    def _is_cached(self, late: Buffered) -> bool:
        """Whether a `cache` stands between in a branch that is not expected to be left out."""
        enlarging, shuffle = late.chain.calls[late.map], late.chain.calls[late.buffer]
        for chain in self._datasets.chains:
            if enlarging in chain.calls and shuffle in chain.calls:
                first, last = chain.calls.index(enlarging), chain.calls.index(shuffle)
                for step in chain.steps[first:last]:
                    if step.method == "cache" and not step.caches_in_a_file:
                        return self._conditions.runs(step.call, step.frame) is not False
        return False
