"""`interleave` has many inputs open at once, each with buffers of its own.

## What it finds
`interleave` with parallel calls and a `cycle_length` above 16, or above 48 where its inputs are
records as they stand in their files; and one whose inputs, four or more of them, are each shuffled,
prefetched or mapped in parallel before they are mixed.

## Why it costs memory
`interleave` has `cycle_length` inputs open at once. In parallel it reads ahead in each of them, and
opens the next ones beforehand: a few elements wait per input, whatever `num_parallel_calls` says. A
`shuffle`, `prefetch` or parallel `map` within the inputs adds its buffer once for each.

## What to do instead
Open as many inputs at once as it takes to keep the reading busy: 16 are enough for most disks. Let
one `shuffle`, one `prefetch` and one parallel `map` follow the `interleave`.

## Fix safety
Unsafe: with fewer inputs at a time the elements come in another order, and mix less. Not offered
where the number is written elsewhere, or the steps within the inputs would have to move.

## When to ignore it
When the inputs are far away, so that many have to be open to bridge the wait, or when they have to
mix well. The rule is silent by itself where the elements are lines of text, numbers or file names,
and where there are known to be few inputs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain
from math import inf

from tfmemlint import (
    Applicability,
    Claim,
    Cost,
    Diagnostic,
    File,
    Fix,
    Metric,
    Rule,
    costs,
    edits,
)
from tfmemlint.facts.pipelines.chains import Chain, From, Step
from tfmemlint.facts.sizes.amounts import UNKNOWN, Amount

MANY = 16
"""Inputs open at once, for which there is a reason."""
MANY_RECORDS = 48
"""The same, of records: pictures and the like are encoded in them."""
SEVERAL = 4
"""Inputs whose own buffers add up."""
LITTLE = 4096
"""Bytes, of an element: many of them may wait."""
AHEAD = Amount(("the elements read ahead",), of_bytes=True)
TINY = frozenset(
    {"tensorflow.data.TextLineDataset", "tensorflow.data.experimental.CsvDataset"}
    | {"tensorflow.data.Dataset.from_tensors", "tensorflow.data.Dataset.list_files"}
)
RECORDS = frozenset({"tensorflow.data.TFRecordDataset"})


def check(file: File) -> Iterator[Diagnostic]:
    steps = chain.from_iterable(each.steps for each in file.tf.datasets.chains)
    for step in {each.call: each for each in steps if each.method == "interleave"}.values():
        cycle = step.argument("cycle_length")
        inputs = _opened(file, step)
        if cycle is None or inputs is None or inputs < SEVERAL or _is_tiny(file, step):
            continue
        opened = f"`interleave` has `{ast.unparse(cycle)}` inputs open at once"
        if inputs > (MANY if _are_made(file, step) else MANY_RECORDS) and _is_parallel(step):
            yield Diagnostic(
                file.span(cycle),
                f"{opened}, and reads ahead in each of them",
                _fix(file, step, cycle),
                _cost(file, step),
            )
        for inner in _buffers(file, step):
            yield Diagnostic(
                file.step(inner.call),
                f"{opened}, each with a `{inner.method}` of its own",
                None,
                _cost(file, step, inner),
            )


def _cost(file: File, step: Step, inner: Step | None = None) -> Cost:
    """What all inputs hold: a buffer each, or some elements that are read ahead."""
    cycle = step.argument("cycle_length")
    inputs = file.tf.numbers.of(cycle, step.frame) if cycle is not None else UNKNOWN
    if inner is None:
        return costs.cost(inputs.times(AHEAD))
    made, place = file.tf.streams.around(inner)
    parameter = "num_parallel_calls" if inner.method == "map" else "buffer_size"
    return costs.cost(inputs.times(file.tf.streams.buffered(made, place, parameter)))


def _opened(file: File, step: Step) -> float | None:
    """How many inputs are open at once: no more than there are elements to make them of."""
    cycle = file.tf.values.number(step.argument("cycle_length"), step.frame)
    there: list[float] = []
    for each in file.tf.datasets.chains:
        place = each.calls.index(step.call) if step.call in each.calls else None
        if place is not None:
            most = file.tf.lengths.at_most(each, place)
            there.append(inf if most is None or "repeat" in each.methods[:place] else most)
    return None if cycle is None else min(cycle, max(there))


def _inputs(file: File, step: Step) -> tuple[Chain, ...]:
    """The pipelines an `interleave` makes of its elements."""
    function = file.tf.datasets.function(step)
    returned = file.tf.bodies.returns(function) if function is not None else ()
    return tuple(each for value in returned for each in file.tf.datasets.of(value))


def _are_made(file: File, step: Step) -> bool:
    """Whether the inputs do anything with what they read, or make it."""
    read = file.tf.names.is_any(step.argument("map_func"), RECORDS)
    inputs = _inputs(file, step)
    plain = bool(inputs) and all(
        each.source.kind is From.RECORDS and "map" not in each.methods for each in inputs
    )
    return not (read or plain)


def _is_tiny(file: File, step: Step) -> bool:
    """Whether the inputs are lines of text, numbers or the like, or a single element each."""
    made = _inputs(file, step)
    makers = [each.source.node for each in made] or [step.argument("map_func")]
    names = (each.func if isinstance(each, ast.Call) else each for each in makers)
    if all(file.tf.names.is_any(each, TINY) for each in names):
        return True
    ends = [each for each in made if _is_small(file, each)]
    return bool(made) and len(ends) == len(made)


def _is_small(file: File, made: Chain) -> bool:
    size = file.tf.elements.passage(made, len(made.steps), len(made.steps)).nbytes
    plain = made.source.kind is From.RANGE and "map" not in made.methods
    return plain or (size is not None and size < LITTLE)


def _is_parallel(step: Step) -> bool:
    calls = step.argument("num_parallel_calls")
    serial = isinstance(calls, ast.Constant) and calls.value in (None, 1)
    return calls is not None and not serial


def _buffers(file: File, step: Step) -> Iterator[Step]:
    """What holds elements within the inputs."""
    found = chain.from_iterable(each.steps for each in _inputs(file, step))
    for inner in {each.call: each for each in found}.values():
        if file.tf.conditions.runs(inner.call, inner.frame) is False:
            continue
        buffer = inner.argument("buffer_size")
        one = file.tf.values.number(buffer, inner.frame) == 1
        if inner.method in ("shuffle", "prefetch"):
            if buffer is not None and not one:
                yield inner
        elif inner.method == "map" and _is_parallel(inner):
            yield inner


def _fix(file: File, step: Step, cycle: ast.expr) -> Fix | None:
    calls = step.argument("num_parallel_calls")
    if not isinstance(cycle, ast.Constant) or any(_buffers(file, step)):
        return None
    numbers = [cycle]
    if calls is not None and (file.tf.values.number(calls, step.frame) or 0) > MANY:
        if not isinstance(calls, ast.Constant):
            return None
        numbers.append(calls)  # more calls than inputs are an error
    changes = tuple(edits.replaced(file, each, str(MANY)) for each in numbers)
    return Fix(f"Open {MANY} inputs at once", changes, Applicability.UNSAFE)


RULE = Rule(
    code="TFM209",
    name="interleave-fanout",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.65, because="few inputs are read ahead", of_host=True
    ),
    triggers=("interleave", "cycle_length"),
    check=check,
)
