"""What the elements of pipelines are, step by step, from what they begin with."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.known_data import CATALOGUE
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.pipelines.chains import BATCHING, Chain, From, Step
from tfmemlint.facts.pipelines.growth import added, growth, own
from tfmemlint.facts.pipelines.held import (
    UNKNOWN,
    Held,
    Several,
    Tensor,
    anew,
    batched,
    nbytes,
    row,
    shared,
    tensors,
)
from tfmemlint.facts.pipelines.parts import Parts
from tfmemlint.facts.pipelines.specs import Specs
from tfmemlint.facts.syntax.nodes import is_literal
from tfmemlint.light_typing import NamedTuple

_KEEPS = methods.having(methods.KEEPS)
OPENING = frozenset({"flat_map", "interleave"})
"""What makes a pipeline of each element."""
_READERS = {
    "tensorflow.data.TFRecordDataset": Tensor("string", ()),
    "tensorflow.data.TextLineDataset": Tensor("string", ()),
    "tensorflow.data.FixedLengthRecordDataset": Tensor("string", ()),
}
_PATH = Tensor("string", is_path=True)
_FLOATS = 2
"""Times as large pictures are taken to be, at the least, as floats of any size worth naming."""
_ALIGNMENT = 64
"""Bytes; where each row of an array begins at a multiple of these, slices of it are no copies."""


class Passage(NamedTuple):
    """What some steps make of an element, and how."""

    element: Held
    growth: float
    """How many times as large it is afterwards, at the least; infinity for what is read from files
    by their names."""
    added: int | None
    """How many bytes more an element then takes, where known: none where slices of arrays, which
    are no copies, come out as they went in."""
    own: int | None
    """How many bytes an element then takes up itself, where known: slices of arrays none."""
    is_pure: bool
    """Whether the same element surely becomes the same, whenever it is its turn."""
    is_exact: bool
    """Whether of a batch is made, bit by bit, the batch of what is made of the examples."""
    was_decoded: bool
    """Whether pictures came that whatever has read them had decoded before."""

    @property
    def nbytes(self) -> int | None:
        """How many bytes an element takes up afterwards, where known."""
        return nbytes(self.element)

    @property
    def is_decoded(self) -> bool:
        """Whether what comes out was encoded as a picture, a sound or the like."""
        return _are_decoded(self.element) and not self.was_decoded

    @property
    def is_resized(self) -> bool:
        """Whether decoded pictures of unknown sizes have become floats, perhaps of another size."""
        return self.was_decoded and not self.is_exact and self.growth >= _FLOATS


class Elements:
    """The elements of the pipelines of a module."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._bodies = tf.bodies
        self._flow = tf.flow
        self._values = tf.values
        self._datasets = tf.datasets
        self._mappings = tf.mappings
        self._read_batches = tf.read_batches
        self._specs = tf.of(Specs)
        self._parts = tf.of(Parts)
        self._under_way: set[Chain] = set()

    def entering(self, chain: Chain, place: int) -> Held:
        """What goes into the step at a place of a chain, or comes out of the last one."""
        found = self._begin(chain)
        if chain.source.kind is From.CATALOGUE and self._read_batches.size(chain.source):
            found = batched(found)
        for step in chain.steps[:place]:
            found = self._after(step, found)
        return found

    def are_names(self, chain: Chain) -> bool:
        """Whether what comes out of a pipeline is the names of files, alone or in batches."""
        return all(each.is_path for each in tensors(self.entering(chain, len(chain.steps))))

    def passage(self, chain: Chain, first: int, end: int) -> Passage:
        """What the steps from `first` up to `end` make of an element, or of each in a batch."""
        return self._made(self.entering(chain, first), chain.steps[first:end])

    def _made(self, before: Held, steps: Iterable[Step]) -> Passage:
        found = before
        pure = exact = True
        waiting = False
        for step in steps:
            if step.method in BATCHING:
                waiting = True
                continue
            found, waiting = batched(found) if waiting else found, False
            function = step.argument("map_func") if step.method == "map" else None
            if function is None:
                found = self._after(step, found)
                pure = pure and step.method in _KEEPS
                continue
            mapped = self._mappings.of(function, found)
            found = mapped.element
            pure, exact = pure and mapped.is_pure, exact and mapped.is_exact
        exact = exact and pure
        more, alone = added(before, found), own(before, found)
        grown, decoded = growth(before, found), _are_decoded(before)
        return Passage(found, grown, more, alone, pure, exact, decoded)

    def passages(
        self, chain: Chain, end: int, passing: frozenset[str]
    ) -> Iterator[tuple[int, Passage]]:
        """The maps before a place, the last one first, each with what is made from there on.

        As far back as there are only maps, caches in files and steps of the methods `passing`: be
        `interleave` among them, into the pipelines that it makes, whose maps have its place.
        """
        for place in range(end - 1, -1, -1):
            method = chain.steps[place].method
            if method == "map":
                yield place, self.passage(chain, place, end)
            elif method in passing and method in OPENING:
                made = self._of_opened(chain.steps[place], chain.steps[place + 1 : end])
                yield from ((place, each) for each in made)
                return
            elif method not in passing and not chain.steps[place].caches_in_a_file:
                return

    def _of_opened(self, opens: Step, behind: Sequence[Step]) -> Iterator[Passage]:
        """What the maps of the pipelines that a step opens make, and the steps behind that."""
        inner = self.opened(opens)
        steps = inner[0].steps if len(inner) == 1 else ()
        for place in range(len(steps) - 1, -1, -1):
            if steps[place].method == "map":
                yield self._made(self.entering(inner[0], place), (*steps[place:], *behind))
            elif steps[place].method not in _KEEPS:
                return

    def _after(self, step: Step, element: Held) -> Held:
        if step.caches_in_memory:
            return shared(element)
        if step.method in _KEEPS:
            return element
        if step.method in BATCHING:
            return batched(element)
        if step.method == "unbatch":
            return _one_of(element)
        function = step.argument("map_func")
        if step.method == "map" and function is not None:
            return anew(self._mappings.of(function, element).element)
        if step.method == "enumerate":
            return row((Tensor("int64", ()), element))
        if step.method in OPENING and function is not None:
            reader = _READERS.get(self._names.qualified(function) or "")
            return reader or self._alike(self.opened(step))
        return UNKNOWN

    def opened(self, step: Step) -> tuple[Chain, ...]:
        """The pipelines that the function makes that `interleave` or `flat_map` is given."""
        made = self._datasets.function(step)
        returned = () if made is None else self._bodies.returns(made)
        return tuple(chain for each in returned for chain in self._datasets.of(each))

    def _alike(self, chains: tuple[Chain, ...]) -> Held:
        """What all of these pipelines give, if that is the same."""
        if not chains or any(each in self._under_way for each in chains):
            return UNKNOWN
        self._under_way.update(chains)
        given = [self.entering(each, len(each.steps)) for each in chains]
        self._under_way.difference_update(chains)
        return given[0] if all(each == given[0] for each in given) else UNKNOWN

    def _begin(self, chain: Chain) -> Held:
        kind, node = chain.source.kind, chain.source.node
        if kind in _BEGINNINGS:
            return _BEGINNINGS[kind]
        if not isinstance(node, ast.Call):
            return UNKNOWN
        name = self._names.qualified(node.func) or ""
        if kind is From.RECORDS:
            return _READERS.get(name, UNKNOWN)
        if kind is From.SLICES:
            return self._sliced(argument(node, 0, "tensors"))
        if name.endswith(".zip") and chain.source.parts:
            return row(self.entering(each, len(each.steps)) for each in chain.source.parts)
        if kind is From.MIXED:
            return self._alike(chain.source.parts)
        if kind is From.GENERATOR:
            return self._specs.of_generator(node)
        if kind is From.DIRECTORY:
            return self._specs.of_directory(node)
        given = argument(node, 0, "name") if name == "tensorflow_datasets.load" else None
        known = CATALOGUE.get(str(given.value)) if isinstance(given, ast.Constant) else None
        supervised = argument(node, None, "as_supervised")
        in_pairs = is_literal(supervised, True)
        if known is None:
            plain = supervised is None or is_literal(supervised, False)
            unpaired = _PICTURED if plain and kind is From.CATALOGUE else UNKNOWN
            return _PAIRED if in_pairs and kind is From.CATALOGUE else unpaired
        image, label = Tensor("uint8", known[1], is_image=True), Tensor("int64", ())
        return row((image, label)) if in_pairs else Several((("image", image), ("label", label)))

    def _sliced(self, given: ast.expr | None) -> Held:
        """What slices of arrays are."""
        given = self._parts.behind(given)
        if isinstance(given, ast.Tuple):
            return row(map(self._sliced, given.elts))
        named = self._parts.named(given)
        if named is not None:
            return Several(tuple((name, self._sliced(each)) for name, each in named))
        if given is None:
            return UNKNOWN
        value = self._values.of(given)
        returned = self._flow.returned(given, None) if isinstance(given, ast.Call) else ()
        kinds = {value.kind, *(self._values.of(each.value, each.frame).kind for each in returned)}
        if Kind.PATHS in kinds:
            return _PATH
        slice_ = Tensor(value.dtype, value.shape[1:] if value.shape else None)
        if slice_.nbytes is None:
            slice_ = self._parts.each(given) or slice_
        aligned = (slice_.nbytes or 1) % _ALIGNMENT == 0
        return slice_._replace(is_view=aligned)


_READY = Tensor(is_decoded=True)
"""Of ready-made data sets, what is made a picture was one, which had been encoded."""
_PICTURED = Several((("image", Tensor("uint8", is_image=True, is_decoded=True)), (None, _READY)))
"""What has an image has it under this name, and as bytes."""
_PAIRED = row((_READY, UNKNOWN))
"""The same with labels."""
_BEGINNINGS = {
    From.FILES: _PATH,
    From.RANGE: Tensor("int64", ()),
}


def _are_decoded(element: Held) -> bool:
    return any(each.is_decoded for each in tensors(element))


def _one_of(batch: Held) -> Held:
    """What a batch holds several of."""
    if isinstance(batch, Tensor):
        return batch._replace(shape=batch.shape and batch.shape[1:])
    return Several(tuple((key, _one_of(part)) for key, part in batch.parts))
