"""Which expressions of traced code are surely symbolic tensors."""

import ast
from collections.abc import Callable
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.symbolic import Symbolic

Look = Callable[[str], tuple[File, list[ast.expr]]]

HEAD = """
import tensorflow as tf
squared = tf.keras.losses.MeanSquaredError()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
weight = tf.Variable(1.0)
outside = tf.ones([2])
def helper(a):
    return tf.square(a)
def unsure(a):
    return a
"""


def answers(look: Look, source: str) -> list[bool]:
    file, marked = look(HEAD + dedent(source))
    return [file.tf.of(Symbolic).is_symbolic(each) for each in marked]


@pytest.mark.parametrize(
    "expression",
    [
        "tf.norm(x)",
        "model(x)",
        "squared(x, x)",
        "tf.keras.losses.mse(x, x)",
        "tf.keras.losses.MeanSquaredError()(x, x)",
        "tape.gradient(y, weight)",
        "helper(x)",
        "y",
        "-y",
        "y * 2",
        "(1, y)",
        "{'loss': y}",
        "[each * y for each in (1, 2)]",
        "y if x else -y",
        "y[0]",
        "y.ref()",
    ],
)
def test_what_is_computed_in_a_graph_is_symbolic(look: Look, expression: str) -> None:
    source = f"""
        @tf.function
        def f(x):
            with tf.GradientTape() as tape:
                y = tf.square(x)
            see({expression})
    """

    assert answers(look, source) == [True]


@pytest.mark.parametrize(
    "expression",
    [
        "x",
        "1",
        "y.shape",
        "y.shape[0]",
        "weight",
        "outside",
        "model",
        "unsure(x)",
        "tf.keras.metrics.Mean()",
        "tf.keras.layers.Dense(1)",
        "float(y)",
        "[1, 2]",
        "y if x else 1",
    ],
)
def test_what_may_be_something_else_is_not(look: Look, expression: str) -> None:
    source = f"@tf.function\ndef f(x):\n    y = tf.square(x)\n    see({expression})\n"

    assert answers(look, source) == [False]


@pytest.mark.parametrize(
    ("source", "symbolic"),
    [
        ("ds = tf.data.Dataset.range(3)\nds.map(lambda a: see(a))", True),
        ("@tf.function(input_signature=[s])\ndef f(x):\n    see(x)", True),
        ("@tf.function\ndef f(x):\n    see(x)", False),
        ("class L(tf.keras.layers.Layer):\n    def call(self, x, training):\n        see(x)", True),
        (
            "class L(tf.keras.layers.Layer):\n    def call(self, x, training):\n"
            "        see(training)",
            False,
        ),
        ("def g(a):\n    see(a)\n@tf.function\ndef f(x):\n    g(tf.square(x))", True),
        ("def g(a):\n    see(a)\n@tf.function\ndef f(x):\n    g(1)\n    g(tf.square(x))", False),
        ("def g(a):\n    see(a)\ng(1)", False),
    ],
)
def test_a_parameter_is_what_tracing_gives(look: Look, source: str, symbolic: bool) -> None:
    assert answers(look, source) == [symbolic]


def test_keras_classes_give_back_tensors(look: Look) -> None:
    source = """
        class Network(tf.keras.Model):
            def __init__(self):
                self.head = tf.keras.layers.Dense(1)

            def train_step(self, data):
                x, y = data
                see(y)
                see(self(x))
                see(self.head(x))
                see(self.compute_loss(y=y, y_pred=self(x)))
                see(super().train_step(data))
                see(self.trainable_variables)
    """

    assert answers(look, source) == [True, True, True, True, True, False]
