"""A batch of the whole data set makes one step hold the activations of all of it.

## What it finds
`batch(len(x))` behind slices of `x`, `model.fit(x, y, batch_size=len(x))`, and `from_tensors(x)`.
For `len(x)` may stand `x.shape[0]`, a name for either, or a number known to be no smaller.
`x` has to be all there is: loaded from a file or a ready-made data set, or made at its full size;
for `from_tensors`, its length has to be known. Up to 1,024 examples are an ordinary batch.

## Why it costs memory
A step keeps what the layers make of every example in its batch until the gradient is taken: with
one batch, that grows with the data. Validation takes no gradient and keeps less, but still holds
the widest layer's output for all examples at once, so its batches are found as well.

## What to do instead
Batch by what the device holds with ease; 32 is Keras's own default.

## Fix safety
Unsafe: an epoch has many steps where it had one, and each follows the gradient of a few examples.
None is offered where each batch is trained on again and again.

## When to ignore it
When a step needs all the data: exact gradient descent, or examples that depend on each other. The
rule is silent by itself for several arrays that may make up a graph, for rows that must keep their
order (`shuffle=False`), for models with a `train_step` of their own, in files that use L-BFGS or
have a tape watch their inputs, and where the one batch is only taken out of the pipeline again. Of
a ready-made data set, such as MNIST, less than 256 MB of activations are hidden, and it is silent
on up to 64 MB of rows, as of the pictures to test with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

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
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.library.kinds import Extent, Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.pipelines.chains import BATCHING, From
from tfmemlint.facts.sizes.amounts import Amount, count
from tfmemlint.facts.sizes.ready import Ready
from tfmemlint.facts.syntax.nodes import is_literal

FROM_TENSORS = frozenset({"tensorflow.data.Dataset.from_tensors"})
ORDINARY_BATCH = 1024
ACTIVATIONS = Amount(("activations",), of_bytes=True)
HOLDS_EXAMPLES = frozenset({Kind.ARRAY, Kind.TENSOR, Kind.FRAME, Kind.PATHS})
TESTED, SMALL = 10_000, 64 << 20
"""The pictures that MNIST has to test with, and their bytes in float64."""
KEEPS_COUNT = methods.having(methods.COUNTS) | {"repeat"}


def check(file: File) -> Iterator[Diagnostic]:
    if "bfgs" in file.text.lower() or any(tape.watched for tape in file.tf.tapes.all):
        return
    passing = file.tf.further.regrouped | file.tf.further.singles
    for call, _ in file.tf.names.calls(FROM_TENSORS):
        arrays = _arrays(argument(call, 0, "tensors"))
        counted = len(arrays) in (1, 2) and _rows(file, arrays[0]) is not None
        if counted and _is_whole(file, arrays[0]) and call not in passing:
            yield Diagnostic(
                file.step(call),
                f"`from_tensors` puts all of `{ast.unparse(arrays[0])}` in one batch",
                _slice_and_batch(file, call),
                _cost(file, call, arrays[0]),
            )
    for size, arrays in dict((*_batches(file, passing), *_fits(file))).items():
        if (
            arrays
            and not _is_a_small_test(file, arrays[0])
            and _is_whole(file, arrays[0])
            and _is_length(file, size, arrays)
        ):
            yield Diagnostic(
                file.span(size),
                f"a batch of `{ast.unparse(size)}` holds all of `{ast.unparse(arrays[0])}`",
                None if _is_gone_over(file, size) else _by_32(file, size),
                _cost(file, file.tf.tree.parent(size), arrays[0]),
            )


def _is_a_small_test(file: File, array: ast.expr) -> bool:
    """Whether a ready-made data set has these rows to test with, and each is a small picture."""
    held, rows = file.tf.arrays.nbytes(array).value, _rows(file, array)
    few = rows is not None and rows <= TESTED and held is not None and held <= SMALL
    return few and file.tf.of(Ready).is_array(array)


def _by_32(file: File, size: ast.expr) -> Fix:
    return Fix("Batch by 32", (edits.replaced(file, size, "32"),), Applicability.UNSAFE)


def _is_gone_over(file: File, size: ast.expr) -> bool:
    """Whether each batch is trained on again and again: with small ones, that is other training."""
    for end in file.tf.consumers.gone_over:
        if not isinstance(end.at, ast.For):
            continue
        sizes = (each.argument("batch_size") for chain in end.chains for each in chain.steps)
        inner = (each for node in end.at.body for each in ast.walk(node))
        if size in sizes and any(map(partial(_trains_again, file), inner)):
            return True
    return False


def _trains_again(file: File, node: ast.AST) -> bool:
    """`for _ in range(50): step(x)`, or `model.fit(x, epochs=50)`."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "fit"
    return isinstance(node, (ast.For, ast.While)) and file.tf.consumers.trains(node)


