"""The jacobian of a batch is computed for all pairs of examples, and the diagonal is kept.

## What it finds
`tape.jacobian(y, x)` of which `tf.einsum("bxby->bxy", j)` then takes each example's own part.

## Why it costs memory
It has a row for each number of the whole output, with a column for each of the whole input: the
square of the batch. All but the diagonal are zeros where examples do not depend on each other.

## What to do instead
`tape.batch_jacobian(y, x)` computes each example's own, and nothing else.

## Fix safety
Unsafe: it is wrong where examples depend on each other, as through `BatchNormalization` while
training. Then so is the diagonal. Numbers may differ in their last digits.
Offered where the jacobian is taken with two arguments, and only its diagonal is ever read.

## When to ignore it
When the batch is a handful. The rule is silent by itself where the rest of the jacobian is used, or
where it is of weights, which belong to no example.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfmemlint import (
    Applicability,
    Claim,
    Cost,
    Diagnostic,
    File,
    Fix,
    Metric,
    Rule,
    edits,
)
from tfmemlint.facts.sizes.amounts import held, named
from tfmemlint_rules._analyses.diagonals import Diagonal, Diagonals

FLOAT = 4
"""Bytes of a number, as a rule."""


def check(file: File) -> Iterator[Diagnostic]:
    for found in file.tf.of(Diagonals).all:
        if file.tf.of(Diagonals).is_only_taken(found) or found.asked is found.taken.args[1]:
            asked, taken = file.named(found.asked), file.named(found.taken)
            yield Diagnostic(
                file.span(found.asked),
                f"`{asked}` has a part for each two examples, and `{taken}` keeps the diagonal",
                _fix(file, found),
                _cost(file, found),
            )


def _cost(file: File, found: Diagonal) -> Cost:
    """All numbers of the output times all of the input; each example's own times the batch."""
    numbers = [file.tf.values.of(each).elements for each in found.asked.args[:2]]
    total = None if None in numbers else (numbers[0] or 0) * (numbers[1] or 0) * FLOAT
    sizes = [named(f"{file.named(each)}.size") for each in found.asked.args[:2]]
    formula = sizes[0].times(sizes[1]).times(held(FLOAT)).text
    return Cost(formula, total, at_most=total)


def _fix(file: File, found: Diagonal) -> Fix | None:
    if not found.plain or len(found.asked.args) != 2 or file.concrete(found.taken) is None:
        return None
    renamed = edits.renamed(file, found.asked, "batch_jacobian")
    whole = edits.whole(
        [renamed, edits.instead(file, found.taken, file.source(found.taken.args[1]))]
    )
    if found.asked is found.taken.args[1]:
        return None
    return Fix("Compute the diagonal", whole, Applicability.UNSAFE) if whole else None


RULE = Rule(
    code="TFM407",
    name="jacobian-explosion",
    claim=Claim(Metric.DEVICE_PEAK, at_most=0.1, because="there is no part for each two examples"),
    triggers=("jacobian", "einsum"),
    check=check,
)
