"""The gradients of several rounds are kept in a list, and added up at its end.

## What it finds
`collected.append(tape.gradient(loss, variables))` in a loop, and `tf.add_n`, `sum` or a mean of
what `zip(*collected)` gives after it.

## Why it costs memory
Each round leaves as much as the model weighs. Ten rounds keep ten copies of the weights where one,
the sum, would do: what small batches save is spent again.

## What to do instead
Add up as you go: variables of zeros, made once, that each round's gradients are added to with
`assign_add`. Optimizers of Keras 3 do so themselves: `Adam(gradient_accumulation_steps=10)`.

## Fix safety
None. The sums need variables of their own, made before the step is traced.

## When to ignore it
When the rounds are two or three and the model is small. The rule is silent by itself where single
gradients are looked at, compared or projected, as multi-task methods do, where norms are kept, and
where no tape gives what is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfmemlint import Claim, Cost, Diagnostic, File, Metric, Rule
from tfmemlint_rules._analyses.gradient_sums import GradientSums


def check(file: File) -> Iterator[Diagnostic]:
    for found in file.tf.of(GradientSums).listed:
        loop = file.named(found.loops[0].node)
        yield Diagnostic(
            file.span(found.node),
            f"`{found.name}` keeps the gradients of every round of `{loop}`, to add them up after",
            None,
            Cost(f"`{file.named(found.value)}`"),
        )


RULE = Rule(
    code="TFM406",
    name="gradient-list-accumulation",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.3, because="one sum is held, and one round's gradients"
    ),
    triggers=("GradientTape", "append", "for while", "add_n mean reduce_mean reduce_sum sum"),
    check=check,
)
