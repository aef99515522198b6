"""A whole array goes through the model at once, so its activations grow with the data.

## What it finds
A training or test step that a loop calls with the same whole array every time; in eager code
`model(x_test)`; `predict_on_batch`, `test_on_batch` and `train_on_batch` of a whole array;
`predict` and `evaluate` with `batch_size=len(x)`; in code for sessions with convolutions or
recurrent layers, a `feed_dict` of a whole array whose rows are known, or whose placeholder is fed
batches elsewhere. Whole is what was loaded from a file or a ready-made data set, or made at a
literal size, and is never cut; and, where a loop asks a model about it in every round or a session
is fed it, what a pipeline or a loop beside cuts into batches. Names prove nothing: `x_train` is
mostly a batch.

## Why it costs memory
The widest layer's output is held for every row at once. Under a gradient tape every layer's output
is, until the gradient is taken.

## What to do instead
Train on slices of the arrays, one after another. For inference let `predict` and `evaluate` cut
batches of 32: they keep only the results of all rows.

## Fix safety
Unsafe: a step in a loop becomes a step for every 32 rows in each trip of the loop, so the weights
are updated more often, and a loss is that of the last slice. What a model says of the same rows in
every round of a loop that does nothing else with it is asked once, before that. `predict` gives
NumPy arrays, and other batches may round differently. None is offered where one of the edits cannot
be made, and in code for sessions, where what is averaged over batches is for people to say.

## When to ignore it
When the step needs all rows together: exact gradient descent, a loss over pairs. The rule is silent
by itself for up to 32 rows, and for up to 2,048, which people choose for one batch, if it does not
see what the model makes of them; for rows of unknown number that a model is but asked about where a
loop beside trains it with all rows, or whose dense layers are known to be narrow: less than 2 KB of
activations a row; where gradients of inputs are taken, for steps that pick rows or take several
inputs, and in files that use a graph library or a minimiser such as L-BFGS.
Activations known to be less than 64 MiB, of a ready-made data set, such as MNIST, less than 256 MB,
are hidden, unless `min-bytes` says otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tfmemlint import (
    Applicability,
    Claim,
    Cost,
    Diagnostic,
    Edit,
    File,
    Fix,
    Law,
    Metric,
    Rule,
    costs,
    edits,
    loop_edits,
)
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.wholes import Whole
from tfmemlint.facts.sizes.amounts import count
from tfmemlint.facts.sizes.layer_runs import FLOAT
from tfmemlint.facts.sizes.layers import IN_PLACE
from tfmemlint.facts.sizes.ready import Ready
from tfmemlint_rules._analyses.full_batches import FullBatch, FullBatches
from tfmemlint_rules._analyses.same_each_round import SameEachRound
from tfmemlint_rules._analyses.sliceable import Sliceable

RELATES_ALL = (
    *("dgl", "graph_nets", "networkx", "ogb", "scipy.optimize", "scipy.sparse", "spektral"),
    *("stellargraph", "tensorflow.sparse", "tensorflow_gnn", "tensorflow_probability.optimizer"),
)
"""Graphs, whose nodes are computed from one another, and minimisers that want exact gradients."""
WORTH = 64 << 20
"""Bytes: activations that are less are few beside what TensorFlow takes for itself."""
NARROW = 2 << 10
"""Bytes of a row's activations, of which only a table of many thousands of rows makes much."""
KERAS_METHODS = {"evaluate", "predict", "predict_on_batch", "test_on_batch", "train_on_batch"}
CUTS_BATCHES = {"predict_on_batch": "predict", "test_on_batch": "evaluate"}


