"""A Python list collects tensors in a loop of traced code.

## What it finds
A list that a loop in traced code fills (`append`, `insert`, `+=`, a comprehension) and that
`tf.stack`, `tf.concat`, `tf.convert_to_tensor` or a function that takes it for one tensor, such as
`tf.transpose` or a reduction, then reads. The loop has many trips, or as many as the data has
steps: `range(400)`, `range(x.shape[1])`, `tf.unstack(x, axis=1)`, `range(n)` with an argument of
the traced function. Or AutoGraph makes it a graph loop: over `tf.range`, a tensor or a dataset. Of
a body that is copied it speaks once, however many lists it fills.

## Why it costs memory
Python runs a loop over `range` while TensorFlow traces, so the graph gets a copy of the body for
every trip, and one more in the gradient. Nodes, and what optimiser and executor make of them, lie
in host memory, again for each traced shape; tracing takes longer, too. The tensors themselves take
as much either way. In a graph loop a list does not cost, it fails: what it holds belongs to the
loop's body, and a read outside raises `InaccessibleTensorError`.

## What to do instead
Write to a `tf.TensorArray` in a loop over `tf.range` and `stack` it afterwards: the graph holds the
body once. Where no trip needs the one before, an operation on the whole tensor or `tf.map_fn` does.
Keras 3 runs `call` and `train_step` without AutoGraph: there the loop goes into a function under
`tf.function`, into a `keras.layers.RNN` or a `tf.scan`.

## Fix safety
Unsafe: the loop variable becomes a tensor, whose value Python cannot ask for; what a trip hands to
the next must keep its dtype and shape; random operations draw other numbers; the result may have a
length that is known only when it runs. Not offered where any of this can be seen to matter, where
nothing says the dtype of what is written, and where the list has other readers.

## When to ignore it
When the trips are few, or unrolling is the aim: XLA, TPUs and some converters like straight code. A
loop of the graph takes memory of its own, and is slower: of an LSTM cell with its gradient it costs
as much as some 11 copies, and 23 copies run in half its time. When a `call` is never traced, too,
as no graph is made where another module calls the model under a tape, and nothing else. The rule is
silent in files that use `tf.lite` or a TPU strategy, on up to 32 trips, on lists over layers,
heads, levels or outputs, and where the loop variable picks Python objects, and where each of an
unknown number of trips adds a slice, which is one node.
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
    edits,
)
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.graphs.graph_loops import InGraph
from tfmemlint.facts.graphs.unrolling import LIKES_STRAIGHT_CODE
from tfmemlint.facts.library.words import TRACED_WORDS
from tfmemlint.facts.sizes.amounts import Amount, product
from tfmemlint_rules._analyses.accumulations import Accumulated, Accumulations
from tfmemlint_rules._analyses.tensor_arrays import ArrayInLoop, Reading, TensorArrays

FEW = 32
BODY = Amount(("a copy of the body",), of_bytes=True)
"""Trips that a graph can well hold a copy each of: a loop takes as much as half of them does."""


def check(file: File) -> Iterator[Diagnostic]:
    found = file.tf.of(Accumulations).all
    if not found or file.tf.names.uses(LIKES_STRAIGHT_CODE):
        return
    copied: set[ast.AST] = set()
    for each in found:
        if _takes_slices(each):
            continue
        inner = 1
        for loop, kind in each.loops:
            if kind is InGraph.LOOP or file.tf.of(Accumulations).is_long(
                loop, max(FEW // inner, 1)
            ):
                if kind is InGraph.LOOP or loop.node not in copied:  # its body is, for all lists
                    yield _diagnostic(file, each, loop, kind, inner)
                copied.add(loop.node)
                break
            inner *= loop.trips or 1


def _takes_slices(found: Accumulated) -> bool:
    """Whether each of an unknown number of trips adds a slice, which is one node."""
    loops = [loop for loop, kind in found.loops if kind is InGraph.COPIES]
    unknown = len(found.loops) == 1 and len(loops) == 1 and loops[0].trips is None
    return unknown and all(isinstance(each, ast.Subscript) for each in found.elements)


def _diagnostic(
    file: File, found: Accumulated, loop: Loop, kind: InGraph, inner: int
) -> Diagnostic:
    over = file.named(loop.node.test if isinstance(loop.node, ast.While) else loop.node.iter)
    copies = (
        f"{inner * loop.trips:,} copies of {{}}" if loop.trips else "a copy of {} for every trip"
    )
    if isinstance(found.node, (ast.ListComp, ast.GeneratorExp)):
        copied = copies.format(f"`{file.named(found.elements[0])}`")
        text = f"a comprehension over `{over}`: the graph gets {copied}"
        fix = _comprehension_fix(file, found)
        return Diagnostic(file.span(found.node), text, fix, _cost(file, found))
    adding = file.named(found.node)
    adding = f"{found.list}.append(...)" if adding.endswith("...") else adding
    text = f"`{adding}` in a loop over `{over}`: the graph gets {copies.format('the body')}"
    if kind is InGraph.LOOP:
        read = file.named(found.reads[0])
        text = f"`{adding}` in a graph loop over `{over}`: `{read}` cannot read what it adds"
    fix = _loop_fix(file, loop, kind) if found.in_sight else None
    return Diagnostic(file.span(found.node), text, fix, _cost(file, found))


def _cost(file: File, found: Accumulated) -> Cost:
    """The nodes of the graph: as many as there are rounds, whatever the size of the tensors."""
    rounds = product([file.tf.numbers.rounds(loop.node) for loop, _ in found.loops])
    return costs.cost(rounds.times(BODY), Law.DATA, BODY)


def _loop_fix(file: File, loop: Loop, kind: InGraph) -> Fix | None:
    """Arrays in place of the loop's lists, written to in a loop of the graph."""
    tf = file.tf.names.module("tensorflow", loop.node) or ""
    arrays = file.tf.of(TensorArrays).in_loop(loop, kind) if tf else ()
    changes: list[Edit | None] = []
    for array in arrays:
        changes += _made(file, tf, array) or [None]
        changes += _written(file, array) or [None]
        method = "concat" if array.reading.joined else "stack"
        changes += [_read(file, tf, array.reading, f"{array.growth.name}.{method}()")]
    if kind is InGraph.COPIES and isinstance(loop.iterable, (ast.Attribute, ast.Name)):
        return None  # a range that is held somewhere
    if kind is InGraph.COPIES and loop.iterable is not None:
        start = file.span(loop.iterable).start
        changes.append(Edit(Span(start, start), f"{tf}."))
    whole = edits.whole(changes) if arrays else None
    if whole is None:
        return None
    in_order = sorted(whole, key=lambda edit: edit.span)  # of two at one place the first list's
    return Fix("Write to a `tf.TensorArray`", tuple(in_order), Applicability.UNSAFE)


