"""A long Python loop in traced code puts a copy of its body into the graph for every trip.

## What it finds
In code that `tf.function`, Keras or tf.data trace: a loop, or a `sum`, over a `range` that surely
makes 32 trips or more and computes with TensorFlow in each; a `while` that counts as far; as many
rows of a NumPy array, arrays in a list, or pieces of `tf.unstack` or `tf.split`, be it the words of
an `Embedding` that is told its `input_length`; and more than 8 epochs around a dataset.

## Why it costs memory
AutoGraph makes loops of the graph of `tf.range`, tensors and datasets. `range` and NumPy arrays it
leaves to Python, which runs them while TensorFlow traces: every trip adds its operations to the
graph, and those of its gradient. They lie in host memory for as long as the function lives, once
more as what the optimiser makes of them, and all of it again for each new shape. Rows of an array
become constants on top. Tracing takes as much longer. On the device nothing changes going forward;
under a gradient around the loop the copies may hold several times as much.

## What to do instead
Loop over `tf.range(n)`: the graph holds the body once. Give arrays to the function as arguments, or
loop over a dataset of them. Let Python count the epochs outside, around a traced step. Keras 3 runs
`call` and `train_step` without AutoGraph: there a `keras.layers.RNN`, `tf.scan` or `tf.map_fn` will
do.

## Fix safety
Unsafe: the loop variable becomes a tensor, which Python cannot ask for its value; what a trip hands
to the next must keep its dtype and shape; Python's own effects happen once; random operations draw
other numbers. Not offered where any of this can be seen to matter, nor for arrays, `sum`
and `while`.

## When to ignore it
When unrolling is the aim: XLA, TPUs and some converters like straight code. The rule is silent in
tests and in files that use `tf.lite` or a TPU strategy; where the loop variable picks layers or
names, where trips make layers or fill a list, where they add up the same (TFM514), and where they
only compute with constants, which TensorFlow folds. How often `range(n)` runs for an `n` that only
callers know it does not guess.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, Edit, File, Fix, Metric, Rule, Span
from tfmemlint.facts.graphs.repeated_sums import RepeatedSums
from tfmemlint.facts.graphs.unrolling import LIKES_STRAIGHT_CODE, Unrolled
from tfmemlint.facts.library.words import TRACED_WORDS

MANY = 32
FEW_EPOCHS = 8


def check(file: File) -> Iterator[Diagnostic]:
    found = [each for each in file.tf.unrollings.all if _is_long(each)]
    if not found or file.tf.names.uses(LIKES_STRAIGHT_CODE):
        return
    products = {each.node for each in file.tf.of(RepeatedSums).all}  # need no loop at all
    for unrolled in (each for each in found if each.loop.node not in products):
        yield Diagnostic(file.span(unrolled.header), _message(file, unrolled), _fix(file, unrolled))


def _is_long(unrolled: Unrolled) -> bool:
    if unrolled.dataset is not None:
        return unrolled.trips > FEW_EPOCHS
    return unrolled.trips >= MANY


def _message(file: File, unrolled: Unrolled) -> str:
    over, body = file.named(unrolled.header), "the body"
    if isinstance(unrolled.loop.node, ast.While):
        over = f"while {over}"
    if unrolled.dataset is not None:
        body = f"the loop over `{file.named(unrolled.dataset)}`"
    return f"`{over}` runs while tracing: the graph gets {unrolled.trips:,} copies of {body}"


def _fix(file: File, unrolled: Unrolled) -> Fix | None:
    node = unrolled.loop.node
    tf = file.tf.names.module("tensorflow", node)
    if tf is None or not file.tf.graph_loops.autograph(node):
        return None
    if not file.tf.loop_bodies.fit_graph(unrolled.loop):
        return None
    held = isinstance(unrolled.header, (ast.Attribute, ast.Name, ast.Subscript))
    if held or (isinstance(node, ast.For) and _is_of_module(file, node.iter)):
        return None  # others may go over the same range
    start = file.span(unrolled.header).start
    edit = Edit(Span(start, start), f"{tf}.")
    return Fix("Have the graph loop", (edit,), Applicability.UNSAFE)


def _is_of_module(file: File, iterable: ast.expr) -> bool:
    called = iterable.func if isinstance(iterable, ast.Call) else None
    return called is not None and file.tf.functions.function(called) is not None


RULE = Rule(
    code="TFM108",
    name="unrolled-python-loop-in-graph",
    claim=Claim(Metric.GRAPH_BYTES, at_most=0.04, because="the graph holds the loop's body once"),
    triggers=(
        TRACED_WORDS,
        "for while",
    ),
    check=check,
)
