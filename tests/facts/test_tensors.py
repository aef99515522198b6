"""Which expressions of traced code are tensors, with whose dtype, and whose size a number is."""

from __future__ import annotations

import ast
from collections.abc import Callable
from textwrap import indent

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]

IMPORTS = "import numpy as np\nimport tensorflow as tf\n"


def traced(body: str) -> str:
    return f"{IMPORTS}@tf.function\ndef f(x, n, items):\n{indent(body, '    ')}\n"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("see(tf.exp(n))", id="what an operation gives"),
        pytest.param("print(x.shape)\nsee(x)", id="what has a shape"),
        pytest.param("see(x)\ny = x[:, 1]", id="what is indexed along two axes"),
        pytest.param("y = tf.transpose(x)\nsee(x)", id="what only tensors can go through"),
        pytest.param("y = x @ n\nsee(x)", id="a factor of a matrix product"),
        pytest.param("see(n * tf.ones([2]))", id="a product with a tensor"),
        pytest.param("see(-tf.ones([2]))", id="the negative of a tensor"),
        pytest.param("y = tf.ones([2])\ny += n\nsee(y)", id="a tensor that += has added to"),
        pytest.param("y = tf.ones([2])\nsee(y[n])", id="a row of a tensor"),
        pytest.param("y = g(n)\nif n:\n    y = tf.ones([2])\nsee(y)", id="a tensor on one path"),
    ],
)
def test_is_a_tensor(look: Look, body: str) -> None:
    file, (seen,) = look(traced(body))
    assert file.tf.tensors.is_tensor(seen)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("see(x)", id="an argument nothing is known of"),
        pytest.param("see(items[n])", id="an element of one"),
        pytest.param("y = x * n\nsee(x)", id="a factor of any product"),
        pytest.param("y = [tf.ones([2])]\nsee(y)", id="a list of tensors"),
        pytest.param("y = np.ones([2])\nsee(y)", id="an array made in the graph"),
        pytest.param("y = 3\nsee(y + n)", id="Python arithmetic"),
        pytest.param("y = 0\ny += n\nsee(y)", id="a number that += has added to"),
        pytest.param("see(tf.nn.moments(x, 0))", id="several tensors"),
    ],
)
def test_is_not_surely_a_tensor(look: Look, body: str) -> None:
    file, (seen,) = look(traced(body))
    assert not file.tf.tensors.is_tensor(seen)


def test_an_array_is_a_tensor_where_a_traced_function_is_given_it(look: Look) -> None:
    file, seen = look(
        IMPORTS
        + "@tf.function\ndef f(x):\n    see(x)\n    return g(x)\n"
        + "data = np.ones([2])\nf(data)\n"
        + "def h(x):\n    see(x)\nh(data)\n"
    )
    assert [file.tf.tensors.is_tensor(each) for each in seen] == [True, False]


@pytest.mark.parametrize(
    ("body", "tensor", "axis"),
    [
        ("see(x.shape[1])", "x", 1),
        ("see(tf.shape(x)[0])", "x", 0),
        ("steps = x.get_shape().as_list()[2]\nsee(steps)", "x", 2),
        ("batch, steps = tf.unstack(tf.shape(x))\nsee(steps)", "x", 1),
        ("shape = x.shape\nbatch, steps, _ = shape\nsee(steps)", "x", 1),
        ("see(int(x.shape[1]))", "x", 1),
        ("y = tf.exp(x)\nsee(len(y))", "y", 0),
    ],
)
def test_whose_size_a_number_is(look: Look, body: str, tensor: str, axis: int) -> None:
    file, (seen,) = look(traced(body))
    found = file.tf.tensors.size_of(seen)
    assert found is not None
    assert (ast.unparse(found[0]), found[1]) == (tensor, axis)


@pytest.mark.parametrize(
    "body",
    ["see(n)", "see(len(items))", "see(x.shape)", "see(x.shape[n])", "see(x.dtype[0])", "see(3)"],
)
def test_a_number_of_another_kind_is_no_size(look: Look, body: str) -> None:
    file, (seen,) = look(traced(body))
    assert file.tf.tensors.size_of(seen) is None


@pytest.mark.parametrize(
    ("body", "dtype"),
    [
        ("see(tf.tanh(x @ n))", "x"),
        ("see(0.5 * x[n])", "x"),
        ("see(tf.reduce_sum(tf.concat([x, n], 0)))", "x"),
        ("see(tf.where(n > 0, x, 0))", "x"),
        ("see(tf.cast(n, tf.int64) + 1)", "int64"),
        ("see(tf.cast(n, 'float16'))", "float16"),
        ("see(tf.cast(n, x.dtype))", "x"),
        ("see(tf.zeros([2]))", "float32"),
        ("y = tf.exp(x)\nz = y * 2\nsee(z)", "x"),
        ("see(x / 2.0)", "x"),
    ],
)
def test_whose_dtype_it_has(look: Look, body: str, dtype: str) -> None:
    file, (seen,) = look(traced(f"print(x.shape)\n{body}"))
    found = file.tf.dtypes.of(seen, lambda name: name.id == "x")
    assert (ast.unparse(found) if isinstance(found, ast.expr) else found) == dtype


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("see(x / n)", id="the quotient of integers is no integer"),
        pytest.param("see(x > 0)", id="a comparison"),
        pytest.param("see(tf.argmax(x))", id="an operation with a dtype of its own"),
        pytest.param("see(tf.one_hot(x, 3))", id="one that has a default"),
        pytest.param("see(dense(x))", id="a layer"),
        pytest.param("see(tf.cast(x, n))", id="a dtype nobody can tell"),
        pytest.param("see(tf.fill([2], n))", id="that of a Python value"),
    ],
)
def test_a_dtype_that_cannot_be_told(look: Look, body: str) -> None:
    file, (seen,) = look(traced(f"print(x.shape)\n{body}"))
    assert file.tf.dtypes.of(seen, lambda name: name.id == "x") is None
