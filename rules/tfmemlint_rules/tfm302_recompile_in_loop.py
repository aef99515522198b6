"""A model is compiled again in every round, and each optimizer stays in memory.

## What it finds
`model.compile("adam", loss)` and `model.fit(x, y)` in a loop of more than four rounds, of a model
that was made before it, where each round has another optimizer that keeps something for each
weight. And an optimizer that each round makes, with a step of its own that `tf.function` traces,
for a model that was made before: measured, 20 MB a round of weights that take 8 MB, and 1 MB
without `tf.function`.

## Why it costs memory
Each round traces a step of its own. Keras's optimizer has TensorFlow register a custom gradient
with it, in a table of the process that nothing is taken out of: it refers to the graph, the graph
to the optimizer's variables. With Adam, two numbers for each weight stay behind in every round, and
`del`, `gc.collect()` and `clear_session()` free none of it. Tracing takes time besides.

## What to do instead
Compile before the loop, or make the optimizer and the step before it. `fit` goes on where it
stopped, and does not have to be told again how. For another learning rate,
`model.optimizer.learning_rate.assign(rate)`. For an optimizer that knows nothing of the rounds
before, set its variables to zero:
`for each in model.optimizer.variables: each.assign(tf.zeros_like(each))`, but for the learning
rate, which is among them.

## Fix safety
Unsafe: the optimizer goes on with what it remembers of the rounds before, which are the mean
gradients of Adam, and how many steps were made. Offered where the loop has no say in how the model
is compiled, and changes nothing of the model but its weights.

## When to ignore it
When the model is small and the rounds are few. The rule is silent by itself for up to four rounds,
for optimizers without slots (`"sgd"`) and those that stay the same, where nothing is trained
between, for models that are made anew as well, of which TFM301 speaks, where graphs are switched
off, in tests, and where TensorFlow is declared to be newer than 2.21, with which it was measured.
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
    Law,
    Metric,
    Rule,
    costs,
    edits,
)
from tfmemlint.facts.sizes.amounts import Amount
from tfmemlint.facts.syntax.tree import LOOPS
from tfmemlint_rules._analyses.recompilations import Recompilation, Recompilations

FEW = 4
"""Stages that are well worth no word."""
SLOTS = Amount(("an optimizer's slots",), of_bytes=True)
MEASURED = (2, 22)
"""What comes after the last version of TensorFlow that was seen to keep optimizers."""


def check(file: File) -> Iterator[Diagnostic]:
    newer = file.tensorflow is not None and file.tensorflow >= MEASURED
    if newer or file.tf.tracing.is_off:
        return
    for found in file.tf.of(Recompilations).all:
        if found.rounds is None or found.rounds > FEW:
            called, loop = ast.unparse(found.call.func), file.named(found.loop.node)
            yield Diagnostic(
                file.span(found.call),
                f"`{called}` makes another optimizer in every round of `{loop}`, and training "
                "keeps what each one holds in memory",
                _fix(file, found),
                _cost(file, found),
            )


def _cost(file: File, found: Recompilation) -> Cost:
    """As much as the weights each time, at the least: Adam keeps twice that."""
    made = file.tf.values.of(found.model).origin or found.model
    one = file.tf.models.weights_of(made) or SLOTS
    rounds = file.tf.numbers.rounds(found.loop.node)
    return costs.cost(rounds.times(one)._replace(at_most=None), Law.STEPS, one)


def _fix(file: File, found: Recompilation) -> Fix | None:
    loop, statement = found.loop.node, file.tf.tree.statement(found.call)
    alone = isinstance(statement, ast.Expr) and statement.value is found.call
    if not (found.once and alone and isinstance(loop, LOOPS)):
        return None
    moved = edits.lifted(file, statement, loop) if file.concrete(statement) else None
    return None if moved is None else Fix("Compile it once", moved, Applicability.UNSAFE)


RULE = Rule(
    code="TFM302",
    name="recompile-in-loop",
    claim=Claim(
        Metric.DEVICE_GROWTH, at_most=0.02, because="there is one optimizer, and not one per round"
    ),
    triggers=(
        "apply_gradients compile minimize",
        "apply_gradients fit fit_generator minimize train_on_batch",
        "for while",
    ),
    check=check,
)
