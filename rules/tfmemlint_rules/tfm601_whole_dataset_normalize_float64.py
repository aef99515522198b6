"""A whole array is scaled in float64, or in one copy more than its result.

## What it finds
Arithmetic with plain numbers, `x_train / 255.0` or `(images - 127.5) / 127.5`, or with the mean of
all of it, `(x - np.mean(x)) / np.std(x)`, on a NumPy array that holds a whole data set: of
integers, or cast to `float` for it. Also `x.astype("float32") / 255`, which keeps the array that is
cast beside the one that is divided, and `(x / 255.0).astype("float32")`, which makes float64 only
to throw it away.

## Why it costs memory
NumPy divides integers in float64, whatever the number: eight bytes for each pixel that was one. A
model computes in float32 and has what it is given cast again.

## What to do instead
Have NumPy compute in float32, into one array: `np.divide(x, 255.0, dtype=np.float32)`. Better
still, leave the data as bytes and let the model scale each batch, `keras.layers.Rescaling(1 /
255)`: that takes a quarter of it.

## Fix safety
Unsafe where the array was float64 and is float32 then: numbers differ from the eighth digit on, and
code that asks for the dtype sees another one. Safe where float32 is what was made of it before,
too, and the same numbers come out: for a cast first, and, for pixels, for a cast after one
operation. No fix is offered where the code has no name for NumPy and no place to import it, where
one of several arrays that are scaled alike cannot be mended with the others, and where a float64 of
NumPy, as `np.std(x)` is, follows the first operation: it would make float64 of float32 again.

## When to ignore it
When something needs float64. The rule is silent by itself where that is asked for by its full name,
`x.astype(np.float64)`, for parts of an array, for arrays whose dtype is not known, unless what they
are divided by is cast to float32 there and then, for float arrays, which keep theirs, for two
arrays of float32 whose size is not known, one of which is gone at once, and in place, `x /= 255`,
which makes no copy. Less than 128 MB in float64, and less than 512 MB in two arrays of float32 or
of a ready-made data set, such as the 376 MB that the images of MNIST become, are hidden as long as
`min-bytes` is not set; so are, of a ready-made data set, two arrays of float32 up to 2 GB, and a
float64 array that `astype` makes a float32 one of in the same statement, up to 1 GB of both, such
as MNIST's 538 MB: one is gone before anything is trained. What is done alike to several arrays in
one place, as to training and test data, is reported once, for the largest.
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
    Span,
    costs,
    edits,
)
from tfmemlint.facts.sizes.amounts import Amount, count, held
from tfmemlint.facts.sizes.ready import Ready
from tfmemlint_rules._analyses.scalings import UFUNCS, Scaling, Scalings

BESIDE = 3
"""Statements from one to the next."""
BYTES = frozenset({"int8", "uint8"})
WORTH_FLOAT64 = 128 << 20
WORTH_FLOAT32 = 512 << 20
"""Bytes, of all arrays that are there at once: for less nobody makes two calls of one line."""
WORTH_FOR_A_MOMENT = {"float32": 2 << 30, "float64": 1 << 30}
"""The same of a ready-made data set, before anything is trained: one is gone with the statement."""
LONGEST = 30
"""Characters, of a name in a formula."""


def check(file: File) -> Iterator[Diagnostic]:
    found = file.tf.of(Scalings).all
    eager = [each for each in found if file.tf.tracing.why(each.whole) is None]
    for alike in _alike(file, eager):
        largest = max(alike, key=lambda each: each.size.rows or 0)
        known = largest.size.rows is not None and largest.size.width is not None
        if largest.dtype == "float32" and not known:
            continue  # one copy for a moment: who says that it is large?
        span = file.span(largest.whole)
        yield Diagnostic(span, _message(file, largest), _fix(file, alike), _cost(file, largest))


def _alike(file: File, found: list[Scaling]) -> list[list[Scaling]]:
    """What is done to several arrays in one block of code: training data and test data."""
    groups: list[list[Scaling]] = []
    last: dict[tuple[int, str], tuple[int, list[Scaling]]] = {}
    for each in found:
        block, place = file.tf.tree.place(file.tf.tree.statement(each.whole))
        key = id(block), ast.unparse(each.whole).replace(ast.unparse(each.array), "it")
        before = last.get(key)
        if before is None or place - before[0] > BESIDE:
            group: list[Scaling] = []
            groups.append(group)
        else:
            group = before[1]
        group.append(each)
        last[key] = place, group
    return groups


def _message(file: File, found: Scaling) -> str:
    array = file.named(found.array)
    if found.dtype == "float32":
        return f"`{file.named(found.given)}` is one float32 array, and what it becomes another"
    made = f"`{file.named(found.first)}` makes a float64 array of all of `{array}`"
    if found.source is None:
        made = f"`{file.named(found.first)}` makes an array of all of `{array}`"
    if found.after is not None:
        return f"{made}, and `astype` a float32 one of that"
    return f"{made}, eight times its bytes" if found.source in BYTES else made


def _cost(file: File, found: Scaling) -> Cost:
    """All arrays that are there at once, and the one that is left."""
    name = ast.unparse(found.array)
    rows = Amount((f"`{name}.size`" if len(name) <= LONGEST else "its numbers",))
    width = count(1)
    if found.size.rows is not None and found.size.width is not None:
        rows, width = count(found.size.rows), count(found.size.width)
    one = rows.times(width.times(held(4)).folded())
    wide = rows.times(width.times(held(8 if found.dtype == "float64" else 4)).folded())
    ready = file.tf.of(Ready).is_array(found.array)
    now = wide.plus(one) if found.after is not None or found.dtype == "float32" else wide
    if ready and (found.after is not None or found.dtype == "float32"):
        worth = WORTH_FOR_A_MOMENT.get(found.dtype, 0)
    elif found.dtype == "float32":
        worth = WORTH_FLOAT32
    else:
        worth = 2 * costs.worth(ready=ready, otherwise=WORTH_FLOAT64 // 2)
    return costs.cost(now, Law.DATA, one, worth=worth)


def _fix(file: File, alike: list[Scaling]) -> Fix | None:
    """All of them at once, so that no two arrays have different types afterwards."""
    numpy = edits.numpy(file, alike[0].whole)
    changes = [_instead(file, each, numpy[0]) for each in alike] if numpy else []
    whole = edits.whole(changes)
    if numpy is None or whole is None:
        return None
    edited = whole if numpy[1] is None else (numpy[1], *whole)
    safety = Applicability.SAFE if all(map(_is_safe, alike)) else Applicability.UNSAFE
    return Fix("Compute in float32, into one array", tuple(edited), safety)


def _is_safe(found: Scaling) -> bool:
    as_before = found.source is not None if found.dtype == "float32" else found.is_exact
    return as_before and (found.dtype == "float32" or found.after is not None)


def _instead(file: File, found: Scaling, numpy: str) -> Edit | None:
    """`np.divide(x, 255.0, dtype=np.float32)` in place of the first operation."""
    if file.concrete(found.first) is None or not found.stays_narrow:
        return None
    given, array, first = file.source(found.given), found.array, found.first
    if found.before is not None:
        if not file.tf.tree.inside(found.before, found.given):
            return None
        start, (_, end) = file.span(found.given).start, file.span(found.before)
        given = given[: file.span(array).end - start] + given[end - start :]
    pair = [given, file.source(found.number)]
    sides = ", ".join(pair[::-1] if found.reversed else pair)
    made = f"{numpy}.{UFUNCS[type(first.op)]}({sides}, dtype={numpy}.float32)"
    whole, inner = file.span(found.whole), file.span(first)
    if found.after is not None and found.steps > 1:
        end = file.span(found.after.func).end - len(".astype")
        made = file.source(Span(whole.start, inner.start)) + made + file.text[inner.end : end]
    return edits.instead(file, first if found.after is None else found.whole, made)


RULE = Rule(
    code="TFM601",
    name="whole-dataset-normalize-float64",
    claim=Claim(
        Metric.HOST_PEAK,
        at_most=0.65,
        because="float32 takes half of float64, and there is one array of it",
    ),
    triggers=(
        "datasets numpy",
        "array asarray choice full integers load load_data loadtxt ones randint stack zeros",
    ),
    check=check,
)
