"""Python that tapes record, and what it asks of what it is given."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.py_functions import PyFunctions

STEP = """
import numpy as np
import tensorflow as tf
from elsewhere import rotated

scale = tf.Variable(2.0)

def flipped(x):
    return x.numpy()[::-1]

def train(batches, model):
    for x in batches:
        with tf.GradientTape() as tape:
{inside}
        tape.gradient(loss, model.trainable_variables)
"""


def kept(inside: str) -> list[str | None]:
    """The names of the tapes that keep calls."""
    file = File("code.py", STEP.format(inside=indent(dedent(inside), " " * 12)))
    return [each.tape and each.tape.name for each in file.tf.of(PyFunctions).kept]


@pytest.mark.parametrize(
    "inside",
    [
        pytest.param("loss = model(tf.py_function(rotated, [x], tf.float32))", id="of data"),
        pytest.param("loss = tf.py_function(rotated, [model(x)], Tout=tf.int64)", id="integers"),
        pytest.param(
            "loss = tf.py_function(rotated, [model(x)], (tf.bool, tf.string))", id="exact"
        ),
    ],
)
def test_what_no_gradient_goes_through_is_kept(inside: str) -> None:
    assert kept(inside) == ["tape"]


@pytest.mark.parametrize(
    "inside",
    [
        pytest.param("loss = tf.py_function(rotated, [model(x)], tf.float32)", id="of a result"),
        pytest.param("loss = tf.py_function(rotated, [scale], tf.float32)", id="of a variable"),
        pytest.param(
            "y = model(x)\nloss = tf.py_function(rotated, [y], tf.float32)", id="made under it"
        ),
        pytest.param(
            "tape.watch(x)\nloss = tf.py_function(rotated, [x], tf.float32)", id="watched"
        ),
        pytest.param(
            "with tape.stop_recording():\n    tf.py_function(rotated, [x], tf.int64)", id="paused"
        ),
        pytest.param("loss = tf.numpy_function(rotated, [x], tf.int64)", id="NumPy"),
        pytest.param(
            "other(tape)\nloss = tf.py_function(rotated, [x], tf.float32)", id="passed on"
        ),
    ],
)
def test_what_a_gradient_may_go_through_or_nothing_records_is_not(inside: str) -> None:
    assert kept(inside) == []


@pytest.mark.parametrize(
    ("head", "expected"), [("while True:", 1), ("if True:", 0), ("@tf.function\ndef f():", 0)]
)
def test_a_call_counts_that_runs_again_in_eager_code(head: str, expected: int) -> None:
    code = f"""import tensorflow as tf
{head}
    with tf.GradientTape() as tape:
        tf.py_function(sorted, [[1]], tf.int64)
"""

    assert len(File("code.py", code).tf.of(PyFunctions).kept) == expected


def conversions(function: str, given: str = "convert") -> list[str] | None:
    source = f"import numpy as np\nimport tensorflow as tf\n{dedent(function)}\n"
    file = File("code.py", f"{source}tf.py_function({given}, [1], tf.int64)\n")
    call = next(
        each for each in file.tf.tree.all(ast.Call) if ast.unparse(each.func) == "tf.py_function"
    )
    found = file.tf.of(PyFunctions).conversions(call)
    return None if found is None else [ast.unparse(each) for each in found]


@pytest.mark.parametrize(
    ("function", "found"),
    [
        ("def convert(x, y):\n    return x.numpy() + y.numpy()", ["x.numpy()", "y.numpy()"]),
        ("def convert(x):\n    return np.zeros(x.shape) + tf.sort(x).numpy()", []),
        ("convert = lambda x: x.numpy() + 1", ["x.numpy()"]),
        ("def convert(x):\n    return x.numpy().tolist() and helper(2)", ["x.numpy()"]),
    ],
)
def test_conversions_of_what_is_given_can_go(function: str, found: list[str]) -> None:
    assert conversions(function) == found


def test_numpys_own_functions_have_none_and_a_lambda_is_used_once() -> None:
    assert conversions("", "np.square") == []
    assert conversions("", "lambda x: x.numpy()") == ["x.numpy()"]


@pytest.mark.parametrize(
    "function",
    [
        pytest.param("from elsewhere import convert", id="out of sight"),
        pytest.param("def convert(x):\n    return x.dtype", id="more is asked"),
        pytest.param("def convert(x):\n    return x.shape.rank", id="a tensor's shape"),
        pytest.param("def convert(x):\n    y = x + 1\n    return y.numpy()", id="of what is made"),
        pytest.param("def g(x): return x\ndef convert(x):\n    return g(x)", id="handed on"),
        pytest.param("def convert(x):\n    return x.numpy()\nconvert(1)", id="used elsewhere"),
        pytest.param("def convert(x):\n    return [x][0].numpy()", id="of what is picked"),
    ],
)
def test_where_tensors_are_needed_or_may_be_nothing_is_known_to_go(function: str) -> None:
    assert conversions(function) is None
