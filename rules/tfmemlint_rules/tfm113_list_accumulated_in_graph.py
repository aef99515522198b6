"""A Python list collects tensors in a loop of traced code.

## What it finds
A list that a loop in traced code fills (`append`, `insert`, `+=`, a comprehension) and that
`tf.stack`, `tf.concat`, `tf.convert_to_tensor` or a function that takes it for one tensor, such as
`tf.transpose` or a reduction, then reads. The list may be an entry of a dictionary, be filled by a
function within, or be returned to a caller that stacks it. The loop has many trips, or as many as
the data has steps: `range(400)`, `while i < 400`, `range(x.shape[1])`, `tf.unstack(x, axis=1)`,
`range(n)` with an argument of the traced function. Or AutoGraph turns it into a graph loop: one
over `tf.range`, a tensor or a dataset.

## Why it costs memory
Python runs a loop over `range` while TensorFlow traces, so the graph gets a copy of the body for
every trip, and one more in the gradient. Nodes, what the optimiser makes of them and what the
executor keeps of them lie in host memory, again for each traced shape; tracing takes longer, too.
The tensors are another matter: forward, the device holds the same either way; under a gradient a
graph loop saves what each trip needs just as the copies do, now in less room and now in more.
In a graph loop a list does not cost, it fails: what it holds belongs to the loop's body, and a
read outside raises `InaccessibleTensorError`.

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
When the trips are few, or unrolling is the aim: XLA, TPUs and some converters like straight code.
The rule is silent in files that use `tf.lite` or a TPU strategy, on up to 16 trips, on lists over
layers, heads, levels or outputs, and where the loop variable picks Python objects.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, Edit, File, Fix, Metric, Rule, Span, edits
from tfmemlint.facts import LIKES_STRAIGHT_CODE, Accumulated, Growth, InGraph, Loop, argument

FEW = 16
"""Trips that a graph can well hold a copy each of."""

STACKS = frozenset({"tensorflow.convert_to_tensor", "tensorflow.stack", "keras.ops.stack"})
JOINS = frozenset({"tensorflow.concat", "keras.ops.concatenate"})
TAKES_TENSOR = (
    "tensorflow.math.reduce_",
    "tensorflow.reduce_",
    "tensorflow.reshape",
    "tensorflow.transpose",
)


def check(file: File) -> Iterator[Diagnostic]:
    found = file.tf.accumulations.all
    if not found or file.tf.names.uses(LIKES_STRAIGHT_CODE):
        return
    for each in found:
        for loop, kind in each.loops:
            if kind is InGraph.LOOP or file.tf.accumulations.is_long(loop, FEW):
                yield _diagnostic(file, each, loop, kind)
                break


def _diagnostic(file: File, found: Accumulated, loop: Loop, kind: InGraph) -> Diagnostic:
    over = file.named(loop.node.test if isinstance(loop.node, ast.While) else loop.node.iter)
    trips = (
        "a copy of {} for every trip" if loop.trips is None else f"{loop.trips:,} copies of {{}}"
    )
    if isinstance(found.node, (ast.ListComp, ast.GeneratorExp)):
        copies = trips.format(f"`{file.named(found.elements[0])}`")
        text = f"a comprehension over `{over}`: the graph gets {copies}"
        return Diagnostic(file.span(found.node), text, _comprehension_fix(file, found))
    if kind is InGraph.LOOP:
        what = f"graph loop over `{over}`: `{file.named(found.reads[0])}` cannot read what it adds"
    else:
        what = f"loop over `{over}`: the graph gets {trips.format('the body')}"
    added = file.named(found.node)
    added = f"{found.list}.append(...)" if added.endswith("...") else added
    text = f"`{added}` in a {what}"
    return Diagnostic(file.span(found.node), text, _loop_fix(file, loop, kind))


# The fix of a loop: a TensorArray, written to in a graph loop.


def _loop_fix(file: File, loop: Loop, kind: InGraph) -> Fix | None:
    tf = file.tf.names.module("tensorflow", loop.node)
    if tf is None or not file.tf.graph_loops.autograph(loop.node):
        return None
    whole: list[Edit] = []
    grown = [each for each in file.tf.loops.growths if loop in each.loops]
    for growth in grown:  # all of the loop's lists or none: each would fail in a graph loop
        edited = _array(file, tf, loop, growth)
        if edited is None:
            return None
        whole += edited
    if kind is InGraph.COPIES:
        replaced = [file.tf.tree.statement(each.node) for each in grown]
        if loop.iterable is None or not file.tf.loop_bodies.fit_graph(loop, replaced):
            return None
        start = file.span(loop.iterable).start
        whole.append(Edit(Span(start, start), f"{tf}."))
    whole.sort(key=lambda edit: edit.span)  # and of two at one place the first list's first
    return Fix("Write to a `tf.TensorArray`", tuple(whole), Applicability.UNSAFE)


def _array(file: File, tf: str, loop: Loop, growth: Growth) -> list[Edit] | None:
    """One list turned into an array: where it is made, where it grows, where it is read."""
    taken, node = file.tf.accumulations.only_read(growth, loop), growth.node
    if taken is None:
        return None
    index, size = file.tf.graph_loops.counted(loop) or (f"{growth.name}.size()", None)
    written: tuple[Edit, ...] | None = None
    if isinstance(node, ast.Call):
        written = edits.given_back(file, node, "write", index)
    elif "#" not in file.source(node):
        element = file.source(growth.elements[0])
        text = f"{growth.name} = {growth.name}.write({index}, {element})"
        written = (edits.replaced(file, node, text),)
    made = _made(file, tf, loop, growth, size)
    read = _read(file, tf, taken, growth.name)
    return [*made, *written, read] if made and written and read else None


def _made(
    file: File, tf: str, loop: Loop, growth: Growth, size: ast.expr | None
) -> tuple[Edit, ...] | None:
    """`xs = []` turned into an array, behind the names that its dtype and its size come from."""
    node, tree = loop.node, file.tf.tree
    brings, carries = file.tf.loop_bodies.brings, file.tf.loop_bodies.carries
    value, start = growth.start.value, tree.statement(growth.start.node)
    dtype = file.tf.dtypes.of(growth.elements[0], lambda name: carries(name, loop))
    if dtype is None or value is None or "#" in file.source(value):
        return None
    if not isinstance(start, ast.Assign) or len(start.targets) != 1:
        return None
    assert not isinstance(node, ast.comprehension)
    if size is None and file.tf.graph_loops.compiled(loop.node):
        return None
    sized = "size=0, dynamic_size=True" if size is None else f"size={file.source(size)}"
    array = f"{tf}.TensorArray({_dtype(file, tf, dtype)}, {sized})"
    taken = [each for each in (dtype, size) if isinstance(each, ast.expr)]
    names = [each for one in taken for each in ast.walk(one) if isinstance(each, ast.Name)]
    if all(brings(each, loop, start) for each in names):
        return (edits.replaced(file, value, array),)
    if start.value is not value or not tree.runs_with(node, start):
        return None
    return edits.postponed(file, start, array, node)


def _read(file: File, tf: str, call: ast.Call, array: str) -> Edit | None:
    """`tf.stack(xs)` turned into `xs.stack()`."""
    name, axis = file.tf.names.qualified(call.func) or "", argument(call, 1, "axis")
    if name.startswith(TAKES_TENSOR):
        return edits.replaced(file, call.args[0], f"{array}.stack()") if call.args else None
    if len(call.args) + len(call.keywords) > 1 + (axis is not None) or "#" in file.source(call):
        return None
    if name in STACKS:
        stacked = _along(file, tf, f"{array}.stack()", axis)
        return None if stacked is None else edits.replaced(file, call, stacked)
    joins_rows = name in JOINS and (axis is None or file.tf.values.number(axis) == 0)
    return edits.replaced(file, call, f"{array}.concat()") if joins_rows else None


def _along(file: File, tf: str, stacked: str, axis: ast.expr | None) -> str | None:
    """What is stacked along its first axis, with that axis put where `tf.stack` would have it."""
    place = 0 if axis is None else file.tf.values.number(axis)
    if axis is None or place == 0:
        return stacked
    return f"{tf}.experimental.numpy.moveaxis({stacked}, 0, {place})" if place else None


def _dtype(file: File, tf: str, dtype: ast.expr | str) -> str:
    return f"{tf}.{dtype}" if isinstance(dtype, str) else f"{file.source(dtype)}.dtype"


# The fix of a comprehension: `tf.map_fn`, which needs no AutoGraph.


def _comprehension_fix(file: File, found: Accumulated) -> Fix | None:
    made, call = found.node, found.reads[0]
    if not isinstance(made, ast.ListComp) or len(made.generators) != 1 or not call.args:
        return None
    clause, home = made.generators[0], file.tf.bindings.home
    tf, target = file.tf.names.module("tensorflow", call), clause.target
    axis = argument(call, 1, "axis")
    whole = call.args[0] is made and len(call.args) + len(call.keywords) == 1 + (axis is not None)
    if tf is None or not whole or clause.ifs or "#" in file.source(call):
        return None
    if clause.is_async or not file.source(clause.iter).startswith("range("):
        return None
    if not isinstance(target, ast.Name) or not file.tf.loop_bodies.takes_tensor(target):
        return None

    def known(name: ast.Name) -> bool:
        return home(name.id, name) is not made and file.tf.tensors.is_tensor(name)

    dtype = file.tf.dtypes.of(made.elt, known)
    if dtype is None or file.tf.names.qualified(call.func) not in STACKS:
        return None
    function = f"lambda {target.id}: {file.source(made.elt)}"
    signature = f"fn_output_signature={_dtype(file, tf, dtype)}"
    mapped = f"{tf}.map_fn({function}, {tf}.{file.source(clause.iter)}, {signature})"
    text = _along(file, tf, mapped, axis)
    edit = edits.replaced(file, call, text or "")
    return Fix("Map over the range in the graph", (edit,), Applicability.UNSAFE) if text else None


RULE = Rule(
    code="TFM113",
    name="list-accumulated-in-graph",
    claim=Claim(
        Metric.HOST_PEAK, at_most=0.2, because="the graph holds the loop's body once, not per trip"
    ),
    triggers=(
        "call filter flat_map function interleave map predict_step reduce scan take_while "
        "test_step train_step",
        "add_n concat concatenate convert_to_tensor hstack reduce_max reduce_mean reduce_min "
        "reduce_std reduce_sum reduce_variance reshape stack transpose vstack",
    ),
    check=check,
)
