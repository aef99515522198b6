"""Traced code puts a tensor into a list that outlives the trace.

## What it finds
An `append`, `add`, `extend` or `insert` in traced code (a `tf.function`, Keras's `call` or
`train_step`, a function given to `Dataset.map`, or what these call) that gives a symbolic tensor to
a list, set or deque made elsewhere: a global, one of an enclosing function, `self.history`, a list
in a dict. Nothing in the file takes elements out of it again.

## Why it costs memory
Python runs while TensorFlow traces, so the list gets one element per trace, not one per step, and
no number: a symbolic tensor, of which nothing can be computed outside. It holds its graph, and the
graph holds what it captures, such as the weights of a model. Normally both go when what was traced
is dropped: a `tf.function`, a model, a pipeline. In a list that lives on they stay, graph by graph,
so that a program that makes models, pipelines or functions again and again never frees one. Where
a layer runs eagerly, the same line keeps a tensor of every batch.

A plain attribute, `self.attention = scores`, holds the graph traced last and lets the others go.
Measured, it makes nothing grow; the rule does not speak of it.

## What to do instead
Return the tensor, and keep the number where the step is called: `history.append(float(step(x)))`.
What has to stay in the graph goes into a `tf.Variable` by `assign`, into a metric's `update_state`,
into `add_loss`, or, within one call, into a `tf.TensorArray`.

## Fix safety
None: returning a tensor changes the function and all that call it.

## When to ignore it
When the list is to show what tracing does, or is dropped together with what was traced: it then
holds no graph for longer, and what it holds is merely of no use. The rule is silent in tests and in
TensorFlow 1 code, where a file runs everything eagerly, for lists that are emptied or made anew,
for deques with a greatest length, and for what is not surely a tensor: layers, variables, shapes,
Python's numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfmemlint import Claim, Diagnostic, File, Law, Metric, Rule, costs
from tfmemlint.facts.library.words import TRACED_WORDS
from tfmemlint.facts.sizes.amounts import Amount
from tfmemlint_rules._analyses.escapes import Escapes

GRAPHS = Amount(("the graph of each trace",), of_bytes=True)


def check(file: File) -> Iterator[Diagnostic]:
    found = file.tf.of(Escapes).all
    tracing = file.tf.tracing
    if not found or tracing.is_off or tracing.by_hand:
        return
    for escape in found:
        holder, value = file.named(escape.holder), file.named(escape.value)
        yield Diagnostic(
            file.span(escape.call),
            f"`{holder}` outlives the trace: it keeps `{value}`, a symbolic tensor, and its graph",
            cost=costs.cost(GRAPHS, Law.STEPS),
        )


RULE = Rule(
    code="TFM104",
    name="tensor-stored-out-of-graph",
    claim=Claim(
        Metric.DEVICE_GROWTH,
        at_most=0.05,
        because="the graph of a trial goes with it, and the weights it captures",
    ),
    triggers=(
        TRACED_WORDS,
        "add append appendleft extend extendleft insert",
    ),
    check=check,
)
