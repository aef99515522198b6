"""A call that is said to free memory has nothing to free, and takes time.

## What it finds
`gc.collect()` and `clear_session()` in every round of a loop that trains, where nothing in the loop
makes a model or anything else that has to be collected; and `tf.compat.v1.reset_default_graph()` in
programs of TensorFlow 2, which have no default graph, where all code that could use one is in
sight.

## Why it costs memory
It costs time, and hides what does. Tensors are freed when the last name for them goes, by counting
references; the collector only looks for cycles, through all objects of TensorFlow, each time. What
a model and its optimizer hold stays: it is in use. Memory with and without these calls is the same.

## What to do instead
Leave it out, and look for what grows: `tfmemlint measure` says which line holds the memory. `del`
does no harm, and no more good than the end of a function.

## Fix safety
Safe for `reset_default_graph`, which empties a graph that nothing is in. Unsafe for the others:
finalizers may run later, and names of layers count on. No fix is offered where the call is all that
its block does.

## When to ignore it
When the program makes cycles of large objects out of sight. The rule is silent by itself where a
loop makes models, layers or optimizers, or calls what is not known, where the call depends on a
condition, such as `if step % 1000 == 0`, and where graphs and sessions are made by hand.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Metric, Rule, edits
from tfmemlint_rules._analyses.placebos import Placebo, Placebos


def check(file: File) -> Iterator[Diagnostic]:
    for found in file.tf.of(Placebos).all:
        called = file.named(found.call.func)
        if found.loop is None:
            message = f"`{called}` empties a graph that nothing is in"
        else:
            message = f"`{called}` frees nothing in `{file.named(found.loop)}`, and takes time"
        alone = isinstance(found.statement, ast.Expr) and found.statement.value is found.call
        at = found.statement if alone else found.call
        yield Diagnostic(file.span(at), message, _fix(file, found))


def _fix(file: File, found: Placebo) -> Fix | None:
    if not isinstance(found.statement, ast.Expr) or found.statement.value is not found.call:
        return None
    if found.loop is not None and not file.tf.tree.inside(found.statement, found.loop):
        return None  # what it stands in may be there for others, too
    change = edits.without_statement(file, found.statement)
    if change is None or file.concrete(found.statement) is None:
        return None
    safety = Applicability.SAFE if found.resets_graph else Applicability.UNSAFE
    return Fix("Leave it out", (change,), safety)


RULE = Rule(
    code="TFM709",
    name="placebo-cleanup",
    claim=Claim(
        Metric.STEP_TIME, at_most=0.3, because="nobody looks through all objects for none to free"
    ),
    triggers=("clear_session collect reset_default_graph",),
    check=check,
)