def _made(file: File, tf: str, array: ArrayInLoop) -> tuple[Edit, ...] | None:
    """`xs = []` turned into an array, behind the names that its dtype and its size come from."""
    size = "size=0, dynamic_size=True" if array.size is None else f"size={file.source(array.size)}"
    made = f"{tf}.TensorArray({_dtype(file, tf, array.dtype)}, {size})"
    edit = edits.instead(file, array.value, made)
    if edit is None or array.loop is None:
        return edit and (edit,)
    return edits.postponed(file, array.start, made, array.loop)


def _written(file: File, array: ArrayInLoop) -> tuple[Edit, ...] | None:
    """`xs = xs.write(t, x)` for `xs.append(x)` and `xs += [x]`."""
    node, name, (element,) = array.growth.node, array.growth.name, array.growth.elements
    index = array.counter or f"{name}.size()"
    if isinstance(node, ast.Call):
        return edits.given_back(file, node, "write", index)
    edit = edits.instead(file, node, f"{name} = {name}.write({index}, {file.source(element)})")
    return edit and (edit,)


def _comprehension_fix(file: File, found: Accumulated) -> Fix | None:
    """A `tf.map_fn` over the range, which needs no AutoGraph."""
    mapped, tf = (
        file.tf.of(TensorArrays).mapped(found),
        file.tf.names.module("tensorflow", found.node),
    )
    if mapped is None or tf is None:
        return None
    function = f"lambda {mapped.target.id}: {file.source(mapped.made.elt)}"
    over = f"{tf}.{file.source(mapped.made.generators[0].iter)}"
    signature = f"fn_output_signature={_dtype(file, tf, mapped.dtype)}"
    edit = _read(file, tf, mapped.reading, f"{tf}.map_fn({function}, {over}, {signature})")
    return edit and Fix("Map over the range in the graph", (edit,), Applicability.UNSAFE)


def _read(file: File, tf: str, reading: Reading, stacked: str) -> Edit | None:
    """What is stacked along its first axis, with that axis put where `tf.stack` would have it."""
    if reading.axis:
        stacked = f"{tf}.experimental.numpy.moveaxis({stacked}, 0, {reading.axis})"
    return edits.instead(file, reading.place, stacked)


def _dtype(file: File, tf: str, dtype: ast.expr | str) -> str:
    return f"{tf}.{dtype}" if isinstance(dtype, str) else f"{file.source(dtype)}.dtype"


RULE = Rule(
    code="TFM113",
    name="list-accumulated-in-graph",
    claim=Claim(
        Metric.HOST_PEAK, at_most=0.2, because="the graph holds the loop's body once, not per trip"
    ),
    triggers=(
        TRACED_WORDS,
        "add_n concat concatenate convert_to_tensor hstack reduce_max reduce_mean reduce_min "
        "reduce_std reduce_sum reduce_variance reshape stack transpose vstack",
    ),
    check=check,
)
