"""Shapes of code that reach the rules many times over: work grows as they do, and not faster."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tfmemlint import registry
from tfmemlint.linting import lint

RULES = tuple(registry.load().values())
FEW, MANY = 40, 80
START = "import numpy as np\nimport tensorflow as tf\n"
SHAPES: dict[str, Callable[[int], str]] = {
    "concatenations to one name": lambda n: (
        "out = tf.zeros([0, 4])\nfor x in tf.data.Dataset.range(9000):\n"
        + "".join(f"    out = tf.concat([out, x + {i}], 0)\n" for i in range(n))
    ),
    "tapes": lambda n: (
        "x = tf.Variable(1.0)\n"
        + "".join(
            f"with tf.GradientTape(persistent=True) as t{i}:\n    y = x * {i}\n"
            f"g = t{i}.gradient(y, x)\n"
            for i in range(n)
        )
    ),
    "functions that call each other": lambda n: (
        "".join(f"def f{i}(x):\n    return f{i + 1}(x) + 1\n" for i in range(n))
        + f"def f{n}(x):\n    return x\n"
        + "ds = tf.data.Dataset.range(5000).map(f0).shuffle(3000).batch(4).prefetch(64)\n"
    ),
    "lists of losses": lambda n: "".join(
        f"l{i} = []\nfor x in tf.data.Dataset.range(9000):\n"
        f"    l{i}.append(tf.reduce_mean(x))\nprint(np.mean(l{i}))\n"
        for i in range(n)
    ),
    "lists of pipelines": lambda n: (
        "ds = tf.data.Dataset.range(5000).map(tf.square)\n"
        + "".join(f"print(len(list(ds.skip({i}))))\n" for i in range(n))
    ),
    "traced functions": lambda n: "".join(
        f"@tf.function\ndef f{i}(x, n):\n    return x * 2\nfor n in range(99):\n    f{i}(x, n)\n"
        for i in range(n)
    ),
    "arrays that graphs hold": lambda n: "".join(
        f"t{i} = np.ones((4096, 128), np.float32)\n"
        f"@tf.function\ndef f{i}(x):\n    return tf.gather(t{i}, x)\n"
        for i in range(n)
    ),
    "scaled arrays": lambda n: "".join(
        f"a{i} = np.load('{i}.npy').astype('float32') / 255.0\n" for i in range(n)
    ),
}


def calls(source: str) -> int:
    """How many functions are called to lint a program."""
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    lint("code.py", source, RULES)  # what is imported is imported
    sys.setprofile(counted)
    try:
        lint("code.py", source, RULES)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_as_a_shape_does(shape: str) -> None:
    few, many = (calls(START + SHAPES[shape](number)) for number in (FEW, MANY))

    assert many < 2.6 * few, f"{few} calls for {FEW}, {many} for {MANY}"
