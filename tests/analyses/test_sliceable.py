"""Calls that could be made for some rows of their arrays after others."""

import ast

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.sliceable import Sliceable

IMPORTS = """\
import keras
import numpy as np
import tensorflow as tf
net, adam = keras.Sequential([]), keras.optimizers.Adam()
x, y = np.load("x.npy"), np.load("y.npy")
weights = np.ones(60_000)
"""
STEP = """\
def step(inputs, labels):
    with tf.GradientTape() as tape:
        outputs = net(inputs)
        loss = keras.losses.mse(labels, outputs)
    return loss
"""


def cut(code: str) -> list[str] | None:
    """What would have to be cut for the call of `f` in `code`."""
    file = File("module.py", IMPORTS + code)
    found = file.tf.of(Sliceable).arguments(_call_of(file, "f"))
    return None if found is None else [file.source(each) for each in found]


def _call_of(file: File, name: str) -> ast.Call:
    calls = (call for call in file.tf.tree.all(ast.Call))
    return next(each for each in calls if ast.unparse(each.func) == name)


@pytest.mark.parametrize(
    ("code", "arrays"),
    [
        ("f(x)", ["x"]),
        ("f(net, adam, x, y, 0.5)", ["x", "y"]),
        ("f(tf.constant(x / 255), labels=y)", ["x", "y"]),
        ("loss = f(x, y)\nprint(loss)", ["x", "y"]),
        ('loss = f(x, y)["loss"].numpy()', ["x", "y"]),
    ],
)
def test_the_arrays_of_a_call_are_cut(code: str, arrays: list[str]) -> None:
    assert cut(code) == arrays


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("print(f(x))", id="more than the call"),
        pytest.param("loss = f(x) + 1", id="something made of the result"),
        pytest.param("f(net)", id="no array"),
        pytest.param("f(x, y, weights)", id="three arrays"),
        pytest.param("f(x, state)", id="what may be data"),
        pytest.param("f(x, [y])", id="a list of arrays"),
        pytest.param("f(weights, np.zeros((9, 2)))", id="no name"),
        pytest.param("z = np.zeros((9, 2))\nf(z, weights)", id="other numbers of rows"),
        pytest.param("out = f(x)\nprint(out == y)", id="a result that meets an array"),
    ],
)
def test_a_call_that_needs_all_rows_is_left_whole(code: str) -> None:
    assert cut(code) is None


def step_is_cut(code: str) -> bool:
    file = File("module.py", IMPORTS + code)
    call = _call_of(file, "step")
    found = file.tf.of(Sliceable).step(call, [*file.tf.passes.below(call)])
    assert found is None or [file.source(each) for each in found] == ["x", "y"]
    return found is not None


@pytest.mark.parametrize("code", ["step(x, y)", "loss = step(x, y)"])
def test_a_step_that_gives_back_its_loss_is_cut(code: str) -> None:
    assert step_is_cut(STEP + code)


@pytest.mark.parametrize(
    ("part", "instead"),
    [
        pytest.param("return loss", "return outputs", id="gives back what the model made"),
        pytest.param("tf.GradientTape()", "open()", id="trains nothing"),
        pytest.param("loss = keras", "loss = weights * keras", id="reads another whole array"),
        pytest.param(
            "def step",
            "@tf.function(input_signature=[tf.TensorSpec([60_000, 8]), tf.TensorSpec([60_000])])\n"
            "def step",
            id="declares the shape of its inputs",
        ),
    ],
)
def test_a_step_that_needs_all_rows_is_left_whole(part: str, instead: str) -> None:
    assert STEP.count(part) == 1

    assert not step_is_cut(STEP.replace(part, instead) + "loss = step(x, y)")


def test_what_a_step_gives_back_is_of_no_matter_where_it_is_dropped() -> None:
    assert step_is_cut(STEP.replace("return loss", "return outputs") + "step(x, y)")
