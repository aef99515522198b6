"""Tensors of ever other shapes have a traced function traced for each of them.

## What it finds
A call, in a loop or for every request, of a function that `tf.function` traces, with a tensor of
another shape each time: a slice up to a number that changes, what is joined to or appended to in
every round, what is made as long, or pictures as wide, as a number that is drawn, a list as long as
a text or of more tensors each time, rows of a ragged tensor, what a mask leaves, and batches of
`padded_batch`, each as long as its longest example.

## Why it costs memory
The shapes of its arguments are part of what a graph is made for. For each new one the function is
traced again, and every graph is kept as long as the function lives: hundreds of kilobytes for each
length that a small network meets, and the time to make them.

## What to do instead
`tf.function(reduce_retracing=True)` makes a second graph that leaves open the sizes that changed,
and then makes no more. An `input_signature` leaves them open from the start. Or pad to few lengths:
`padded_batch` with `padded_shapes`, buckets with `pad_to_bucket_boundary`.

## Fix safety
Unsafe: within the function the sizes that change are no longer known to Python, so operations and
layers that need them fail. Not offered where the function asks for a shape, nor where XLA compiles
it, which makes a program for every shape anyway.

## When to ignore it
When there are but a few shapes: for up to 8 rounds the rule is silent by itself, as it is for the
last, smaller batch of `batch`, in functions with an `input_signature` and in tests. It does not
speak of Keras's own functions, which ask for less retracing by themselves; `predict` keeps
something for every new shape all the same, `predict_on_batch` does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Metric, Rule, edits
from tfmemlint_rules._analyses.varying_shapes import ShapedBy, Varying, VaryingShapes

OPEN = "reduce_retracing=True"
OPEN_BEFORE_2_9 = "experimental_relax_shapes=True"
HOW = {
    ShapedBy.GROWTH: "longer each time",
    ShapedBy.LIST: "a longer list each time",
    ShapedBy.PADDING: "as long as the longest example of each batch",
    ShapedBy.PICK: "as long as there is something to pick",
    ShapedBy.SEQUENCE: "of another length each time",
    ShapedBy.SLICE: "another shape each time",
}


def check(file: File) -> Iterator[Diagnostic]:
    for varying in file.tf.of(VaryingShapes).all:
        span = file.span(varying.given.argument)
        yield Diagnostic(span, _message(file, varying), _fix(file, varying))


def _message(file: File, varying: Varying) -> str:
    given = varying.given
    name = getattr(given.function, "name", ast.unparse(given.call.func))
    what = f"`{file.named(given.argument)}`, {HOW[varying.by]}, has `{name}` traced anew"
    if varying.loop is None or varying.by not in (ShapedBy.GROWTH, ShapedBy.LIST, ShapedBy.SLICE):
        return f"{what} for every length"
    return f"{what} in every round of `{file.named(varying.loop.node)}`"


def _fix(file: File, varying: Varying) -> Fix | None:
    if varying.by is ShapedBy.LIST:
        return None  # however its sizes are left open, a list has as many tensors as it has
    made = file.tf.of(VaryingShapes).maker(varying.given.function)
    if made is None or file.tf.of(VaryingShapes).asks_for_shape(varying.given.function):
        return None
    old = file.tensorflow is not None and file.tensorflow < (2, 9)
    keyword = OPEN_BEFORE_2_9 if old else OPEN
    if isinstance(made, ast.Call):
        edit = edits.with_argument(file, made, keyword)
    else:
        edit = edits.replaced(file, made, f"{file.source(made)}({keyword})")
    return edit and Fix("Leave open the sizes that change", (edit,), Applicability.UNSAFE)


RULE = Rule(
    code="TFM103",
    name="retrace-varying-shape",
    claim=Claim(Metric.TRACES, at_most=0.03, because="a graph that leaves sizes open does for all"),
    triggers=("function", "for get post put route while"),
    check=check,
)
