"""Histograms of all weights take sixty times the memory of the largest of them.

## What it finds
`TensorBoard(folder, histogram_freq=1)`: the callback writes a histogram of each weight of the
model, every so many epochs. The model has a layer of many weights, or is made out of sight; it may
be made, or trained with the callback, in other files of the project.

## Why it costs memory
TensorBoard sorts numbers into thirty buckets by way of a table: for each number a row of thirty
float64, 240 bytes where the weight takes four. That of the largest weight is the peak: the first
dense layer of VGG16 has 103 million numbers, and asks for 23 GiB. It comes at the end of an epoch,
after training has gone well for hours, and on the device where the weights are.

## What to do instead
Leave it out: 0 is the default. Of single layers, write what is wanted in a callback of your own,
from a sample: `tf.summary.histogram(name, tf.random.shuffle(tf.reshape(weight, [-1]))[:10_000],
step=epoch)` is as good to look at. Mean and deviation are scalars.

## Fix safety
Unsafe: the histograms are not written. What is trained is the same. Offered where the argument can
be taken out alone.

## When to ignore it
When the largest layer is small. A table that is known to stay below 256 MB, and is gone in a
moment, is hidden, unless `min-bytes` says otherwise. The rule is silent by itself where the code
that makes the network has no layer in sight that comes to so much if it is given as much as it
makes: 512 filters of 3 by 3 pixels, 512 units where pictures are flattened, 1,100 elsewhere, an
embedding of 1.1 million numbers, or a network of `keras.applications` (it speaks where the network
itself is out of sight); where the number is 0 or not known; for `evaluate` and `predict`; in tests;
and in code of TensorFlow 1 or of a Keras that runs sessions, whose callback is another: the
project's requirements or imports say so.
"""

from __future__ import annotations

import ast
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
    costs,
    edits,
)
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.library.training import RUNS
from tfmemlint.facts.sizes.amounts import Amount, count, held
from tfmemlint_rules._analyses.large_weights import LargeWeights

CALLBACK = frozenset({"keras.callbacks.TensorBoard"})
FLOAT, ROW = 4, 240
"""Bytes of a weight, and of its row in the table."""
LARGEST = Amount(("the largest weight",), of_bytes=True)


def check(file: File) -> Iterator[Diagnostic]:
    if file.is_for_sessions:  # whose histograms are made by an operation of their own
        return
    for call, _ in file.tf.names.calls(CALLBACK):
        given = argument(call, 1, "histogram_freq")
        often = file.tf.values.number(given) if given is not None else None
        if given is not None and often and _is_read(file, call) and _may_be_large(file):
            yield Diagnostic(
                file.span(next((k for k in call.keywords if k.value is given), given)),
                "`TensorBoard` makes a histogram of each weight, by a table sixty times as large",
                _fix(file, call),
                _cost(file),
            )


def _is_read(file: File, call: ast.Call) -> bool:
    """Whether a callback may be given to training: one that is left out of the list, or told of an
    evaluation alone, comes to the end of no epoch."""
    statement = file.tf.tree.parent(call)
    told = file.tf.tree.parent(statement) if isinstance(statement, ast.List) else None
    method = getattr(file.tf.tree.parent(told), "func", None) if told is not None else None
    if isinstance(method, ast.Attribute) and method.attr in RUNS:
        return False
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return not isinstance(statement, ast.Expr)
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return True
    bound = [each for each in file.tf.bindings.named(target.id) if each.node is target]
    return not bound or any(file.tf.bindings.readers(each) for each in bound)


def _may_be_large(file: File) -> bool:
    weights = file.tf.of(LargeWeights)
    return weights.largest is not None or weights.may_be_large


def _cost(file: File) -> Cost:
    """The table of the largest weight."""
    largest = file.tf.of(LargeWeights).largest
    one = LARGEST if largest is None else held(largest * FLOAT)
    return costs.cost(count(ROW // FLOAT).times(one), worth=costs.NOTICED)


def _fix(file: File, call: ast.Call) -> Fix | None:
    change = edits.without_argument(file, call, "histogram_freq")
    return Fix("Write no histograms", (change,), Applicability.UNSAFE) if change else None


RULE = Rule(
    code="TFM314",
    name="tensorboard-histograms",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.2, because="there is no table of thirty buckets a weight"
    ),
    triggers=("TensorBoard",),
    check=check,
)
