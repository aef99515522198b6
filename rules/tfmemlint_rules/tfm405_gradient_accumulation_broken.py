"""Gradients are to be added up over some rounds, but each round starts again from zero.

## What it finds
`sums = [tf.zeros_like(g) for g in gradients]` in every round of a loop, or of a step that one
calls, that applies `sums` after some rounds: `if step % 4 == 0`. Also a `step` that nothing counts,
so that gradients are applied in every round or in none.

## Why it costs memory
The zeros, the gradients and their sum are three copies of the model's weights where two would do,
and buy nothing: the sum is never more than one round's gradients. Those of the other rounds are
computed and thrown away, so that the model learns from one batch in four.

## What to do instead
Make variables of zeros once, before the loop, and `assign_add` each round's gradients to them; zero
them after they are applied. Divide the loss by the number of rounds, or the step is as many times
too long. Optimizers of Keras 3 do all of it: `Adam(gradient_accumulation_steps=4)`.

## Fix safety
None. The model learns something else afterwards, with another length of step.

## When to ignore it
When one round's gradients are meant. The rule is silent by itself where sums are zeroed where they
are applied, or in a branch; where an inner loop takes the gradients that are added up; and where no
remainder tells when they are applied.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfmemlint import Claim, Cost, Diagnostic, File, Metric, Rule
from tfmemlint.facts.syntax.tree import LOOPS
from tfmemlint_rules._analyses.gradient_sums import GradientSums, Restarted


def check(file: File) -> Iterator[Diagnostic]:
    for found in file.tf.of(GradientSums).restarted:
        at = found.test if found.start is None else found.start
        yield Diagnostic(file.span(at), _message(file, found), None, Cost(f"`{found.name}`"))


def _message(file: File, found: Restarted) -> str:
    if found.start is None:
        return (
            f"nothing counts `{found.counter}` in `{_rounds(file, found)}`: "
            f"`{found.name}` is applied in each of its rounds, or in none"
        )
    return (
        f"`{found.name}` starts from zero in every round of `{_rounds(file, found)}`, "
        "and never holds more than one round's gradients"
    )


def _rounds(file: File, found: Restarted) -> str:
    rounds = found.rounds
    return file.named(rounds) if isinstance(rounds, LOOPS) else getattr(rounds, "name", "lambda")


RULE = Rule(
    code="TFM405",
    name="gradient-accumulation-broken",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.8, because="there are gradients and one sum, and no zeros"
    ),
    triggers=("GradientTape", "apply_gradients apply", "for while"),
    check=check,
)
