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
from tfmemlint.facts.syntax.nodes import called

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
    """Whether an option is given to an object, `generator.featurewise_center = True`, or put in."""
    tree = file.tf.tree
    found = (each for name in ASKS for each in tree.attributes.get(name, ()))
    put = (each.slice for each in tree.all(ast.Subscript) if isinstance(each.ctx, ast.Store))
    return (
        any(not isinstance(each.ctx, ast.Load) for each in found)
        or any(isinstance(each, ast.Constant) and each.value in ASKS for each in put)
        or any(call.args or ASKS & {each.arg for each in call.keywords} for call in _updates(file))
    )


def _updates(file: File) -> list[ast.Call]:
    """What is put into the options of generators later, if there are any in a dictionary."""
    made = (each for each in file.tf.tree.all(ast.Call) if any(not it.arg for it in each.keywords))
    told = any(file.tf.names.is_any(each.func, IMAGE_GENERATORS) for each in made)
    return [call for call, _ in file.tf.tree.methods("update")] if told else []


def _asks_nothing(file: File, generator: ast.expr) -> bool:
    """Whether something is surely a generator that has nothing to compute beforehand."""
    ends = file.tf.sources.of(generator)
    made = [file.tf.names.call_of(each.node, IMAGE_GENERATORS) for each in ends.found]
    return ends.complete and bool(made) and all(each and not _may_ask(file, each) for each in made)


def _may_ask(file: File, made: ast.Call) -> bool:
    told = [each.value for each in made.keywords if each.arg in ASKS]
    several = [each.value for each in made.keywords if each.arg is None]
    return (
        bool(made.args)
        or not all(map(_is_off, told))
        or any(_may_hold(file, each) for each in several)
    )


def _is_off(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _may_hold(file: File, options: ast.expr) -> bool:
    """Whether `**options` may ask for something: those of `dict(rotation_range=20)` do not."""
    ends = file.tf.sources.of(options)
    if not ends.complete:
        return True
    for each in ends.found:
        if isinstance(each.node, ast.Dict):
            keys = [getattr(key, "value", None) for key in each.node.keys]
            told = [*zip(keys, each.node.values, strict=True)]
        elif isinstance(each.node, ast.Call) and called(each.node) == "dict" and not each.node.args:
            told = [(key.arg, key.value) for key in each.node.keywords]
        else:
            return True
        if any(key is None or (key in ASKS and not _is_off(value)) for key, value in told):
            return True
    return not ends.found


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
