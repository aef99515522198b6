"""How many elements pipelines have, how many bytes each of them takes, and what steps hold."""

from __future__ import annotations

import ast
from math import prod

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.kinds import Extent
from tfmemlint.facts.library.makers import DTYPE_BYTES, argument
from tfmemlint.facts.pipelines.chains import BATCHING, Chain, From, Source, Step
from tfmemlint.facts.pipelines.held import Tensor, part_of, tensors
from tfmemlint.facts.pipelines.overlaps import Overlaps
from tfmemlint.facts.pipelines.parts import Parts
from tfmemlint.facts.pipelines.python_readers import reads_each
from tfmemlint.facts.pipelines.specs import Specs
from tfmemlint.facts.sizes.amounts import (
    AT_LEAST,
    NOTHING,
    UNKNOWN,
    Amount,
    count,
    held,
    product,
    smaller,
    total,
)
from tfmemlint.facts.sizes.numbers import Numbers
from tfmemlint.facts.sizes.sized import Sized

ENDLESS = Amount(("rounds without end",))
_ELEMENTS = Amount(("the elements",))
_ELEMENT = Amount(("an element",), of_bytes=True)
_EXAMPLE = Amount(("an example",), of_bytes=True)
A_HANDFUL = 64
"""Elements or examples of unknown size: two batches or three."""
_FEW_ROWS = 1024
"""Rows of an array that was loaded, and of what is out of sight: 4 MB of a thousand floats each."""
_FEW_WORDS = 1 << 17
"""Lines of text, and rows of what nothing shows to be one: 256 MB, where each takes 2 KB."""
_BULK = 1024
"""Bytes; what is known to be smaller says nothing of what stands beside it."""
_SMALL = 4096
"""Bytes of an example; a picture of MNIST takes 3 KB."""
_LARGE = 64 << 10
"""Bytes of an element that are known, whatever else it has."""
_AXES = 4
"""Of pictures in a batch, and of whatever else has so many."""
_TEXTS = frozenset(
    {
        "keras.utils.text_dataset_from_directory",
        "tensorflow.data.TextLineDataset",
        "tensorflow.data.experimental.CsvDataset",
        "tensorflow.data.experimental.make_csv_dataset",
    }
)
_KEEPS_COUNT = frozenset(
    {
        "assert_cardinality",
        "cache",
        "enumerate",
        "ignore_errors",
        "map",
        "prefetch",
        "shuffle",
        "snapshot",
        "with_options",
    }
)
_LONGEST_PATH = 4096
"""Bytes, of the name of a file."""


