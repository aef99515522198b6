"""Which loops of traced code tracing writes out, and how often."""

from textwrap import dedent, indent

import pytest

from tfmemlint import File

HEAD = """
import itertools
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tqdm import tqdm

ROWS = np.ones([60, 8])
w = tf.Variable(tf.ones([8, 8]))
data = tf.data.Dataset.range(9)
"""
TRACED = "@tf.function\ndef f(x, n, layers):\n"


def read(source: str, header: str = TRACED) -> list[int]:
    file = File("code.py", f"{HEAD}{header}{indent(dedent(source), '    ')}\n")
    return [each.trips for each in file.tf.unrollings.all]


def whole(source: str) -> list[int]:
    return [each.trips for each in File("code.py", HEAD + dedent(source)).tf.unrollings.all]


@pytest.mark.parametrize(
    ("source", "trips"),
    [
        ("for t in range(40):\n    x = tf.tanh(x)", 40),
        ("for t in range(10, 100, 3):\n    x = tf.tanh(x)", 30),
        ("i = 0\nwhile i < 40:\n    x = tf.tanh(x)\n    i += 1", 40),
        ("i = 0\nwhile i < 40:\n    x = x + tf.exp(ROWS[i])\n    i += 1", 40),
        ("for t in reversed(range(40)):\n    x = tf.tanh(x)", 40),
        ("for t in tqdm(range(40)):\n    x = tf.tanh(x)", 40),
        ("for i, t in enumerate(range(40)):\n    x = tf.tanh(x)", 40),
        ("for t in range(40):\n    x = x @ w", 40),
        ("for t in range(40):\n    x = keras.ops.tanh(x)", 40),
        ("for t in range(40):\n    x = layers(tf.exp(x))", 40),
        ("for row in ROWS:\n    x = x + tf.exp(row)", 60),
        ("for i in range(len(ROWS)):\n    x = x + tf.exp(ROWS[i])", 60),
        ("for a, b in zip(ROWS, ROWS):\n    x = x + tf.exp(a) + b", 60),
        ("for row in np.ones([50, 2]):\n    x = x + tf.exp(row)", 50),
        ("for part in tf.split(x, 50):\n    w.assign_add(tf.exp(part))", 50),
        ("for row in tf.unstack(x, num=50):\n    w.assign_add(tf.exp(row))", 50),
        ("rows = tf.unstack(x, 50)\nfor row in rows:\n    w.assign_add(tf.exp(row))", 50),
        ("rows = [np.ones(3) for _ in range(7)]\nfor r in rows:\n    x = x + tf.exp(r)", 7),
        ("return sum(tf.exp(x * k) for k in range(40))", 40),
        ("return sum([tf.exp(x * k) for k in range(40)])", 40),
    ],
)
def test_a_loop_of_python_s_has_as_many_copies_as_trips(source: str, trips: int) -> None:
    assert read(source) == [trips]


@pytest.mark.parametrize(
    "source",
    [
        "for t in tf.range(40):\n    x = tf.tanh(x)",
        "for t in range(tf.shape(x)[0]):\n    x = tf.tanh(x)",
        "for t in range(n):\n    x = tf.tanh(x)",
        "for row in x:\n    w.assign_add(row)",
        "for row in tf.unstack(x):\n    w.assign_add(row)",
        "for t in range(40):\n    y = t + 1",
        "for t in range(40):\n    print(t, x.shape)",
        "for t in range(40):\n    x = layers[t](tf.exp(x))",
        "for t, layer in zip(range(40), layers):\n    x = layer(tf.exp(x))",
        "for t in range(40):\n    x = keras.layers.Dense(8)(tf.exp(x))",
        "for t in range(40):\n    layers.append(tf.exp(x))",
        "for t in range(40):\n    layers += [tf.exp(x)]",
        "for t in range(40):\n    layers = layers + [tf.exp(x)]",
        "for t in range(40):\n    layers[0] = tf.exp(x)",
        "for t in range(40):\n    if t > n:\n        break\n    x = tf.exp(x)",
        "for t in range(40):\n    yield tf.exp(x)",
        "i = 0\nwhile i < n:\n    x = tf.tanh(x)\n    i += 1",
        "i = 0\nwhile i < 40:\n    x = layers[i](tf.exp(x))\n    i += 1",
        "i = 0\nwhile i < 40:\n    x = layers(f'block_{i}', tf.exp(x))\n    i += 1",
        "for t in range(10**30):\n    x = tf.tanh(x)",
        "c = tf.ones([8, 8])\nd = c\nfor t in range(40):\n    d = d @ c\nreturn d",
        "total = 1.0\nfor t in range(40):\n    total *= np.exp(t)\nreturn x * total",
        "for b in itertools.islice(data, 40):\n    w.assign_add(tf.exp(b))",
        "for i, b in zip(itertools.count(), data):\n    w.assign_add(tf.exp(b))",
        "return [tf.exp(x * k) for k in range(40)]",
        "return max(tf.exp(x * k) for k in range(40))",
    ],
)
def test_what_the_graph_repeats_or_python_must(source: str) -> None:
    assert read(source) == []


def test_random_numbers_are_no_constants() -> None:
    assert read("c = 0.0\nfor t in range(40):\n    c += tf.random.normal([])\nreturn c") == [40]


def test_eager_code_has_no_graph() -> None:
    assert read("for t in range(40):\n    x = tf.tanh(x)", "def f(x, n, layers):\n") == []


@pytest.mark.parametrize(
    ("calls", "trips"),
    [
        ("f(x, 40)", [40]),
        ("f(x, 50)\nf(x, n=40)", [40]),
        ("f(x, tf.constant(40))", []),
        ("f(x, unknown)", []),
        ("f(x)", [70]),
        ("", [70]),
        ("def g(x, m=80):\n    f(x, m)", [80]),
        ("def g(x, m):\n    f(x, m)", []),
    ],
)
def test_how_often_is_what_callers_say_or_else_the_default(calls: str, trips: list[int]) -> None:
    loop = "@tf.function\ndef f(x, n=70):\n    for _ in range(n):\n        x = tf.exp(x)\n"
    assert whole(loop + calls) == trips


def test_an_array_that_is_an_argument_arrives_as_a_tensor() -> None:
    loop = "@tf.function\ndef f(rows):\n    for row in rows:\n        w.assign_add(tf.exp(row))\n"
    assert whole(loop + "f(ROWS)") == []


def test_an_array_that_an_object_holds_is_no_argument() -> None:
    method = (
        "class A:\n    def __init__(self): self.rows = np.ones([60, 8])\n"
        "    @tf.function\n    def f(self):\n"
        "        for row in self.rows:\n            w.assign_add(tf.exp(row))\n"
    )
    assert whole(method) == [60]


def test_epochs_are_told_by_the_dataset_they_go_over() -> None:
    file = File(
        "code.py",
        HEAD
        + dedent("""
        @tf.function
        def train():
            for epoch in range(20):
                for x in data:
                    w.assign_add(tf.exp(x))
    """),
    )
    (epochs,) = file.tf.unrollings.all

    assert epochs.trips == 20
    assert epochs.dataset is not None
    assert file.source(epochs.dataset) == "data"
