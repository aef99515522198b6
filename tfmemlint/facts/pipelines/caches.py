"""What caches keep in memory of maps before them that make elements larger."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import takewhile

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.pipelines.chains import BATCHING, Chain
from tfmemlint.facts.pipelines.elements import Passage
from tfmemlint.light_typing import NamedTuple

_PLACING = methods.PASSING - {"with_options"}
_PASSES_CAST = _PLACING | {"batch"}
_PASSES = _PLACING | BATCHING | {"filter", "with_options"}


class Cached(NamedTuple):
    """A `cache` in a chain and a `map` before it, by their places."""

    chain: Chain
    map: int
    cache: int
    passage: Passage
    """From the `map` on, as far as elements become larger."""


class Caches:
    """The caches of a file that hold what would be smaller before a `map`."""

    def __init__(self, tf: TensorFlow) -> None:
        self._datasets = tf.datasets
        self._elements = tf.elements

    @cached_property
    def casts(self) -> Mapping[ast.Call, tuple[Cached, ...]]:
        """By each `cache`, the maps that only cast elements to larger ones, in each chain."""
        return self._found(self._cast)

    @cached_property
    def expansions(self) -> Mapping[ast.Call, tuple[Cached, ...]]:
        """By each `cache`, the maps that make elements larger by more than casts, in each chain."""
        return self._found(self._expanded)

    def _found(
        self, look: Callable[[Chain, int], Cached | None]
    ) -> Mapping[ast.Call, tuple[Cached, ...]]:
        found: dict[ast.Call, tuple[Cached, ...]] = {}
        for chain in self._datasets.chains:
            for place, step in enumerate(chain.steps):
                if step.caches_in_memory:
                    ways = ((each, begun + place) for each, begun in ((chain, 0), *chain.zipped))
                    cached = filter(None, (look(each, at) for each, at in ways))
                    found[step.call] = (*found.get(step.call, ()), *cached)
        return {call: cached for call, cached in found.items() if cached}

    def _cast(self, chain: Chain, cache: int) -> Cached | None:
        """From the one of the casts on that makes most of a difference."""
        passages = self._elements.passages(chain, cache, _PASSES_CAST)
        casts = takewhile(lambda found: found[1].is_exact, passages)
        best = max(casts, key=lambda found: found[1].growth, default=None)
        return (
            None if best is None or best[1].growth < 2 else Cached(chain, best[0], cache, best[1])
        )

    def _expanded(self, chain: Chain, cache: int) -> Cached | None:
        """The last `map` before which a `cache` would hold least; casts alone are no reason."""
        passages = list(self._elements.passages(chain, cache, _PASSES))
        casts = list(takewhile(lambda found: found[1].is_exact, passages))
        end = casts[-1][0] if casts else cache
        larger = [(place, self._elements.passage(chain, place, end)) for place, _ in passages]
        best = max(larger, key=lambda found: found[1].growth, default=None)
        if best is None or best[0] >= end or best[1].growth < 2:
            return None
        return Cached(chain, best[0], cache, best[1])
