"""How long lists of tensors live."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.kept import KeptTensors
from tfmemlint_rules._analyses.lifetimes import Lifetimes

HEAD = """\
import numpy as np
import tensorflow as tf
model = tf.keras.Sequential([])
data = tf.data.TextLineDataset("x.csv").batch(4)
history = {}
"""
FILLED = """\
xs = []
for x in data:
    xs.append(tf.reduce_mean(model(x)))
"""


def one_pass(code: str) -> bool:
    tf = File("example.py", HEAD + dedent(code)).tf
    (kept,) = tf.of(KeptTensors).all
    return tf.of(Lifetimes).is_one_pass(kept)


def in_function(code: str) -> str:
    return "def f(self):\n" + indent(code, "    ")


@pytest.mark.parametrize("after", ["", "print(np.mean(xs))\n", "total = sum(xs) / len(xs)\n"])
def test_what_is_filled_once_and_dropped_is_of_one_pass(after: str) -> None:
    assert one_pass(FILLED + after)
    assert one_pass(in_function(FILLED + after))
    assert one_pass("for epoch in range(9):\n" + indent(FILLED + after, "    "))
    assert one_pass(in_function(FILLED + after + "return np.mean(xs)\n"))


@pytest.mark.parametrize(
    "after",
    [
        "self.losses = xs\n",
        "history['loss'] = xs\n",
        "everything.extend(xs)\n",
        "history.update(loss=xs)\n",
        "yield {'loss': xs}\n",
    ],
)
def test_what_is_put_away_lives_longer(after: str) -> None:
    assert not one_pass(in_function(FILLED + after))


@pytest.mark.parametrize("after", ["return xs\n", "return np.mean(xs), xs\n"])
def test_what_is_given_back_lives_longer_where_loops_ask_for_it(after: str) -> None:
    code = in_function(FILLED + after)
    assert one_pass(code)
    assert one_pass(code + "xs = f(None)\n")
    assert not one_pass(code + "for epoch in range(9):\n    f(None)\n")


@pytest.mark.parametrize(
    "code",
    [
        "xs = []\nfor epoch in range(9):\n    for x in data:\n"
        "        xs.append(tf.reduce_mean(model(x)))\n",
        FILLED.replace("in data", "in data.repeat(9)"),
        FILLED.replace("in data", "in range(9_999)"),
    ],
)
def test_what_is_filled_again_and_again_lives_longer(code: str) -> None:
    assert not one_pass(code)
    assert not one_pass(in_function(code))
