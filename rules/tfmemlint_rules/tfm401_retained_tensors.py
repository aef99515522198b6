"""A list keeps a tensor on the device for every step of a loop.

## What it finds
`losses.append(loss)` in an eager loop over batches, where `loss` is surely a tensor and the list
outlives the pass over the data: what a tape was asked the gradient of, a reduction, or what a
function of the module makes of these. And `scores.append(model(x))` or the gradients themselves, if
nothing but NumPy reads the list, or nobody: what a model or an operation makes of each batch, kept
on the device until all of it is copied from there.

## Why it costs memory
Each tensor has its own place in the device's memory, a prediction as much as it is large, a single
number 256 bytes, and a Python object of about a kilobyte on the host beside it. They stay until the
list goes: to the end of the epoch or of the training. Little as a number is, such a list grows with
the steps. It keeps no graph and no activations, other than in PyTorch: a running sum,
`total += loss`, costs nothing.

## What to do instead
Append `loss.numpy()`, 33 bytes in all, or have a `tf.keras.metrics.Mean` keep the mean alone.
Predictions go to the host batch by batch with `model(x).numpy()`, or `model.predict` as a whole. On
a machine without a GPU these take as much as NumPy's arrays as they did as tensors.

## Fix safety
Safe for single numbers that one loop appends to a list of one function, and of which `np.mean`,
`np.array` and the like make an array, and nothing else: the array is the same. Unsafe where any
other code sees the list, another file's included, or where what is kept may be several tensors, or
a variable: a model's outputs, a loss that a function out of sight gives. Not offered where the list
is indexed, returned or handed on: NumPy's numbers have no `.numpy()`, nor has a list of gradients
or a value for each replica; nor where several tensors are added as one row, nor where a list beside
it could not be changed alike. Each step then waits until its number is there, which a GPU that is
kept busy may notice.

## When to ignore it
When steps are few, or must not wait. The rule is silent by itself on one number for each epoch
where nothing tells how many there are, on the numbers of one epoch that go with it, or that a
function of one pass gives back outside of loops, on classes (`argmax`) and targets of each batch,
on up to 16 tensors of unknown size, every hundredth step or the first ones, one for each of several
models or updates with the same batch, lists that are emptied, and where a tape, a graph,
`tf.concat` or `tf.stack` is to have the tensors. Numbers of so many steps that they are known to
take less than 32 MB, 26,214 of them, are hidden as long as `min-bytes` is not set.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

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
    Span,
    costs,
)
from tfmemlint.facts.flow.labels import Labels
from tfmemlint.facts.flow.loops import Over
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.words import PIPELINE_WORDS
from tfmemlint.facts.sizes.amounts import count, held, product
from tfmemlint.facts.syntax.nodes import called
from tfmemlint_rules._analyses.kept import Kept, KeptTensors, Sort
from tfmemlint_rules._analyses.lifetimes import Lifetimes

ALLOCATION = 256
"""Bytes, of which the device's memory is given out in multiples."""
OBJECT = 1024
"""Bytes, of the Python object for a tensor."""
OF_NUMBERS = frozenset(
    f"numpy.{name}"
    for name in ["array", "asarray", "average", "max", "mean", "median", "min", "std", "sum", "var"]
)
FEW = {Sort.NUMBER: 1024, Sort.TENSOR: 16}
"""Trips that keep too little to speak of."""
OFTEN = 8
"""One of so many rounds is one of many."""
FEW_OR_UNKNOWN = {Over.CONDITION, Over.FOREVER, Over.LITERAL}

TAKES_NUMBERS = (
    "matplotlib.",
    "numpy.",
    "tensorflow.convert_to_tensor",
    "tensorflow.math.reduce_",
    "tensorflow.reduce_",
    "tensorflow.stack",
)
BUILTIN = {"len", "max", "min", "print", "sum"}


