"""An operation on images is given all of the data at once.

## What it finds
`tf.image.resize(x_train, (224, 224))`, `tf.image.grayscale_to_rgb(x_train)`, `preprocess_input` and
other operations on images, of an array that holds a whole data set.

## Why it costs memory
What comes out is float32, larger than the bytes that went in by far more than the four times of
their type: 28 by 28 pixels that become 224 by 224 are 256 times as much. All of it is held at once,
next to what it was made of, and on the device if there is one.

## What to do instead
Do it to each batch: in a `map` of the pipeline behind `batch`, or with a layer of the model, such
as `keras.layers.Resizing`.

## Fix safety
None. Where the images are read in batches is for the program to say.

## When to ignore it
When the result is small and wanted often. The rule is silent by itself for parts of an array and
for what may be one batch, in loops, in the functions that a pipeline maps, and in other traced
code. Floats known to be less than 64 MiB, of a ready-made data set, such as MNIST, less than 256
MB, are hidden, unless `min-bytes` says otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Claim, Cost, Diagnostic, File, Metric, Rule, costs
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes.ready import Ready

OPS = """adjust_brightness adjust_contrast convert_image_dtype grayscale_to_rgb random_brightness
per_image_standardization random_contrast resize resize_with_crop_or_pad resize_with_pad"""
IMAGE_OPS = frozenset(f"tensorflow.image.{each}" for each in OPS.split()) | {
    "keras.ops.image.resize"
}
PREPARES = "preprocess_input"
WORTH = 64 << 20
"""Bytes: the floats of a test set are not worth a pipeline."""


def check(file: File) -> Iterator[Diagnostic]:
    for call in file.tf.tree.calls({*file.tf.names.spelled(IMAGE_OPS), PREPARES}):
        name = file.tf.names.qualified(call.func) or ""
        prepares = name.startswith("keras.applications.") and name.endswith(PREPARES)
        if name not in IMAGE_OPS and not prepares:
            continue
        images = argument(call, 0, "x" if prepares else "images")
        images = images or argument(call, 0, "image")
        if images is None or file.tf.tracing.why(call) or not _is_whole(file, call, images):
            continue
        yield Diagnostic(
            file.span(call),
            f"`{ast.unparse(call.func)}` makes floats of all of `{file.named(images)}` at once",
            None,
            _cost(file, call, images),
        )


def _is_whole(file: File, call: ast.Call, images: ast.expr) -> bool:
    whole = file.tf.wholes.of(images)
    if whole is None or not (whole.is_told and whole.is_no_batch) or whole.given:
        return False
    return not file.tf.loops.around(call)


def _cost(file: File, call: ast.Call, images: ast.expr) -> Cost:
    made = file.tf.values.of(call)._replace(dtype="float32")
    given = file.tf.values.of(images)._replace(dtype="float32")
    resizes = "resize" in ast.unparse(call.func)
    total = made.nbytes if made.nbytes is not None or resizes else given.nbytes
    worth = costs.worth(ready=file.tf.of(Ready).is_array(images), otherwise=WORTH)
    return Cost(f"`{file.named(call)}`", total, at_most=total, worth=worth)


RULE = Rule(
    code="TFM605",
    name="whole-dataset-tf-op",
    claim=Claim(
        Metric.DEVICE_PEAK,
        at_most=0.1,
        because="the floats of one batch are held, not of all images",
        grows=("linear", "constant"),
    ),
    triggers=(
        "adjust_brightness adjust_contrast convert_image_dtype grayscale_to_rgb "
        "per_image_standardization preprocess_input random_brightness random_contrast resize "
        "resize_with_crop_or_pad resize_with_pad",
    ),
    check=check,
)
