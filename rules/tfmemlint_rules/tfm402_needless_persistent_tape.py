"""A persistent tape that is asked for one gradient keeps what it recorded.

## What it finds
`with tf.GradientTape(persistent=True) as tape:` in eager code, and a single call of
`tape.gradient`, made once for each time that the tape has recorded.

## Why it costs memory
A tape that is not persistent lets go of each activation as soon as the gradient has passed it, so
that gradients take the place of activations. A persistent one keeps them all: through the backward
pass, while the gradients are applied, and until its name goes or is given to the next tape.

## What to do instead
Drop `persistent=True`: it is for a second call of `gradient`. Gradients of several losses that are
applied to variables of one model are often those of the losses' sum, and need one call.

## Fix safety
Safe where the one call surely asks the tape that has just recorded, and but once: it stands behind
the recording in the same block, in no loop of its own, or is its last statement, and nothing else
names the tape. It gives the same gradients then. Unsafe where the recording is a matter of
conditions, of `try` or of another function, and where the tape is asked for what it watched. No fix
is offered where the `with` does not make its tape itself.

## When to ignore it
When more is to be asked soon, or a notebook's cell is to run again. The rule is silent by itself on
two calls, be it in two branches; on a call in a loop, a comprehension or another function; on a
`jacobian`; where the tape is passed on; where a notebook asks in another cell; in traced code,
where the keyword costs nothing; and where a script tries out a few operations of unknown size once,
without a layer or a model.
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
from tfmemlint.facts import TensorFlow
from tfmemlint.facts.graphs.tapes import Tape


def check(file: File) -> Iterator[Diagnostic]:
    if file.tf.tracing.by_hand:
        return
    own = [(file.tf, each) for each in file.tf.tapes.all if not file.tf.tree.elsewhere(each.call)]
    for tf, tape in (*own, *file.tf.tapes.lent):
        if not tape.persistent or tf.tracing.by_hand or tf.tracing.why(tape.block) is not None:
            continue
        asked = tf.tapes.only_asked(tape)
        if asked is None or (tf is file.tf and file.has_cells_between(tape.block, asked)):
            continue
        if tf.tapes.others(tape) != []:
            continue
        if _is_tried_out(tf, tape):
            continue
        keyword = next(each for each in tape.call.keywords if each.arg == "persistent")
        direct = tf.tapes.is_direct(tape)
        change = edits.without_argument(file, tape.call, "persistent") if direct else None
        safety = Applicability.SAFE if tf.tapes.is_fresh(tape, asked) else Applicability.UNSAFE
        fix = Fix("Drop `persistent`", (change,), safety) if change else None
        yield Diagnostic(
            file.span(keyword),
            f"`{tape.name}` is persistent, and keeps what it recorded through its only `gradient`",
            fix,
            costs.cost(tf.models.recorded(tape.block.body)),
        )


def _is_tried_out(tf: TensorFlow, tape: Tape) -> bool:
    """Whether a script records some operations once, and no layer or model."""
    once = tf.tree.function(tape.block) is None and not any(tf.tree.loops(tape.block))
    if not once or tf.models.recorded(tape.block.body).value is not None:
        return False
    calls = (node for each in tape.block.body for node in ast.walk(each))
    called = [each.func for each in calls if isinstance(each, ast.Call)]
    return all(
        isinstance(each, ast.Attribute) and tf.names.qualified(each) is not None for each in called
    )


RULE = Rule(
    code="TFM402",
    name="needless-persistent-tape",
    claim=Claim(
        Metric.DEVICE_PEAK,
        at_most=0.8,
        because="gradients take the place of activations, one after the other",
    ),
    triggers=("GradientTape", "persistent"),
    check=check,
)
