"""Rows of a table are looked up by a product with one-hot vectors.

## What it finds
`tf.matmul(tf.one_hot(ids, n), table)`, or `tf.one_hot(ids, n) @ table`.

## Why it costs memory
For each number that is looked up there is a row of `n` zeros and a one, and the product reads all
of them. With gradients it is kept until then.

## What to do instead
`tf.gather(table, ids)` copies the rows that are asked for, and nothing else. In a model,
`Embedding` is that.

## Fix safety
Unsafe: numbers outside of the table give zeros in one-hot vectors, and an error from `gather` on a
CPU. The gradient of the table becomes one of rows, which optimizers treat in a way of their own.
Offered where the table is seen to have two axes: of more, `gather` wants `batch_dims`.

## When to ignore it
On TPUs, where the product is the faster way. The rule is silent by itself in functions that speak
of TPUs or XLA, or gather as well; for up to 1,024 rows; where either side is transposed; and where
the vectors are used for something else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Cost, Diagnostic, File, Fix, Metric, Rule, edits
from tfmemlint.facts.sizes.amounts import held, named
from tfmemlint_rules._analyses.one_hot_products import OneHotProduct, OneHotProducts

FEW, FLOAT, AXES = 1024, 4, 2


def check(file: File) -> Iterator[Diagnostic]:
    for found in file.tf.of(OneHotProducts).all:
        rows = file.tf.values.number(found.depth)
        if rows is None or rows > FEW:
            ids, table = file.named(found.ids), file.named(found.table)
            yield Diagnostic(
                file.span(found.product),
                f"a row of `{file.named(found.depth)}` numbers is made for each of `{ids}`, to pick"
                f" one of `{table}`",
                _fix(file, found),
                _cost(file, found),
            )


def _cost(file: File, found: OneHotProduct) -> Cost:
    total = file.tf.values.of(found.one_hot).nbytes
    text = named(f"{file.named(found.ids)}.size").times(named(file.named(found.depth)))
    return Cost(text.times(held(FLOAT)).text, total, at_most=total)


def _fix(file: File, found: OneHotProduct) -> Fix | None:
    tensorflow = file.tf.names.module("tensorflow", found.product)
    inside = file.tf.tree.inside(found.one_hot, found.product)
    dtype = [each for each in found.one_hot.keywords if each.arg == "dtype"]
    flat = len(file.tf.values.of(found.table).shape or ()) == AXES
    if tensorflow is None or not (inside and flat) or (dtype and not _is_float(dtype[0].value)):
        return None
    gather = f"{tensorflow}.gather({file.source(found.table)}, {file.source(found.ids)})"
    change = edits.instead(file, found.product, gather) if file.concrete(found.one_hot) else None
    return Fix("Gather the rows", (change,), Applicability.UNSAFE) if change else None


def _is_float(dtype: ast.expr) -> bool:
    return ast.unparse(dtype).endswith(("float32", "float32'", ".dtype"))


RULE = Rule(
    code="TFM502",
    name="one-hot-matmul",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.1, because="there is no row of zeros for each that is picked"
    ),
    triggers=("one_hot",),
    check=check,
)
