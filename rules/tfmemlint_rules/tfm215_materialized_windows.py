"""Overlapping windows of an array are copied into a list, and from there into an array.

## What it finds
A list of slices `a[i : i + width]` or `a[i - width : i]` for each `i` of a range, filled in a loop
or a comprehension, of which `np.array`, `np.stack`, `tf.constant` or one of their relatives makes
an array.

## Why it costs memory
Windows that begin a step apart have all but a step in common. The array holds each of them in full:
`width` times as much as the series itself.

## What to do instead
`np.lib.stride_tricks.sliding_window_view` gives the same windows as a view of the series, without
copying. `keras.utils.timeseries_dataset_from_array` makes batches of windows as they are needed.

## Fix safety
Unsafe: a view cannot be written to, and shows what is written to the series later. What makes a
tensor of all windows copies them nevertheless. Offered for NumPy arrays and `a[i : i + width]`,
where the list is used for nothing else.

## When to ignore it
When the series is short. The rule is silent by itself for windows of up to 16 steps, for
windows that overlap by half or less, for series known to be small, and for text and lists.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tfmemlint import Applicability, Claim, Cost, Diagnostic, Edit, File, Fix, Metric, Rule, edits
from tfmemlint.facts import Growth, Kind, Loop, argument, default

STACKS = {
    "keras.ops.array": "x",
    "keras.ops.convert_to_tensor": "x",
    "keras.ops.stack": "x",
    "numpy.array": "object",
    "numpy.asarray": "a",
    "numpy.stack": "arrays",
    "tensorflow.constant": "value",
    "tensorflow.convert_to_tensor": "value",
    "tensorflow.stack": "values",
}
STACKED = frozenset(STACKS)
NARROW = 16
"""Steps: as many times the series, which is short as a rule, are little."""
LITTLE = 8 << 20
"""Bytes, in all windows."""


class Windows(NamedTuple):
    """A list of the windows of a series."""

    part: ast.Subscript
    """One window: `series[i : i + width]`."""
    series: ast.expr
    width: ast.expr
    bounds: tuple[ast.expr, ...]
    """What the range of the first steps is given."""
    growth: Growth | None
    """How a loop fills the list; None where a comprehension makes it."""


def check(file: File) -> Iterator[Diagnostic]:
    for stack in file.tf.tree.all(ast.Call):
        name = file.tf.names.one_of(stack.func, STACKED)
        stacked = argument(stack, 0, STACKS[name]) if name is not None else None
        windows = _windows(file, stacked) if stacked is not None else None
        if name is None or windows is None or not _is_large(file, windows):
            continue
        series, width = ast.unparse(windows.series), ast.unparse(windows.width)
        yield Diagnostic(
            file.span(stack.func),
            f"`{file.source(stack.func)}` copies every window of `{width}` steps of `{series}`",
            _fix(file, stack, windows) if name in ("numpy.array", "numpy.asarray") else None,
            Cost(f"{width} times {series}"),
        )


def _windows(file: File, stacked: ast.expr, hops: int = 2) -> Windows | None:
    if isinstance(stacked, ast.ListComp):
        plain = len(stacked.generators) == 1 and not stacked.generators[0].ifs
        loop = file.tf.loops.loop(stacked.generators[0])
        return _sliced(file, stacked.elt, loop, None) if plain else None
    binding = file.tf.bindings.only(stacked) if isinstance(stacked, ast.Name) else None
    if binding is None or binding.value is None or binding.path or not hops:
        return None
    grown = file.tf.loops.growths_of(binding)
    if not grown:
        return _windows(file, binding.value, hops - 1)
    growth = grown[0]
    if len(grown) > 1 or len(growth.elements) != 1 or len(growth.loops) != 1:
        return None
    return _sliced(file, growth.elements[0], growth.loops[0], growth)


def _sliced(
    file: File, element: ast.expr, loop: Loop, growth: Growth | None, hops: int = 2
) -> Windows | None:
    """The windows, if what is taken of a series begins or ends at the variable of the loop."""
    if isinstance(element, ast.Name):
        binding = file.tf.bindings.only(element)
        given = binding.value if binding is not None and not binding.path else None
        inside = given is not None and file.tf.tree.inside(given, loop.node)
        return _sliced(file, given, loop, growth, hops - 1) if given and inside and hops else None
    match element:
        case ast.Subscript(value=series, slice=ast.Slice() as part):
            pass
        case ast.Subscript(value=series, slice=ast.Tuple(elts=[ast.Slice() as part, *_])):
            pass
        case _:
            return None
    match part, loop.node, loop.iterable:
        case (
            ast.Slice(lower=first, upper=last, step=None),
            ast.For(target=ast.Name(id=variable)) | ast.comprehension(target=ast.Name(id=variable)),
            ast.Call(func=ast.Name(id="range"), args=bounds, keywords=[]),
        ):
            width = _width(first, last, variable)
        case _:
            return None
    around = [each.id for each in ast.walk(part) if isinstance(each, ast.Name)]
    if width is None or around.count(variable) != 2:
        return None
    if not all(file.tf.loops.invariant(each, loop) for each in (series, width)):
        return None
    return Windows(element, series, width, tuple(bounds), growth)


def _width(first: ast.expr | None, last: ast.expr | None, variable: str) -> ast.expr | None:
    """How long `i : i + width` or `i - width : i` is."""
    match first, last:
        case ast.Name(id=start), ast.BinOp(left=left, op=ast.Add(), right=right) if (
            start == variable
        ):
            return right if ast.unparse(left) == variable else left
        case ast.BinOp(left=ast.Name(id=start), op=ast.Sub(), right=right), ast.Name(id=stop) if (
            start == stop == variable
        ):
            return right
        case _:
            return None


def _is_large(file: File, windows: Windows) -> bool:
    number, series = file.tf.values.number, file.tf.values.of(windows.series)
    width = number(windows.width) or _default(file, windows.width)
    stride = windows.bounds[2] if len(windows.bounds) > 2 else None
    if width is not None and width <= NARROW:
        return False
    if stride is not None:
        apart = number(stride)
        if apart is None or width is None or 2 * apart >= width:
            return False
    known = series.nbytes is not None and width is not None
    if known and (series.nbytes or 0) * (width or 0) < LITTLE:
        return False
    return series.kind not in (Kind.LIST, Kind.PATHS, Kind.PATH)


def _default(file: File, width: ast.expr) -> int | float | None:
    """The width that a function uses if it is not told one."""
    binding = file.tf.bindings.only(width) if isinstance(width, ast.Name) else None
    function = file.tf.tree.function(width)
    if binding is None or function is None or not isinstance(binding.node, ast.arg):
        return None
    value = default(function, binding.name)
    return file.tf.values.number(value) if value is not None else None


def _fix(file: File, stack: ast.Call, windows: Windows) -> Fix | None:
    numpy = file.tf.names.module("numpy", stack)
    is_array = file.tf.values.of(windows.series).kind is Kind.ARRAY
    if numpy is None or not is_array or len(stack.args) != 1 or stack.keywords:
        return None
    index = windows.part.slice
    sliced = index.elts[0] if isinstance(index, ast.Tuple) else index
    if not isinstance(sliced, ast.Slice) or not isinstance(sliced.lower, ast.Name):
        return None  # `i - width : i` begins elsewhere than its range does
    unfilled: tuple[Edit, ...] | None = ()
    if windows.growth is not None:
        unfilled = _unfilled(file, stack, windows, windows.growth)
    elif not isinstance(stack.args[0], ast.ListComp):
        return None
    if unfilled is None or "#" in file.source(stack) or file.concrete(stack) is None:
        return None
    series, width = file.source(windows.series), file.source(windows.width)
    if isinstance(index, ast.Tuple):
        rest = ", ".join(file.source(each) for each in index.elts[1:])
        series = f"{series}[:, {rest}]"
    view = f"{numpy}.lib.stride_tricks.sliding_window_view({series}, {width}, axis=0)"
    bounds = [file.source(each) for each in windows.bounds]
    cut = f":{bounds[0]}" if len(bounds) == 1 else ":".join(bounds)
    change = edits.replaced(file, stack, f"{numpy}.moveaxis({view}, -1, 1)[{cut}]")
    return Fix("View the windows in place", (*unfilled, change), Applicability.UNSAFE)


def _unfilled(
    file: File, stack: ast.Call, windows: Windows, growth: Growth
) -> tuple[Edit, ...] | None:
    """The edits that take out what fills the list, if that is all the list is there for."""
    tree, loop = file.tf.tree, growth.loops[0].node
    match growth.node:
        case ast.Call(func=ast.Attribute(value=grown), args=[value]) if value is windows.part:
            pass
        case _:
            return None
    if not isinstance(loop, ast.For) or loop.orelse or tree.parent(growth.node) not in loop.body:
        return None
    block, place = tree.place(loop)
    used = tree.statement(stack)
    behind = block[place + 1 :]
    if used not in behind or {*file.tf.bindings.readers(growth.start)} != {grown, stack.args[0]}:
        return None
    parts = (windows.series, windows.width, *windows.bounds)
    read = {each.id for part in parts for each in ast.walk(part) if isinstance(each, ast.Name)}
    between = [loop, *behind[: behind.index(used)]]
    nodes = (each for statement in between for each in ast.walk(statement))
    given = (
        each for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )
    if any(each.id in read for each in given):
        return None
    alone = len(loop.body) == 1
    if alone and not file.tf.loops.is_closed(growth.loops[0]):
        return None
    gone: list[ast.stmt] = [loop if alone else tree.statement(growth.node)]
    start = tree.statement(growth.start.node)
    if getattr(start, "targets", None) == [growth.start.node]:
        gone.append(start)
    lines = [edits.whole_lines(file, each) for each in gone]
    if any(each is None or "#" in file.source(each) for each in lines):
        return None
    return tuple(Edit(each, "") for each in lines if each is not None)


RULE = Rule(
    code="TFM215",
    name="materialized-windows",
    claim=Claim(Metric.HOST_PEAK, at_most=0.35, because="windows share the memory of the series"),
    triggers=("range", "numpy tensorflow keras", "array asarray constant convert_to_tensor stack"),
    check=check,
)