class Streams:
    """The bytes of the elements of pipelines, and of what their steps keep of them."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._datasets = tf.datasets
        self._lengths = tf.lengths
        self._elements = tf.elements
        self._read_batches = tf.read_batches
        self._values = tf.values
        self._parts = tf.of(Parts)
        self._overlaps = tf.of(Overlaps)
        self._specs = tf.of(Specs)
        self._functions = tf.functions
        self._numbers = tf.of(Numbers)

    def count(self, chain: Chain, end: int | None = None) -> Amount:
        """How many elements come to a place: batches, where they have been batched."""
        found = self._of_source(chain)
        if found.value is None:
            found = found._replace(at_most=self._lengths.at_most(chain, 0))
        for place, step in enumerate(chain.steps[:end]):
            found = self._counted(found, chain, place, step)
        most = self._lengths.at_most(chain, end) if not _again(chain, end) else None
        if most is None or not BATCHING.isdisjoint(chain.methods[:end]):
            return found
        if found.value is None:
            return found._replace(at_most=most)
        return smaller(found, count(most)) if most < found.value else found

    def element(self, chain: Chain, end: int) -> Amount:
        """The bytes of one element at a place, of a whole batch where it is one.

        Parts of an array that take up no memory of their own do not count.
        """
        batches = self._batches(chain, end)
        entering = self._elements.entering(chain, end)
        parts = {id(part): part for part in tensors(entering)}.values()
        sizes = [self._nbytes(each, batches) for each in parts]
        known = [each for each in sizes if each != UNKNOWN]
        if known and len(known) == len(sizes):
            return total(known)
        if all((each.unit or 0) < _BULK for each in known):
            return product([*reversed(batches), _EXAMPLE if batches else _ELEMENT])
        made = total(known)
        return made._replace(at_most=None, notes=(*made.notes, AT_LEAST))

    def part(self, chain: Chain, path: tuple[int, ...]) -> Sized | None:
        """A tensor of what a pipeline gives in the end, by its places."""
        found = self._elements.entering(chain, len(chain.steps))
        for place in path:
            found = part_of(found, place)
        if not isinstance(found, Tensor) or found.shape is None:
            return None
        waiting, dims = self._batches(chain, len(chain.steps)), list[Amount]()
        for size in found.shape:
            if size is None and not waiting:
                return None
            dims.append(count(size) if size is not None else waiting.pop())
        return Sized(tuple(dims), found.dtype)

    def batch(self, chain: Chain, end: int) -> Amount:
        """How many examples an element at a place has."""
        return product(self._batches(chain, end))

    def all(self, chain: Chain, end: int | None = None) -> Amount:
        """The bytes of all elements that come to a place."""
        place = len(chain.steps) if end is None else end
        return self.count(chain, place).times(self.element(chain, place))

    def buffered(self, chain: Chain, place: int, parameter: str = "buffer_size") -> Amount:
        """The bytes that a step at a place holds that keeps so many elements.

        As many as there are at the most, be the buffer ever so large.
        """
        return self.kept(chain, place, parameter).times(self.element(chain, place + 1))

    def around(self, step: Step) -> tuple[Chain, int]:
        """The pipeline that a step is part of, and its place in it."""
        for chain in self._datasets.chains:
            if step in chain.steps:
                return chain, chain.steps.index(step)
        return Chain(Source(From.UNSEEN, None), (step,)), 0

    def are_small(self, chain: Chain, place: int, held: Amount) -> bool:
        """Whether an example is known to be small, and nobody knows how many of them are held."""
        if held.value is not None:
            return False
        batches = len(self._batches(chain, place))
        sizes = [_alone(each, batches) for each in tensors(self._elements.entering(chain, place))]
        known = [each for each in sizes if each is not None]
        return len(known) == len(sizes) and sum(known) <= _SMALL

    def are_few_rows(self, chain: Chain, place: int, examples: float) -> bool:
        """Whether so many examples are rows or lines of text, as far as anything tells.

        They are of unknown size, slices or read as text, and what is done to them until then is in
        sight: it reads no files, makes no pictures or sounds, and runs no Python.
        """
        few = self._few(chain)
        if few == 0 or examples > few:
            return False
        size, found = self.element(chain, place), self._elements.entering(chain, place)
        known = size.value is not None and (AT_LEAST not in size.notes or size.value >= _LARGE)
        large = any(each.is_image or len(each.shape or ()) >= _AXES for each in tensors(found))
        before = chain._replace(steps=chain.steps[:place])
        return not known and not large and not self._overlaps.may_be_work(before)

    def _few(self, chain: Chain) -> int:
        """How many rows are few, if it is rows that a pipeline begins with."""
        node = chain.source.node
        if chain.source.kind is From.UNSEEN:
            return _FEW_ROWS
        if not isinstance(node, ast.Call) or chain.source.kind is not From.SLICES:
            made = node.func if isinstance(node, ast.Call) else None
            texts = self._names.is_any(made, _TEXTS) or self._gives_words(chain)
            return _FEW_WORDS if texts else 0
        if any(each.is_path for each in tensors(self._elements.entering(chain, 0))):
            return 0
        given = self._parts.first(argument(node, 0, "tensors"))
        value = None if given is None else self._values.of(given)
        loaded = value is not None and value.is_array and value.extent is Extent.WHOLE
        return _FEW_ROWS if loaded else _FEW_WORDS

    def _gives_words(self, chain: Chain) -> bool:
        """Whether a generator in sight gives nothing but strings, and reads no file for each."""
        node = chain.source.node
        if chain.source.kind is not From.GENERATOR or not isinstance(node, ast.Call):
            return False
        generator = self._specs.generator(argument(node, 0, "generator"))
        given = [*tensors(self._elements.entering(chain, 0))]
        return (
            generator is not None
            and all(each.dtype == "string" and not each.is_path for each in given)
            and not reads_each(generator, self._names, self._functions)
        )

    def kept(
        self,
        chain: Chain,
        place: int,
        parameter: str = "buffer_size",
        there: Amount | None = None,
    ) -> Amount:
        """How many elements a step at a place holds, where so many are `there`."""
        step = chain.steps[place]
        size = step.argument(parameter)
        asked = self._numbers.of(size, step.frame) if size is not None else UNKNOWN
        there = self.count(chain, place) if there is None else there
        if asked == UNKNOWN:
            return there
        return asked if there == ENDLESS else smaller(asked, there)

    def _counted(self, before: Amount, chain: Chain, place: int, step: Step) -> Amount:
        method = step.method
        if method in _KEEPS_COUNT:
            return before
        if method in BATCHING:
            size = step.argument("batch_size")
            if before == ENDLESS or size is None:
                return before
            return before.rounded_up(self._numbers.of(size, step.frame))
        if method == "take":
            taken = self._argument(step, "count")
            return smaller(taken, before) if (taken.value or 0) >= 0 else before
        if method == "repeat":
            times = self._argument(step, "count")
            is_endless = times == UNKNOWN or (times.value is not None and times.value < 0)
            return ENDLESS if is_endless else before.times(times)
        if method == "concatenate":
            other = step.argument("dataset")
            more = self._datasets.of(other, step.frame) if other is not None else ()
            return before.plus(self.count(more[0])) if len(more) == 1 else _ELEMENTS
        if method == "unbatch":
            return before.times(self.batch(chain, place))
        if method in ("flat_map", "interleave"):
            opened = {self.count(each) for each in self._elements.opened(step)}
            return before.times(*opened) if len(opened) == 1 else _ELEMENTS
        if method in ("filter", "take_while", "unique", "skip", "shard"):
            return before._replace(value=None)
        return _ELEMENTS

    def _of_source(self, chain: Chain) -> Amount:
        source, node = chain.source, chain.source.node
        if source.kind is From.TENSORS:
            return count(1)
        if not isinstance(node, ast.Call):
            return _ELEMENTS
        name = self._names.qualified(node.func) or ""
        if source.kind is From.SLICES:
            given = self._parts.first(argument(node, 0, "tensors"))
            return self._numbers.length(given) if given is not None else _ELEMENTS
        if source.kind is From.RANGE and name.endswith(".range") and len(node.args) < 4:
            ends = [self._numbers.of(each) for each in node.args]
            if len(ends) == 1:
                return ends[0]
            values = [each.value for each in ends]
            known = [int(each) for each in values if each is not None]
            return count(len(range(*known))) if known and len(known) == len(ends) else _ELEMENTS
        if name.endswith(".zip"):
            found = [self.count(each) for each in source.parts]
            least = found[0] if found else _ELEMENTS
            for each in found[1:]:
                least = smaller(least, each)
            return least
        most = self._lengths.at_most(chain, 0)
        return count(most) if most is not None else _ELEMENTS

    def _batches(self, chain: Chain, end: int) -> list[Amount]:
        """How many examples batches have, and batches of batches: the outermost last."""
        found: list[Amount] = []
        read = self._read_size(chain)
        if read is not None:
            found.append(read)
        for place, step in enumerate(chain.steps[:end]):
            if step.method in BATCHING:
                size = step.argument("batch_size")
                asked = self._numbers.of(size, step.frame) if size is not None else UNKNOWN
                there = self.count(chain, place)
                found.append(asked if there.value is None else smaller(asked, there))
            elif step.method == "unbatch" and found:
                found.pop()
        return found

    def _read_size(self, chain: Chain) -> Amount | None:
        size = self._read_batches.size(chain.source)
        return None if size is None else self._numbers.of(size)

    def _nbytes(self, tensor: Tensor, batches: list[Amount]) -> Amount:
        if tensor.is_path:
            return Amount(("the name of a file",), at_most=_LONGEST_PATH, of_bytes=True)
        width = DTYPE_BYTES.get(tensor.dtype or "")
        if tensor.shape is None or width is None:
            return UNKNOWN
        if tensor.is_view and not batches:
            return NOTHING
        waiting, numbers, made = list(batches), width, list[Amount]()
        for size in tensor.shape:
            if size is not None:
                numbers *= size
            elif waiting:
                made.append(waiting.pop())
            else:
                return UNKNOWN
        return product(made).times(held(numbers)) if made else held(numbers)

    def _argument(self, step: Step, name: str) -> Amount:
        given = step.argument(name)
        return self._numbers.of(given, step.frame) if given is not None else UNKNOWN


def _alone(tensor: Tensor, batches: int) -> int | None:
    """The bytes of a tensor for one example, where so many axes are of batches."""
    width, shape = DTYPE_BYTES.get(tensor.dtype or ""), tensor.shape
    if width is None or shape is None or shape.count(None) > batches:
        return None
    return width * prod(each for each in shape if each is not None)


def _again(chain: Chain, end: int | None) -> bool:
    """Whether elements come again, so that more of them come than there are."""
    return "repeat" in chain.methods[:end]
