"""Overlapping windows of an array are copied into a list, and from there into an array.

## What it finds
A list of slices `a[i : i + width]` or `a[i - width : i]` for each `i` of a range, filled in a loop
or a comprehension, of which `np.array`, `np.stack`, `tf.constant` or one of their relatives makes
an array.

## Why it costs memory
Windows that begin a step apart have all but a step in common. The array holds each of them in full:
`width` times as much as the series itself.

The code tells less than was measured: the second program holds 1.3 MB of data, and takes 40 MB
whatever the series, for each call that is given 256 windows: 10 MB where NumPy copies the view into
one piece, 10 MB as a tensor, and 20 MB for `reduce_std`, of distances from the mean and squares.

## What to do instead
`np.lib.stride_tricks.sliding_window_view` gives the same windows as a view of the series, without
copying. `keras.utils.timeseries_dataset_from_array` makes batches of windows as they are needed.

## Fix safety
Unsafe: a view cannot be written to, and shows what is written to the series later. What makes a
tensor of all windows copies them nevertheless. Offered for NumPy arrays and `a[i : i + width]`,
where the list is used for nothing else.

## When to ignore it
When the series is short. The rule is silent by itself for windows of up to 16 steps, of up to 64,
or as many as nobody tells, of a table that is read as text, as such or scaled, or of a series that
nothing shows to be an array, for windows that overlap by half or less, for series known to be
small, and for text and lists.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import (
    Applicability,
    Claim,
    Cost,
    Diagnostic,
    File,
    Fix,
    Law,
    Metric,
    Rule,
    costs,
    edits,
)
from tfmemlint.facts.flow.stacks import Stack
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.sizes.amounts import Amount
from tfmemlint_rules._analyses.windows import WindowLists, Windows

NARROW = 16
"""Steps: as many times the series, which is short as a rule, are little."""
FEW = 64
"""The same of tables, and of what nobody knows: those of days or hours have thousands of rows."""


def check(file: File) -> Iterator[Diagnostic]:
    for stack in file.tf.stacks.all:
        windows = file.tf.of(WindowLists).of(stack.listed) if not stack.joins else None
        if windows is None or not _is_large(file, stack, windows):
            continue
        series, width = ast.unparse(windows.series), ast.unparse(windows.width)
        function = stack.call.func
        yield Diagnostic(
            file.span(function),
            f"`{file.source(function)}` copies every window of `{width}` steps of `{series}`",
            _fix(file, stack, windows),
            _cost(file, stack, windows),
        )


def _cost(file: File, stack: Stack, windows: Windows) -> Cost:
    """All windows, and the series that holds the same."""
    series, held = file.tf.arrays.nbytes(windows.series), _held(file, stack, windows)
    return costs.cost(_bounded(file, windows, held), Law.DATA, series)


def _bounded(file: File, windows: Windows, held: Amount) -> Amount:
    """The same with what it does not exceed, whoever calls the function."""
    lists, arrays = file.tf.of(WindowLists), file.tf.arrays
    sizes = [arrays.nbytes(*each).at_most for each in lists.series(windows)]
    known, width = [each for each in sizes if each is not None], lists.steps(windows)
    if held.at_most is not None or width is None or len(known) < len(sizes):
        return held
    return held._replace(at_most=width * max(known), of_bytes=True)


def _held(file: File, stack: Stack, windows: Windows) -> Amount:
    """All windows, one after another."""
    made = file.tf.arrays.nbytes(stack.call)
    if made.value is not None:
        return made
    width = file.tf.numbers.of(windows.width)
    return width.times(file.tf.arrays.nbytes(windows.series))


def _is_large(file: File, stack: Stack, windows: Windows) -> bool:
    lists, values = file.tf.of(WindowLists), file.tf.values
    kind, width = values.of(windows.series).kind, lists.steps(windows)
    if kind in (Kind.LIST, Kind.PATHS, Kind.PATH) or (width is not None and width <= NARROW):
        return False
    if (width is None or width <= FEW) and _held(file, stack, windows).value is None:
        for each in lists.series(windows):
            if values.of(*each).kind is not Kind.ARRAY or lists.is_a_table(*each):
                return False
    if len(windows.bounds) > 2:
        stride = file.tf.values.number(windows.bounds[2])
        if stride is None or width is None or 2 * stride >= width:
            return False
    return True


def _fix(file: File, stack: Stack, windows: Windows) -> Fix | None:
    numpy = file.tf.names.module("numpy", stack.call)
    is_array = file.tf.values.of(windows.series).kind is Kind.ARRAY
    keeps_dtype = stack.name in ("numpy.array", "numpy.asarray") and stack.is_plain
    fillers = file.tf.of(WindowLists).fillers(windows, stack.listed)
    if numpy is None or not is_array or not keeps_dtype or fillers is None:
        return None
    unfilled = edits.whole(edits.without_statement(file, each) for each in fillers)
    if unfilled is None or not windows.begins_at or file.concrete(stack.call) is None:
        return None
    if "#" in file.source(stack.call) + "".join(file.source(each.span) for each in unfilled):
        return None
    axes = "".join(f", {file.source(each)}" for each in windows.other_axes)
    series = file.source(windows.series) + (f"[:{axes}]" if axes else "")
    width, bounds = file.source(windows.width), [file.source(each) for each in windows.bounds]
    cut = f":{bounds[0]}" if len(bounds) == 1 else ":".join(bounds)
    view = f"{numpy}.lib.stride_tricks.sliding_window_view({series}, {width}, axis=0)"
    change = edits.replaced(file, stack.call, f"{numpy}.moveaxis({view}, -1, 1)[{cut}]")
    return Fix("View the windows in place", (*unfilled, change), Applicability.UNSAFE)


RULE = Rule(
    code="TFM215",
    name="materialized-windows",
    claim=Claim(Metric.HOST_PEAK, at_most=0.35, because="windows share the memory of the series"),
    triggers=(
        "range",
        "numpy ops tensorflow",
        "array asarray constant convert_to_tensor copy stack",
    ),
    check=check,
)