def check(file: File) -> Iterator[Diagnostic]:
    found = file.tf.of(FullBatches).all
    if found and not file.tf.names.uses(RELATES_ALL):
        trained = {_model(file, each) for each in found if _is_trained(file, each)}
        for each in found:
            if _model(file, each) in trained and _is_but_asked(file, each):
                continue  # training takes as much, and its activations stay for the gradient
            if not each.passes and not _is_trained(file, each) and _is_narrow(file, each):
                continue
            if file.tf.tracing.why(each.call) is None:
                cost = _cost(file, each)
                whole = _whole(file, each)
                is_batch = (
                    not each.fed and not each.cut and (whole is None or not whole.is_no_batch)
                )
                if cost.at_most is not None or not is_batch:
                    yield _diagnostic(file, each, cost)


def _model(file: File, found: FullBatch) -> tuple[ast.AST | None, str]:
    """What the array is given to, as the code of one function says it."""
    return file.tf.tree.function(found.call), ast.unparse(found.call.func)


def _is_trained(file: File, found: FullBatch) -> bool:
    """Whether a tape records what the model makes of all rows, round after round."""
    return bool(file.tf.tapes.recording(found.call)) and bool(file.tf.loops.around(found.call))


def _is_but_asked(file: File, found: FullBatch) -> bool:
    """Whether a model is asked for what it makes of rows, and nothing tells how many they are."""
    rows = (file.tf.values.of(found.array).shape or (None,))[0]
    return rows is None and not _is_trained(file, found)


def _is_narrow(file: File, found: FullBatch) -> bool:
    """Whether a few narrow layers make little of each row, and nothing tells how many they are."""
    model, frame = _asked(found)
    rows = file.tf.numbers.length(found.array, frame)
    if rows.value is not None or rows.at_most is not None:
        return False
    runs = file.tf.models.runs(model, None, frame) or []
    layers = [each.layer for each in runs if each.layer.name not in IN_PLACE]
    widths = [each.one("units") if each.name == "Dense" else None for each in layers]
    known = [each for each in widths if each is not None]
    return bool(known) and len(known) == len(widths) and sum(known) * FLOAT < NARROW


def _asked(found: FullBatch) -> tuple[ast.expr, Frame | None]:
    """The model that gets the rows, be it in a function, and in which call of that."""
    called, frame = found.call, None
    if found.passes:
        called, frame = found.passes[0].call, found.passes[0].frame
    method = called.func if isinstance(called.func, ast.Attribute) else None
    keras = method is not None and method.attr in KERAS_METHODS
    return (method.value if method is not None and keras else called.func), frame


def _diagnostic(file: File, found: FullBatch, cost: Cost) -> Diagnostic:
    name = ast.unparse(file.tf.wholes.named(found.array) or found.array)
    rows = (file.tf.values.of(found.array).shape or (None,))[0]
    go = f"all {rows:,} rows of `{name}` go" if rows else f"all of `{name}` goes"
    often = ", in every iteration" if file.tf.loops.around(found.call) else ""
    title, changes = _asked_once(file, found) or _changes(file, found)
    whole = edits.whole(changes)
    return Diagnostic(
        file.span(found.call),
        f"{go} through `{ast.unparse(found.call.func)}` at once{often}",
        Fix(title, whole, Applicability.UNSAFE) if whole is not None else None,
        cost,
    )


def _whole(file: File, found: FullBatch) -> Whole | None:
    """The array, where it goes through the model."""
    if found.passes:
        return file.tf.wholes.of(found.passes[0].array, found.passes[0].frame)
    return file.tf.wholes.of(found.array)


def _cost(file: File, found: FullBatch) -> Cost:
    """The activations of all rows, and of as many as a batch has."""
    models = file.tf.models
    model, frame = _asked(found)
    trains = bool(found.passes) or "train_on_batch" in ast.unparse(found.call.func)
    rows = file.tf.numbers.length(found.array, frame)
    now = models.in_step(model, rows, found.array, trains=trains)
    batch = models.in_step(model, count(32), found.array, trains=trains)
    worth = costs.worth(ready=file.tf.of(Ready).is_array(found.array, frame), otherwise=WORTH)
    return costs.cost(now, Law.DATA, batch, worth=worth)


