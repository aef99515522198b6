"""`unroll=True` writes a recurrent layer out, time step by time step.

## What it finds
A Keras `LSTM`, `GRU`, `SimpleRNN` or `RNN` with `unroll=True`.

## Why it costs memory
Without it the layer is one loop of the graph, with its cell once. With it the graph has a copy of
the cell for every time step: thousands of nodes to trace, to optimise and to keep, for each
function that calls the model.

## What to do instead
Leave it out. Unrolling is for sequences of a few steps, where a loop is slower than its body.

## Fix safety
Unsafe: the same is computed, in the same order, but on a GPU the layer may then run as one cuDNN
kernel, which rounds in its own way. Offered where the argument can be taken
out alone, with no comment lost.

## When to ignore it
When sequences are short: the rule is silent where the model spells out that they have up to 20 time
steps. It is silent, too, in files that use `tf.lite`, a TPU or model optimisation, whose converters
want straight code, where Keras runs on JAX or PyTorch, and where `recurrent_dropout` is given,
which rules the fast kernels out anyway.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Metric, Rule, edits
from tfmemlint.facts.graphs.unrolling import LIKES_STRAIGHT_CODE
from tfmemlint.facts.library.makers import argument

SHORT = 20
LAYERS = frozenset(f"keras.layers.{each}" for each in ("GRU", "LSTM", "RNN", "SimpleRNN"))
UNROLLED_BY_DESIGN = (
    *LIKES_STRAIGHT_CODE,
    "onnx",
    "tensorflow_model_optimization",
    "tf2onnx",
)


def check(file: File) -> Iterator[Diagnostic]:
    found = [each for each, _ in file.tf.names.calls(LAYERS) if _is_unrolled(file, each)]
    if not found or file.tf.names.uses(UNROLLED_BY_DESIGN):
        return
    if file.tf.switches.keras_runs_elsewhere:
        return
    for layer in found:
        steps = file.tf.time_steps.of(layer)
        if steps is None or steps > SHORT:
            keyword = next(each for each in layer.keywords if each.arg == "unroll")
            yield Diagnostic(file.span(keyword), _message(layer, keyword, steps), _fix(file, layer))


def _is_unrolled(file: File, call: ast.Call) -> bool:
    unroll = argument(call, None, "unroll")
    given = None if unroll is None else file.tf.sources.constant(unroll)
    dropped = argument(call, None, "recurrent_dropout")
    dropout = dropped is not None and file.tf.values.number(dropped) != 0
    return given is not None and given.value is True and not dropout


def _message(layer: ast.Call, unroll: ast.keyword, steps: int | None) -> str:
    name = layer.func.attr if isinstance(layer.func, ast.Attribute) else ast.unparse(layer.func)
    each = "for every time step" if steps is None else f"for each of {steps} time steps"
    return f"`{ast.unparse(unroll)}` puts a copy of the cell of `{name}` into the graph {each}"


def _fix(file: File, layer: ast.Call) -> Fix | None:
    edit = edits.without_argument(file, layer, "unroll")
    return edit and Fix("Leave the loop in the graph", (edit,), Applicability.UNSAFE)


RULE = Rule(
    code="TFM109",
    name="rnn-unroll",
    claim=Claim(Metric.GRAPH_BYTES, at_most=0.08, because="the graph holds the cell once"),
    triggers=("unroll",),
    check=check,
)
