"""Calls of `predict` that loops repeat for little each time."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.predictions import Predictions

HEAD = """\
import random
import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
x = np.load("x.npy")
net = keras.Sequential([])
"""


def found(code: str) -> list[tuple[str, str]]:
    file = File("example.py", HEAD + dedent(code))
    return [
        (file.named(each.loop.node), each.rows.words) for each in file.tf.of(Predictions).repeated
    ]


ONE = "one row"
IN_LOOP = [("for row in x", ONE)]


@pytest.mark.parametrize(
    "code",
    [
        "for row in x:\n    net.predict(row[None])",
        "for row in x:\n    if row.any():\n        net.predict(row[None])",
        "for row in x:\n    net.predict(row[None])\n    if row.any():\n        break",
        "for row in x:\n    net.fit(row[None], y)\n    net.predict(row[None])",
        "for row in x:\n    viewer.show(row)\n    net.predict(row[None])",
        "for row in x:\n    print(np.argmax(net.predict(prepared(row))))",
        "for row in x:\n    y = net.predict(prepared(row))\n    print(y[0, 1], float(y[0]))",
        "def f(model, row):\n    return model.predict(row[None])\nfor row in x:\n    f(net, row)",
        "for name in ('a', 'b'):\n    for row in x:\n        net.predict(row[None])",
    ],
)
def test_a_row_for_each_round_is_found(code: str) -> None:
    assert found(code) == IN_LOOP


@pytest.mark.parametrize(
    "code",
    [
        "net.predict(x[None])",
        "for row in x:\n    net.predict(row)",
        "for row in x[:9]:\n    net.predict(row[None])",
        "for row in random.sample(x, 9):\n    net.predict(row[None])",
        "for i in range(32):\n    net.predict(x[i][None])",
        "for row in x:\n    net.predict(row[None])\n    break",
        "for i in range(99):\n    net.fit(x, y)\n    net.predict(x[i][None])",
        "faces = detector.detectMultiScale(x)\nfor face in faces:\n    net.predict(face[None])",
        "for name in tf.config.list_logical_devices():\n    net.predict(read(name)[None])",
        "for i, row in enumerate(x):\n    net.predict(row[None])\n    if i == 9:\n        break",
        "for i, row in enumerate(x):\n    if i < 9:\n        net.predict(row[None])",
        "batch, _ = next(x)\nfor row in batch:\n    net.predict(row[None])",
        "for ax, row in zip(axes, x):\n    ax.imshow(row)\n    net.predict(row[None])",
        "for epoch in range(99):\n    net.predict(x[epoch][None])",
        "for i, row in enumerate(x):\n    if i % 50 == 0:\n        net.predict(row[None])",
        "for row in x:\n    plt.imshow(row)\n    net.predict(row[None])",
        "while True:\n    net.predict(np.array([input()]))",
        "for row in x:\n    keras.Sequential([]).predict",
        "for row in x:\n    own = keras.Sequential([])\n    own.predict(row[None])",
        "for row in x:\n    other.predict(row[None])",
        "for row in x:\n    net.predict(row[None], steps=1)",
        "for row in x:\n    y = net.predict(prepared(row))\n    print(y[0, 1], y[1])",
        "def f(model, row):\n    return model.predict(row[None])\n"
        "for row in x:\n    f(keras.models.load_model(row), row)",
        "with tf.get_default_graph().as_default():\n    for row in x:\n"
        "        net.predict(row[None])",
        "session = tf.compat.v1.Session()\nfor row in x:\n    net.predict(row[None])",
    ],
)
def test_what_is_rare_large_the_same_or_no_model_is_not(code: str) -> None:
    assert found(code) == []


@pytest.mark.parametrize(
    ("header", "loops"),
    [
        ("for i in range(33):", ["for i in range(33)"]),
        ("for i in range(n):", ["for i in range(n)"]),
        ("for i in random.sample(x, 64):", ["for i in random.sample(x, 64)"]),
        ("for i in random.sample(x, n):", ["for i in random.sample(x, n)"]),
        ("while i < n:", ["while i < n"]),
    ],
)
def test_loops_of_unknown_length_are_taken_for_long_ones(header: str, loops: list[str]) -> None:
    body = "\n    i = i + 1\n    net.predict(x[i][None])"

    assert found(header + body) == [(each, ONE) for each in loops]


def test_the_loop_that_is_named_is_the_long_one() -> None:
    nested = "    for j in range(4):\n        net.predict(x[i + j][None])"

    assert found(f"for i in range(n):\n{nested}") == [("for i in range(n)", ONE)]
    assert found(f"for i in range(20):\n{nested}") == [("for j in range(4)", ONE)]


def test_rounds_of_loops_in_each_other_and_around_calls_multiply() -> None:
    nested = "for i in range(6):\n    for j in range(6):\n        net.predict(x[i + j][None])"
    called = """\
        def text(start):
            for i in range(20):
                start = start + str(net.predict(np.array([start]))[0, i])
        for start in range(5):
            text(start)
        """

    assert found(nested) == [("for j in range(6)", ONE)]
    assert found(called) == [("for i in range(20)", ONE)]


def test_an_array_that_is_written_to_changes() -> None:
    code = "row = np.zeros((1, 9))\nfor i in range(n):\n    {}net.predict(row)"

    assert found(code.format("row[0, i] = i\n    ")) == [("for i in range(n)", ONE)]


@pytest.mark.parametrize(
    "code",
    [
        "for row in x:\n    net.predict(x[:1])",
        "while True:\n    net.predict(np.ones((1, 4)))",
        "for row in np.arange(0.0, 9.0, 0.1):\n    net.predict(np.array([[row]]))",
        "for i in range(n):\n    if i % 4 == 0:\n        net.predict(x[:1])",
        "for i, row in enumerate(x):\n    if not i % 3:\n        net.predict(row[None])",
        "for row in x:\n    y = net.predict(prepared(row))\n    print(y[0])",
        "for row in x:\n    y = net.predict(prepared(row))\n    y[0][3] = 1\n    net.fit(row, y)",
        "for row in x:\n    net.predict([[row[None]]])",
        "for row in x:\n    net.predict(np.stack((row[None],) * 3, axis=-1))",
        "def rows():\n    while True:\n        yield np.load('row.npy')[None]\n"
        "for row in rows():\n    net.predict(row)",
        "class Player:\n    def __init__(self):\n        self.net = keras.Sequential([])\n"
        "    def move(self, state):\n        return self.net.predict(state)\n"
        "class Game:\n    def __init__(self):\n        self.player = Player()\n"
        "    def play(self):\n        while not self.over():\n"
        "            self.player.move(self.state()[None])\n",
        "class Net(keras.Model):\n    def play(self, game):\n        while not game.over():\n"
        "            self.predict(game.state()[None])",
    ],
)
def test_little_is_little_every_time(code: str) -> None:
    assert len(found(code)) == 1


@pytest.mark.parametrize(
    "code",
    [
        "for i in range(n):\n    if i % 10 == 0:\n        net.predict(x[:1])",
        "for i in range(100):\n    if i % 4 == 0:\n        net.predict(x[:1])",
        "for i in range(n):\n    if i % often == 0:\n        net.predict(x[:1])",
        "for i in range(n):\n    start = time.time()\n    net.predict(x[:1])\n"
        "    print(time.time() - start)",
        "for epoch in range(n):\n    net.predict(x[:1])",
        "for i in range(n):\n    net.fit(x, y)\n    net.predict(x[:1])",
        "other = keras.Model(i, o)\nfor row in x:\n"
        "    y = other.predict(prepared(row))\n    show(y[0])",
        "for row in x:\n    y = net.predict(prepared(row))\n    print(y[0][1])\n    print(y[1])",
        "for row in x:\n    y = net.predict(prepared(row))\n    print(y[0][1], len(y))",
        "for row in x:\n    y = net.predict(prepared(row))\n    print(y[0][1], y.argmax(axis=1))",
        "for row in x:\n    net.predict(np.stack((row[None],) * 3))",
    ],
)
def test_what_is_seldom_timed_or_many_rows_is_not(code: str) -> None:
    assert found("import time\n" + code) == []


@pytest.mark.parametrize(
    "code",
    [
        "def f(model: keras.Model):\n    for row in x:\n        model.predict(row[None])",
        "def f(model: keras.Sequential | None = None):\n"
        "    for row in x:\n        model.predict(row[None])",
        "def g() -> tf.keras.Model:\n    return registry['a']\nmodel = g()\n"
        "for row in x:\n    model.predict(row[None])",
        "class A:\n    model: keras.Model\n    def f(self):\n"
        "        for row in x:\n            self.model.predict(row[None])",
        "class A:\n    def __init__(self, model: keras.Model):\n        self.model = model\n"
        "    def f(self):\n        for row in x:\n            self.model.predict(row[None])",
        "class Own(keras.Model):\n    pass\ndef f(model: Own):\n"
        "    for row in x:\n        model.predict(row[None])",
        "class Writer(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch, logs=None):\n"
        "        for row in x:\n            self.model.predict(row[None])",
        "import unets\nmodel = unets.small()\nmodel.compile(optimizer='adam', loss='mse')\n"
        "for row in x:\n    model.predict(row[None])",
        "import unets\nmodel = unets.small()\nmodel.load_weights('small.h5')\n"
        "def f(model):\n    for row in x:\n        model.predict(row[None])\nf(model)",
        "class A:\n    def __init__(self, model):\n        self.model = model\n"
        "    def f(self):\n        for row in x:\n            self.model.predict(row[None])\n"
        "            self.model.train_on_batch(row, row)",
    ],
)
def test_models_are_what_is_called_or_treated_so(code: str) -> None:
    assert len(found(code)) == 1


@pytest.mark.parametrize(
    "code",
    [
        "class Writer:\n    def on_epoch_end(self, epoch, logs=None):\n"
        "        for row in x:\n            self.model.predict(row[None])",
        "def f(model: Any):\n    for row in x:\n        model.predict(row[None])",
        "def f(model: keras.Model | Forest):\n    for row in x:\n        model.predict(row[None])",
        "def f(model: keras.layers.Layer):\n    for row in x:\n        model.predict(row[None])",
        "class Own:\n    pass\ndef f(model: Own):\n"
        "    for row in x:\n        model.predict(row[None])",
        "import re\nmodel = forest()\nmodel.compile('a+')\n"
        "for row in x:\n    model.predict(row[None])",
        "import forests\nmodel, other = forests.two()\nother.compile(loss='mse')\n"
        "for row in x:\n    model.predict(row[None])",
    ],
)
def test_what_may_be_another_kind_of_model_is_none(code: str) -> None:
    assert found(code) == []


def test_what_functions_make_for_training_on_a_batch_is_a_batch() -> None:
    code = """\
        def fakes(model, count):
            points = np.random.normal(size=(count, 9))
            return model.predict(points)

        def train(critic, steps):
            for step in range(steps):
                {}

        train(keras.Sequential([]), 5_000)
        """

    assert found(code.format("critic.train_on_batch(fakes(net, n), y)")) == [
        ("for step in range(steps)", "one batch")
    ]
    assert found(code.format("print(fakes(net, n))")) == []


def test_what_is_predicted_beside_training_on_a_batch_is_a_batch() -> None:
    code = """\
        for {} in range(n):
            noise = np.random.normal(size=(size, 9))
            fake = net.predict(noise)
            {}
        """

    assert found(code.format("step", "critic.train_on_batch(fake, y)")) == [
        ("for step in range(n)", "one batch")
    ]
    assert found(code.format("epoch", "critic.train_on_batch(fake, y)")) == [
        ("for epoch in range(n)", "one batch")
    ]
    assert found(code.format("step", "critic.fit(fake, y)")) == []
    large = dedent(code).replace("size, 9", "5000, 9")
    assert found(large.format("step", "critic.train_on_batch(fake, y)")) == []


def test_calls_stand_in_source_order_with_what_is_called() -> None:
    file = File("example.py", HEAD + "for row in x:\n    net.predict(net.predict(row[None]))")

    calls = [each.call for each in file.tf.of(Predictions).repeated]

    assert [ast.unparse(each) for each in calls] == [
        "net.predict(net.predict(row[None]))",
        "net.predict(row[None])",
    ]


def test_a_loop_over_what_is_empty_is_one_all_the_same() -> None:
    code = """
    nets = []
    def scores(batch):
        return [one.predict(batch) for one in nets]
    for row in x:
        scores(row[None])
    """
    assert found(code) == []
