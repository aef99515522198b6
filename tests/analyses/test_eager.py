"""What turns graphs off."""

from __future__ import annotations

import ast

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.eager import EagerMode

IMPORTS = "import tensorflow as tf\nfrom tensorflow.config import run_functions_eagerly\n"
COMPILED = "model.compile('sgd', {loss}, run_eagerly=True)\n"


def mode(code: str) -> EagerMode:
    return File("code.py", IMPORTS + code).tf.of(EagerMode)


@pytest.mark.parametrize(
    ("code", "switch"),
    [
        ("model.compile('sgd', run_eagerly=True)", "run_eagerly=True"),
        ("model.run_eagerly = True", "model.run_eagerly = True"),
        ("run_functions_eagerly(run_eagerly=True)", "run_functions_eagerly(run_eagerly=True)"),
        (
            "if __name__ == '__main__':\n    tf.config.run_functions_eagerly(True)",
            "tf.config.run_functions_eagerly(True)",
        ),
        ("model.compile('sgd', run_eagerly=True)\nother.compile('sgd')", "run_eagerly=True"),
    ],
)
def test_a_switch_is_left_on(code: str, switch: str) -> None:
    (found,) = mode(code).left_on

    assert ast.unparse(found) == switch


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("model.compile('sgd', run_eagerly=debug)", id="a setting decides"),
        pytest.param("model.run_eagerly = False", id="off"),
        pytest.param("if debug:\n    model.run_eagerly = True", id="a test decides"),
        pytest.param("run_functions_eagerly(True)\nrun_functions_eagerly(False)", id="for a while"),
        pytest.param("model.run_eagerly = True\nmodel.run_eagerly = False", id="set back"),
        pytest.param("model.run_eagerly = True\nprint(model.run_eagerly)", id="shown"),
        pytest.param(
            "model.compile(run_eagerly=True)\nmodel.compile('sgd')", id="compiled once more"
        ),
        pytest.param("elsewhere.run_functions_eagerly(True)", id="not TensorFlow's"),
        pytest.param("debug and run_functions_eagerly(True)", id="a value decides"),
    ],
)
def test_what_is_undone_or_decided_elsewhere_is_not_left_on(code: str) -> None:
    assert mode(code).left_on == ()


@pytest.mark.parametrize(
    ("loss", "needed"),
    [("rank", True), ("loss=['mse', rank]", True), ("'mse'", False), ("plain", False)],
)
def test_eager_code_is_needed_where_a_loss_asks_for_values(loss: str, needed: bool) -> None:
    functions = "def rank(a, b):\n    return a.numpy() - b\ndef plain(a, b):\n    return a - b\n"
    found = mode(functions + COMPILED.format(loss=loss))
    (switch,) = found.left_on

    assert found.is_needed(switch) is needed


@pytest.mark.parametrize(("decorator", "needed"), [("@tf.function\n", True), ("", False)])
def test_eager_code_is_needed_where_traced_code_asks_for_values(
    decorator: str, needed: bool
) -> None:
    code = "def step(x):\n    return x.numpy()\nstep(1)\nrun_functions_eagerly(True)\n"
    found = mode(decorator + code)
    (switch,) = found.left_on

    assert found.is_needed(switch) is needed


@pytest.mark.parametrize(
    ("body", "needed"),
    [
        ("np.abs(a - b)", True),
        ("np.sqrt(2.0) * tf.abs(a - b)", False),
        ("np.prod(a.shape) * tf.abs(a - b)", False),
        ("float(tf.reduce_sum(a - b))", True),
        ("tf.reduce_sum(a - b) * float('1')", False),
    ],
)
def test_eager_code_is_needed_where_a_loss_gives_tensors_to_python(body: str, needed: bool) -> None:
    code = f"import numpy as np\ndef rank(a, b):\n    return {body}\n"
    found = mode(code + COMPILED.format(loss="rank"))
    (switch,) = found.left_on

    assert found.is_needed(switch) is needed


@pytest.mark.parametrize(("decorator", "needed"), [("@tf.function\n", True), ("", False)])
def test_eager_code_is_needed_where_traced_code_makes_layers(decorator: str, needed: bool) -> None:
    code = "def net(x):\n    return tf.keras.layers.Dense(1)(x)\nrun_functions_eagerly(True)\n"
    found = mode(decorator + code)
    (switch,) = found.left_on

    assert found.is_needed(switch) is needed


@pytest.mark.parametrize(
    ("code", "debugged"),
    [("breakpoint()", True), ("import pdb", True), ("print()", False), ("x.breakpoint()", False)],
)
def test_debuggers_are_seen(code: str, debugged: bool) -> None:
    assert mode(code).is_debugged is debugged
