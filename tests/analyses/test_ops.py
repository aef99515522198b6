"""Code made of TensorFlow operations alone."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.ops import Ops

IMPORTS = """
import os
import keras
import numpy as np
import tensorflow as tf
from elsewhere import helper
"""


def traceable(code: str, before: str = "") -> bool:
    """Whether code could run in `Dataset.map` with `x` a tensor."""
    file = File("code.py", IMPORTS + dedent(before) + "def marked():\n    pass\n    " + code)
    marked = next(each for each in file.tree.body if getattr(each, "name", "") == "marked")
    assert isinstance(marked, ast.FunctionDef)
    return file.tf.of(Ops).traceable(marked.body[1:], ["x"])


@pytest.mark.parametrize(
    "code",
    [
        "y = tf.io.decode_png(tf.io.read_file('folder/' + x), channels=3)",
        "y = tf.image.decode_jpeg(x, 1)",
        "y = tf.io.decode_image(x, channels=3, expand_animations=False)",
        "y = tf.image.resize(x, (SIZE, SIZE)) / 255.0",
        "y = tf.cast(x, tf.float32)[..., tf.newaxis]",
        "y = tf.image.resize(x, config.size, method='nearest')",
        "x.set_shape((8, 8, 3))",
        "y: tf.Tensor = keras.applications.resnet.preprocess_input(x)",
        "x /= 255",
    ],
)
def test_operations_are_traceable(code: str) -> None:
    assert traceable(code)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("y = np.array(x)", id="NumPy"),
        pytest.param("y = x.numpy()", id="a method of eager tensors"),
        pytest.param("y = tf.zeros(x.shape)", id="a shape that may be unknown"),
        pytest.param("y = os.path.join('folder', x)", id="a path joined by Python"),
        pytest.param("y = tf.io.read_file(f'folder/{x}')", id="a tensor in a string"),
        pytest.param("y = tf.image.random_hue(x, 0.1)", id="another result each time"),
        pytest.param("y = tf.image.decode_png(x)", id="channels unknown"),
        pytest.param("y = tf.io.decode_image(x, channels=3)", id="rank unknown"),
        pytest.param("y = helper(x)", id="a function out of sight"),
        pytest.param("y = model(x)", id="a model"),
        pytest.param("self.y = tf.abs(x)", id="an attribute changed"),
        pytest.param("print(x)", id="a side effect"),
        pytest.param("if x: y = 1", id="a branch"),
        pytest.param("y = tf.abs(x) if x > 0 else x", id="a choice"),
        pytest.param("y = [tf.abs(z) for z in x]", id="a loop"),
        pytest.param("y = tf.image.resize(x, sizes.pop())", id="a call of Python"),
    ],
)
def test_anything_else_is_not(code: str) -> None:
    assert not traceable(code)


def test_functions_of_the_module_are_entered() -> None:
    pure = "def scaled(x, by=255):\n    '''To [0, 1].'''\n    y = x / by\n    return tf.abs(y)\n"
    eager = "def scaled(x):\n    return x.numpy()\n"
    decorated = "@cached\n" + pure
    traced = "@tf.function\n" + pure
    recursive = "def scaled(x):\n    return scaled(x)\n"

    assert traceable("y = scaled(x, by=2)", pure)
    assert traceable("y = scaled(x)", traced)
    assert not traceable("y = scaled(x)", eager)
    assert not traceable("y = scaled(x)", decorated)
    assert not traceable("y = scaled(x)", recursive)
