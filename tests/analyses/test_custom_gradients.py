"""Where models and traced functions have custom gradients."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.custom_gradients import CustomGradients

HEAD = """
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.applications import EfficientNetB0, MobileNetV2

@tf.custom_gradient
def ours(x):
    return x, lambda upstream: upstream

assigned = tf.custom_gradient(lambda x: (x, lambda upstream: upstream))

def other(x):
    return x

def block(x, activation="relu"):
    return layers.Dense(1, activation=activation)(x)

class Ours(layers.Layer):
    def call(self, x):
        return ours(x)

class Plain(layers.Layer):
    def call(self, x):
        return other(x)
"""


def of_model(source: str) -> str | None:
    file = File("example.py", HEAD + dedent(source))
    calls = (each for each in file.tf.tree.all(ast.Assign))
    (made,) = (each.value for each in calls if ast.unparse(each.targets[0]) == "model")
    assert isinstance(made, ast.Call)
    found = file.tf.of(CustomGradients).of_model(made, file.tf.tree.module)
    return None if found is None else ast.unparse(found)


@pytest.mark.parametrize(
    ("layer", "found"),
    [
        ("layers.Dense(1, 'silu')", "'silu'"),
        ("layers.Conv2D(1, 3, activation='swish')", "'swish'"),
        ("layers.Activation(tf.nn.silu)", "tf.nn.silu"),
        ("layers.Dense(1, activation=keras.activations.swish)", "keras.activations.swish"),
        ("layers.Lambda(lambda x: tf.nn.swish(x))", "tf.nn.swish"),
        ("layers.Lambda(ours)", "ours"),
        ("layers.Lambda(assigned)", "assigned"),
        ("layers.Lambda(tf.recompute_grad(other))", "tf.recompute_grad"),
        ("layers.Dense(1, 'relu')", None),
        ("layers.Dense(1, 'gelu', name='silu_1')", None),
        ("layers.Lambda(other)", None),
        ("layers.Activation(tf.nn.relu)", None),
    ],
)
def test_layers_bring_custom_gradients(layer: str, found: str | None) -> None:
    assert of_model(f"model = keras.Sequential([{layer}])") == found
    assert of_model(f"def f():\n    return keras.Sequential([{layer}])\nmodel = f()") == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("model = EfficientNetB0(weights=None)", "EfficientNetB0"),
        ("model = MobileNetV2(weights=None)", None),
        ("model = keras.applications.efficientnet.EfficientNetB7()", "keras.applications"),
        ("def f():\n    return EfficientNetB0()\nmodel = f()", "EfficientNetB0"),
        ("base = EfficientNetB0()\nmodel = keras.Sequential([base])", "EfficientNetB0"),
        ("base = MobileNetV2()\nmodel = keras.Sequential([base])", None),
        ("def f(a):\n    return block(1, a)\nmodel = f('silu')", "activation"),
        ("def f(a):\n    return block(1, a)\nmodel = f('relu')", None),
        ("def f():\n    return block(1)\nmodel = f()", None),
        ("SILU = 'silu'\nmodel = keras.Sequential([layers.Dense(1, SILU)])", "SILU"),
        ("def f():\n    return keras.Sequential([Ours()])\nmodel = f()", "ours"),
        ("def f():\n    return keras.Sequential([Plain()])\nmodel = f()", None),
        ("model = keras.models.load_model('silu')", None),
    ],
)
def test_models_are_followed_to_what_makes_them(source: str, found: str | None) -> None:
    assert (of_model(source) or "none").startswith(found or "none")


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return ours(x)", "ours"),
        ("return tf.nn.silu(x)", "tf.nn.silu"),
        ("return tf.recompute_grad(other)(x)", "tf.recompute_grad"),
        ("return inner(x)", "ours"),
        ("return other(x)", None),
        ("return tf.nn.relu(x)", None),
    ],
)
def test_functions_are_followed_to_what_they_call(body: str, found: str | None) -> None:
    source = f"def inner(x):\n    return ours(x)\ndef f(x):\n    {body}\ntraced = tf.function(f)\n"
    file = File("example.py", HEAD + source)
    definitions = {each.name: each for each in file.tf.tree.all(ast.FunctionDef)}
    (wrapping,) = (
        each for each in file.tf.tree.all(ast.Call) if ast.unparse(each) == "tf.function(f)"
    )

    for made in (definitions["f"], wrapping):
        pin = file.tf.of(CustomGradients).of_function(made)
        assert (None if pin is None else ast.unparse(pin)) == found


def test_a_file_that_mentions_none_has_none() -> None:
    plain = "import tensorflow as tf\nx = tf.nn.relu(1)\n"

    assert not File("example.py", plain).tf.of(CustomGradients).any
    assert File("example.py", plain + "y = tf.nn.silu(x)\n").tf.of(CustomGradients).any
    assert File("example.py", plain + "activation = 'swish'\n").tf.of(CustomGradients).any
