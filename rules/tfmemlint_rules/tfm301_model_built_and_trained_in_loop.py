"""Models are built and trained in a loop, and none is ever freed.

## What it finds
A Keras model that a loop of more than four rounds makes anew, trains and drops: one for each fold,
each setting, each seed. It is trained by `fit` or `train_on_batch`, or by a step of its own that
`tf.function` traces and in which an optimizer applies gradients. It may be made, trained or both in
functions that the loop calls, or be part of an object that is made anew; the best of them may be
kept. What Optuna, Hyperopt, scikit-optimize or SciPy are given to try settings with is a round,
too, and so is each model that scikit-learn has built by `KerasClassifier`, for a grid or for folds,
be it in a loop of one's own: `clone(classifier).fit(x, y)`.

## Why it costs memory
While a step is traced, Keras's optimizer has TensorFlow register a custom gradient in a table of
the process, and nothing is taken out of it again. It refers to the graph, the graph to the weights:
each round leaves its model's weights behind and, with Adam, two slots for each. In TensorFlow 2.21,
where it was measured, `del`, `gc.collect()` and `clear_session()` free none of it: of a model of 8
MB each round left 29 MB with and without `clear_session()`, whether `fit`, `train_on_batch` or a
traced step had trained it, and 21 MB where only the optimizer was another. Models that are not
trained, or trained without a graph, are freed.

## What to do instead
Build the model once and give every round the weights it began with: `model.set_weights(first)`, and
the optimizer's variables their first values likewise. One step, traced once, does for all rounds
then. Where models have to differ, train each in a process of its own, such as a
`multiprocessing.Process` started by "spawn": what it holds ends with it.

## Fix safety
None: which state a round has to begin with, of optimizer, metrics and random numbers, is for people
to say.

## When to ignore it
When the models are small and the rounds few: after the fifth, the process held 400 MB more than
after the first where the weights took 31 MB, and 17 MB more where they took 6 KB. Where layers,
weights and rounds of a network are known, and all of it comes to less than 256 MB, it is hidden as
long as `min-bytes` is not set: dense, convolutional and recurrent ones, as they were weighed. The
rule is silent by itself for up to four rounds, of small `Sequential` networks also by an option's
default, for up to a hundred plain networks of unknown width, or small ones that a search of
scikit-learn tries, or as many as a loop has folds or settings, for what is loaded beside a model
that the same rounds make, for models that are kept or handed to code out of sight, where graphs are
switched off, or each model has a `tf.Graph` of its own, in tests, where TensorFlow is declared to
be newer than 2.21, and where `clear_session()` is called in code for a Keras that runs sessions
(`nb_epoch`, `keras.layers.wrappers`, TensorFlow 1), where it frees the graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

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
from tfmemlint.facts.sizes.amounts import Amount, count
from tfmemlint.facts.sizes.layer_calls import Layer
from tfmemlint.facts.sizes.layer_runs import Run
from tfmemlint_rules._analyses.trainings import Training, Trainings

OWN = frozenset({"tensorflow.Graph"})
LOADS = frozenset({"keras.models.load_model"})
ROWS = frozenset({"keras.Sequential"})
FEW = 4
"""Folds or variants that are well worth no word."""
SOME = 100
"""Plain networks of unknown width: of three layers each, 0.6 GB."""
PLAIN = frozenset({"Activation", "Dense", "Dropout", "Flatten", "InputLayer", "ReLU", "Softmax"})
BESIDE = frozenset({"BatchNormalization", "Embedding", "LeakyReLU", "Reshape"})
SLIDES = frozenset(
    {"AveragePooling", "Conv", "GlobalAveragePooling", "GlobalMaxPooling", "MaxPooling"}
)
RECURS = frozenset({"GRU", "LSTM", "SimpleRNN"})
"""Those whose graphs were weighed beside plain ones: by class, and by class without its axes."""
GRAPHS = 2 << 20
"""Bytes a round, for a model and for each of its layers.

Three layers of 16 units left 6.4 MB a round, eleven 19.3, with `fit`, validation and `predict`; six
of a convolutional network 6.1, nine with normalization 11.
"""
LOOPS = 8 << 20
"""Bytes of a layer with a loop in its graph: two with one left 10.2 MB a round, four with two 18.1.

