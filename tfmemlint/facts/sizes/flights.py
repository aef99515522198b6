"""What a pipeline has under way while it is read: buffers, batches being made, the one in use."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.pipelines.chains import BATCHING, Chain, From, Step
from tfmemlint.facts.sizes.amounts import Amount, count, held, smaller
from tfmemlint.facts.sizes.arrays import Arrays
from tfmemlint.facts.sizes.numbers import Numbers
from tfmemlint.facts.sizes.streams import Streams
from tfmemlint.light_typing import NamedTuple

_AT_ONCE = 2
"""How many elements `tf.data.AUTOTUNE` comes to hold while the model keeps up."""
_FEW = count(_AT_ONCE)
_TUNED = -1
_READ_AHEAD = Amount(("the elements read ahead",), of_bytes=True)


class Flight(NamedTuple):
    """What one step of a pipeline holds while the pipeline is read."""

    step: ast.expr
    what: str
    amount: Amount
    drawn: bool = True
    """Whether it is elements on their way, of which there are no more than the data has."""


class Flights:
    """The pipelines of a file as they are read."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._values = tf.values
        self._numbers = tf.of(Numbers)
        self._streams = tf.of(Streams)
        self._arrays = tf.of(Arrays)

    def of(self, chain: Chain, used: ast.expr) -> list[Flight]:
        """What the steps hold, and what uses their elements, from the source to the end."""
        found = [*self._sources(chain)]
        cached = False
        for place, step in enumerate(chain.steps):
            element = self._streams.element(chain, place + 1)
            made = self._of_step(chain, place, step, element)
            if step.method == "cache" and step.caches_in_memory:
                made, cached = self._streams.all(chain, place), True
                found.append(Flight(step.call, "cache", made, drawn=False))
            elif made is not None and not (cached and step.method == "shuffle"):
                found.append(Flight(step.call, step.method, made))
            cached = cached and step.method not in BATCHING | {"map"}
        last = self._streams.element(chain, len(chain.steps))
        if not chain.steps or chain.steps[-1].method != "prefetch":
            found.append(Flight(used, "the next batch, which TensorFlow prefetches", last))
        found.append(Flight(used, "the batch in use", last))
        return _bounded(found, self._streams.all(chain))

    def everything(self, chain: Chain) -> Amount:
        """All elements of a pipeline, as a list has them."""
        found = self._streams.all(chain)
        return found if found.value is not None else found._replace(value=found.at_most)

    def growing(self, chain: Chain) -> list[Amount]:
        """What a cache behind an endless repetition keeps of every epoch."""
        for place, step in enumerate(chain.steps):
            if step.caches_in_memory and "repeat" in chain.methods[:place]:
                repeat = chain.methods.index("repeat")
                return [self._streams.all(chain, repeat)]
        return []

    def shape(self, chain: Chain) -> tuple[Amount, ...] | None:
        """The shape of the first of what elements hold, in batches as they are."""
        first = self._streams.part(chain, ()) or self._streams.part(chain, (0,))
        return first.dims if first is not None else None

    def _of_step(self, chain: Chain, place: int, step: Step, element: Amount) -> Amount | None:
        if step.method == "shuffle":
            return self._streams.buffered(chain, place)
        if step.method in BATCHING:
            return count(2).times(element).folded()  # examples, and the batch that is made of them
        if step.method == "prefetch":
            asked = self._count(step, "buffer_size", self._at_once(chain, place))
            there = self._streams.count(chain, place)
            return (asked if there.value is None else smaller(asked, there)).times(element)
        if step.method == "map" and step.argument("num_parallel_calls") is not None:
            handed_on = count(1)
            return self._count(step, "num_parallel_calls").plus(handed_on).times(element)
        if step.method == "interleave" and step.argument("num_parallel_calls") is not None:
            return _READ_AHEAD
        return None

    def _at_once(self, chain: Chain, place: int) -> Amount:
        """How many elements the step behind a place asks for at once: a batch of them, or one."""
        behind = chain.steps[place + 1 : place + 2]
        size = behind[0].argument("batch_size") if behind else None
        if size is None or behind[0].method not in BATCHING:
            return _FEW
        return self._numbers.of(size, behind[0].frame)

    def _count(self, step: Step, parameter: str, tuned: Amount = _FEW) -> Amount:
        """How many are asked for, or come to be held where TensorFlow decides."""
        given = step.argument(parameter)
        if given is None or (self._names.qualified(given) or "").endswith("AUTOTUNE"):
            return tuned
        asked = self._numbers.of(given, step.frame)
        return tuned if asked.value == _TUNED else asked

    def making(self, chain: Chain) -> list[Flight]:
        """What is held while an iterator is made: the data, and all of it once more.

        Seen of arrays and of tensors: the second copy is gone before the first element comes.
        """
        again = "once more, while an iterator is made"
        twice = [
            Flight(node, again, self._arrays.nbytes(each), drawn=False)
            for node, each in self._sliced(chain)
            if self._values.of(each).kind in (Kind.ARRAY, Kind.TENSOR)
        ]
        return [*self._sources(chain), *twice] if twice else []

    def _sources(self, chain: Chain) -> list[Flight]:
        """The copies of arrays that pipelines begin with."""
        return [
            Flight(node, "a copy of the array", self._arrays.nbytes(each), drawn=False)
            for node, each in self._sliced(chain)
            if self._values.of(each).kind is Kind.ARRAY
        ]

    def _sliced(self, chain: Chain) -> list[tuple[ast.Call, ast.expr]]:
        """The arrays and tensors that a pipeline begins with, and what it makes of them."""
        node = chain.source.node
        if chain.source.kind not in (From.SLICES, From.TENSORS) or not isinstance(node, ast.Call):
            return []
        given = argument(node, 0, "tensors")
        several = given.elts if isinstance(given, ast.Tuple) else [given]
        return [(node, each) for each in several if each is not None]


def _bounded(found: list[Flight], everything: Amount) -> list[Flight]:
    """The same with no more elements on their way than there are: the largest buffer has them."""
    if everything.value is None:
        return found
    left, bounded = everything.value, list[Flight]()
    by_size = sorted(found, key=lambda each: -(each.amount.value or 0))
    taken: dict[int, float] = {}
    for each in by_size:
        if each.drawn and each.amount.value is not None:
            taken[id(each)] = min(each.amount.value, max(left, 0))
            left -= taken[id(each)]
    for each in found:
        amount = each.amount
        if id(each) in taken and amount.value is not None and taken[id(each)] < amount.value:
            amount = held(taken[id(each)])
        bounded.append(each._replace(amount=amount))
    return bounded
