"""An array is made of float64, only to be cast to something narrower.

## What it finds
`np.random.rand(n, 64).astype(np.float32)`, `np.ones(shape).astype("float32")` and the like: arrays
of known size that NumPy makes of float64, since it is not told otherwise, and that the same
expression casts.

## Why it costs memory
The array of float64 takes twice what is wanted, and is still there while the cast writes the other:
three times the bytes of float32, nine times those of a byte.

## What to do instead
Have NumPy make the array as it is wanted: `np.ones(shape, dtype=np.float32)`, and a generator's
`rng.random(shape, dtype=np.float32)`.

## Fix safety
Safe for `ones`, and for `full` of a written number that the dtype holds: the numbers are the same
then. Unsafe for other numbers, since `np.full(n, 300, dtype=np.uint8)` is an error where a cast
makes 44 of it; and for random ones: those of float32 are others, and `np.random.rand` knows no
dtype, so that a new generator takes its place.
Not offered for those where the file sets a seed, which a new generator would not have.

## When to ignore it
When the same random numbers have to come out, or nothing else is in memory yet. The rule is silent
by itself for `np.zeros` and `np.empty`, which take no memory before they are written to, for
`np.arange` and `np.linspace`, which count in float64 whatever they give, for lists, whose numbers
may be anything, and where the size is not known. What is known to be less than 8 MiB is hidden,
unless `min-bytes` says otherwise: it is gone as soon as it is cast.
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
    Metric,
    Rule,
    Span,
    edits,
)
from tfmemlint_rules._analyses.wide_first import WideFirst, WidesFirst

WORTH = 8 << 20
"""Bytes: a moment with less of them is not worth a word."""
SEEDS = ("keras.utils.set_random_seed", "numpy.random.seed")


def check(file: File) -> Iterator[Diagnostic]:
    for found in file.tf.of(WidesFirst).all:
        made, dtype = file.named(found.made), ast.unparse(found.dtype)
        yield Diagnostic(
            file.span(found.cast),
            f"`{made}` is all of eight bytes a number, and `astype` makes `{dtype}` of it",
            _fix(file, found),
            Cost(f"`{made}`", found.nbytes, at_most=found.nbytes, worth=WORTH),
        )


def _fix(file: File, found: WideFirst) -> Fix | None:
    dtype = f"dtype={file.source(found.dtype)}"
    title = "Make the array as it is wanted"
    start, end = file.span(found.made).end, file.span(found.cast).end
    if found.told and "#" not in file.source(Span(start, end)):
        pair = [edits.with_argument(file, found.made, dtype), Edit(Span(start, end), "")]
        whole = edits.whole(pair)
        safety = Applicability.SAFE if found.exact else Applicability.UNSAFE
        return None if whole is None else Fix(title, whole, safety)
    numpy = edits.numpy(file, found.cast)
    if not found.shape or numpy is None or numpy[1] is not None or file.tf.names.uses(SEEDS):
        return None
    shape = ", ".join(file.source(each) for each in found.shape)
    if found.several and len(found.shape) > 1:
        shape = f"({shape})"
    elif found.several and any(isinstance(each, ast.Starred) for each in found.shape):
        shape = f"({shape},)"
    text = f"{numpy[0]}.random.default_rng().{found.draws}({shape}, {dtype})"
    change = edits.instead(file, found.cast, text) if file.concrete(found.cast) else None
    return None if change is None else Fix(title, (change,), Applicability.UNSAFE)


RULE = Rule(
    code="TFM602",
    name="float64-temporary",
    claim=Claim(
        Metric.HOST_PEAK, at_most=0.65, because="there is no array of float64 beside those wanted"
    ),
    triggers=(
        "astype",
        "full normal ones rand randn random random_sample standard_normal uniform",
        "numpy",
    ),
    check=check,
)
