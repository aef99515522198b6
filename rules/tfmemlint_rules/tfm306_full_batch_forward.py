"""A whole array goes through the model at once, so its activations grow with the data.

## What it finds
A training or test step that a loop calls with the same whole array every time; in eager code
`model(x_test)`; `predict_on_batch`, `test_on_batch` and `train_on_batch` of a whole array;
`predict` and `evaluate` with `batch_size=len(x)`. Whole is what was loaded from a file or a
ready-made data set, or made at a literal size, and is never cut. Names prove nothing: `x_train` is
mostly a batch.

## Why it costs memory
The widest layer's output is held for every row at once. Under a gradient tape every layer's output
is, until the gradient is taken.

## What to do instead
Train on slices of the arrays, one after another. For inference let `predict` and `evaluate` cut
batches of 32: they keep only the results of all rows.

## Fix safety
Unsafe: a step in a loop becomes a step for every 32 rows in each trip of the loop, so the weights
are updated more often, and a loss is that of the last slice. `predict` gives NumPy arrays, and
other batches may round differently.

## When to ignore it
When the step needs all rows together: exact gradient descent, a loss over pairs. The rule is silent
by itself for arrays known to be small (up to 2,048 rows or a million numbers), where gradients of
inputs are taken, for steps that pick rows or take several inputs, and in files that use a graph
library or a minimiser such as L-BFGS.
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
    Metric,
    Rule,
    Span,
    edits,
)
from tfmemlint.facts import Frame, FunctionNode, Kind, Pass, Tape, argument

LARGE_BATCH = 2_048
"""Rows that people choose as one batch, and benchmarks make as one."""
FEW_NUMBERS = 1_000_000
"""4 MB of input: the activations of common networks are ten to thirty times that."""
USUAL_ROWS = 60_000
"""What is assumed of loaded data whose width alone is known."""

RELATES_ALL = (
    *("dgl", "graph_nets", "networkx", "ogb", "scipy.optimize", "scipy.sparse", "spektral"),
    *("stellargraph", "tensorflow.sparse", "tensorflow_gnn", "tensorflow_probability.optimizer"),
)
"""Graphs, whose nodes are computed from one another, and minimisers that want exact gradients."""
RELATES_ROWS = frozenset(
    {
        "tensorflow.boolean_mask",
        "tensorflow.gather",
        "tensorflow.gather_nd",
        "tensorflow.gradients",
        "tensorflow.hessians",
    }
)
CUTS_BATCHES = {"predict_on_batch": "predict", "test_on_batch": "evaluate"}
BATCH_SIZE_PLACE = {"predict": 1, "evaluate": 2}
KERAS_METHODS = frozenset({"train_on_batch", *CUTS_BATCHES, *BATCH_SIZE_PLACE})
TAKES_ARRAYS = ("keras.", "numpy.", "sklearn.", "tensorflow.")
SAME_FOR_EVERY_BATCH = ("keras.losses.", "keras.metrics.", "keras.optimizers.")


def check(file: File) -> Iterator[Diagnostic]:
    tf = file.tf
    if not tf.wholes.any_made:
        return
    calls = list(tf.tree.all(ast.Call))
    steps = {call: passes for call in calls if (passes := _step(file, call))}
    entered = {each for passes in steps.values() for one in passes for each in one.functions}
    found: list[tuple[ast.Call, ast.expr | None]] = []
    for call in calls:
        if call in steps:
            found.append((call, tf.passes.argument(steps[call][0], call)))
        elif isinstance(call.func, ast.Attribute) and call.func.attr in KERAS_METHODS:
            found.append((call, _given_to_keras(file, call, call.func)))
        elif tf.tree.function(call) not in entered:
            found.append((call, _given_to_model(file, call)))
    whole = [(call, array) for call, array in found if array is not None]
    if whole and not tf.names.uses(RELATES_ALL):
        for call, array in whole:
            if tf.tracing.why(call) is None:
                yield _diagnostic(file, call, array, _fix(file, call, steps.get(call)))


def _diagnostic(file: File, call: ast.Call, array: ast.expr, fix: Fix | None) -> Diagnostic:
    name = ast.unparse(_rows(file, array) or array)
    shape = file.tf.values.of(array).shape
    rows = (
        f"all {shape[0]:,} rows of `{name}` go" if shape and shape[0] else f"all of `{name}` goes"
    )
    often = ", in every iteration" if file.tf.loops.around(call) else ""
    return Diagnostic(
        file.span(call),
        f"{rows} through `{ast.unparse(call.func)}` at once{often}",
        fix,
        Cost(f"activations of len({name}) rows"),
    )


def _is_large(
    file: File, array: ast.expr, frame: Frame | None = None, *, once: bool = False
) -> bool:
    """Whether an array holds all rows, and enough of them; with `once`, surely not one of many."""
    whole = file.tf.wholes.of(array, frame)
    if whole is None or (once and whole.given):
        return False
    if not whole.loaded and (whole.rows is None or whole.width is None):
        return False
    rows = USUAL_ROWS if whole.rows is None else whole.rows
    width = FEW_NUMBERS if whole.width is None else whole.width
    return rows > LARGE_BATCH and rows * width > FEW_NUMBERS


def _step(file: File, call: ast.Call) -> list[Pass]:
    """What a step called in a loop puts through a model: one whole array, again and again."""
    tf = file.tf
    if tf.functions.function(call.func) is None or not any(tf.tree.loops(call)):
        return []
    found = [each for each in tf.passes.below(call) if _is_large(file, each.array, each.frame)]
    arrays = {tf.passes.argument(each, call) for each in found}
    if len(arrays) != 1 or None in arrays:
        return []
    entered = _entered(found)
    ran = (node for each in entered for node in tf.functions.body(each))
    called = (node.func for node in ran if isinstance(node, ast.Call))
    relates = any(tf.names.is_any(each, RELATES_ROWS) for each in called)
    tapes = [tape for tape in tf.tapes.all if tf.tree.function(tape.block) in entered]
    return [] if relates or _watches_inputs(file, tapes) else found


def _entered(passes: list[Pass]) -> set[FunctionNode]:
    return {function for each in passes for function in each.functions}


def _watches_inputs(file: File, tapes: Iterable[Tape]) -> bool:
    """Whether gradients of inputs are taken: by a tape that watches them, or one inside another."""
    recording = file.tf.tapes.recording
    return any(
        tape.watched or len({each.block for each in recording(tape.block)}) > 1 for tape in tapes
    )


def _given_to_model(file: File, call: ast.Call) -> ast.expr | None:
    """The whole array that `model(x)` takes at once."""
    found = file.tf.passes.of(call)
    if found is None or _watches_inputs(file, file.tf.tapes.recording(call)):
        return None
    return found.array if _is_large(file, found.array, once=True) else None


def _given_to_keras(file: File, call: ast.Call, callee: ast.Attribute) -> ast.expr | None:
    """The whole array that a Keras method is told to take as one batch."""
    tf = file.tf
    x, y = argument(call, 0, "x"), argument(call, 1, "y")
    maybe_keras = tf.values.of(callee.value).kind in (Kind.MODEL, Kind.UNKNOWN)
    if not maybe_keras or tf.functions.function(callee) is not None:
        return None
    if x is None or not _is_large(file, x, once=True):
        return None
    if callee.attr not in BATCH_SIZE_PLACE:
        return x
    size = argument(call, BATCH_SIZE_PLACE[callee.attr], "batch_size")
    return x if size is not None and _is_length(file, size, [x, y]) else None


def _is_length(file: File, size: ast.expr, arrays: list[ast.expr | None]) -> bool:
    """Whether a batch size is the number of rows of one of these arrays."""
    counted, number = file.tf.values.rows(size), file.tf.values.number(size)
    for each in arrays:
        if each is not None and counted is not None and file.tf.bindings.same(counted, each):
            return True
        shape = file.tf.values.of(each).shape if each is not None else None
        if shape and shape[0] is not None and number is not None and number >= shape[0]:
            return True
    return False


def _fix(file: File, call: ast.Call, passes: list[Pass] | None) -> Fix | None:
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if passes:
        return _step_in_batches(file, call, passes)
    if method == "train_on_batch":
        return _in_batches(file, call)
    if method in CUTS_BATCHES:
        return _batches_by_keras(file, call, method)
    if method in BATCH_SIZE_PLACE:
        return _default_batches(file, call, method)
    return _predicted(file, call)


def _default_batches(file: File, call: ast.Call, method: str) -> Fix | None:
    size = argument(call, BATCH_SIZE_PLACE[method], "batch_size")
    default = edits.without_argument(file, call, "batch_size")
    if size in call.args:
        default = edits.replaced(file, size, "None")
    return default and Fix("Leave the batch size to Keras", (default,), Applicability.UNSAFE)


def _batches_by_keras(file: File, call: ast.Call, method: str) -> Fix | None:
    better = CUTS_BATCHES[method]
    name, quiet = edits.method_call(file, call), edits.with_argument(file, call, "verbose=0")
    same = {"x", "y", "sample_weight", "return_dict"}.issuperset(each.arg for each in call.keywords)
    if name is None or quiet is None or not same or len(call.args) > 2:
        return None
    renamed = Edit(Span(name.start, name.start + len(method)), better)
    return Fix(f"Let `{better}` cut batches", (renamed, quiet), Applicability.UNSAFE)


def _predicted(file: File, call: ast.Call) -> Fix | None:
    """`model.predict(x)` for `model(x)`, where nothing minds that it gives NumPy arrays."""
    tf = file.tf
    training = [each for each in call.keywords if each.arg == "training"]
    learns = any(not isinstance(each.value, ast.Constant) or each.value.value for each in training)
    if learns or len(call.args) != 1 or call.keywords != training or tf.tapes.recording(call):
        return None
    taken = _taken_as_numpy(file, call) if tf.passes.is_model(call.func) else None
    quiet = edits.with_argument(file, call, "verbose=0")
    if taken is None or quiet is None:
        return None
    if training:
        quiet = edits.replaced(file, training[0], "verbose=0")
    end = file.span(call.func).end
    return Fix(
        "Let `predict` cut batches",
        (Edit(Span(end, end), ".predict"), quiet, *taken),
        Applicability.UNSAFE,
    )


def _taken_as_numpy(file: File, result: ast.expr) -> list[Edit] | None:
    """The edits that take `.numpy()` off a result; None where something may need a tensor."""
    above = file.tf.tree.parent(result)
    if isinstance(above, ast.Subscript) and above.value is result:
        return _taken_as_numpy(file, above)
    if isinstance(above, ast.Attribute) and above.attr == "numpy":
        call = file.tf.tree.parent(above)
        end = file.span(result).end
        gone = Span(end, file.span(call).end if isinstance(call, ast.Call) else end)
        return [Edit(gone, "")] if file.source(gone) == ".numpy()" else None
    if isinstance(above, ast.Call) and result in above.args:
        takes = (file.tf.names.qualified(above.func) or "").startswith(TAKES_ARRAYS)
        return [] if takes else None
    if isinstance(above, ast.Assign) and all(isinstance(each, ast.Name) for each in above.targets):
        reads = list(_reads(file, above))
        if any(file.tf.bindings.only(each) is None for each in reads):
            return None
        found = [_taken_as_numpy(file, each) for each in reads]
        return None if None in found else [edit for each in found if each for edit in each]
    return None


def _step_in_batches(file: File, call: ast.Call, passes: list[Pass]) -> Fix | None:
    tf = file.tf
    entered = _entered(passes)
    trains = any(tf.tree.function(tape.block) in entered for tape in tf.tapes.all)
    discarded = isinstance(tf.tree.statement(call), ast.Expr)
    if not discarded and (not trains or tf.passes.gives_output(call)):
        return None
    if any(_needs_all_rows(file, function) for function in entered):
        return None
    return _in_batches(file, call)


def _needs_all_rows(file: File, function: FunctionNode) -> bool:
    """Whether a step reads whole arrays it is not given, or declares the shape of its inputs."""
    tf = file.tf
    traced = tf.tracing.functions.get(function)
    words = ast.walk(traced.at) if traced else ()
    if any(isinstance(each, ast.keyword) and each.arg == "input_signature" for each in words):
        return True
    for node in tf.functions.body(function):
        if isinstance(node, (ast.Name, ast.Attribute)) and tf.wholes.of(node) is not None:
            home = tf.bindings.home(node.id, node) if isinstance(node, ast.Name) else None
            if home is None or not tf.tree.inside(home, function):
                return True
    return False


def _in_batches(file: File, call: ast.Call) -> Fix | None:
    """The statement of a call put in a loop over slices of the arrays that the call is given."""
    tf = file.tf
    statement = tf.tree.statement(call)
    lines = edits.whole_lines(file, statement)
    given = [*call.args, *(each.value for each in call.keywords)]
    arrays = [each for each in given if tf.values.of(each).is_array]
    sliced = [rows for each in arrays if (rows := _rows(file, each)) is not None]
    lengths = {shape[0] for each in sliced if (shape := tf.values.of(each).shape) and shape[0]}
    if (
        lines is None
        or not _is_alone(statement, call)
        or not all(each in arrays or _is_no_data(file, each) for each in given)
        or not len(arrays) == len(sliced) in (1, 2)
        or len(lengths) > 1
        or any(_meets_an_array(file, each) for each in _reads(file, statement))
        or file.concrete(call) is None
    ):
        return None
    start = edits.fresh(file, "start", "batch_start")
    cuts = [Edit(Span(end, end), f"[{start} : {start} + 32]") for _, end in map(file.span, sliced)]
    header = f"for {start} in range(0, len({file.source(sliced[0])}), 32):"
    nested = edits.nested(file, lines, header, cuts)
    return Fix("Step through slices of 32 rows", (nested,), Applicability.UNSAFE)


def _is_alone(statement: ast.stmt, call: ast.Call) -> bool:
    """Whether a statement only makes the call, and at most names something of its result."""
    value = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
    while value is not None and value is not call:
        if isinstance(value, (ast.Attribute, ast.Subscript)):  # step(x, y)["loss"].numpy()
            value = value.value
        else:
            value = value.func if isinstance(value, ast.Call) and not value.args else None
    return value is call


def _rows(file: File, node: ast.expr) -> ast.expr | None:
    """The name or attribute whose rows an argument has, seen through conversions."""
    inner: ast.expr | None = node
    while inner is not None and not isinstance(inner, (ast.Name, ast.Attribute)):
        inner = file.tf.passes.converted(inner)
    base: ast.expr | None = inner
    while isinstance(base, ast.Attribute):
        base = base.value
    return inner if inner and isinstance(base, ast.Name) and file.tf.wholes.of(inner) else None


def _is_no_data(file: File, node: ast.expr) -> bool:
    """Whether an argument is the same for every batch: a number, a model, an optimiser, a loss."""
    tf = file.tf
    if isinstance(node, ast.Constant) or tf.functions.function(node) is not None:
        return True
    made = [each.value for each in tf.flow.origins(node) or () if isinstance(each.value, ast.Call)]
    names = [tf.names.qualified(each.func) or "" for each in made]
    is_object = bool(names) and all(each.startswith(SAME_FOR_EVERY_BATCH) for each in names)
    return is_object or tf.values.of(node).kind in (Kind.NUMBER, Kind.MODEL, Kind.LAYER)


def _reads(file: File, statement: ast.stmt) -> Iterator[ast.Name]:
    """The uses of what a statement assigns."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            home = file.tf.bindings.home(node.id, node)
            for binding in file.tf.bindings.of(home, node.id) if home is not None else ():
                if binding.node is node:
                    yield from file.tf.bindings.readers(binding)


def _meets_an_array(file: File, use: ast.Name) -> bool:
    """Whether a result is computed with whole arrays, whose rows are no longer its own."""
    tree = file.tf.tree
    around = [use, *(each for each in tree.ancestors(use) if isinstance(each, ast.expr))]
    near = [each for each in around if tree.statement(each) is tree.statement(use)]
    nodes = ast.walk(near[-1])
    return any(isinstance(each, ast.expr) and file.tf.wholes.of(each) for each in nodes)


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
        "binomial choice datasets empty fill fromfile full genfromtxt integers load loadtxt memmap "
        "normal ones rand randint randn random random_sample read_csv read_excel read_feather "
        "read_hdf read_parquet read_pickle standard_normal stateless_normal stateless_uniform "
        "truncated_normal uniform zeros",
        "GradientTape Layer Model Module Sequential applications clone_model evaluate layers "
        "load_model model_from_json predict predict_on_batch test_on_batch train_on_batch",
    ),
    check=check,
)
