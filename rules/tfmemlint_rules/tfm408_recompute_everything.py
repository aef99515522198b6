"""Activations are computed again for the gradient, all of them at once or layer by layer.

## What it finds
`tf.recompute_grad` and `keras.remat` around a whole network: a function that goes through all
blocks, or a model whose weights are all that learns; and around single layers.

## Why it costs memory
What is recomputed is held while its gradient is taken. Of a whole network that is every activation,
as without it. A single layer keeps its input, which is the activation of the layer before: nothing
is left to save. Either way the forward pass is computed twice for it.

## What to do instead
Wrap blocks of several layers each, `x = tf.recompute_grad(block)(x)`: their inputs are held, and
the inside of one block at a time. It pays most for about as many blocks as a block has layers.

## Fix safety
None. Where a block begins and ends is for the program to say.

## When to ignore it
When the network is one block of a larger one. The rule is silent by itself for blocks in a loop,
for models beside others that learn, and for functions that it cannot see into.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfmemlint import Claim, Cost, Diagnostic, File, Metric, Rule
from tfmemlint_rules._analyses.recomputations import Recomputations


def check(file: File) -> Iterator[Diagnostic]:
    for found in file.tf.of(Recomputations).all:
        if found.is_whole:
            message = f"all of `{found.wrapped}` is computed again at once, and held as without it"
        else:
            message = f"`{found.wrapped}` is a single layer: its input is kept, and nothing saved"
        yield Diagnostic(
            file.span(found.node), message, None, Cost(f"`activations of {found.wrapped}`")
        )


RULE = Rule(
    code="TFM408",
    name="recompute-everything",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.6, because="the inside of one block is held at a time"
    ),
    triggers=("recompute_grad remat",),
    check=check,
)
