"""What pipelines give when they are read again: the same, or something else."""

from __future__ import annotations

import ast
from enum import Enum

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.pipelines.chains import Chain, From, Source
from tfmemlint.facts.pipelines.mapped import Mapped
from tfmemlint.facts.syntax.nodes import is_literal

_SAME_OF_SAME = methods.having(methods.STEADY)
_REORDERING = methods.having(methods.SHUFFLES | methods.LOOSENS)
_CHANGING = (From.GENERATOR, From.MIXED, From.UNSEEN)
_RANDOM = "tensorflow.data.Dataset.random"


class Again(Enum):
    """What a pipeline gives in a second epoch."""

    SAME = "the same elements, in the same order"
    REORDERED = "the same elements, perhaps in another order"
    UNKNOWN = "perhaps other elements"


class Epochs:
    """What the pipelines of a module give each time they are read."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._values = tf.values
        self._mappings = tf.mappings
        self._elements = tf.elements

    def again(self, chain: Chain, end: int) -> Again:
        """What the first steps of a chain, up to a place, give when they are read again."""
        steps = chain.steps[:end]
        pure = all(mapped.is_pure for place in range(end) if (mapped := self.mapped(chain, place)))
        known = (_SAME_OF_SAME | _REORDERING).issuperset(step.method for step in steps)
        if not pure or not known or self._may_change(chain.source):
            return Again.UNKNOWN
        ordered = all(
            step.method not in _REORDERING and step.argument("deterministic") is None
            for step in steps
        )
        return Again.SAME if ordered and self._is_ordered(chain.source) else Again.REORDERED

    def mapped(self, chain: Chain, place: int) -> Mapped | None:
        """What the function of the step at a place does, if it is a `map` or the like."""
        step = chain.steps[place]
        given = step.argument("map_func") or step.argument("predicate")
        if given is None:
            return None
        return self._mappings.of(given, self._elements.entering(chain, place))

    def draws(self, chain: Chain, place: int) -> bool:
        """Whether the step at a place is seen to do something else in each epoch, at random."""
        mapped = self.mapped(chain, place)
        return chain.steps[place].method == "shuffle" or (mapped is not None and mapped.is_random)

    def _may_change(self, source: Source) -> bool:
        if not isinstance(source.node, ast.Call):
            return True
        return source.kind in _CHANGING or self._names.qualified(source.node.func) == _RANDOM

    def _is_ordered(self, source: Source) -> bool:
        if not isinstance(source.node, ast.Call):
            return False
        if source.kind is From.FILES:
            shuffle = argument(source.node, 1, "shuffle")
            return is_literal(shuffle, False)
        if source.kind is From.RECORDS:  # of files, or of a dataset of their names
            files = argument(source.node, 0, "filenames")
            if isinstance(files, (ast.Constant, ast.List)):
                return True
            return files is not None and self._values.of(files).kind in (Kind.PATHS, Kind.PATH)
        return source.kind in (From.SLICES, From.TENSORS, From.RANGE)
