"""A `shuffle` buffer holds a large part of what a generator makes, or a million elements.

## What it finds
`shuffle` behind `from_generator`, where the signature or what is yielded tells how large an element
is and the buffer takes more than 64 MB: in one expression, or through names, branches, helper
functions and methods. Also a buffer of more than 64 elements of unknown size that the generator
reads from files, one by one, and a buffer of a million elements or more that come straight from
numbers, slices of arrays or records, be they ever so small.

## Why it costs memory
`shuffle(n)` holds `n` elements for as long as it is read from, and fills anew each epoch. What a
generator makes is in memory only because the buffer holds it; a buffer as large as the data set
holds all of it. Each element is a tensor of its own besides, which takes 140 bytes before its first
number, and 200 where it is a number of a `range`: fifty million of these take up ten gigabytes.

## What to do instead
Shuffle what is small: have the generator take file names or numbers of rows in random order, and
let a buffer of a few hundred elements do the rest. Numbers and rows of arrays NumPy shuffles in
place, eight bytes each: `rng.permutation(n)`.

## Fix safety
Unsafe: the buffer is made to hold 64 MB, so that elements come in another order and mix less.
Offered where the size of the buffer is written down in its place.

## When to ignore it
When there is room for the buffer, and the generator cannot change its order. Buffers of less than
256 MB are hidden as long as `min-bytes` is not set, since elements mix less in what the fix leaves:
that has its price in training, and is paid for a large saving only. The rule is silent by itself
where sizes are not known and nothing is read for each element, for up to a million slices of
arrays, which the buffer shares with the array, for file names, and where a `take` leaves few
elements or there are few. What a `map` makes larger is TFM201's affair.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Law, Metric, Rule, costs, edits
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.pipelines.chains import Chain, From
from tfmemlint.facts.pipelines.held import tensors
from tfmemlint.facts.pipelines.python_readers import reads_each
from tfmemlint.facts.pipelines.specs import Specs
from tfmemlint.facts.sizes.amounts import count
from tfmemlint.facts.sizes.amounts import held as bytes_held
from tfmemlint.facts.sizes.streams import A_HANDFUL

MANY = 1_000_000
"""Elements, whose tensors weigh more than what they hold."""
TENSOR = 140
NUMBER = 200
"""Bytes that a tensor takes up, measured: a slice of an array, a number of a `range`."""
COUNTED = frozenset({From.RANGE, From.SLICES})
"""What is shuffled in a buffer larger than itself as a matter of course, to mix it well."""
HEAVY = 128 << 20
LARGE = 256 << 20
"""Bytes, in one buffer: to shuffle less well is worth that."""
ENOUGH = 64 << 20
"""Bytes, of the buffer the fix makes."""
KEEPS_ELEMENTS = methods.HANDS_ON | {"filter"}
PIXELS = frozenset({"uint8", "uint16", "float16", "float32", "float64"})


def check(file: File) -> Iterator[Diagnostic]:
    reported: set[ast.Call] = set()
    for chain in file.tf.datasets.chains:
        place = _shuffle(chain)
        if place is None or chain.steps[place].call in reported:
            continue
        mapped = "map" in chain.methods[:place]
        if chain.source.kind is not From.GENERATOR:
            found = [] if mapped else _of_many(file, chain, place)
            reported.update([chain.steps[place].call] if found else [])
            yield from found
            continue
        shuffle, streams = chain.steps[place], file.tf.streams
        buffer = shuffle.argument("buffer_size")
        size, held = streams.element(chain, place).value, streams.buffered(chain, place)
        if buffer is not None and not size and _are_read(file, chain, place):
            reported.add(shuffle.call)
            yield Diagnostic(
                file.step(shuffle.call),
                f"`shuffle` holds up to `{ast.unparse(buffer)}` elements that the generator has "
                "read from files",
                cost=costs.cost(held, Law.DATA),
            )
        if buffer is None or not size or mapped or (held.value or 0) <= ENOUGH:
            continue
        reported.add(shuffle.call)
        after = count(max(1, ENOUGH // size)).times(streams.element(chain, place))
        yield Diagnostic(
            file.step(shuffle.call),
            f"`shuffle` holds up to `{ast.unparse(buffer)}` elements of what a generator makes",
            _fix(file, buffer, int(size)),
            costs.cost(held, Law.DATA, after, worth=LARGE),
        )


def _of_many(file: File, chain: Chain, place: int) -> list[Diagnostic]:
    """A buffer of so many elements that their tensors are too many."""
    shuffle, streams, source = chain.steps[place], file.tf.streams, chain.source
    buffer, held = shuffle.argument("buffer_size"), streams.kept(chain, place)
    counted = source.kind is From.RECORDS or streams.count(chain, place).value is not None
    if buffer is None or held.value is None or held.value < MANY:
        return []
    if not counted or source.kind not in COUNTED | {From.RECORDS}:
        return []
    each = NUMBER if source.kind is From.RANGE else TENSOR
    total = held.times(bytes_held(each))
    return [
        Diagnostic(
            file.step(shuffle.call),
            f"`shuffle` holds up to `{ast.unparse(buffer)}` elements, each a tensor of its own",
            cost=costs.cost(total, Law.DATA, worth=HEAVY),
        )
    ]


def _are_read(file: File, chain: Chain, place: int) -> bool:
    """Whether many pictures or the like are held, of unknown size, each read from a file."""
    tf, node = file.tf, chain.source.node
    kept = tf.streams.kept(chain, place).value
    late = chain.calls[place] in tf.buffers.late_shuffles
    if late or kept is None or kept <= A_HANDFUL or not isinstance(node, ast.Call):
        return False
    held = [each for each in tensors(tf.elements.entering(chain, place)) if each.nbytes is None]
    given = argument(node, 0, "generator")
    generator = tf.of(Specs).generator(given)
    return (
        generator is not None
        and any(each.dtype in PIXELS for each in held)
        and reads_each(generator, tf.names, tf.functions)
    )


def _shuffle(chain: Chain) -> int | None:
    """Where the elements are shuffled as the generator made them."""
    for place, step in enumerate(chain.steps):
        if step.method == "shuffle":
            return place
        if step.method not in KEEPS_ELEMENTS | {"map"}:
            return None
    return None


def _fix(file: File, buffer: ast.expr, size: int) -> Fix | None:
    if not isinstance(buffer, ast.Constant):
        return None
    change = edits.replaced(file, buffer, str(max(1, ENOUGH // size)))
    return Fix("Let the buffer hold 64 MB", (change,), Applicability.UNSAFE)


RULE = Rule(
    code="TFM203",
    name="shuffle-buffer-whole-dataset",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.3, because="the buffer holds a part of the data", of_host=True
    ),
    triggers=(
        "shuffle",
        "FixedLengthRecordDataset TFRecordDataset TextLineDataset from_generator "
        "from_tensor_slices range",
    ),
    check=check,
)
