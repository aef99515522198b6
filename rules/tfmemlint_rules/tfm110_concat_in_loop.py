"""A tensor grows in a loop by being joined to a little more in each round.

## What it finds
`out = tf.concat([out, y], 0)` in a loop that does nothing else with `out`: with the `concat` and
`concatenate` of TensorFlow, Keras and NumPy, `np.append` and `vstack`, in a name or in
`self.out`, from the first round on or from the second. The loop goes over batches, rows or a large
range, or is one loop of a graph; NumPy arrays count where they hold what a model or a pipeline
gives.

## Why it costs memory
Each round copies all that `out` holds. Where a gradient is taken, every one of these copies is kept
until then: by the tape in eager code, by the loop itself in a graph, `tf.range` and the like. After
a thousand rounds that is five hundred times what `out` holds in the end, and it grows with the
square of their number. Without a gradient a copy is dropped when the next one is made. The peak is
then that of a list and one `concat`, twice what `out` holds; the square remains in what is copied,
so in the time. A few numbers an example do not show, features, logits or images do: tens of
kilobytes a round make a thousand rounds several times as slow.
A Python loop that tracing writes out costs neither, and the rule is silent there.

## What to do instead
Append to a list and join once, behind the loop. In a loop of a graph, write to a `tf.TensorArray`
and take its `concat()`. Where the size is known beforehand, NumPy needs half: fill
`np.empty((rows, width), np.float32)`. Keras does it all in `model.predict(ds)`.

## Fix safety
Safe where `out` starts as a tensor for `tf.concat`, as an array for NumPy, and what is added is new
in each round: the start becomes the list's first element, so values, order and dtype stay, no
rounds included. Unsafe where the start is a Python list, which no rounds would leave as it is, or
where it is not known what makes the tensors that are added. Not offered in a loop of a graph, where
the size of `out` is asked for, where what is added comes first or may be a variable, an array that
is written to again or a Python number, where only the first round makes `out`, or for `self.out`.

## When to ignore it
When the rounds are few, or what they add is small and no gradient is taken. The rule is silent on
loops that read `out`, as decoding, caches and windows do, on up to 16 rounds, over layers and
levels, and in tests.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, Edit, File, Fix, Metric, Rule, edits
from tfmemlint.facts import InGraph, Joined, Kind, Loop, Over, Tape, argument

FEW = 16
"""Rounds whose copies together are a few times the whole."""

MANY = frozenset({Over.ARRAY, Over.DATASET, Over.OFFSETS, Over.TENSOR})
FROM_MODEL = frozenset({"numpy", "predict", "predict_on_batch"})
GRAPH_MODE = (
    "tensorflow.Session",
    "tensorflow.disable_eager_execution",
    "tensorflow.disable_v2_behavior",
    "tensorflow.placeholder",
)


def check(file: File) -> Iterator[Diagnostic]:
    joins = file.tf.joins.all
    if not joins or file.is_test or file.tf.names.uses(GRAPH_MODE):
        return
    told: set[Joined] = set()
    for joined in joins:
        tape = file.tf.joins.tape(joined)
        long = any(_is_long(file, joined, each) for each in joined.loops)
        if joined in told or not long or not _costs(file, joined, tape):
            continue
        told.update(file.tf.joins.alike(joined))
        keeps = ""
        if tape is not None:
            keeps = f", and {f'`{tape.name}`' if tape.name else 'the tape'} keeps every copy"
        elif file.tf.tracing.why(joined.node) is not None:
            keeps = ", and a gradient keeps every copy"
        name, function = ast.unparse(joined.target), ast.unparse(joined.call.func)
        yield Diagnostic(
            file.span(joined.call),
            f"`{function}` copies all of `{name}` in each round of "
            f"`{file.named(joined.loops[0].node)}`{keeps}",
            _fix(file, joined),
        )


def _is_long(file: File, joined: Joined, loop: Loop) -> bool:
    """Whether the rounds are many, or as many as there is data."""
    if loop.trips is not None:
        return loop.trips > FEW
    if loop.iterable is None:
        return file.tf.graph_loops.becomes(loop) is InGraph.LOOP
    if loop.over in MANY:
        chains, cut = file.tf.datasets.of(loop.iterable), _upper(loop.iterable)
        most = (*map(file.tf.lengths.at_most, chains), *map(file.tf.values.number, cut))
        return not any(each is not None and each <= FEW for each in most)
    counted = file.tf.iterables.counted(loop.iterable)
    if counted is not None:
        return file.tf.values.of(counted).is_array or file.tf.tensors.is_tensor(counted)
    return _gives_data(file, loop.iterable) or file.tf.joins.slices(joined, loop)


def _upper(iterable: ast.expr) -> list[ast.expr]:
    """`n` for `rows[:n]`."""
    cut = iterable.slice if isinstance(iterable, ast.Subscript) else None
    return [cut.upper] if isinstance(cut, ast.Slice) and cut.upper is not None else []


def _costs(file: File, joined: Joined, tape: Tape | None) -> bool:
    """Whether the copies are made when the code runs, and of tensors or what comes of them."""
    if file.tf.tracing.why(joined.node) is not None:
        return any(file.tf.graph_loops.becomes(each) is InGraph.LOOP for each in joined.loops)
    loop = joined.loops[0]
    of_array = loop.over is Over.ARRAY
    if tape is not None or (not of_array and _gives_data(file, loop.iterable)):
        return True
    if any(_is_from_model(file, each) for each in file.tf.joins.made_of(joined)):
        return True
    return not _is_numpy(joined) and file.tf.tracing.surely_eager(joined.node)


def _gives_data(file: File, iterable: ast.expr | None) -> bool:
    if iterable is None:
        return False
    return file.tf.datasets.is_dataset(iterable) or file.tf.iterables.gives_data(iterable)


def _is_numpy(joined: Joined) -> bool:
    return joined.function.startswith("numpy.")


def _is_from_model(file: File, node: ast.AST) -> bool:
    """Whether this is `model.predict(...)` or `tensor.numpy()`."""
    method = node.func if isinstance(node, ast.Call) else None
    known = file.tf.names.qualified(method) if isinstance(method, ast.Attribute) else ""
    return isinstance(method, ast.Attribute) and method.attr in FROM_MODEL and known is None


# The fix: a list, whose first element is what the array starts as, and one join behind the loop.


def _fix(file: File, joined: Joined) -> Fix | None:
    loop, start, joins = (
        joined.loops[-1].node,
        file.tf.joins.start(joined),
        file.tf.joins.alike(joined),
    )
    calls = {_call(file, each) for each in joins}
    call = calls.pop() if len(calls) == 1 else None
    if start is None or call is None or isinstance(loop, ast.comprehension) or loop.orelse:
        return None
    if file.tf.tracing.why(loop) is not None:
        return None
    name = ast.unparse(joined.target)
    changes = [edits.below(file, loop, f"{name} = {call}"), _in_brackets(file, start.value)]
    changes += [_appended(file, each) for each in joins]
    whole = [each for each in changes if each is not None]
    if len(whole) < len(changes):
        return None
    kind = Kind.ARRAY if _is_numpy(joined) else Kind.TENSOR
    same = file.tf.values.of(start.value).kind is kind
    new = all(map(file.tf.joins.adds_new, joins))
    if _is_numpy(joined) and not new:  # an array that is written to again: a list would hold it
        return None
    safety = Applicability.SAFE if same and new else Applicability.UNSAFE
    return Fix("Append to a list and join once, behind the loop", tuple(sorted(whole)), safety)


def _call(file: File, joined: Joined) -> str | None:
    """The join as it stands behind the loop: `tf.concat(out, 0)`, of the user's own words."""
    call, name = joined.call, ast.unparse(joined.target)
    function = file.source(call.func)
    if joined.node.value is not call or file.tf.names.qualified(call.func) != joined.function:
        return None
    places, named = call.args[1:], call.keywords
    if joined.function == "numpy.append":
        axis = argument(call, 2, "axis")
        if not function.endswith(".append") or len(call.args) < 2 or not joined.appended:
            return None
        along = "None" if axis is None else file.source(axis)
        return f"{function.removesuffix('append')}concatenate({name}, axis={along})"
    rest = [*places, *(each.value for each in named)]
    listed = [each for each in (*call.args, *rest) if isinstance(each, (ast.List, ast.Tuple))]
    constant = all(
        isinstance(each, (ast.Constant, ast.UnaryOp)) for each in rest if each not in listed
    )
    if (
        not joined.appended
        or not constant
        or len(listed) != 1
        or joined.function.endswith(".append")
    ):
        return None
    texts = [name if each is listed[0] else file.source(each) for each in call.args]
    texts += [
        f"{each.arg}={name if each.value is listed[0] else file.source(each.value)}"
        for each in named
    ]
    return f"{function}({', '.join(texts)})"


def _in_brackets(file: File, value: ast.expr) -> Edit | None:
    return (
        None
        if "#" in file.source(value)
        else edits.replaced(file, value, f"[{file.source(value)}]")
    )


def _appended(file: File, joined: Joined) -> Edit | None:
    """`out.append(y)` for `out = tf.concat([out, y], 0)`."""
    name, added = ast.unparse(joined.target), [file.source(each) for each in joined.added]
    text = f"{name}.append({added[0]})" if len(added) == 1 else f"{name} += [{', '.join(added)}]"
    lost = "#" in file.source(joined.node)
    views = _is_numpy(joined) and any(isinstance(each, ast.Subscript) for each in joined.added)
    return None if lost or views else edits.replaced(file, joined.node, text)


RULE = Rule(
    code="TFM110",
    name="concat-in-loop",
    claim=Claim(
        Metric.DEVICE_PEAK,
        at_most=0.2,
        because="the tape keeps what each round adds, not all that was there before",
    ),
    triggers=(
        "append concat concatenate dstack hstack vstack",
        "concat concatenate dstack hstack keras numpy vstack",  # what `append` is one of
        "for while",
    ),
    check=check,
)