def check(file: File) -> Iterator[Diagnostic]:
    found = [each for each in file.tf.of(KeptTensors).all if _is_worth_a_word(file, each)]
    fixes = {each.growth.node: _fix(file, each) for each in found}
    for kept in found:
        beside = [fixes[each.growth.node] for each in found if each.loop.node is kept.loop.node]
        tensors = f"{1 + kept.beside} tensors" if kept.beside else "a tensor"
        added = kept.growth.value if kept.beside else kept.tensor
        yield Diagnostic(
            file.span(kept.growth.node),
            f"`{kept.growth.name}` keeps {tensors} on the device for each trip of "
            f"`{file.named(kept.loop.node)}`: `{file.named(added)}`",
            None if None in beside else fixes[kept.growth.node],  # siblings are treated alike
            _cost(file, kept),
        )


def _is_worth_a_word(file: File, kept: Kept) -> bool:
    cost = _cost(file, kept)
    if kept.sort is Sort.TENSOR and file.tf.of(Labels).are_in(kept.tensor):
        return False
    few = cost.at_most is None and _is_short(file, kept)
    unknown = all(each.over in FEW_OR_UNKNOWN for each in kept.growth.loops)
    if few or unknown or _is_picked(file, kept) or not _is_wanted_elsewhere(file, kept):
        return False
    if kept.loop.over is Over.EPOCHS and cost.bytes is None:
        return False  # who knows how many; they are seldom many
    return kept.sort is Sort.TENSOR or not file.tf.of(Lifetimes).is_one_pass(kept)


def _cost(file: File, kept: Kept) -> Cost:
    """All tensors of a list, none of which is less than an allocation."""
    rounds = product([file.tf.numbers.rounds(each.node) for each in kept.growth.loops])
    each = file.tf.arrays.nbytes(kept.tensor)
    if kept.sort is Sort.NUMBER or (each.value is not None and each.value < ALLOCATION):
        each = held(ALLOCATION)
    row = each.plus(held(OBJECT)).times(count(1 + kept.beside)).folded()
    worth = costs.BUFFERED if kept.sort is Sort.NUMBER else 0
    return costs.cost(rounds.times(row), Law.STEPS, worth=worth)


def _is_picked(file: File, kept: Kept) -> bool:
    """Whether a test keeps tensors of few rounds alone: of one in a hundred."""
    added = file.tf.tree.statement(kept.at)
    return file.tf.counted_rounds.are_few(added, kept.loop, FEW[kept.sort], every=OFTEN)


def _is_short(file: File, kept: Kept) -> bool:
    few, loop, tf = FEW[kept.sort], kept.loop, file.tf
    if kept.at is not kept.growth.node and any(tf.tree.tests(kept.growth.node, tf.tree.module)):
        return True  # not in each call
    rounds = product([tf.numbers.rounds(each.node) for each in kept.growth.loops]).value
    if rounds is not None and rounds <= few:
        return True
    left = tf.counted_rounds.left_after(loop)
    if left is not None and left <= few:
        return True
    if loop.trips is not None and loop.over is not Over.DATASET:
        return loop.trips <= few
    chains = tf.datasets.of(loop.iterable) if loop.iterable is not None else ()
    bounds = [tf.lengths.at_most(each) for each in chains]
    return bool(bounds) and all(each is not None and each <= few for each in bounds)


def _is_wanted_elsewhere(file: File, kept: Kept) -> bool:
    """Whether the list is one of steps, and nothing shows that the device is to have it."""
    by_numpy = [file.tf.of(KeptTensors).by_numpy(each) for each in kept.reads]
    is_of_data = file.tf.of(KeptTensors).is_of_data(kept)
    if kept.sort is Sort.NUMBER and is_of_data:
        return True
    known = bool(by_numpy) or kept.stays  # or nobody reads it
    numpy = any(by_numpy) if kept.sort is Sort.NUMBER else known and all(by_numpy)
    return numpy and (is_of_data or file.tf.of(KeptTensors).is_of_part(kept))


