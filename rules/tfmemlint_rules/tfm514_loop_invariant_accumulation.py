"""A loop computes the same thing in every round, and adds it up.

## What it finds
`for i in range(n): total = total + tf.matmul(x, w)` in traced code or under a tape, where nothing
that is added depends on the round.

## Why it costs memory
Python writes the loop out: every round's result is held for the gradient, though all are equal, and
the gradient of each is computed, and added up, too. In a graph each round has nodes of its own.

## What to do instead
Compute it once, and multiply: `total = total + n * tf.matmul(x, w)`. A stack of `n` equal tensors
that is summed, which some recommend, takes more than the loop does.

## Fix safety
Unsafe: one product and many sums round differently. Not offered where the loop does not say how
often it runs in one place, and where the sum is written over several lines.

## When to ignore it
When the loop stands for work, as in a benchmark. The rule is silent by itself where what is added
depends on the round, on the sum or on random numbers; where it comes from a layer or a function of
the module, which may do something else each time; in eager code without a tape, where nothing is
kept; and where the loop does other things as well.
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
    Span,
    edits,
)
from tfmemlint.facts.graphs.repeated_sums import RepeatedSum, RepeatedSums
from tfmemlint.facts.sizes.amounts import named

BINDS_TIGHTER = (ast.Attribute, ast.Call, ast.Constant, ast.Name, ast.Subscript)


def check(file: File) -> Iterator[Diagnostic]:
    for found in file.tf.of(RepeatedSums).all:
        value, trips = file.named(found.value), found.loop.trips
        often = f"each of {trips:,} rounds" if trips is not None else "every round"
        yield Diagnostic(
            file.span(found.addition),
            f"`{found.name}` gets the same `{value}` added in {often}",
            _fix(file, found),
            _cost(file, found),
        )


def _cost(file: File, found: RepeatedSum) -> Cost:
    size, trips = file.tf.values.of(found.value).nbytes, found.loop.trips
    total = None if trips is None or size is None else trips * size
    held = named(file.named(found.times)).times(named(file.named(found.value)))
    return Cost(held.text, total, at_most=total)


def _fix(file: File, found: RepeatedSum) -> Fix | None:
    if not found.is_all:
        return None
    lines = edits.whole_lines(file, found.node)
    body = edits.whole_lines(file, found.node.body[0], found.node.body[-1])
    start, end = file.span(found.value)
    times, value = file.source(found.times), file.source(found.value)
    plain = isinstance(found.times, BINDS_TIGHTER)
    if lines is None or body is None or not plain or "\n" in value + times:
        return None
    if file.concrete(found.addition) is None:
        return None
    header = file.text[lines.start : body.start]
    if header.count("\n") > 1 + header.count("#"):
        return None
    margin = edits.margin(file, found.node)
    said = header.partition("#")[1:]
    comment = margin + "".join(said) if said[0] else ""
    product = value if isinstance(found.value, BINDS_TIGHTER) else f"({value})"
    before = edits.reindented(file, Span(body.start, start), margin)
    text = f"{comment}{before}{times} * {product}{file.text[end : lines.end]}"
    return Fix("Multiply instead", (Edit(lines, text),), Applicability.UNSAFE)


RULE = Rule(
    code="TFM514",
    name="loop-invariant-accumulation",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.2, because="the gradient needs one round's result, not each's"
    ),
    triggers=("for", "range", "GradientTape Layer Model Module function"),
    check=check,
)
