"""`from_tensor_slices` copies an array that is large.

## What it finds
`tf.data.Dataset.from_tensor_slices` of an array that is mapped from a file, comes from HDF5, or is
known to take 256 MB or more.

## Why it costs memory
The pipeline keeps a copy of the whole array as a constant, and every iterator that is made of it,
one an epoch, copies that once more for a moment. An array mapped from a file is read entirely.
Only the batches that come out are small.

## What to do instead
Let rows be read when their turn comes: with `from_generator` over the array, or a `map` that
gathers rows by number. To train in the same order of magnitude of time, read more than one row at
once, or have `tf.data` read the file itself, as TFRecord files.

## Fix safety
Unsafe: the elements are the same, in the same order, but the pipeline no longer knows how many
there are, Python makes them one by one, which takes longer, and what is written to the array later
shows. Not offered for HDF5, where the file would have to stay open, and for names that are given
other arrays.

## When to ignore it
When the copies fit in memory, and speed is what counts. The rule is silent by itself where the size
is not known, for `np.load` of a whole file among others, where it is known to be small, and for the
data sets of `keras.datasets`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import (
    Applicability,
    Claim,
    Diagnostic,
    File,
    Fix,
    Law,
    Metric,
    Rule,
    costs,
    edits,
)
from tfmemlint.facts.flow.stored import Stored
from tfmemlint.facts.library.kinds import Extent, Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes.amounts import count
from tfmemlint.facts.syntax.nodes import is_none

SLICES = frozenset({"tensorflow.data.Dataset.from_tensor_slices"})
LARGE = 256 << 20
"""Bytes, from which on it is worth to have Python give the rows one by one."""


def check(file: File) -> Iterator[Diagnostic]:
    for call, _ in file.tf.names.calls(SLICES):
        given = argument(call, 0, "tensors")
        large = [each for each in _parts(file, given) if _is_large(file, each)]
        if given is None or not large:
            continue
        array = ast.unparse(large[0])
        yield Diagnostic(
            file.span(call.func),
            f"`from_tensor_slices` copies all of `{array}`, and again for each iterator",
            _fix(file, call, given),
            costs.cost(count(2).times(file.tf.arrays.nbytes(large[0])), Law.DATA, worth=2 * LARGE),
        )


def _parts(file: File, given: ast.expr | None) -> list[ast.expr]:
    """The arrays that are sliced together."""
    made = file.tf.flow.same(given)[-1] if given is not None else None
    if isinstance(made, ast.Tuple):
        return [part for each in made.elts for part in _parts(file, each)]
    if isinstance(made, ast.Dict):
        return [part for each in made.values for part in _parts(file, each)]
    return [] if given is None else [given]


def _is_large(file: File, array: ast.expr) -> bool:
    value = file.tf.values.of(array)
    origin = value.origin if isinstance(value.origin, ast.Call) else None
    maker = (file.tf.names.qualified(origin.func) if origin is not None else None) or ""
    if maker.startswith("keras.datasets."):
        return False
    if value.nbytes is not None:
        return value.kind is Kind.ARRAY
    whole = value.kind is Kind.ARRAY and value.extent is Extent.WHOLE
    if whole and origin is not None and _is_mapped(maker, origin):
        return True
    return _is_of_hdf5(file, array)


def _is_mapped(maker: str, origin: ast.Call) -> bool:
    """Whether an array stays in its file until it is read: nobody does that to a small one."""
    mode = argument(origin, 1, "mmap_mode") if maker == "numpy.load" else None
    given = mode is not None and not is_none(mode)
    return maker == "numpy.memmap" or given


def _is_of_hdf5(file: File, array: ast.expr) -> bool:
    """Whether this is all of a data set in an HDF5 file: `file["x"]` or `file["x"][:]`."""
    stored = file.tf.of(Stored)
    read = stored.everything(array)
    found = stored.data_set(array if read is None else read.value)
    key = found.slice if found is not None else None
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def _fix(file: File, call: ast.Call, given: ast.expr) -> Fix | None:
    tf, arrays = file.tf.names.module("tensorflow", call), _parts(file, given)
    flat = given is arrays[0] or (isinstance(given, ast.Tuple) and given.elts == arrays)
    steady = all(_is_steady(file, each) for each in arrays)
    if tf is None or not flat or not steady or len(call.args) != 1 or call.keywords:
        return None
    if "#" in file.source(call) or file.concrete(call) is None:
        return None
    names = [file.source(each) for each in arrays]
    specs = ", ".join(f"{tf}.TensorSpec({name}.shape[1:], {name}.dtype)" for name in names)
    rows = f"zip({', '.join(names)})" if isinstance(given, ast.Tuple) else f"iter({names[0]})"
    signature = f"({specs})" if len(names) > 1 else specs
    text = f"{tf}.data.Dataset.from_generator(lambda: {rows}, output_signature={signature})"
    change = edits.replaced(file, call, text)
    return Fix("Take the rows one by one, as they are needed", (change,), Applicability.UNSAFE)


def _is_steady(file: File, array: ast.expr) -> bool:
    """Whether a name means the same array for good."""
    home = file.tf.bindings.home(array.id, array) if isinstance(array, ast.Name) else None
    if home is None or not isinstance(array, ast.Name):
        return False
    value = file.tf.values.of(array)
    return value.kind is Kind.ARRAY and len(file.tf.bindings.of(home, array.id)) == 1


RULE = Rule(
    code="TFM211",
    name="from-tensor-slices-big-array",
    claim=Claim(
        Metric.DEVICE_PEAK,
        at_most=0.1,
        because="rows are copied when their turn comes",
        of_host=True,
    ),
    triggers=("from_tensor_slices", "numpy h5py"),
    check=check,
)
