"""Each step of training makes an optimizer of its own.

## What it finds
`optimizer = tf.keras.optimizers.Adam()` in a loop that gives it gradients, or in a function that
such a loop calls once a step, while what it trains stays the same. Its rate may be another one each
time.

## Why it costs memory
What updates the weights is made and compiled anew for each optimizer, and stays: the memory of the
host grows with the steps, by more than half a megabyte each for a small network, and by as much
whether its layers are wide or narrow. The numbers that an optimizer keeps for each weight are freed
with it, and allocated again. Nor does it work: Adam and momentum know nothing of the steps before.

## What to do instead
Make the optimizer once, before the loop, and have it passed to what trains. A rate that changes is
given to it, `optimizer.learning_rate = rate`, or it follows a schedule.

## Fix safety
Unsafe: the optimizer remembers from step to step, as it is meant to, and other weights come out.
Offered where the loop stands around the statement itself, and nothing it is given changes.

## When to ignore it
Where each round begins anew. The rule is silent by itself where the round makes the model, too, or
sets its weights, where it goes over data in a loop of its own, which is one optimizer for a
training, for up to ten rounds, where a condition decides, for SGD without momentum, which keeps
nothing, and in tests.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Cost, Diagnostic, File, Fix, Law, Metric, Rule, edits
from tfmemlint_rules._analyses.same_each_round import InEachRound, SameEachRound


def check(file: File) -> Iterator[Diagnostic]:
    for found in file.tf.of(SameEachRound).optimizers:
        loop, statement = file.named(found.loop.node), file.tf.tree.statement(found.call)
        name = statement.targets[0] if isinstance(statement, ast.Assign) else found.call
        yield Diagnostic(
            file.span(found.call),
            f"`{ast.unparse(name)}` is made anew in every round of `{loop}`, and forgets what it "
            "knew of the gradients",
            _fix(file, found),
            Cost("what updates the weights", law=Law.STEPS),
        )


def _fix(file: File, found: InEachRound) -> Fix | None:
    place = file.tf.of(SameEachRound).liftable(found)
    moved = edits.lifted(file, *place) if place and file.concrete(place[0]) else None
    return None if moved is None else Fix("Make it once", moved, Applicability.UNSAFE)


RULE = Rule(
    code="TFM305",
    name="optimizer-per-step",
    claim=Claim(
        Metric.HOST_GROWTH, at_most=0.1, because="one optimizer is made, and not one a step"
    ),
    triggers=("apply_gradients minimize", "for while", "optimizers"),
    check=check,
)
