"""`prefetch` with a large number, behind `batch`, holds as many batches.

## What it finds
A tf.data pipeline in which `prefetch` follows `batch`, or a reader that gives batches, with a
number above 8, with the size of the batch or that of a shuffle buffer, or a multiple of one: in one
expression, or through names, branches, helper functions and methods.

## Why it costs memory
`prefetch(n)` counts what it is given. Behind `batch(b)` those are batches, so it holds `n * b`
examples whenever the model takes longer over a batch than the pipeline does. Then all but one or
two of them only wait.

## What to do instead
`prefetch(tf.data.AUTOTUNE)` begins with few batches, and takes more only while the model has to
wait for them. `prefetch(1)` holds one.

## Fix safety
Safe where the elements are made of numbers or arrays, by functions that only compute and read
nothing that can change, and nothing but elements is looked at of the pipeline. Unsafe where they
come from files, from a generator or from out of sight, or where what makes them reads variables,
draws random numbers or runs Python: that may see other things when it runs less far ahead. A fix is
always offered: where the code has no name for `tf.data.AUTOTUNE`, it is `prefetch(1)`.

## When to ignore it
When the time to make a batch varies so much that many are needed to bridge it, and there is room
for them. The rule is silent by itself before `batch`, where `prefetch` counts examples; behind a
cache, which has the batches in memory anyhow; where they are file names or numbers; for up to eight
batches, which is no more than `tf.data.AUTOTUNE` comes to hold, and up to ten of unknown size, or
of less than 256 MB in all; and where they are batched again or taken apart. Up to 131,072 lines of
text, or slices of unknown width of what nothing shows to be a loaded array, are taken for words and
rows, which weigh little, and so are 1,024 examples of pipelines that begin out of sight; unless a
`map` before it reads files, makes pictures or sounds, runs Python, or is out of sight. Less than 32
MB in the buffer are hidden, and of a ready-made data set, such as MNIST, less than 256 MB.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import inf

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Metric, Rule, costs, edits
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.pipelines.chains import BATCHING, USUAL_BATCH, Chain, From, Step
from tfmemlint.facts.sizes.ready import Ready
from tfmemlint.light_typing import NamedTuple

FEW = 8
"""Batches, which may be prefetched for a reason."""
SOME = 10
"""Batches of unknown size, or of little in all."""
KEEPS_ELEMENTS = methods.PASSING | {"filter"}
KEEPS_BATCHES = KEEPS_ELEMENTS | {"concatenate", "enumerate", "ignore_errors", "map"}


class Site(NamedTuple):
    """A `prefetch` in a chain, and the batches it is given."""

    chain: Chain
    prefetch: Step
    size: ast.expr
    """How many examples a batch has."""
    batch: Step | None
    """What makes the batches; None where they come from a reader."""


def check(file: File) -> Iterator[Diagnostic]:
    reported: set[ast.Call] = set()
    for chain in file.tf.datasets.chains:
        for site in _prefetched_batches(file, chain):
            call, buffer = site.prefetch.call, site.prefetch.argument("buffer_size")
            passing = call in reported or call in file.tf.further.regrouped
            if buffer is None or passing or not _is_many(file, site, buffer):
                continue
            streams, place = file.tf.streams, chain.steps.index(site.prefetch)
            held = streams.buffered(chain, place)
            few = (streams.kept(chain, place).value or inf) <= SOME
            if streams.are_small(chain, place, held) or (few and (held.value or 0) < costs.NOTICED):
                continue
            reported.add(call)
            yield Diagnostic(
                file.step(call),
                f"`prefetch` holds up to `{ast.unparse(buffer)}` batches of "
                f"`{ast.unparse(site.size)}` examples each",
                _fix(file, call, buffer),
                costs.cost(
                    held,
                    after=streams.element(chain, place),
                    worth=costs.worth(
                        ready=file.tf.of(Ready).is_chain(chain), otherwise=costs.BUFFERED
                    ),
                ),
            )


def _prefetched_batches(file: File, chain: Chain) -> Iterator[Site]:
    batch: Step | None = None
    size = file.tf.read_batches.size(chain.source)
    cached, tiny = False, chain.source.kind in (From.FILES, From.RANGE)  # file names, numbers
    for step in chain.steps:
        if step.method in BATCHING:
            batch, size, cached = step, step.argument("batch_size"), False
        elif step.method == "cache":
            cached = True
        elif step.method not in KEEPS_BATCHES:
            size = None
        elif step.method == "prefetch" and size is not None and not cached and not tiny:
            yield Site(chain, step, size, batch)
        cached = cached and step.method != "map"
        tiny = tiny and step.method in BATCHING | KEEPS_ELEMENTS


def _is_many(file: File, site: Site, buffer: ast.expr) -> bool:
    number, place = file.tf.values.number, site.chain.steps.index(site.prefetch)
    size = number(site.size, site.batch.frame if site.batch else None)
    many = number(buffer, site.prefetch.frame)
    examples = (many or USUAL_BATCH) * (size or USUAL_BATCH)
    if size == 1 or file.tf.streams.are_few_rows(site.chain, place, examples):
        return False
    if many is not None:
        return many > FEW
    shuffles = [step for step in site.chain.steps if step.method == "shuffle"]
    counts = [site.size, *(step.argument("buffer_size") for step in shuffles)]
    asked = [*_factors(buffer)]
    same = file.tf.bindings.same
    return any(each is not None and same(each, one) for each in counts for one in asked)


def _factors(buffer: ast.expr) -> Iterator[ast.expr]:
    """What a number is a multiple of: `batch_size` of `batch_size * 5`."""
    if isinstance(buffer, ast.BinOp) and isinstance(buffer.op, ast.Mult):
        yield from _factors(buffer.left)
        yield from _factors(buffer.right)
    elif not isinstance(buffer, ast.Constant):
        yield buffer


def _fix(file: File, call: ast.Call, buffer: ast.expr) -> Fix:
    early = file.tf.sure_pipelines.may_be_early(call)
    safety = Applicability.SAFE if early else Applicability.UNSAFE
    autotune = edits.autotune(file, buffer)
    if autotune is None:
        return Fix("Prefetch one batch", (edits.replaced(file, buffer, "1"),), safety)
    change = edits.replaced(file, buffer, autotune)
    return Fix("Prefetch as many as are needed", (change,), safety)


RULE = Rule(
    code="TFM207",
    name="prefetch-oversized",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.2, because="few batches wait for the model", of_host=True
    ),
    triggers=("prefetch",),
    check=check,
)
