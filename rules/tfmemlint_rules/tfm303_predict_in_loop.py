"""`predict` in a loop sets up a data pipeline for every row or batch.

## What it finds
`model.predict(x)` of a Keras model in a loop of more than 32 rounds, where `x` is a row or a batch
in each, the same one or another: `x[np.newaxis]`, `np.expand_dims(x, 0)`, `x.reshape(1, -1)`,
`np.array([x])`, an element of a tf.data pipeline, of a `keras.utils.Sequence` or of a generator
that a model is fed by, what stands beside a step of training on one batch or beside a `fit` whose
targets are made of predictions, what is made of one frame of a `cv2.VideoCapture`, or anything
whose result is read as one row. The loop may stand around a call of the function that predicts, or
of the method that its own takes the place of. A model is what Keras makes, what an annotation says
is one, what is compiled with a loss, trained on batches or loads weights, or what is told in words
of Keras's: `fit(…, epochs=1)`, `predict(x, verbose=0)`.

## Why it costs memory
`predict` is made for whole arrays. Each call makes a tf.data pipeline, functions that cut its
batches, an iterator and callbacks, and drops them again. Time is what is lost: 30 ms a call where
it was measured, for a model that takes a fraction of one. What is dropped refers to itself, so
Python frees it when its collector comes by: the process grows by 16 KB a call for the first
thousand calls and hardly after them. It is no leak in Keras 3, whatever the size of the batch.

## What to do instead
Collect the rows and predict all of them at once, or give `predict` the pipeline itself. Where each
round needs the result of the one before, `predict_on_batch` takes a batch, runs the same function
and gives NumPy arrays back; `model(x, training=False)` gives tensors.

## Fix safety
Unsafe: `predict_on_batch` runs all it is given as one batch where `predict` cuts batches of 32, and
it has no callbacks and no progress bar. For up to 32 rows the numbers are the same.
None is offered where `predict` is told what `predict_on_batch` does not take, nor for a list of
examples, which a model may take for several inputs.

## When to ignore it
When the rounds are few or the model is so slow that 30 ms do not matter. Fewer than 256 calls, as
far as all loops and callers tell, are hidden, unless a round trains, too, or `min-bytes` says
otherwise: they take seconds, once. The rule is silent by itself for up to 32 rounds or as many as
`take`, a slice, a literal, `min(5, n)`, a default that nobody changes or `if i == 10: break` gives,
for loops over epochs or over what people upload, loops that plot, write pictures to files or wait
for a key in each round (frames of a film that go to a window or into another film are none), draw
an environment without training, or ask people for something, loops that take the time of the same
prediction, calls under a test like `i % 100 == 0` or `i < 10`, models made in the loop, arrays of
unknown length, unless every round of `while True` or `while not done` asks about another, batches
of more than 32 rows, or of nobody knows how many, where a loop goes over data once and trains on
none of it, tests and code of TensorFlow 1 or of a Keras before 2.4 that is not TensorFlow's, whose
`predict` runs a session: the project's requirements, imports such as
`keras.layers.advanced_activations`, words that only Keras 1 took (`Model(input=x)`) or a comment
that names the version say so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Cost, Diagnostic, File, Fix, Metric, Rule, costs, edits
from tfmemlint.facts.sizes.amounts import count, held
from tfmemlint_rules._analyses.predictions import Predictions

FOR_BATCHES_ALONE = frozenset(
    {"batch_size", "max_queue_size", "use_multiprocessing", "verbose", "workers"}
)
"""Arguments that mean nothing to a single batch."""
LEFT = 16 << 10
"""Bytes that a call leaves to Python's collector."""
MEASURED = 1000
"""Calls, after which hardly more is left."""
SLOW = 256
"""Calls: 8 seconds of what was measured. Fewer than that, once, are waited for by nobody."""


def check(file: File) -> Iterator[Diagnostic]:
    if file.is_for_sessions:
        return
    for call, loop, rows, times in file.tf.of(Predictions).repeated:
        yield Diagnostic(
            file.span(call),
            f"`{ast.unparse(call.func)}` sets up a pipeline of its own in every round of "
            f"`{file.named(loop.node)}`, for {rows.words}",
            _fix(file, call),
            _cost(times),
        )


def _cost(times: int | None) -> Cost | None:
    """What the calls leave until Python's collector comes by, if they are known to be few."""
    if times is None or times > MEASURED:
        return None
    return costs.cost(count(times).times(held(LEFT)), worth=SLOW * LEFT)


def _fix(file: File, call: ast.Call) -> Fix | None:
    first, others = (call.args[0], call.keywords) if call.args else (None, call.keywords[1:])
    if first is None and call.keywords[0].arg != "x":
        return None
    if not FOR_BATCHES_ALONE.issuperset(each.arg or "" for each in others):
        return None
    given = call.keywords[0].value if first is None else first
    if isinstance(given, ast.List) and not _is_inputs(given):
        return None
    changes = edits.called_with_first(file, call, "predict_on_batch")
    return None if changes is None else Fix("Predict on the batch", changes, Applicability.UNSAFE)


def _is_inputs(given: ast.List) -> bool:
    """Whether a list is of arrays for several inputs, and not one example or a list of others."""
    return len(given.elts) > 1 and not any(isinstance(each, ast.List) for each in given.elts)


RULE = Rule(
    code="TFM303",
    name="predict-in-loop",
    claim=Claim(Metric.STEP_TIME, at_most=0.1, because="no pipeline is set up for each call"),
    triggers=(
        "predict",
        "for while",
        "Callback Model Sequential applications batch_size clone_model compile epochs from_preset"
        " from_pretrained img_to_array load_model load_weights model_from_json steps_per_epoch"
        " train_on_batch validation_data validation_split verbose",
    ),
    check=check,
)
