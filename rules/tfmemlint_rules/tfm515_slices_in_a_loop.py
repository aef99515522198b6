"""A loop takes a tensor apart, and the gradient of each slice is as large as the whole.

## What it finds
`for t in range(n): … x[:, t] …` under a tape, in a layer or in a model's loss, where `x` comes from
layers or variables, so that a gradient goes back to it.

## Why it costs memory
The gradient of a slice is a tensor of the shape of `x`, with zeros around it. There is one for each
round. A graph for batches of any size, as `fit` makes it, has all of them there when they are added
up: for sequences twice as long it is four times as much, measured up to 192 steps (130 MB for 64,
516 MB for 128, 1.1 GB for 192, where `tf.unstack` takes 18 MB). Where all shapes are known, a tape
adds them up whenever they have come to 128 MB.

## What to do instead
Take it apart at once: `slices = tf.unstack(x, axis=1)` before the loop, and `slices[t]` in it. Its
gradient stacks those of the slices: one tensor. A `keras.layers.RNN` around a cell does as well.

## Fix safety
Unsafe: `tf.unstack` has to know how many slices there are, which a dimension of unknown size does
not tell, and all of them are made, whether the loop takes them or not.
Offered where a name is taken apart that stays the same from the loop on.

## When to ignore it
When the sequence is short and the tensor small. The rule is silent by itself for up to eight
rounds; for what has no gradient, such as the data itself, integers, masks, one-hot codes, and what
`tf.stop_gradient` gives; for loops of the graph over `tf.range(n)`; where a slice has several
elements, `x[:, i : i + 8]`; where each round puts what it makes where the next one puts its own;
for a round for each tensor of a list that the function is given; and in code that is not run for a
gradient.
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
    Law,
    Metric,
    Rule,
    Span,
    costs,
    edits,
)
from tfmemlint.facts.sizes.amounts import count, held, named, smaller
from tfmemlint_rules._analyses.sliced_tensors import Sliced, SlicedTensors

ADDED_UP_AT = 128 << 20
"""The bytes at which a tape outside of graphs adds gradients up, those that are there by then."""


def check(file: File) -> Iterator[Diagnostic]:
    for found in file.tf.of(SlicedTensors).all:
        first, iterable = found.slices[0], found.header
        tensor = file.named(found.tensor)
        yield Diagnostic(
            file.span(first),
            f"the gradient of `{file.named(first)}` is as large as `{tensor}`, and there is one for"
            f" every round of `{file.named(iterable)}`",
            _fix(file, found),
            _cost(file, found),
        )


def _cost(file: File, found: Sliced) -> Cost:
    trips, often = found.loop.trips, found.header
    if isinstance(often, ast.Call) and len(often.args) == 1:
        often = often.args[0]
    rounds = count(trips) if trips is not None else named(file.named(often))
    size = file.tf.arrays.nbytes(found.tensor)
    if found.in_graph:
        return costs.cost(rounds.times(size), Law.SQUARE, size)
    return costs.cost(smaller(rounds.times(size), held(ADDED_UP_AT)), Law.CONSTANT, size)


def _fix(file: File, found: Sliced) -> Fix | None:
    """One line before the loop, and what it makes in place of each slice."""
    tree = file.tf.tree
    statement = tree.statement(found.loop.node)
    lines = edits.whole_lines(file, statement)
    tf = file.tf.names.module("tensorflow", statement)
    in_function = tree.function(statement) is tree.function(found.slices[0])
    if lines is None or tf is None or not in_function or not isinstance(found.tensor, ast.Name):
        return None
    if found.slices[0].value is not found.tensor:
        return None
    name = edits.fresh(file, f"{found.tensor.id}_slices")
    taken = [
        edits.instead(file, each, f"{name}[{file.source(counter)}]")
        for each, counter in zip(found.slices, found.counters, strict=True)
    ]
    axis = f", axis={found.axis}" if found.axis else ""
    made = f"{name} = {tf}.unstack({found.tensor.id}{axis})"
    line = f"{edits.margin(file, statement)}{made}{edits.newline(file)}"
    whole = edits.whole([Edit(Span(lines.start, lines.start), line), *taken])
    return Fix("Unstack it before the loop", whole, Applicability.UNSAFE) if whole else None


RULE = Rule(
    code="TFM515",
    name="slices-in-a-loop",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.3, because="the slices' gradients make one tensor together"
    ),
    triggers=("for", "range", "GradientTape Layer Model Module compile"),
    check=check,
)
