"""An image generator is fitted to all images, and computes nothing of them.

## What it finds
`generator.fit(x)` of an `ImageDataGenerator` that is told neither `featurewise_center` nor
`featurewise_std_normalization` nor `zca_whitening`: nothing else asks for what `fit` computes.

## Why it costs memory
`fit` makes float32 of the whole array and then a copy of that, whatever it is to compute: eight
bytes for each byte of a picture, and once more the array where that is float32 already. They are
there until it is done, and raise the peak of the process beside the data.

The code tells less than was measured: Keras makes these copies within `fit`, which is out of sight.

## What to do instead
Leave the call out. Turning, shifting, flipping and scaling are done to each picture as its batch
comes. To take a mean off, `keras.layers.Normalization` has one from `adapt`, batch by batch.

## Fix safety
Unsafe: `fit` is an error for an array that has not four axes, and warns of images that have other
than one, three or four channels; told `augment` or `seed`, it draws random numbers, or begins them
anew. Not offered where the array is calculated in the call itself.

## When to ignore it
When the images are few: of a data set that libraries have ready, copies of less than 256 MB are
hidden as long as `min-bytes` is not set. The rule is silent by itself where an option may be on:
where it is no literal, may be among `**options`, or is set later, as in
`generator.featurewise_center = True`.
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
from tfmemlint.facts.library.keras_apis import IMAGE_GENERATORS
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes.amounts import Amount, held, product
from tfmemlint.facts.sizes.ready import Ready

ASKS = frozenset({"featurewise_center", "featurewise_std_normalization", "zca_whitening"})
"""The options that `fit` computes something for."""
FLOAT = 4
"""Bytes of a number, as the generator computes unless it is told otherwise."""


def check(file: File) -> Iterator[Diagnostic]:
    if not file.tf.names.mentions(IMAGE_GENERATORS) or _is_any_set(file):
        return
    for call, method in file.tf.tree.methods("fit"):
        images = argument(call, 0, "x")
        if images is not None and _asks_nothing(file, method.value):
            fitted = f"{file.named(method.value)}.fit"
            yield Diagnostic(
                file.span(call),
                f"`{fitted}` copies all of `{file.named(images)}`, and computes nothing of it: "
                "no option asks for that",
                _fix(file, call, images),
                _cost(file, images),
            )


def _is_any_set(file: File) -> bool:
    """Whether an option is given to an object: `generator.featurewise_center = True`."""
    found = (each for name in ASKS for each in file.tf.tree.attributes.get(name, ()))
    return any(not isinstance(each.ctx, ast.Load) for each in found)


def _asks_nothing(file: File, generator: ast.expr) -> bool:
    """Whether something is surely a generator that has nothing to compute beforehand."""
    ends = file.tf.sources.of(generator)
    made = [file.tf.names.call_of(each.node, IMAGE_GENERATORS) for each in ends.found]
    return ends.complete and bool(made) and all(each and not _may_ask(each) for each in made)


def _may_ask(made: ast.Call) -> bool:
    told = [each for each in made.keywords if each.arg in ASKS or each.arg is None]
    off = [isinstance(each.value, ast.Constant) and not each.value.value for each in told]
    return bool(made.args) or not all(off)


def _cost(file: File, images: ast.expr) -> Cost:
    found = file.tf.arrays.of(images)
    numbers = Amount((f"`{file.named(images)}.size`",))
    if found is not None and found.dims is not None:
        numbers = product(found.dims)
    copies = 1 if found is not None and found.dtype == "float32" else 2
    own = file.tf.arrays.nbytes(images)
    worth = costs.worth(ready=file.tf.of(Ready).is_array(images))
    return costs.cost(own.plus(numbers.times(held(copies * FLOAT))), Law.DATA, own, worth)


def _fix(file: File, call: ast.Call, images: ast.expr) -> Fix | None:
    statement = file.tf.tree.statement(call)
    alone = isinstance(statement, ast.Expr) and statement.value is call
    if not alone or any(isinstance(each, ast.Call) for each in ast.walk(images)):
        return None
    change = edits.without_statement(file, statement)
    if change is None or file.concrete(statement) is None:
        return None
    return Fix("Leave it out", (change,), Applicability.UNSAFE)


RULE = Rule(
    code="TFM614",
    name="image-generator-fitted-for-nothing",
    claim=Claim(Metric.HOST_PEAK, at_most=0.6, because="the images are there once, without copies"),
    triggers=("ImageDataGenerator", "fit"),
    check=check,
)
