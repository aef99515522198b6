"""What a pipeline does for an element that could be done while the last one is used."""

from __future__ import annotations

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.pipelines.chains import BATCHING, Chain, From

_WORKS = frozenset({"filter", "flat_map", "group_by_window", "interleave", "map", "scan"})
_READS = frozenset({From.GENERATOR, From.RECORDS})
"""What reads or runs Python for each element."""


class Overlaps:
    """The work that pipelines do for each element they give."""

    def __init__(self, tf: TensorFlow) -> None:
        pass

    def works(self, chain: Chain) -> bool:
        """Whether elements are read, decoded or mapped, not but cut from arrays or from a cache."""
        for step in reversed(chain.steps):
            if step.method in _WORKS:
                return True
            if step.method == "cache":
                return not step.caches_in_memory
        if chain.source.kind is From.CATALOGUE:  # as it is, it prefetches by itself
            return not BATCHING.isdisjoint(chain.methods)
        return chain.source.kind in _READS or any(map(self.works, chain.source.parts))
