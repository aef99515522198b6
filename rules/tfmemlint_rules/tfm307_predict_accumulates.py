"""What a model makes of each batch is kept in a list, and copied into one array.

## What it finds
`codes.append(model(x))` or `codes.append(model.predict(x))` in a loop, and `np.concatenate(codes)`
after it, where it is known how much that is, or that the model of `keras.applications` gives maps
of features, `include_top=False`.

## Why it costs memory
The list and the array hold the same numbers: for as long as both are there, everything is in memory
twice.

## What to do instead
Make the array first, and let each batch have its rows: `codes = np.empty((len(x), 4096),
np.float32)`, `codes[i : i + 64] = model(x[i : i + 64])`. `np.lib.format.open_memmap` makes one that
is not in memory at all. What only needs one batch at a time, a metric or a file, can have it at
once.

## Fix safety
None. How many rows there will be, the loop does not say.

## When to ignore it
When there is room for both. The rule is silent by itself where it is not known how much a model
gives: most give a few numbers for each example.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfmemlint import Claim, Diagnostic, File, Law, Metric, Rule, costs
from tfmemlint.facts.sizes.amounts import UNKNOWN
from tfmemlint_rules._analyses.collected_outputs import Outputs


def check(file: File) -> Iterator[Diagnostic]:
    outputs = file.tf.of(Outputs)
    for found in outputs.all:
        amount = file.tf.arrays.listed(found.stack.listed) or UNKNOWN
        if amount.value is None and not outputs.keeps_maps(found):
            continue
        listed, model = file.named(found.stack.listed), file.named(found.model)
        yield Diagnostic(
            file.span(found.stack.call),
            f"`{listed}`, what `{model}` gave for each batch, is copied into one array",
            None,
            costs.cost(amount.plus(amount), Law.DATA, amount),
        )


RULE = Rule(
    code="TFM307",
    name="predict-accumulates",
    claim=Claim(
        Metric.HOST_PEAK, at_most=0.65, because="the array is filled batch by batch, without a list"
    ),
    triggers=(
        "append extend",
        "array asarray concat concatenate stack vstack",
        "for while",
        "GradientTape Layer Model Module Sequential applications clone_model from_preset "
        "from_pretrained load_model",
    ),
    check=check,
)