def _asked_once(file: File, found: FullBatch) -> tuple[str, Iterable[Edit | None]] | None:
    """What a model says of the same rows in each round, moved before a loop that trains nothing."""
    if found.passes or "train" in ast.unparse(found.call.func):
        return None
    place = file.tf.of(SameEachRound).once(found.call)
    moved = edits.lifted(file, *place) if place is not None and file.concrete(place[0]) else None
    return None if moved is None else ("Ask it once, before the loop", moved)


def _changes(file: File, found: FullBatch) -> tuple[str, Iterable[Edit | None]]:
    """What the fix does, and its edits."""
    call = found.call
    if found.fed:
        return "", [None]
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if found.passes or method == "train_on_batch":
        return "Step through slices of 32 rows", [_in_slices(file, found)]
    if found.size is not None:
        return "Leave the batch size to Keras", [_default_size(file, call, found.size)]
    if method in CUTS_BATCHES:
        better = CUTS_BATCHES[method]
        return f"Let `{better}` cut batches", _by_keras(file, call, better)
    return "Let `predict` cut batches", _predicted(file, call)


def _in_slices(file: File, found: FullBatch) -> Edit | None:
    call, sliceable = found.call, file.tf.of(Sliceable)
    arrays = sliceable.step(call, found.passes) if found.passes else sliceable.arguments(call)
    return loop_edits.in_slices(file, file.tf.tree.statement(call), arrays) if arrays else None


def _default_size(file: File, call: ast.Call, size: ast.expr) -> Edit | None:
    if size in call.args:
        return edits.replaced(file, size, "None")
    return edits.without_argument(file, call, "batch_size")


def _by_keras(file: File, call: ast.Call, better: str) -> Iterable[Edit | None]:
    given = {each.arg for each in call.keywords}
    if len(call.args) > 2 or not given <= {"x", "y", "sample_weight", "return_dict"}:
        return [None]
    return [edits.renamed(file, call, better), edits.with_argument(file, call, "verbose=0")]


def _predicted(file: File, call: ast.Call) -> Iterable[Edit | None]:
    """`model.predict(x)` for `model(x)`, where nothing minds that it gives NumPy arrays."""
    tf = file.tf
    training = [each for each in call.keywords if each.arg == "training"]
    learns = any(not isinstance(each.value, ast.Constant) or each.value.value for each in training)
    if learns or len(call.args) != 1 or call.keywords != training or tf.tapes.recording(call):
        return [None]
    converted = tf.uses.as_arrays(call) if tf.passes.is_model(call.func) else None
    if converted is None:
        return [None]
    if training:
        quiet: Edit | None = edits.replaced(file, training[0], "verbose=0")
    else:
        quiet = edits.with_argument(file, call, "verbose=0")
    predict = edits.behind(file, call.func, ".predict")
    return [predict, quiet, *(edits.unchained(file, each) for each in converted)]


RULE = Rule(
    code="TFM306",
    name="full-batch-forward",
    claim=Claim(
        Metric.DEVICE_PEAK,
        at_most=0.05,
        because="activations are those of 32 rows, not of all",
        grows=("linear", "constant"),
    ),
    triggers=(
        "binomial choice datasets empty feed_dict fill from_tensor_slices fromfile full genfromtxt "
        "integers load loadtxt memmap normal ones rand randint randn random random_sample read_csv "
        "read_data_sets read_excel read_feather read_hdf read_parquet read_pickle standard_normal "
        "stateless_normal stateless_uniform truncated_normal uniform zeros "
        "fetch_california_housing fetch_covtype fetch_lfw_people fetch_olivetti_faces fetch_openml "
        "glob h5py iglob iterdir listdir loadmat rglob scandir walk",
        "GradientTape Layer Model Module Sequential applications clone_model compile evaluate "
        "from_preset from_pretrained "
        "feed_dict layers load_model model_from_json placeholder predict predict_on_batch "
        "test_on_batch train_on_batch",
    ),
    check=check,
)
