"""`map` with many parallel calls holds what all of them make.

## What it finds
A tf.data pipeline in which `map` is told to run more than 16 calls at once, or a multiple of the
number of processors, and makes batches, or examples that are larger than what they are made of. The
number is followed through names, attributes and arguments.

## Why it costs memory
`map(f, num_parallel_calls=n)` begins `n` calls before anything asks for what they make, and holds
it until its turn comes. The model takes one element at a time: all others wait, be there processors
for them or not.

## What to do instead
`num_parallel_calls=tf.data.AUTOTUNE` runs as many calls as keep up with the model, and never more
than there are processors.

## Fix safety
Safe where the elements are made of numbers or arrays, by functions that only compute and read
nothing that can change, and nothing but elements is looked at of the pipeline: they come in the
same order, however many calls run at once. Unsafe where `deterministic` or options may say that
they need not, and where they come from files, from a generator or from out of sight, or what makes
them reads variables, draws random numbers or runs Python: that may see other things when it runs
less far ahead. No fix is offered where the code has no name for `tf.data.AUTOTUNE`.

## When to ignore it
When calls wait rather than compute, as those that read from far away do: there many at once save
time, and few processors do not limit them. The rule is silent by itself where what is made is known
to be small, or where it does not see what is made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Cost, Diagnostic, File, Fix, Metric, Rule, costs, edits
from tfmemlint.facts.library.words import PIPELINE_WORDS
from tfmemlint.facts.pipelines.chains import BATCHING, Chain, Step
from tfmemlint_rules._analyses.processors import Processors

FEW = 16
"""Calls at once."""
APART = BATCHING | {"flat_map", "interleave", "unbatch"}
"""Steps behind which batches are examples of something else."""


def check(file: File) -> Iterator[Diagnostic]:
    reported: set[ast.expr] = set()
    for chain in file.tf.datasets.chains:
        for place, step in enumerate(chain.steps):
            calls = step.argument("num_parallel_calls") if step.method == "map" else None
            if calls is None or calls in reported or not _are_many(file, step, calls):
                continue
            batches = _are_batches(chain, place)
            if batches or _are_enlarged(file, chain, place):
                reported.add(calls)
                made = "batches" if batches else "elements"
                yield Diagnostic(
                    file.span(calls),
                    f"`map` holds up to `{ast.unparse(calls)}` {made} that nothing asks for yet",
                    _fix(file, chain, step, calls),
                    _cost(file, chain, place),
                )


def _are_many(file: File, step: Step, calls: ast.expr) -> bool:
    number = file.tf.values.number(calls, step.frame)
    times = file.tf.of(Processors).times(calls, step.frame)
    return (number is not None and number > FEW) or (times is not None and times >= 2)


def _are_batches(chain: Chain, place: int) -> bool:
    """Whether a step is given batches, which stay together."""
    before = [method for method in chain.methods[:place] if method in APART]
    return bool(before) and before[-1] in BATCHING and APART.isdisjoint(chain.methods[place:])


def _are_enlarged(file: File, chain: Chain, place: int) -> bool:
    """Whether a `map` decodes examples or makes them larger."""
    passage = file.tf.elements.passage(chain, place, place + 1)
    return passage.growth > 1 or passage.is_decoded


def _cost(file: File, chain: Chain, place: int) -> Cost:
    """As many results as there are calls, and the few that are asked for instead."""
    streams = file.tf.streams
    held = streams.buffered(chain, place, "num_parallel_calls")
    return costs.cost(held, after=streams.element(chain, place + 1))


def _fix(file: File, chain: Chain, step: Step, calls: ast.expr) -> Fix | None:
    autotune = edits.autotune(file, calls)
    if autotune is None:
        return None
    loose = "with_options" in chain.methods or step.argument("deterministic") is not None
    loose = loose or not file.tf.sure_pipelines.may_be_early(step.call)
    applicability = Applicability.UNSAFE if loose else Applicability.SAFE
    change = edits.replaced(file, calls, autotune)
    return Fix("Run as many calls as keep up", (change,), applicability)


RULE = Rule(
    code="TFM210",
    name="map-parallelism-constant",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.2, because="few elements wait for the model", of_host=True
    ),
    triggers=(
        PIPELINE_WORDS,
        "map",
    ),
    check=check,
)
