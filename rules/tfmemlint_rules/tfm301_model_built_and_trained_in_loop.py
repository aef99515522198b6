"""Models are built and trained in a loop, and none is ever freed.

## What it finds
A Keras model that a loop of more than four rounds makes anew, trains (`fit`, `train_on_batch`) and
drops: one for each fold, each setting, each seed. It may be made, trained or both in functions that
the loop calls.

## Why it costs memory
While `fit` is traced, Keras's optimizer has TensorFlow register a custom gradient in a table of
the process, and nothing is taken out of it again. It refers to the graph, the graph to the weights:
each round leaves its model's weights behind and, with Adam, two slots for each. In TensorFlow 2.21,
where it was measured, `del`, `gc.collect()` and `clear_session()` free none of it; models that are
not trained or are trained with `run_eagerly=True` are freed.

## What to do instead
Build the model once and give every round the weights it began with: `model.set_weights(first)`, and
the optimizer's variables their first values likewise. Where models have to differ, train each in a
process of its own, such as a `multiprocessing.Process` started by "spawn": what it holds ends
with it.

## Fix safety
None: which state a round has to begin with, of optimizer, metrics and random numbers, is for people
to say.

## When to ignore it
When the models are small and the rounds few: after the fifth, the process held 400 MB more than
after the first where the weights took 31 MB, and 17 MB more where they took 6 KB. The rule is
silent by itself for up to four rounds, for models that are kept or handed to code out of sight,
where graphs are switched off, in tests, where TensorFlow is declared to be newer than 2.21, in code
of Keras 1 (`nb_epoch`), and in loops that call `clear_session()`, whose author knows of the matter,
though it does not help here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import (
    Claim,
    Cost,
    Diagnostic,
    File,
    Law,
    Metric,
    Rule,
    costs,
)
from tfmemlint.facts.flow.anew import Anew
from tfmemlint.facts.sizes.amounts import Amount

FEW = 4
"""Folds or variants that are well worth no word."""
WEIGHTS = Amount(("a model",), of_bytes=True)
MEASURED = (2, 22)
"""What comes after the last version of TensorFlow that was seen to keep models."""


def check(file: File) -> Iterator[Diagnostic]:
    newer = file.tensorflow is not None and file.tensorflow >= MEASURED
    if newer or file.is_test or file.tf.tracing.is_off or file.tf.is_for_keras_1:
        return
    for model in file.tf.anew.trained:
        if model.rounds is None or model.rounds > FEW:
            assert isinstance(model.made, ast.Call)
            yield Diagnostic(
                file.span(model.made),
                f"`{ast.unparse(model.made.func)}` makes another model in every round of "
                f"`{file.named(model.loop.node)}`, and training keeps each one in memory",
                None,
                _cost(file, model),
            )


def _cost(file: File, model: Anew) -> Cost:
    """The weights of all models, and of one: with their optimisers' slots they hold more."""
    assert isinstance(model.made, ast.Call)
    runs = file.tf.models.runs(model.made, None)
    one = (file.tf.models.weights(runs) if runs else None) or WEIGHTS
    rounds = file.tf.numbers.rounds(model.loop.node)
    return costs.cost(rounds.times(one)._replace(at_most=None), Law.STEPS, one)


RULE = Rule(
    code="TFM301",
    name="model-built-and-trained-in-loop",
    claim=Claim(
        Metric.DEVICE_GROWTH, at_most=0.02, because="one model is kept, and not one per round"
    ),
    triggers=(
        "fit fit_generator train_on_batch",
        "for while",
        "Model Sequential applications clone_model load_model model_from_json",
    ),
    check=check,
)
