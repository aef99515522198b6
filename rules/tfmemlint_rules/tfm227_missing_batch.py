"""A pipeline that nothing batches trains on one example at a time.

## What it finds
A tf.data pipeline of single examples (slices of whole arrays or of file names, parsed records, a
ready-made data set) given to `fit`, or to a loop that takes gradients, without a `batch` anywhere.

## Why it costs memory
It does not: one example takes less than a batch of 32. What it costs is time. Every step pays for
the pipeline, the traced function, each operation and the optimizer anew, for a single example, and
the device has too little to do at once.

## What to do instead
Batch at the end of the pipeline; 32 is Keras's own default. Keras's layers take batches only, and
most of them refuse a single example outright.

## Fix safety
Unsafe: each step follows the gradient of 32 examples, and there are fewer steps. A step of one's
own must be able to take a batch: a mean over the examples, say, in place of a single loss.

## When to ignore it
When a step for each example is what is wanted. The rule is silent by itself where an element may
be a batch already: from generators, windows, `flat_map` and `interleave`, from functions that add
an axis or stack, and behind any step it does not know.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Metric, Rule, edits
from tfmemlint.facts import Chain, End, Extent, From, Into, Kind, argument

KEEPS_EXAMPLES = frozenset(
    {
        "assert_cardinality",
        "cache",
        "filter",
        "ignore_errors",
        "map",
        "prefetch",
        "repeat",
        "shard",
        "shuffle",
        "skip",
        "snapshot",
        "take",
        "with_options",
    }
)
HOLDS_EXAMPLES = frozenset({Kind.ARRAY, Kind.TENSOR, Kind.PATHS})
MAKES_BATCHES = frozenset(
    {
        "concat",
        "concatenate",
        "expand_dims",
        "load",
        "numpy_function",
        "parse_example",
        "py_function",
        "repeat",
        "reshape",
        "stack",
        "tile",
    }
)
"""What functions do that may make a batch of an example, or have one already."""


def check(file: File) -> Iterator[Diagnostic]:
    reported: set[ast.expr] = set()
    for end in file.tf.consumers.ends:
        if not _takes_batches(file, end):
            continue
        if not all(_gives_examples(file, chain) for chain in end.chains):
            continue
        for chain in end.chains:
            last = _last(chain)
            if last is None or last in reported:
                continue
            reported.add(last)
            shared = last in file.tf.datasets.regrouped
            place = edits.method_call(file, last) or file.span(last)
            yield Diagnostic(
                file.span(end.dataset) if shared else place,
                f"each gradient step takes a single example: nothing batches {_name(end.dataset)}",
                None if shared else _fix(file, last),
            )


def _takes_batches(file: File, end: End) -> bool:
    if end.into is Into.FIT and isinstance(end.at, ast.Call):
        model = end.at.func.value if isinstance(end.at.func, ast.Attribute) else None
        return model is not None and file.tf.values.of(model).kind is Kind.MODEL
    if end.into is not Into.LOOP or not isinstance(end.at, ast.For):
        return False
    trains = file.tf.consumers.trains(end.at)
    return trains and not _may_batch(file, end.at.body)


def _gives_examples(file: File, chain: Chain) -> bool:
    """Whether each element is surely one example."""
    source = chain.source.node
    if not KEEPS_EXAMPLES.issuperset(chain.methods) or not isinstance(source, ast.Call):
        return False
    for step in chain.steps:
        if step.method == "map":
            function = file.tf.datasets.function(step)
            if function is None or _may_batch(file, [function]):
                return False
    if chain.source.kind is From.SLICES:
        tensors = argument(source, 0, "tensors")
        while isinstance(tensors, ast.Tuple) and tensors.elts:
            tensors = tensors.elts[0]
        return tensors is not None and _holds_examples(file, tensors)
    if chain.source.kind is From.CATALOGUE:
        return all(each.arg not in ("batch_size", None) for each in source.keywords)
    parses = chain.source.kind in (From.FILES, From.RECORDS)
    return parses and "map" in chain.methods


def _holds_examples(file: File, array: ast.expr) -> bool:
    """Whether each row of an array is an example."""
    value = file.tf.values.of(array)
    holds_all = value.extent is Extent.WHOLE and value.kind in HOLDS_EXAMPLES
    return holds_all and not _is_regrouped(file, array)


def _is_regrouped(file: File, array: ast.expr) -> bool:
    """Whether a `reshape` is seen to give an array another number of rows."""
    origins = file.tf.flow.origins(array) or () if isinstance(array, ast.Name) else ()
    made = origins[0].value if len(origins) == 1 else array
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
        return False
    if made.func.attr != "reshape":
        return False
    in_library = file.tf.names.qualified(made.func) is not None
    before = made.args[0] if in_library and made.args else made.func.value
    shapes = (file.tf.values.of(before).shape, file.tf.values.of(made).shape)
    was, now = (shape[0] if shape else None for shape in shapes)
    return was is not None and now is not None and was != now


def _may_batch(file: File, code: Iterable[ast.AST]) -> bool:
    """Whether code has calls that may make a batch, or adds an axis: `x[None]`."""
    for node in file.tf.consumers.run_by(code):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in MAKES_BATCHES:
                return True
        elif isinstance(node, ast.Subscript):
            indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if any(_is_new_axis(each) for each in indices):
                return True
    return False


def _is_new_axis(index: ast.expr) -> bool:
    if isinstance(index, ast.Attribute):
        return index.attr == "newaxis"
    return isinstance(index, ast.Constant) and index.value is None


def _last(chain: Chain) -> ast.Call | None:
    """The call that `batch` belongs behind: that of the last step, unless it only prefetches."""
    calls = [step.call for step in chain.steps if step.method != "prefetch"]
    if calls:
        return calls[-1]
    return chain.source.node if isinstance(chain.source.node, ast.Call) else None


def _name(dataset: ast.expr) -> str:
    """What a message calls a pipeline."""
    named = isinstance(dataset, (ast.Name, ast.Attribute))
    return f"`{ast.unparse(dataset)}`" if named else "the pipeline"


def _fix(file: File, last: ast.Call) -> Fix | None:
    added = edits.chained(file, last, ".batch(32)")
    return Fix("Batch by 32", (added,), Applicability.UNSAFE) if added else None


RULE = Rule(
    code="TFM227",
    name="missing-batch",
    claim=Claim(Metric.STEP_TIME, at_most=0.5, because="32 examples share the cost of one step"),
    triggers=(
        "from_tensor_slices list_files TFRecordDataset tensorflow_datasets",
        "fit GradientTape apply_gradients minimize train_on_batch",
    ),
    check=check,
)
