"""Whole arrays that go through a model at once."""

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.full_batches import FullBatches

IMPORTS = """\
import keras
import numpy as np
import tensorflow as tf
net = keras.Sequential([])
x, y = np.load("x.npy"), np.load("y.npy")
small = np.zeros((32, 8))
def loss_of(inputs):
    return tf.reduce_mean(net(inputs))
def step(inputs, labels):
    with tf.GradientTape() as tape:
        loss = loss_of(inputs)
    return tape.gradient(loss, net.trainable_variables)
"""


def full(code: str) -> list[str]:
    """The calls that put a whole array through a model, and that array."""
    file = File("module.py", IMPORTS + code)
    return [
        f"{file.source(each.array)} in {file.source(each.call)}"
        for each in file.tf.of(FullBatches).all
    ]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("for epoch in range(9): step(x, y)", "x in step(x, y)"),
        ("while True: loss_of(x / 255)", "x / 255 in loss_of(x / 255)"),
        ("net(x)", "x in net(x)"),
        ("net.predict_on_batch(x)", "x in net.predict_on_batch(x)"),
        ("net.train_on_batch(x=x, y=y)", "x in net.train_on_batch(x=x, y=y)"),
        ("net.predict(x, len(x))", "x in net.predict(x, len(x))"),
        ("net.evaluate(x, y, batch_size=len(y))", "x in net.evaluate(x, y, batch_size=len(y))"),
        (
            "z = np.zeros((90_000, 64))\nnet.predict(z, batch_size=90_000)",
            "z in net.predict(z, batch_size=90_000)",
        ),
    ],
)
def test_a_whole_array_goes_through_a_model(code: str, found: str) -> None:
    assert full(code) == [found]


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("for i in range(9): step(x[i : i + 8], y)", id="a slice"),
        pytest.param("for i in range(9): step(small, y)", id="a small array"),
        pytest.param("def f(path):\n    net(np.load(path))", id="one of many files, maybe"),
        pytest.param("net.predict(x)", id="the usual batch size"),
        pytest.param("net.predict(x, batch_size=len(other))", id="the length of another array"),
        pytest.param("z = np.zeros((90_000, 64))\nnet.predict(z, batch_size=512)", id="batches"),
        pytest.param("tree.train_on_batch()", id="no array"),
        pytest.param(
            "class Net:\n    def predict_on_batch(self, x): ...\nNet().predict_on_batch(x)",
            id="a method of the module",
        ),
        pytest.param(
            "def sharpen(inputs):\n    with tf.GradientTape() as tape:\n"
            "        tape.watch(inputs)\n        out = net(inputs)\n    return out\n"
            "for i in range(9): sharpen(x)",
            id="gradients of inputs",
        ),
        pytest.param(
            "with tf.GradientTape() as outer:\n    with tf.GradientTape() as inner:\n"
            "        net(x)",
            id="a tape inside another",
        ),
    ],
)
def test_no_whole_array_goes_through_a_model_at_once(code: str) -> None:
    assert full(code) == []


PICKS = "def pick(rows):\n    return tf.gather(net(rows), [1, 2])\n"
INNER = "def rows_of(rows):\n    return tf.gather(net_of(rows), [1, 2])\n"
BOTH = "def both(a, b):\n    return net(a) + net(b / 255)\n"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        pytest.param("step(x, y)", ["inputs in net(inputs)"], id="called once"),
        pytest.param(f"{PICKS}while True: pick(x)", [], id="picks rows"),
        pytest.param(f"{PICKS}pick(x)", [], id="picks rows once"),
        pytest.param(
            f"def net_of(rows):\n    return net(rows)\n{INNER}while True: rows_of(x)",
            [],
            id="picks rows that another function makes",
        ),
        pytest.param(f"{BOTH}while True: both(x, y)", [], id="two arrays"),
        pytest.param(f"{BOTH}both(x, y)", [], id="two arrays, once"),
        pytest.param(
            "def report():\n    return net(x), net(y)\nreport()",
            ["x in net(x)", "y in net(y)"],
            id="two arrays that it is not given",
        ),
        pytest.param(
            f"{PICKS}pick(small)\nprint(net(x))", ["x in net(x)"], id="rows picked elsewhere"
        ),
    ],
)
def test_what_is_no_step_is_a_call_of_the_model_alone(code: str, found: list[str]) -> None:
    assert full(code) == found


def test_where_no_array_is_made_none_goes_through_a_model() -> None:
    file = File("module.py", "import keras\nnet = keras.Sequential([])\nnet.predict_on_batch(x)")

    assert file.tf.of(FullBatches).all == ()


def test_a_step_is_told_from_the_model_it_calls() -> None:
    file = File("module.py", IMPORTS + "for epoch in range(9): step(x, y)")
    (found,) = file.tf.of(FullBatches).all

    assert [file.source(each.call) for each in found.passes] == ["net(inputs)"]
    assert [getattr(each, "name", "") for each in found.passes[0].functions] == ["step", "loss_of"]


def test_the_size_that_keras_is_told_is_known() -> None:
    file = File("module.py", IMPORTS + "net.predict(x, len(x))\nnet.predict_on_batch(x)")
    told, untold = file.tf.of(FullBatches).all

    assert told.size is not None
    assert (file.source(told.size), untold.size) == ("len(x)", None)
