"""Whitening of whole images makes a matrix of all pixels by all pixels.

## What it finds
`ImageDataGenerator(zca_whitening=True)` that is fitted to images: `generator.fit(x)`.

## Why it costs memory
ZCA takes the covariance of every number of an image with every other: (height times width times
channels) squared. For 32 by 32 pixels in color that is 36 MB, for 224 by 224 it is 84 GB, and the
decomposition holds it several times. An array of the data is made for it, too.

The code tells less than was measured: `ImageDataGenerator.fit` copies the images before it takes
means off, and NumPy's deviation makes one more array of them, so that what stands in the second
program once is held three times.

## What to do instead
`featurewise_center=True` and `featurewise_std_normalization=True` need one image's numbers. In a
model, `keras.layers.Normalization` does so, with `adapt`, batch by batch.

## Fix safety
None. Other numbers go into the model then.

## When to ignore it
When images are as small as digits are. The rule is silent by itself where nothing is seen to fit
the generator.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Claim, Cost, Diagnostic, File, Law, Metric, Rule
from tfmemlint.facts.library.keras_apis import IMAGE_GENERATORS
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes.amounts import held, named

FLOAT = 4
"""Bytes of a number, as the generator computes unless it is told otherwise."""


def check(file: File) -> Iterator[Diagnostic]:
    for call, _ in file.tf.names.calls(IMAGE_GENERATORS):
        told = [each for each in call.keywords if each.arg == "zca_whitening"]
        on = [each for each in told if isinstance(each.value, ast.Constant) and each.value.value]
        images = _fitted_to(file, call) if on else None
        if images is not None:
            yield Diagnostic(
                file.span(on[0]),
                "`zca_whitening` makes a matrix of all pixels by all pixels of an image of "
                f"`{file.named(images)}`",
                None,
                _cost(file, images),
            )


def _fitted_to(file: File, made: ast.Call) -> ast.expr | None:
    """The images that a generator is fitted to."""
    for call, method in file.tf.tree.methods("fit"):
        ends = file.tf.sources.of(method.value).found
        if any(each.node is made and not each.path for each in ends):
            return argument(call, 0, "x")
    return None


def _cost(file: File, images: ast.expr) -> Cost:
    shape = file.tf.values.of(images).shape
    sides = shape[1:] if shape else ()
    name = f"{file.named(images)}[0].size"
    text = named(name).times(named(name)).times(held(FLOAT)).text
    if not sides or None in sides:
        return Cost(text, law=Law.CONSTANT)
    numbers = 1
    for each in sides:
        numbers *= each or 1
    total = numbers * numbers * FLOAT
    return Cost(text, total, at_most=4 * total)


RULE = Rule(
    code="TFM612",
    name="zca-whitening-of-images",
    claim=Claim(
        Metric.HOST_PEAK, at_most=0.4, because="a mean and a deviation are as large as one image"
    ),
    triggers=("zca_whitening", "fit"),
    check=check,
)
