"""Python goes over a dataset while a graph is traced, and never comes to its end.

## What it finds
In code that `tf.function` or tf.data trace: a loop over `tqdm(dataset)`, over a generator of the
module or a function of `itertools` that is given a dataset; a comprehension over a dataset;
`list(dataset)`.

## Why it costs memory
AutoGraph makes one loop of the graph of `for x in dataset`, but knows nothing of what wraps it. So
Python asks for the next element while tracing, gets a symbol for it, traces the body, and asks
again. A symbol can always be had: the graph grows until the memory is gone. Where something counts,
as `itertools.islice` does, tracing ends, with a copy of the body for every element.

## What to do instead
Loop over the dataset itself. `enumerate`, `zip`, `map` and `filter` of datasets are fine: AutoGraph
knows these. Use `dataset.take(n)` for `islice`, and put a progress bar around a loop outside, one
that calls a traced step.

## Fix safety
Unsafe: the original never ends, and what does now may do other things on its way than Python did
while it traced. Offered where a progress bar is taken off a loop, and where `islice` becomes `take`
around a body that only computes: a loop of the graph also wants its variables to keep their shapes.
Not offered for generators, comprehensions and lists.

## When to ignore it
When a short `islice` is meant to be unrolled: up to 32 elements the rule is silent by itself, as it
is where a `break` or `return` of Python's ends the loop, and where AutoGraph is off, since
TensorFlow then raises an error after as many.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, File, Fix, Metric, Rule, edits
from tfmemlint.facts.graphs.pulls import PROGRESS, Pull
from tfmemlint.facts.library.words import PIPELINE_WORDS

FEW = 32


def check(file: File) -> Iterator[Diagnostic]:
    for pull in file.tf.pulls.all:
        count = file.tf.values.number(pull.limit)
        if count is None or count > FEW:
            yield Diagnostic(file.span(pull.node), _message(pull), _fix(file, pull))


def _message(pull: Pull) -> str:
    who = "a comprehension" if pull.by is None else f"`{pull.by}`"
    dataset = ast.unparse(pull.dataset)
    whose = f"`{dataset}`" if len(dataset) <= 40 else "a dataset"
    if pull.limit is None:
        return f"{who} pulls elements out of {whose} while tracing, which never ends"
    copies = f"the graph gets a copy of the loop for each of `{ast.unparse(pull.limit)}`"
    return f"{who} pulls elements out of {whose} while tracing: {copies}"


def _fix(file: File, pull: Pull) -> Fix | None:
    if not isinstance(pull.node, ast.Call) or "#" in file.source(pull.node):
        return None
    if isinstance(file.tf.tree.parent(pull.node), ast.Return):
        return None  # others may go over what a function gives
    first = pull.node.args[0]
    if file.tf.names.is_any(pull.node.func, PROGRESS) and first is pull.dataset:
        edit = edits.replaced(file, pull.node, file.source(first))
        return Fix("Loop over the dataset itself", (edit,), Applicability.UNSAFE)
    if pull.limit is None or pull.loop is None or len(pull.node.args) != 2:
        return None
    if not file.tf.loop_bodies.fit_dataset(file.tf.loops.loop(pull.loop)):
        return None
    chained = f"{file.source(first)}.take({file.source(pull.limit)})"
    edit = edits.replaced(file, pull.node, chained)
    simple = isinstance(first, (ast.Name, ast.Attribute, ast.Call))
    return Fix("Take the elements in the graph", (edit,), Applicability.UNSAFE) if simple else None


RULE = Rule(
    code="TFM107",
    name="python-iterator-around-dataset-in-graph",
    claim=Claim(
        Metric.GRAPH_BYTES, at_most=0.06, because="the graph holds the loop's body once, not again"
    ),
    triggers=(
        f"{PIPELINE_WORDS} batch shuffle",
        "function map flat_map interleave filter",
    ),
    check=check,
)
