"""A whole folder is read into one array, of eight bytes a number.

## What it finds
`images = np.empty((len(paths), height, width, 3))` or `np.zeros`, without a dtype, that a loop
fills with what it decodes from each of all files.

## Why it costs memory
The array holds every example at once, and NumPy's numbers are float64 unless it is told otherwise:
eight bytes for a pixel that has one. TensorFlow computes with float32, and makes a copy of that
when it is given such an array.

## What to do instead
`dtype=np.uint8` for pixels as they are in the files, to be divided by 255 batch by batch, in the
model or a `map`; else `dtype=np.float32`. Where the data is large, and read in batches, no array:
`tf.data.Dataset.from_tensor_slices(paths).map(load).batch(32)` loads a file when its turn comes. To
fill an array made beforehand is right where all of it is needed, and takes half of what a list that
is stacked does, of which TFM604 speaks.

## Fix safety
Unsafe: `dtype=np.float32` keeps pixels as they are, and about seven digits of what is computed.
What is computed with the array is float32, too. Offered where the code has a name for NumPy.

## When to ignore it
When the digits are needed. The rule is silent by itself where a dtype is given, for batches, as
generators fill them, and for some of the files.
"""

from __future__ import annotations

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
from tfmemlint.facts.library.words import READING_WORDS
from tfmemlint_rules._analyses.preallocated import Preallocated, PreallocatedArrays

LONG = 60


def check(file: File) -> Iterator[Diagnostic]:
    for found in file.tf.of(PreallocatedArrays).all:
        if found.told is None:
            files = file.source(found.files)
            each = "each file" if "\n" in files or len(files) > LONG else f"each of `{files}`"
            yield Diagnostic(
                file.span(found.made),
                f"`{file.named(found.made)}` has eight bytes for each number that is loaded from "
                f"{each}",
                _fix(file, found),
                _cost(file, found),
            )


def _cost(file: File, found: Preallocated) -> Cost:
    """The whole array; of half the size with the fix."""
    held = file.tf.arrays.nbytes(found.made)
    half = None if held.value is None else held._replace(value=held.value / 2)
    return costs.cost(held, Law.DATA)._replace(
        fixed="half of it", fixed_bytes=None if half is None else int(half.value or 0)
    )


def _fix(file: File, found: Preallocated) -> Fix | None:
    numpy = file.tf.names.module("numpy", found.made)
    if numpy is None:
        return None
    change = edits.with_argument(file, found.made, f"dtype={numpy}.float32")
    title = "Make the array of float32"
    return None if change is None else Fix(title, (change,), Applicability.UNSAFE)


RULE = Rule(
    code="TFM613",
    name="folder-into-preallocated-array",
    claim=Claim(Metric.HOST_PEAK, at_most=0.6, because="a number takes four bytes, and not eight"),
    triggers=(
        "empty ndarray ones zeros",
        READING_WORDS,
        "for",
    ),
    check=check,
)
