"""A `shuffle` buffer holds a large part of what a generator makes.

## What it finds
`shuffle` behind `from_generator`, where the signature tells how large an element is and the buffer
takes 256 MB or more: in one expression, or through names, branches, helper functions and methods.

## Why it costs memory
`shuffle(n)` holds `n` elements for as long as it is read from, and fills anew each epoch. What a
generator makes is in memory only because the buffer holds it; a buffer as large as the data set
holds all of it.

## What to do instead
Shuffle what is small: have the generator take file names or numbers of rows in random order, and
let a buffer of a few hundred elements do the rest.

## Fix safety
Unsafe: the buffer is made to hold 64 MB, so that elements come in another order and mix less.
Offered where the size of the buffer is written down in its place.

## When to ignore it
When there is room for the buffer, and the generator cannot change its order. The rule is silent by
itself where sizes are not known, for slices of arrays, which the buffer shares with the array, and
where a `take` leaves few elements or the generator makes few. What a `map` makes larger is another
rule's affair.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Cost, Diagnostic, File, Fix, Metric, Rule, edits
from tfmemlint.facts.library.kinds import Value
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.pipelines.chains import Chain, From

LARGE = 256 << 20
"""Bytes, in one buffer."""
ENOUGH = 64 << 20
"""Bytes, of the buffer the fix makes."""
KEEPS_ELEMENTS = frozenset(
    {"filter", "prefetch", "repeat", "shard", "skip", "take", "with_options"}
)


def check(file: File) -> Iterator[Diagnostic]:
    reported: set[ast.Call] = set()
    for chain in file.tf.datasets.chains:
        size = _made(file, chain)
        place = _shuffle(chain)
        if size is None or place is None or chain.steps[place].call in reported:
            continue
        shuffle = chain.steps[place]
        buffer = shuffle.argument("buffer_size")
        held = file.tf.values.number(buffer, shuffle.frame)
        most = _there(file, chain, place)
        if buffer is None or held is None or size * min(held, most or held) < LARGE:
            continue
        reported.add(shuffle.call)
        nbytes = int(size * min(held, most or held))
        yield Diagnostic(
            edits.method_call(file, shuffle.call) or file.span(shuffle.call),
            f"`shuffle` holds up to `{ast.unparse(buffer)}` elements, {nbytes >> 20:,} MB in all",
            _fix(file, buffer, size),
            Cost(f"{ast.unparse(buffer)} elements of {size:,} bytes", nbytes),
        )


def _shuffle(chain: Chain) -> int | None:
    """Where the elements are shuffled as the generator made them."""
    for place, step in enumerate(chain.steps):
        if step.method == "shuffle":
            return place
        if step.method not in KEEPS_ELEMENTS:
            return None
    return None


def _there(file: File, chain: Chain, place: int) -> int | None:
    """How many elements come to a place at most: the same ones again with each repetition."""
    before = chain.methods[:place]
    again = "repeat" in before and "take" not in before[before.index("repeat") :]
    return None if again else file.tf.lengths.at_most(chain, place)


def _made(file: File, chain: Chain) -> int | None:
    """How large an element is that a generator makes, where its signature tells."""
    source = chain.source.node
    if chain.source.kind is not From.GENERATOR or not isinstance(source, ast.Call):
        return None
    signature = argument(source, None, "output_signature")
    sizes = [_nbytes(file, each) for each in _parts(file, signature)]
    return sum(size for size in sizes if size is not None) or None  # at the least


def _parts(file: File, signature: ast.expr | None) -> list[ast.expr]:
    if isinstance(signature, ast.Name):
        signature = file.tf.bindings.assigned(signature)
        return [] if isinstance(signature, ast.Name) else _parts(file, signature)
    if isinstance(signature, ast.Tuple):
        return [part for each in signature.elts for part in _parts(file, each)]
    if isinstance(signature, ast.Dict):
        return [part for each in signature.values for part in _parts(file, each)]
    return [] if signature is None else [signature]


def _nbytes(file: File, spec: ast.expr) -> int | None:
    if not isinstance(spec, ast.Call):
        return None
    if file.tf.names.qualified(spec.func) != "tensorflow.TensorSpec":
        return None
    shape = file.tf.values.shape(argument(spec, 0, "shape"))
    given = argument(spec, 1, "dtype")
    dtype = "float32" if given is None else file.tf.values.dtype(given)
    return Value(dtype=dtype, shape=shape).nbytes


def _fix(file: File, buffer: ast.expr, size: int) -> Fix | None:
    if not isinstance(buffer, ast.Constant):
        return None
    change = edits.replaced(file, buffer, str(max(1, ENOUGH // size)))
    return Fix("Let the buffer hold 64 MB", (change,), Applicability.UNSAFE)


RULE = Rule(
    code="TFM203",
    name="shuffle-buffer-whole-dataset",
    claim=Claim(Metric.DEVICE_PEAK, at_most=0.3, because="the buffer holds a part of the data"),
    triggers=("shuffle", "from_generator"),
    check=check,
)
