"""A pipeline's generator loads everything before it gives the first element.

## What it finds
A function given to `Dataset.from_generator` that fills a list from all files, stacks them, reads a
whole array from a file (`np.load(path)`, `file["images"][:]` of HDF5), and then gives the elements
one by one in a loop that wants nothing else of them.

## Why it costs memory
A generator is there so that elements need not all be in memory. This one has them all there before
the first is given, until the last one is, and anew in every epoch.

## What to do instead
Read in the loop: file by file, row by row. `h5py` reads a row where `file["images"][i]` asks for
it. `np.load(path, mmap_mode="r")` reads from the file what is asked for, too: what was read then
still counts as the process's memory, but the system may take it back at any time.

## Fix safety
Unsafe: the same elements come in the same order, but files are read while the training goes on,
when they may have been written again, renamed or removed, and one that cannot be read is told of
when its turn comes, in the midst of an epoch. It is offered where a list becomes a generator
expression, an `append` a `yield`, or HDF5 is read row by row, not elsewhere. Rows of an HDF5 file
that are compressed in large pieces are slow to read one by one.

## When to ignore it
When the data is small, or reading it again and again takes too long. The rule is silent by itself
where the generator wants more of the data than its rows in order, as to shuffle or to sum them,
where it is given its file or its data, where the loop reads other files or other rows, as if this
were but their labels, and for up to 32 files written down or cut off.
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
    costs,
    edits,
)
from tfmemlint.facts.flow.loops import Growth
from tfmemlint.facts.sizes.amounts import Amount
from tfmemlint.facts.sizes.arrays import bytes_of
from tfmemlint_rules._analyses.generators import Generators, Held, Hoard
from tfmemlint_rules._analyses.late_loading import Late, LateLoading

ELEMENT = Amount(("what is in a file",), of_bytes=True)


def check(file: File) -> Iterator[Diagnostic]:
    for hoard in file.tf.of(Generators).hoards:
        growth = hoard.gathered.growth if hoard.gathered else None
        yield Diagnostic(
            file.span(growth.node if growth else hoard.loaded),
            f"{_what(file, hoard)} before {_who(hoard)} gives its first element",
            _fix(file, hoard, growth),
            _cost(file, hoard),
        )


def _cost(file: File, hoard: Hoard) -> Cost:
    """All of it, and one of it at a time."""
    each = file.tf.arrays.elements(hoard.data) if hoard.gathered else None
    after = ELEMENT if each is None else bytes_of(each).folded()
    if hoard.gathered and each is None:
        files = file.tf.numbers.length(hoard.gathered.files)
        return costs.cost(files.times(ELEMENT), Law.DATA, after)
    return costs.cost(file.tf.arrays.nbytes(hoard.data), Law.DATA, after)


def _what(file: File, hoard: Hoard) -> str:
    data = file.called(hoard.data, "a list")
    if hoard.held is Held.FILE and isinstance(hoard.loaded, ast.Call):
        return f"`{ast.unparse(hoard.loaded.func)}` reads the whole array"
    if hoard.held is Held.HDF5:
        return f"all of `{ast.unparse(hoard.loaded)}` is read"
    if hoard.gathered is None:
        return f"{data} holds what is in all files"
    files = file.source(hoard.gathered.files)
    every = "each file" if "\n" in files or len(files) > 60 else f"every one of `{files}`"
    return f"{data} holds what is loaded from {every}"


def _who(hoard: Hoard) -> str:
    return (
        "the generator" if isinstance(hoard.generator, ast.Lambda) else f"`{hoard.generator.name}`"
    )


def _fix(file: File, hoard: Hoard, growth: Growth | None) -> Fix | None:
    late, change = file.tf.of(LateLoading).of(hoard), tuple[Edit, ...]()
    if late is Late.BY_ROW:
        change = _row_by_row(file, hoard)
    elif late is Late.LAZILY:
        change = _lazily(file, hoard)
    elif late is Late.AT_ONCE and growth:
        change = _at_once(file, hoard, growth)
    return Fix("Load each when its turn comes", change, Applicability.UNSAFE) if change else None


def _row_by_row(file: File, hoard: Hoard) -> tuple[Edit, ...]:
    """`file["images"]` for `file["images"][:]`."""
    assert isinstance(hoard.loaded, ast.Subscript)
    edit = edits.reduced(file, hoard.loaded, hoard.loaded.value)
    return (edit,) if edit else ()


def _lazily(file: File, hoard: Hoard) -> tuple[Edit, ...]:
    """`(load(path) for path in paths)` for the same in square brackets."""
    inside = file.source(hoard.loaded)[1:-1]
    whole = file.concrete(hoard.loaded) is not None
    return (edits.replaced(file, hoard.loaded, f"({inside})"),) if whole else ()


def _at_once(file: File, hoard: Hoard, growth: Growth) -> tuple[Edit, ...]:
    """`yield image` for `images.append(image)`, without the list and the loop over it."""
    statement, (element,) = file.tf.tree.statement, growth.elements
    given = edits.replaced(file, growth.node, f"yield {file.source(element)}")
    first = edits.without_statement(file, statement(growth.start.node))
    last = edits.without_statement(file, statement(hoard.giving))
    if first is None or last is None or "\n" in file.source(given.span):
        return ()
    commented = "#" in file.source(first.span) + file.source(last.span)
    return (first, given, last) if file.concrete(growth.node) and not commented else ()


RULE = Rule(
    code="TFM219",
    name="generator-loads-everything",
    claim=Claim(
        Metric.HOST_PEAK,
        at_most=0.25,
        because="one file is in memory at a time",
        grows=("linear", "constant"),
    ),
    triggers=("from_generator",),
    check=check,
)
