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
    (found,) = read(source).tf.remakes.all

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
    ],
)
def test_a_function_for_each_thing_or_for_all_is_made_once(source: str) -> None:
    assert read(source).tf.remakes.all == ()


@pytest.mark.parametrize(
    ("body", "same"),
    [
        ("return model(x) * weight", True),
        ("return np.sqrt(x) + helper(x)", True),
        ("return x * rate", False),
        ("return x * state.rate", False),
        ("return x + np.random.normal()", False),
        ("print(x)\n        return x", False),
        ("seen.append(x)\n        return x", False),
        ("return counting(x)", False),
    ],
)
def test_what_a_loop_changes_keeps_a_function_in_it(body: str, same: bool) -> None:
    file = read(f"""
def helper(x):
    return x + 1

def counting(x):
    global count
    count += 1
    return x

for rate in rates:
    state.rate = rate
    @tf.function
    def step(x):
        {body}
    step(xs)
""")

    (found,) = file.tf.remakes.all

    assert found.loop is not None
    assert found.made is not None
    assert file.tf.remakes.same_before(found.made, found.loop) == same


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("return tf.square(x) + np.sqrt(2)", True),
        ("return model(x)", True),
        ("optimizer.apply_gradients(zip(x, model.weights))", True),
        ("with tf.GradientTape() as tape: return tape.gradient(x, x)", True),
        ("return sum(list(x))", True),
        ("return self.model(x)", False),
        ("return reader.next()", False),
        ("return [each(x) for each in layers]", False),
    ],
)
def test_what_is_out_of_sight_may_do_more_than_compute(body: str, known: bool) -> None:
    file = read(f"""
import keras
model = keras.Sequential([])
optimizer = keras.optimizers.SGD()

for x in xs:
    @tf.function
    def step(x):
        {body}
    step(x)
""")

    (found,) = file.tf.remakes.all

    assert found.made is not None
    assert file.tf.remakes.is_known(found.made) == known


def test_what_a_loop_hands_to_others_they_may_change() -> None:
    file = read("""
for x in xs:
    grow(layers)
    @tf.function
    def step(x):
        return [layer(x) for layer in layers]
    step(x)
""")

    (found,) = file.tf.remakes.all

    assert found.loop is not None
    assert found.made is not None
    assert not file.tf.remakes.same_before(found.made, found.loop)


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
    assert len(File("a.py", source).tf.remakes.all) == expected
