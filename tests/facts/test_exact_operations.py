"""What is said to be the same for examples and batches, tried with TensorFlow."""

import ast

import pytest

from tfmemlint import File
from tfmemlint.facts.pipelines.held import UNKNOWN

pytestmark = pytest.mark.tensorflow

SETUP = """
import keras
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rescale = layers.Rescaling(1 / 127.5, offset=-1)
"""


def is_exact(function: str) -> bool:
    file = File("code.py", f"{SETUP}given({function})")
    call = next(each for each in file.tf.tree.all(ast.Call) if ast.unparse(each.func) == "given")
    return file.tf.mappings.of(call.args[0], UNKNOWN).is_exact


def is_the_same(function: str) -> bool:
    """Whether batches of what it makes of examples are, to the bit, what it makes of batches."""
    names: dict[str, object] = {}
    exec(
        f"{SETUP}pixels = np.random.default_rng(0).integers(0, 256, (37, 7, 5, 3), np.uint8)", names
    )
    exec(f"examples = tf.data.Dataset.from_tensor_slices(pixels)\nfunction = {function}", names)
    return bool(
        eval(
            "all(one.numpy().tobytes() == other.numpy().tobytes() for one, other in "
            "zip(examples.map(function).batch(8), examples.batch(8).map(function), strict=True))",
            names,
        )
    )


@pytest.mark.parametrize(
    "function",
    [
        "lambda x: tf.cast(x, tf.float32) / 255.0",
        "lambda x: x / 255",
        "lambda x: (tf.cast(x, tf.float32) - 127.5) * (1 / 127.5)",
        "lambda x: tf.cast(x, tf.float16) / 255.0",
        "lambda x: tf.clip_by_value(tf.square(tf.cast(x, tf.float64) / 200), 0, 1)",
        "lambda x: tf.saturate_cast(tf.cast(x, tf.float32) * 2.7, tf.uint8)",
        "lambda x: tf.image.convert_image_dtype(x, tf.float32)",
        "lambda x: tf.maximum(-tf.abs(tf.divide(tf.cast(x, tf.float32), 7.0)), -3.0)",
        "lambda x: tf.expand_dims(tf.one_hot(x, 256), -1)[..., tf.newaxis]",
        "lambda x: keras.ops.expand_dims(keras.ops.cast(x, 'float32') / 255.0, -1)",
        "lambda x: rescale(x)",
    ],
)
def test_what_is_exact_is_the_same_to_the_bit(function: str) -> None:
    assert is_exact(function)
    assert is_the_same(function)


@pytest.mark.parametrize(
    "function",
    ["lambda x: tf.exp(tf.cast(x, tf.float32) / 255.0)", "lambda x: tf.reverse(x, [0])"],
)
def test_what_is_not_the_same_is_not_exact(function: str) -> None:
    assert not is_the_same(function)
    assert not is_exact(function)
