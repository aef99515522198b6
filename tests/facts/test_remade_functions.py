"""Traced functions that are made again and again."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File

IMPORT = "import tensorflow as tf\nimport numpy as np\n"


def read(source: str) -> File:
    return File("example.py", IMPORT + dedent(source))


@pytest.mark.parametrize(
    ("source", "maker"),
    [
        ("for x in xs:\n    tf.function(f)(x)", "tf.function(f)"),
        ("for x in xs:\n    g = tf.function(f)\n    g(x)", "tf.function(f)"),
        ("ys = [tf.function(f)(x) for x in xs]", "tf.function(f)"),
        ("while True:\n    strategy.run(tf.function(f), args=(x,))", "tf.function(f)"),
        ("def make():\n    return tf.function(f)\nfor x in xs:\n    make()(x)", "make()"),
        ("def call(g, x):\n    g(x)\nfor x in xs:\n    call(tf.function(f), x)", "tf.function(f)"),
        ("wrap = tf.function(autograph=False)\nfor x in xs:\n    wrap(f)(x)", "wrap(f)"),
        ("def g(x):\n    return tf.function(f)(x)\nfor x in xs:\n    g(x)", "tf.function(f)"),
        ("def g(x):\n    return tf.function(f)(x)", "tf.function(f)"),
        ("def g(x):\n    h = tf.function(f)\n    return h(x)", "tf.function(f)"),
    ],
)
def test_what_repeats_a_function_is_found(source: str, maker: str) -> None:
    (found,) = read(source).tf.remade_functions.all

    assert isinstance(found.maker, ast.Call)
    assert ast.unparse(found.maker) == maker


@pytest.mark.parametrize(
    "source",
    [
        "g = tf.function(f)\nfor x in xs:\n    g(x)",
        "for x in xs:\n    gs.append(tf.function(f))",
        "for x in xs:\n    g = tf.function(f)\ng(x)",
        "for f in fs:\n    tf.function(f)(x)",
        "for x in xs:\n    model = build()\n    tf.function(model)(x)",
        "for x in xs:\n    model = build()\n    def f(x):\n        return model(x)\n"
        "    tf.function(f)(x)",
        "for i in range(8):\n    tf.function(f)(x)",
        "for x in xs:\n    if g is None:\n        g = tf.function(f)\n    g(x)",
        "for x in xs:\n    tf.function(f)(x)\n    break",
        "@tf.function\ndef g(x):\n    return tf.function(f)(x)\nfor x in xs:\n    g(x)",
        "@cache\ndef make():\n    return tf.function(f)\nfor x in xs:\n    make()(x)",
        "def g():\n    return tf.function(f)(x)",
        "def g(f, x):\n    return tf.function(f)(x)",
        "def g(x):\n    h = tf.function(f)\n    for _ in y:\n        h(x)",
        "def g(x):\n    h = tf.function(f)\n    h(x)\n    h(x)",
        "def g(x):\n    _ = tf.function(f)(x)",
    ],
)
def test_a_function_for_each_thing_or_for_all_is_made_once(source: str) -> None:
    assert read(source).tf.remade_functions.all == ()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("model.add_block(n)", 0),
        ("model.layers[n].trainable = True", 0),
        ("other.add_block(n)", 1),
        ("model.save(n)", 1),
        ("size = len(model.layers[n].trainable)", 1),
    ],
)
def test_a_model_that_the_loop_rebuilds_wants_another_function(change: str, expected: int) -> None:
    source = f"""
import tensorflow as tf

def make(net):
    return tf.function(lambda x: net(x))

def train(model, other, data):
    for n in range(20):
        {change}
        step = make(model)
        for x in data:
            step(x)
"""
    assert len(File("a.py", source).tf.remade_functions.all) == expected
