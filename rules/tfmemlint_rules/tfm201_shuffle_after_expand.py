"""`shuffle` behind a `map` that makes elements larger fills its buffer with the larger ones.

## What it finds
A tf.data pipeline in which `shuffle` follows a `map` that reads, decodes, enlarges or casts what
it is given: in one expression, or through names, branches, helper functions and methods, or in the
pipelines that `interleave` opens before it. What the mapped function does is followed through the
module.

## Why it costs memory
`shuffle(n)` holds `n` elements of what comes before it, for as long as it is read from. A decoded
picture takes up far more than the name of its file, several times what it did when it was encoded,
and as `float32` four times what it does in bytes. Slices of an array take up nothing until they are
copied.

## What to do instead
Shuffle first, then map: the same elements come in the same order, and the buffer holds file names,
encoded pictures or bytes. What `tfds.load` gives has been decoded: with
`decoders={"image": tfds.decode.SkipDecoding()}` it is still encoded, and the map decodes it. Behind
a cache in a file, which would freeze an order that is drawn before it, a smaller buffer does.

## Fix safety
Safe where everything between the two places is seen to give the same for the same, whatever it is
given: it reads nothing that can change, and cannot fail, since an error would come with another
element, or not at all. Unsafe where it decodes or reads files, draws random numbers, runs Python,
reads what may change or is out of sight, and where anything but its elements is looked at of the
pipeline. Not offered where other steps, or other statements, stand between, and where ready-made
pictures of unknown sizes are resized, which may have been larger.

## When to ignore it
When records are larger than what is made of them. The rule is silent by itself where it sees that,
and behind `cache` in memory, which the buffer then shares, unless a `map` makes new elements of
what is cached. It is silent, too, where a `cache` stands between the two in a branch that defaults
do not leave out; and for up to 64 elements of unknown size, and as many as nobody tells of 4 KB at
the most. Of batches TFM202 speaks: `shuffle` goes before the `batch` first. Less than 32 MB in the
buffer are hidden, and of a ready-made data set, such as MNIST, less than 256 MB.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import inf

from tfmemlint import Applicability, Claim, Cost, Diagnostic, File, Fix, Metric, Rule, costs, edits
from tfmemlint.facts.pipelines.buffers import Buffered
from tfmemlint.facts.pipelines.chains import BATCHING, Step
from tfmemlint.facts.pipelines.elements import OPENING, Passage
from tfmemlint.facts.sizes.ready import Ready
from tfmemlint.facts.sizes.streams import A_HANDFUL

MOVABLE = frozenset({"map", "prefetch", "with_options"})
"""Steps with which `shuffle` may change places."""


def check(file: File) -> Iterator[Diagnostic]:
    for call, sites in file.tf.buffers.late_shuffles.items():
        if any(_are_batches(file, each) for each in sites):
            continue  # TFM202 speaks, and its fix comes first
        chain, first, shuffle, passage = sites[0]
        buffer = chain.steps[shuffle].argument("buffer_size")
        assert buffer is not None
        if _are_few(file, sites[0]):
            continue
        held = ast.unparse(buffer)
        yield Diagnostic(
            file.step(call),
            f"`shuffle` holds up to `{held}` elements that "
            f"{_says(file, chain.steps[first], passage)}",
            _fix(file, sites),
            _cost(file, sites[0]),
        )


def _are_batches(file: File, site: Buffered) -> bool:
    """Whether it is batches that are held, not of one example each."""
    read = file.tf.read_batches.size(site.chain.source)
    if read is not None and "unbatch" not in site.chain.methods[: site.buffer]:
        return file.tf.values.number(read) != 1
    steps = site.chain.steps[site.map : site.buffer]
    sizes = ((each.argument("batch_size"), each.frame) for each in steps if each.method in BATCHING)
    number = file.tf.values.number
    return any(size is None or number(size, frame) != 1 for size, frame in sizes)


def _are_few(file: File, site: Buffered) -> bool:
    """Whether the buffer has a few elements of unknown size, or small ones, be they many or few."""
    streams, chain = file.tf.streams, site.chain
    kept, size = streams.kept(chain, site.buffer), streams.element(chain, site.buffer).value
    few = size is None and kept.value is not None and kept.value <= A_HANDFUL
    return few or streams.are_small(chain, site.buffer, streams.buffered(chain, site.buffer))


def _cost(file: File, site: Buffered) -> Cost:
    """What the buffer holds, and what it would hold before the `map`."""
    streams, chain = file.tf.streams, site.chain
    opens = chain.steps[site.map].method in OPENING
    kept = streams.kept(chain, site.buffer, there=streams.count(chain, site.map + opens))
    after = None if opens else kept.times(streams.element(chain, site.map))
    return costs.cost(
        streams.buffered(chain, site.buffer),
        after=after,
        worth=costs.worth(ready=file.tf.of(Ready).is_chain(chain), otherwise=costs.BUFFERED),
    )


def _says(file: File, step: Step, passage: Passage) -> str:
    who = file.called(step.argument("map_func"), f"the `{step.method}` before it")
    if passage.growth == inf:
        return f"{who} has read from files"
    if passage.is_decoded:
        return f"{who} has decoded"
    if passage.is_resized:
        return f"{who} has made floats"
    if passage.growth < 2:
        return f"{who} has copied"
    return f"{who} has made {passage.growth:.0f} times as large"


def _fix(file: File, sites: tuple[Buffered, ...]) -> Fix | None:
    chain, first, shuffle, passage = sites[0]
    moved = chain.steps[first : shuffle + 1]
    if (
        passage.is_resized
        or not file.tf.neighbours.adjoin(moved)
        or not MOVABLE.issuperset(chain.methods[first:shuffle])
    ):
        return None
    calls = [step.call for step in moved]
    found = edits.reordered(file, calls, [calls[-1], *calls[:-1]])
    pure = all(site.passage.is_pure for site in sites)
    pure = pure and not file.tf.datasets.leave_out_failures
    pure = pure and all(_may_wait(file, site) for site in sites)
    applicability = Applicability.SAFE if pure else Applicability.UNSAFE
    return Fix("Shuffle before mapping", found, applicability) if found else None


def _may_wait(file: File, site: Buffered) -> bool:
    """Whether what the maps do may surely be done later, and to other elements first."""
    sure, steps = file.tf.sure_pipelines, site.chain.steps[site.map : site.buffer + 1]
    return (
        all(sure.computes(step) for step in steps)
        and sure.never_fails(site.chain, site.buffer)
        and sure.is_only_read(steps[-1].call)
    )


RULE = Rule(
    code="TFM201",
    name="shuffle-after-expand",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.2, because="the buffer holds what is smaller", of_host=True
    ),
    triggers=("shuffle", "map"),
    check=check,
)