Two of which one is recurrent in both directions left 15.1 MB, and 17.8 with LSTM.
"""
WEIGHT = 4
"""Bytes."""
WEIGHTS_AND_SLOTS = 4
"""Times the weights: 29 MB were left of 8."""
WEIGHTS = Amount(("a model",), of_bytes=True)
ROUNDS = Amount(("the rounds",))
MEASURED = (2, 22)
"""What comes after the last version of TensorFlow that was seen to keep models."""
FORGETS = ": `clear_session` frees none of it"


def check(file: File) -> Iterator[Diagnostic]:
    newer = file.tensorflow is not None and file.tensorflow >= MEASURED
    if newer or file.tf.tracing.is_off:
        return
    trainings = file.tf.of(Trainings)
    for training in trainings.all:
        few = training.rounds is not None and training.rounds <= FEW
        if few or _has_own_graph(file, training) or _is_little(file, training):
            continue
        if _is_told_of(file, training, trainings.all):
            continue
        forgets = trainings.forgets(training)
        if not forgets or not file.is_for_sessions:  # in a session of Keras it helps
            message = _message(file, training) + (FORGETS if forgets else "")
            yield Diagnostic(file.span(training.made), message, None, _cost(file, training))


def _message(file: File, training: Training) -> str:
    called = ast.unparse(training.made.func)
    rounds = f"in every round of `{file.named(training.again)}`, and training keeps"
    return f"`{called}` makes another model {rounds} each one in memory"


def _has_own_graph(file: File, training: Training) -> bool:
    """Whether each model is made in a graph of its own, which goes when the round is over."""
    around = (each for each in file.tf.tree.ancestors(training.made) if isinstance(each, ast.With))
    held = (node for each in around for item in each.items for node in ast.walk(item))
    return any(isinstance(each, ast.Call) and file.tf.names.is_any(each.func, OWN) for each in held)


def _is_told_of(file: File, training: Training, others: tuple[Training, ...]) -> bool:
    """Whether a model is loaded beside another one of its rounds: a word about that will do."""
    makes = file.tf.names.is_any
    return makes(training.made.func, LOADS) and any(
        each.again is training.again and not makes(each.made.func, LOADS) for each in others
    )


def _is_little(file: File, training: Training) -> bool:
    """Whether plain networks, which nothing shows to be wide, are made no more than some times.

    A loop of which nobody knows how often it goes round has folds or settings, and not many; a
    search tries all of them with each other.
    """
    runs = file.tf.models.runs(training.made, None)
    plain = bool(runs) and all(each.layer.name in PLAIN for each in runs or ())
    weights = file.tf.models.weights(runs or [])
    known = WEIGHT * max(_known(runs or []), _between(runs or []))
    at_most = weights.at_most if weights is not None else known
    small = known <= GRAPHS and at_most is not None and at_most <= GRAPHS
    if runs and small and _are_few_by_default(file, training):
        return True
    if not plain or not small:
        return False
    if training.rounds is None:
        return isinstance(training.again, (ast.For, ast.AsyncFor, ast.comprehension))
    searched = isinstance(training.again, ast.Call)
    return training.rounds <= SOME and (weights is None or searched)


def _are_few_by_default(file: File, training: Training) -> bool:
    """Whether a row of layers is made a few times, unless somebody says otherwise: `--repeat 9`."""
    made = file.tf.values.of(training.made).origin
    in_sight = isinstance(made, ast.Call) and file.tf.names.is_any(made.func, ROWS)
    if not in_sight or isinstance(training.again, ast.Call):
        return False
    rounds = file.tf.numbers.rounds(training.again).value
    return training.rounds is None and rounds is not None and rounds <= FEW


def _known(runs: list[Run]) -> int:
    """How many numbers the weights of those layers are of which it is known."""
    return sum(each.weights or 0 for each in runs)


def _between(runs: list[Run]) -> int:
    """How many weights stand between layers of known width, whatever the first one is given."""
    widths = [width for each in runs if (width := each.layer.one("units")) is not None]
    return sum(one * other for one, other in pairwise(widths))


def _cost(file: File, training: Training) -> Cost:
    """The weights of all models, and of one: with their optimisers' slots they hold more."""
    runs = file.tf.models.runs(training.made, None)
    one = (file.tf.models.weights(runs) if runs else None) or WEIGHTS
    told = None if isinstance(training.again, ast.Call) else training.again
    rounds = ROUNDS if told is None else file.tf.numbers.rounds(told)
    if training.rounds is not None and training.rounds > (rounds.at_most or 0):
        rounds = count(training.rounds)  # of loops within loops, all
    most = _at_most(runs or [], one, rounds)
    return costs.cost(rounds.times(one)._replace(at_most=most), Law.STEPS, one, costs.NOTICED)


def _at_most(runs: list[Run], one: Amount, rounds: Amount) -> float | None:
    """What all rounds leave behind, of models of known layers: as measured, and rounded up."""
    graphs = [_graph(each.layer) for each in runs]
    known = [each for each in graphs if each is not None]
    unknown = not known or len(known) < len(graphs)
    if unknown or one.at_most is None or rounds.at_most is None:
        return None
    return rounds.at_most * (GRAPHS + sum(known) + WEIGHTS_AND_SLOTS * one.at_most)


def _graph(layer: Layer) -> int | None:
    """What a layer leaves behind beside its weights; None where nothing like it was weighed."""
    if layer.name == "Bidirectional":
        graphs = [_graph(each) for each in layer.inner or ()]
        return 2 * LOOPS if graphs == [LOOPS] else None
    if layer.kind in RECURS:
        return LOOPS
    weighed = layer.name in PLAIN | BESIDE or layer.kind in SLIDES
    return GRAPHS if weighed else None


RULE = Rule(
    code="TFM301",
    name="model-built-and-trained-in-loop",
    claim=Claim(
        Metric.DEVICE_GROWTH, at_most=0.02, because="one model is kept, and not one per round"
    ),
    triggers=(
        "apply_gradients fit fit_generator minimize train_on_batch "
        "cross_val_predict cross_val_score cross_validate",
        "GridSearchCV HalvingGridSearchCV HalvingRandomSearchCV "
        "RandomizedSearchCV cross_val_predict cross_val_score cross_validate "
        "differential_evolution dummy_minimize "
        "fmin for forest_minimize gbrt_minimize gp_minimize optimize while",
        "Model Module Sequential applications clone_model from_preset from_pretrained load_model "
        "model_from_json",
    ),
    check=check,
)