def _fix(file: File, kept: Kept) -> Fix | None:
    tensors = file.tf.of(KeptTensors)
    if kept.beside or kept.tensor is not kept.growth.value:
        return None  # a row of several
    if tensors.may_be_list(kept.tensor) or file.tf.names.uses(("tensorflow.distribute.",)):
        return None  # neither a list nor a value for each replica has `.numpy()`
    if not kept.in_sight or not all(_takes_numbers(file, each) for each in kept.reads):
        return None
    copied = ".numpy()"
    start, end = file.span(kept.tensor)
    change: tuple[Edit, ...] = (Edit(Span(end, end), copied),)
    if not isinstance(kept.tensor, (ast.Attribute, ast.Call, ast.Name, ast.Subscript)):
        change = (Edit(Span(start, start), "("), Edit(Span(end, end), f"){copied}"))
    exact = bool(kept.reads) and all(_makes_array(file, each) for each in kept.reads)
    exact = exact and kept.sort is Sort.NUMBER and file.tf.of(KeptTensors).are_single
    exact = exact and _is_out_of_reach(file, kept)
    safety = Applicability.SAFE if exact else Applicability.UNSAFE
    return Fix("Keep NumPy's copy instead", change, safety)


def _is_out_of_reach(file: File, kept: Kept) -> bool:
    """Whether all that is done with the list is in sight: no other function or file reads it."""
    if kept.growth.named is None or not kept.in_sight:
        return False
    start = kept.growth.named.start
    scope = file.tf.bindings.home(start.name, start.node)
    if scope is None or isinstance(scope, ast.ClassDef) or not isinstance(start.node, ast.Name):
        return False
    if file.tf.imports.is_imported and isinstance(scope, ast.Module):
        return False
    here = file.tf.tree.function(kept.growth.node)
    loads = file.tf.bindings.loads(scope, start.name)
    others = [each for each in loads if each not in kept.reads]
    added = [getattr(getattr(kept.growth.node, "func", None), "value", None)]
    return (
        others == added
        and all(file.tf.tree.function(each) is here for each in loads)
        and len(file.tf.bindings.of(scope, start.name)) == 1
        and isinstance(start.value, ast.List)
        and not start.value.elts
        and all(_is_plain(file, each) for each in kept.reads)
        and _is_tensor(file, kept)
    )


def _is_plain(file: File, read: ast.expr) -> bool:
    """Whether one of those functions of NumPy takes a list that make of it what it holds."""
    call = file.tf.tree.parent(read)
    return isinstance(call, ast.Call) and file.tf.names.is_any(call.func, OF_NUMBERS)


def _is_tensor(file: File, kept: Kept) -> bool:
    """Whether what is kept is a tensor, which a variable is not: that changes."""
    if file.tf.values.of(kept.tensor).kind is Kind.VARIABLE:
        return False
    name = kept.tensor
    for _ in range(8):
        binding = file.tf.bindings.only(name)
        if binding is None:
            break
        if binding.value is None or not binding.is_whole:
            return False
        name = binding.value
    if isinstance(name, ast.Call):
        function = file.tf.functions.function(name.func)
        returned = file.tf.bodies.returns(function) if function is not None else ()
        traced = function is not None and file.tf.tracing.why(function) is not None
        return file.tf.constants.makes_tensor(name) or (bool(returned) and traced)
    return isinstance(name, ast.BinOp)


def _makes_array(file: File, read: ast.expr) -> bool:
    """Whether NumPy makes an array of a list, whatever it takes for numbers in it."""
    call = file.tf.tree.parent(read)
    alone = isinstance(call, ast.Call) and call.args == [read]
    axis = isinstance(call, ast.Call) and all(each.arg == "axis" for each in call.keywords)
    return alone and axis and file.tf.of(KeptTensors).by_numpy(read)


def _takes_numbers(file: File, read: ast.expr) -> bool:
    call = file.tf.tree.parent(read)
    if not isinstance(call, ast.Call) or read not in call.args:
        return False
    name = file.tf.names.qualified(call.func)
    if name is not None:
        return name.startswith(TAKES_NUMBERS)
    return called(call) in BUILTIN


RULE = Rule(
    code="TFM401",
    name="retained-tensors",
    claim=Claim(
        Metric.DEVICE_GROWTH, at_most=0.05, because="the steps leave nothing on the device"
    ),
    triggers=(
        "append",
        f"GradientTape array asarray average concatenate hstack mean median stack std sum vstack "
        f"{PIPELINE_WORDS}",
    ),
    check=check,
)