def _cost(file: File, where: ast.AST | None, array: ast.expr) -> Cost:
    """The activations of all rows, and of 32."""
    worth = costs.worth(ready=file.tf.of(Ready).is_array(array))
    where = file.tf.tree.parent(where) if isinstance(where, ast.keyword) else where
    fit = where.func if isinstance(where, ast.Call) else None
    rows, models = file.tf.numbers.length(array), file.tf.models
    if not isinstance(fit, ast.Attribute) or fit.attr != "fit":
        after = count(32).times(ACTIVATIONS)
        return costs.cost(rows.times(ACTIVATIONS), Law.DATA, after, worth)
    after = models.in_step(fit.value, count(32), array)
    return costs.cost(models.in_step(fit.value, rows, array), Law.DATA, after, worth)


def _batches(file: File, passing: frozenset[ast.expr]) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """The sizes of batches of slices that stay together, each with the arrays that were sliced."""
    for chain in file.tf.datasets.chains:
        source = chain.source.node
        if chain.source.kind is not From.SLICES or not isinstance(source, ast.Call):
            continue
        for place, step in enumerate(chain.steps):
            size = step.argument("batch_size") if step.method in BATCHING else None
            counted = KEEPS_COUNT.issuperset(chain.methods[:place])
            if size is not None and counted and step.call not in passing:
                yield size, _arrays(argument(source, 0, "tensors"))


def _fits(file: File) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """The batch sizes that models are fitted with, each with input and target."""
    for call, method in file.tf.tree.methods("fit"):
        x, y, size = (argument(call, i, name) for i, name in enumerate(("x", "y", "batch_size")))
        shuffle = argument(call, None, "shuffle")
        in_order = is_literal(shuffle, False)
        model = method.value
        owner = file.tf.functions.instance_of(model)
        own_step = owner is not None and file.tf.functions.method(owner, "train_step") is not None
        if x is None or size is None or in_order or own_step:
            continue
        if file.tf.values.of(model).kind is Kind.MODEL:
            yield size, [x] if y is None else [x, y]


def _arrays(tensors: ast.expr | None) -> list[ast.expr]:
    """What a tuple holds, however nested; a list is an array by itself."""
    if isinstance(tensors, ast.Tuple):
        return [array for each in tensors.elts for array in _arrays(each)]
    return [] if tensors is None else [tensors]


def _rows(file: File, array: ast.expr) -> int | None:
    shape = file.tf.values.of(array).shape
    return shape[0] if shape else None


def _is_whole(file: File, array: ast.expr) -> bool:
    value, rows = file.tf.values.of(array), _rows(file, array)
    holds_all = value.extent is Extent.WHOLE and value.kind in HOLDS_EXAMPLES
    return holds_all and (rows is None or rows > ORDINARY_BATCH)


def _is_length(file: File, size: ast.expr, arrays: list[ast.expr]) -> bool:
    counted = file.tf.values.rows(size)
    if counted is not None and any(file.tf.bindings.same(counted, each) for each in arrays):
        return True
    number, rows = file.tf.values.number(size), _rows(file, arrays[0])
    return number is not None and rows is not None and number >= rows


def _slice_and_batch(file: File, call: ast.Call) -> Fix | None:
    method = edits.method_call(file, call)
    if method is None:
        return None
    name = Span(method.start, method.start + len("from_tensors"))
    changes = (Edit(name, "from_tensor_slices"), Edit(Span(method.end, method.end), ".batch(32)"))
    return Fix("Slice, and batch by 32", changes, Applicability.UNSAFE)


RULE = Rule(
    code="TFM222",
    name="whole-dataset-as-one-batch",
    claim=Claim(Metric.DEVICE_PEAK, at_most=0.1, because="activations are those of 32 examples"),
    triggers=("from_tensors batch padded_batch ragged_batch fit",),
    check=check,
)
