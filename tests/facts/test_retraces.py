"""Python numbers that change, given to traced functions."""

from textwrap import dedent

import pytest

from tfmemlint import File


def read(source: str) -> File:
    head = "import tensorflow as tf\n@tf.function\ndef f(x, n=0): pass\n"
    return File("example.py", f"{head}{dedent(source)}")


COUNTER = "class A:\n    def __init__(self):\n        self.n = 0\n\n    def fit(self, xs):\n"
ONE = "\n    def one(self, x):\n        f(x, self.n)\n        self.n += 1"


@pytest.mark.parametrize(
    ("source", "whole"),
    [
        ("for i in range(99):\n    f(x, i)", True),
        ("for i, x in enumerate(xs):\n    f(x, n=i)", True),
        ("for i in range(99):\n    f(x, 2 * i + 1)", True),
        ("for i in range(99):\n    f(x, i / 2)", False),
        ("i = 0\nwhile True:\n    f(x, i)\n    i += 1", True),
        ("r = 0.5\nfor x in xs:\n    r *= 0.5\n    f(x, r)", False),
        ("for x in xs:\n    y = float(x)\n    f(x, y)", False),
        ("for x in xs:\n    f(x, x.item())", False),
        ("def g(i):\n    f(x, i)\nfor i in range(99):\n    g(i)", True),
        ("m = tf.keras.Sequential()\nfor i in range(99):\n    f(m, i)", True),
        (
            "def g():\n    m = tf.keras.Sequential()\n    for i in range(99):\n        f(m, i)",
            True,
        ),
        ("def g(m):\n    for i in range(m):\n        for j in range(m): f(x, i * m + j)", True),
        ("g = tf.function(lambda x, n: x)\nfor i in range(99):\n    g(x, i)", True),
        ("for i in range(99):\n    if i % 10 == 0:\n        f(x, i)", True),
        ("for i in range(99):\n    if i == 0: pass\n    else: f(x, i)", True),
        ("for i in range(99):\n    if i < 30:\n        f(x, i)", True),
        ("for i in range(99):\n    if i > 3:\n        f(x, i)", True),
        ("r = 0.5\nfor x in xs:\n    r *= 0.5\n    if r < 1:\n        f(x, r)", False),
        ("for i in range(99):\n    f(x, i)\n    if i == 30:\n        break", True),
        (
            "g = tf.function(lambda x, n: x, autograph=False)\nfor i in range(99):\n    g(x, i)",
            True,
        ),
        (
            COUNTER + "        for x in xs:\n            f(x, self.n)\n"
            "            if self.counts:\n                self.n += 1",
            True,
        ),
        ("for i in range(99):\n    if i > 0 and mode == 'train':\n        f(x, i)", True),
        (COUNTER + "        for x in xs:\n            f(x, self.n)\n            self.n += 1", True),
        (
            COUNTER + "        for x in xs:\n            f(x, self.n)\n            self.n /= 2",
            False,
        ),
        (COUNTER + "        for x in xs: self.one(x)\n" + ONE, True),
        ("for i in range(99):\n    strategy.run(f, args=(x, i))", True),
        ("for i in range(99):\n    strategy.run(f, (x, i))", True),
    ],
)
def test_a_number_that_changes_is_found(source: str, whole: bool) -> None:
    (found,) = read(source).tf.retraces.all

    assert found.parameter == "n"
    assert found.whole == whole


@pytest.mark.parametrize(
    "source",
    [
        COUNTER + "        for x in xs: f(x, self.n)\n        self.n += 1",
        COUNTER + "        for x in xs:\n            if self.n == 0: f(x, self.n)\n"
        "            self.n += 1",
        COUNTER + "        for x in xs: self.one(x)\n        self.n = 0\n" + ONE,
        COUNTER.replace("0", "tf.Variable(0)") + "        for x in xs: self.one(x)\n" + ONE,
        COUNTER + "        for _ in range(3): self.one(x)\n" + ONE,
        "for i in range(99):\n    strategy.run(f, args=(x, 3))",
        "for i in range(99):\n    strategy.run(f, args=(*xs, i))",
        "def g(x, n):\n    return x\nfor i in range(99):\n    strategy.run(g, args=(x, i))",
        "for i in range(8):\n    f(x, i)",
        "for i in range(99):\n    f(x, i % 2)",
        "for i in range(99):\n    f(x, tf.constant(i))",
        "for i in tf.range(99):\n    f(x, i)",
        "for x in xs:\n    f(x, 3)",
        "for i in range(99):\n    pass\nf(x, i)",
        "for i in range(99):\n    if i == 0:\n        f(x, i)",
        "for i in range(99):\n    if not i:\n        f(x, i)",
        "for i in range(99):\n    if i < 3:\n        f(x, i)",
        "for i in range(99):\n    if 3 >= i:\n        f(x, i)",
        "for i in range(99):\n    f(x, i)\n    if i == 3:\n        break",
        "g = tf.function(lambda x, n: x, [A, B])\nfor i in range(99):\n    g(x, i)",
        COUNTER + "        for x in xs:\n            f(x, self.n)\n"
        "            if done(x):\n                self.n += 1",
        "for i in range(99):\n    if i == n - 1 and x:\n        f(x, i)",
        "for i in range(99):\n    if i in (0, 10, 50):\n        f(x, i)",
        "for i, x in tf.data.Dataset.range(9).enumerate():\n    f(x, i)",
        "def g(i):\n    f(x, i)\ng(1)",
        "def g(x, n):\n    return x\nh = tf.function(g)\nfor i in range(99):\n    g(x, i)",
        "@tf.function\ndef g():\n    for i in range(99):\n        f(x, i)",
        "for i in range(99):\n    m = tf.keras.Sequential()\n    f(m, i)",
        "def g(i):\n    m = tf.keras.Sequential()\n    for _ in range(9):\n        f(m, i)\n"
        "for i in range(99):\n    g(i)",
    ],
)
def test_few_numbers_and_tensors_are_not(source: str) -> None:
    assert read(source).tf.retraces.all == ()
