"""A queue holds many batches beside the one that is trained on.

## What it finds
`max_queue_size` above 32, given to `fit` and its relatives, or to a `PyDataset` or `Sequence`.

## Why it costs memory
Workers load batches ahead, until the queue is full: so many lie in memory, decoded, whenever the
network is slower than they are. With `use_multiprocessing=True` they are copied between processes
besides.

## What to do instead
Leave it at 10, or less where batches are large: a queue that is never empty does not get faster by
being longer. One that is empty wants more workers.

## Fix safety
Unsafe: batches are the same, in the same order. What workers draw at random, they may draw in
another one. Offered where the argument can be taken out alone.

## When to ignore it
When batches are small, or take much longer at times. The rule is silent by itself for up to 32, for
numbers that it does not know, for queues of other libraries, for arrays and parts that are cut of
one, which wait in none, and in tests.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import (
    Applicability,
    Claim,
    Diagnostic,
    File,
    Fix,
    Metric,
    Rule,
    costs,
    edits,
)
from tfmemlint.facts.library.keras_apis import SEQUENCES
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes.amounts import Amount, count

MANY = 32
"""Three times what Keras takes where it is not told."""
DEFAULT = 10
BATCH = Amount(("a batch",), of_bytes=True)
READS = frozenset(
    f"{name}{of}" for name in ("evaluate", "fit", "predict") for of in ("", "_generator")
)
QUEUES = SEQUENCES | {"keras.utils.OrderedEnqueuer", "keras.utils.GeneratorEnqueuer"}
NAMES = ("max_queue_size", "max_q_size")


def check(file: File) -> Iterator[Diagnostic]:
    for keyword in file.tf.tree.all(ast.keyword):
        call = file.tf.tree.parent(keyword)
        if keyword.arg not in NAMES or not isinstance(call, ast.Call) or not _reads(file, call):
            continue
        many = file.tf.values.number(keyword.value)
        if isinstance(many, int) and many > MANY:
            change = edits.without_argument(file, call, keyword.arg)
            title = f"Leave the queue at {DEFAULT}"
            yield Diagnostic(
                file.span(keyword),
                f"a queue of {many:,} batches is filled ahead of the one that is read",
                Fix(title, (change,), Applicability.UNSAFE) if change else None,
                costs.cost(count(many).times(BATCH), after=count(DEFAULT).times(BATCH)),
            )


def _reads(file: File, call: ast.Call) -> bool:
    """Whether Keras reads batches by what is called, or is told how to."""
    callee, functions = call.func, file.tf.functions
    if file.tf.names.is_any(callee, QUEUES):
        return True
    owner = functions.definition(callee)
    if isinstance(callee, ast.Attribute) and callee.attr == "__init__":
        owner = file.tf.members.enclosing_class(call)
    elif isinstance(callee, ast.Attribute) and callee.attr in READS:
        told = argument(call, 1, "y") is not None  # arrays wait in no queue
        return owner is None and not told and not _is_array(file, argument(call, 0, "x"))
    if not isinstance(owner, ast.ClassDef):
        return False
    bases = (base for each in functions.lineage(owner) for base in each.bases)
    return any(file.tf.names.is_any(base, QUEUES) for base in bases)


def _is_array(file: File, given: ast.expr | None) -> bool:
    """Whether it is an array, or cut like one: what is read by batches gives no slices."""
    if given is None or file.tf.values.of(given).is_array:
        return given is not None
    made = file.tf.bindings.assigned(given) or given
    return isinstance(made, ast.Subscript) and isinstance(made.slice, ast.Slice)


RULE = Rule(
    code="TFM316",
    name="generator-queue",
    claim=Claim(
        Metric.HOST_PEAK, at_most=0.5, because="ten batches lie in the queue, and not a hundred"
    ),
    triggers=("max_queue_size max_q_size",),
    check=check,
)
