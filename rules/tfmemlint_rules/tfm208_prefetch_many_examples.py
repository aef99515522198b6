"""`prefetch` with a large number, before `batch`, holds many batches' worth of examples.

## What it finds
A tf.data pipeline in which `prefetch(n)` comes before `batch(b)`, with an `n` of more than eight
batches: in one expression, or through names, branches, helper functions and methods.

## Why it costs memory
What is prefetched waits to be batched, so with a consumer that is slower than the pipeline all `n`
examples are in memory. A step takes but `b` of them, and the next few batches would do.

## What to do instead
`prefetch(tf.data.AUTOTUNE)`, which begins with few and takes more only while something waits for
them; at the end of the pipeline it makes the batch in advance, too. Where it stands matters little:
before `batch`, `prefetch(tf.data.AUTOTUNE)` was measured to take as much memory and time as behind
it.

## Fix safety
Safe where the elements are made of numbers or arrays, by functions that only compute and read
nothing that can change, and nothing but elements is looked at of the pipeline. Unsafe where they
come from files, from a generator or from out of sight, or where what makes them reads variables,
draws random numbers or runs Python: that may see other things when it runs less far ahead. No fix
is offered where the code has no name for `tf.data.AUTOTUNE`.

## When to ignore it
When the time to make an example varies so much that many are needed to bridge it, and there is room
for them. The rule is silent by itself where the examples are not known to be large: file names,
numbers, records as they are read; for eight batches' worth and fewer, which is no more than
pipelines with `prefetch(tf.data.AUTOTUNE)` come to hold; and behind a cache or straight from an
array, where they are in memory anyhow.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Metric, Rule, costs, edits
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.pipelines.chains import BATCHING, USUAL_BATCH, Chain, Step

FEW = 8
"""Batches, which may be prefetched for a reason."""
GROWN = 2
"""How many times as large as what it was made of an example is that counts as large."""
LARGE = 64 << 10
"""Bytes of an example that are known, whatever else it has."""
KEEPS_CACHED = methods.PASSING | {"filter"}


def check(file: File) -> Iterator[Diagnostic]:
    reported: set[ast.Call] = set()
    for chain in file.tf.datasets.chains:
        for place, batch in _ahead(chain):
            step = chain.steps[place]
            buffer, size = step.argument("buffer_size"), batch.argument("batch_size")
            if buffer is None or size is None or step.call in reported:
                continue
            counts = (file.tf.values.number(buffer, step.frame), _at_most(file, chain, place))
            many = min((each for each in counts if each is not None), default=0)
            examples = file.tf.values.number(size, batch.frame) or USUAL_BATCH
            if counts[0] is None or not FEW <= FEW * examples < many:
                continue
            made, streams = file.tf.elements.passage(chain, 0, place), file.tf.streams
            large = made.growth >= GROWN or (streams.element(chain, place).value or 0) >= LARGE
            if not (large if made.own is None else made.own):
                continue
            reported.add(step.call)
            after = streams.element(chain, chain.steps.index(batch) + 1)
            yield Diagnostic(
                file.step(step.call),
                f"`prefetch` holds up to `{ast.unparse(buffer)}` examples for batches of "
                f"`{ast.unparse(size)}`",
                _fix(file, step.call, buffer),
                costs.cost(streams.buffered(chain, place), after=after),
            )


def _at_most(file: File, chain: Chain, place: int) -> int | None:
    """How many examples there are at all, where known."""
    again = "repeat" in chain.methods[:place]
    return None if again else file.tf.lengths.at_most(chain, place)


def _ahead(chain: Chain) -> Iterator[tuple[int, Step]]:
    """The places of examples that are prefetched, each with the step that batches them."""
    cached = False
    for place, step in enumerate(chain.steps):
        if step.method in BATCHING:
            return
        cached = step.method == "cache" or (cached and step.method in KEEPS_CACHED)
        batches = [each for each in chain.steps[place:] if each.method in BATCHING]
        if step.method == "prefetch" and not cached and batches:
            yield place, batches[0]


def _fix(file: File, call: ast.Call, buffer: ast.expr) -> Fix | None:
    autotune = edits.autotune(file, buffer)
    if autotune is None:
        return None
    change = edits.replaced(file, buffer, autotune)
    early = file.tf.sure_pipelines.may_be_early(call)
    safety = Applicability.SAFE if early else Applicability.UNSAFE
    return Fix("Prefetch as many as are needed", (change,), safety)


RULE = Rule(
    code="TFM208",
    name="prefetch-many-examples",
    claim=Claim(
        Metric.DEVICE_PEAK,
        at_most=0.2,
        because="few examples wait to be batched",
        grows=("linear", "constant"),
        of_host=True,
    ),
    triggers=("prefetch", "batch padded_batch ragged_batch"),
    check=check,
)
