"""`shuffle` behind `batch` fills its buffer with batches.

## What it finds
A tf.data pipeline in which `shuffle` follows `batch`, `padded_batch` or `ragged_batch`, or a reader
that gives batches, as `image_dataset_from_directory` does: in one expression, or through names,
branches, helper functions and methods. Of a buffer that is larger than the data it says how many
batches there are.

## Why it costs memory
`shuffle(n)` holds `n` elements of what comes before it, for as long as it is read from. Behind
`batch(b)` an element is a batch, so the buffer holds `n * b` examples where `n` would do.

## What to do instead
Shuffle first, then batch: the buffer shrinks by the size of a batch. The examples mix better, too:
behind `batch` only whole batches change places, and the same examples always share one. Ten of them
are a short window, though, where ten batches were enough: then ask for as many examples as mix
well, a thousand or more. `n * b` of them reach as far as before, and take as much memory.
The fix writes that number where it is below a thousand batches of names of files, which TFM201 has
shuffled before they are read, or where all of it is known to take less than 32 MB, which nobody
misses. Elsewhere the number stays, and counts examples.

## Fix safety
Unsafe: the examples come out in another order, and batches are made of other examples. Not offered
where steps stand between the two, since what a `map` is given may have to be a batch.

## When to ignore it
When examples have to stay together, as those of one length in a batch that is not padded. The rule
is silent by itself where batches are cached before they are shuffled (the buffer then shares the
cache's memory), where they are batched again or taken apart afterwards, and where they may be: in
functions for other modules, if a `map` has made something else of them. And where a buffer of so
many examples would hold about as much, as it does where either holds all there are: slices of an
array apart, of which it is batches that are copies, or where one batch is as long as the data. So
it is for up to 64 examples of unknown size, for `shuffle(True)`, which counts as one batch, and
where nothing takes what is shuffled. Up to 131,072 lines of text, or as many as nobody tells, or
slices of unknown width of what nothing shows to be a loaded array, are taken for words and rows,
which weigh little, and so are 1,024 examples of pipelines that begin out of sight; unless a `map`
before it reads files, makes pictures or sounds, runs Python, or is out of sight. Less than 32 MB in
the buffer are hidden, and of a ready-made data set, such as MNIST, less than 256 MB.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import (
    Applicability,
    Claim,
    Cost,
    Diagnostic,
    Edit,
    File,
    Fix,
    Metric,
    Rule,
    costs,
    edits,
)
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.pipelines.chains import BATCHING, USUAL_BATCH, Chain, From, Step
from tfmemlint.facts.sizes.amounts import Amount
from tfmemlint.facts.sizes.ready import Ready
from tfmemlint.facts.sizes.streams import A_HANDFUL
from tfmemlint.facts.syntax.nodes import is_literal
from tfmemlint.light_typing import NamedTuple

KEEPS_ELEMENTS = methods.PASSING | {"filter"}
KEEPS_BATCHES = KEEPS_ELEMENTS | {"concatenate", "enumerate", "ignore_errors", "map"}

MIXES = 1000
"""Examples that mix well, as they stand in a buffer."""


def check(file: File) -> Iterator[Diagnostic]:
    datasets, number = file.tf.datasets, file.tf.values.number
    pairs = [pair for chain in datasets.chains for pair in _shuffled_batches(file, chain)]
    for batch, size, shuffle, mapped in {pair[2].call: pair for pair in pairs}.values():
        buffer = shuffle.argument("buffer_size")
        if buffer is None or shuffle.call in file.tf.further.regrouped:
            continue
        frame = batch.frame if batch is not None else None
        told = is_literal(buffer, True) or number(buffer, shuffle.frame) == 1
        if told or number(size, frame) == 1:
            continue
        if mapped and _is_handed_out(file, shuffle):
            continue
        if isinstance(file.tf.tree.parent(shuffle.call), ast.Expr):
            continue  # nothing takes what is shuffled
        if _are_few(file, number(buffer, shuffle.frame), number(size, frame), shuffle):
            continue
        held = _held(file, shuffle)
        if not held.is_less_by_examples:
            continue
        rest = "" if held.all is None else f": all {held.all:,.0f} that there are"
        yield Diagnostic(
            file.step(shuffle.call),
            f"`shuffle` holds up to `{ast.unparse(buffer)}` batches of `{ast.unparse(size)}` "
            f"examples each{rest}",
            _fix(file, batch, shuffle, held) if batch is not None else None,
            _cost(file, held, shuffle),
        )


def _shuffled_batches(
    file: File, chain: Chain
) -> Iterator[tuple[Step | None, ast.expr, Step, bool]]:
    """Each `shuffle` of batches, what makes them, their size, and whether a `map` stands between.

    A reader of directories or of ready-made data sets makes them without a step.
    """
    batch, mapped, size = None, False, file.tf.read_batches.size(chain.source)
    tiny = chain.source.kind in (From.FILES, From.RANGE)  # file names, numbers
    for step in chain.steps:
        if step.method in BATCHING:
            batch, mapped, size = step, False, step.argument("batch_size")
        elif step.method not in KEEPS_BATCHES:
            size = None
        elif step.method == "shuffle" and size is not None and not tiny:
            yield batch, size, step, mapped
        mapped = mapped or step.method == "map"
        tiny = tiny and step.method in BATCHING | KEEPS_ELEMENTS


def _cost(file: File, held: _Held, shuffle: Step) -> Cost:
    ready = file.tf.of(Ready).is_chain(file.tf.streams.around(shuffle)[0])
    worth = costs.worth(ready=ready, otherwise=costs.BUFFERED)
    return costs.cost(held.now, after=held.after, worth=worth)


def _are_few(file: File, buffer: float | None, size: float | None, shuffle: Step) -> bool:
    """Whether the buffer has but a few examples, or not many rows or lines of text."""
    chain, place = file.tf.streams.around(shuffle)
    if buffer is None and chain.source.kind not in (From.RECORDS, From.GENERATOR):
        return False  # it may be all that there are
    examples = (buffer or 0) * (USUAL_BATCH if size is None else size)
    unknown = file.tf.streams.element(chain, place).at_most is None  # what is known is counted
    handful = unknown and buffer is not None and examples <= A_HANDFUL
    return handful or file.tf.streams.are_few_rows(chain, place, examples)


class _Held(NamedTuple):
    """What a buffer of batches holds, and one of examples in its place."""

    now: Amount
    after: Amount | None = None
    all: float | None = None
    """How many batches there are, where it is surely all of them and could be more."""
    is_less_by_examples: bool = True
    """Whether examples in its place may well take less."""


def _held(file: File, shuffle: Step) -> _Held:
    streams = file.tf.streams
    chain, place = streams.around(shuffle)
    now, batches = streams.buffered(chain, place), streams.kept(chain, place)
    asked = file.tf.numbers.of(shuffle.argument("buffer_size") or shuffle.call, shuffle.frame)
    fewer = batches.is_certain and (batches.value or 0) < (asked.value or 0)
    there = batches.value if fewer else None
    batch = max((each for each in range(place) if chain.methods[each] in BATCHING), default=None)
    if batch is None:
        return _Held(now, None, there)
    given, together = streams.count(chain, batch), streams.batch(chain, place)
    if given.factors == together.factors and not given.is_plain:
        return _Held(now, is_less_by_examples=False)  # there is but one batch, of all examples
    examples = streams.kept(chain, place, there=given)
    after = examples.times(streams.element(chain, batch))
    if now.is_certain and after.is_certain:
        return _Held(now, after, there, 2 * (after.value or 0) <= (now.value or 0))
    in_batches = batches.times(together)
    sure = in_batches.is_certain and examples.is_certain and chain.source.kind is not From.SLICES
    less = not sure or 2 * (examples.value or 0) <= (in_batches.value or 0)
    return _Held(now, after, there, less)


def _is_handed_out(file: File, shuffle: Step) -> bool:
    """Whether other modules go on with the pipeline: batch it again, if a batch is a sequence."""
    function = file.tf.tree.function(shuffle.call)
    return function is not None and not file.tf.callers.calls_of(function)


def _fix(file: File, batch: Step, shuffle: Step, held: _Held) -> Fix | None:
    if not file.tf.neighbours.adjoining(batch, shuffle):
        return None
    swapped = edits.swapped(file, batch.call, shuffle.call)
    if swapped is None:
        return None
    title = (
        "Shuffle before batching: the buffer counts examples then, of which more may have to mix"
    )
    window = _window(file, batch, shuffle, held)
    if window is not None:
        title = "Shuffle before batching, as many examples as there were in the batches"
        swapped = _resized(file, shuffle, swapped, window)
    return Fix(title, swapped, Applicability.UNSAFE)


def _window(file: File, batch: Step, shuffle: Step, held: _Held) -> str | None:
    """As many examples as the buffer has in batches, where they mix too little and are small.

    File names are, which TFM201 has shuffled before they are read.
    """
    n, b = shuffle.argument("buffer_size"), batch.argument("batch_size")
    if n is None or b is None:
        return None
    number, size = (file.tf.values.number(n, shuffle.frame), file.tf.values.number(b, batch.frame))
    chain, place = file.tf.streams.around(batch)
    mapped = chain.source.kind is From.FILES and set(chain.methods[:place]) == {"map"}
    small = held.now.at_most is not None and held.now.at_most < costs.BUFFERED
    if number is None or number >= MIXES or size is None or not (small or mapped):
        return None
    if isinstance(n, ast.Constant) and isinstance(b, ast.Constant):
        return f"{number * size:.0f}"
    named = all(isinstance(each, (ast.Attribute, ast.Constant, ast.Name)) for each in (n, b))
    return f"{file.source(n)} * {file.source(b)}" if named else None


def _resized(file: File, shuffle: Step, swapped: tuple[Edit, ...], window: str) -> tuple[Edit, ...]:
    """The edits, of which the one that writes the `shuffle` gives it another number."""
    written, number = (
        file.step(shuffle.call),
        file.span(shuffle.argument("buffer_size") or shuffle.call),
    )
    said = file.source(written)
    start, end = number.start - written.start, number.end - written.start
    return tuple(
        each._replace(text=said[:start] + window + said[end:] + each.text[len(said) :])
        if each.text.startswith(said)
        else each
        for each in swapped
    )


RULE = Rule(
    code="TFM202",
    name="shuffle-after-batch",
    claim=Claim(
        Metric.DEVICE_PEAK,
        at_most=0.2,
        because="the buffer holds examples, not batches",
        grows=("linear", "constant"),
        of_host=True,
    ),
    triggers=(
        "shuffle",
        "batch batch_size image_dataset_from_directory padded_batch ragged_batch "
        "audio_dataset_from_directory text_dataset_from_directory timeseries_dataset_from_array",
    ),
    check=check,
)
