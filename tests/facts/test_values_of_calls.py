"""What calls of TensorFlow give: one tensor or several, and of which dtype."""

from __future__ import annotations

import ast

import pytest

from tfmemlint import File
from tfmemlint.facts import Kind, Value


def value(expression: str) -> Value:
    file = File("code.py", f"import tensorflow as tf\nx = 0\nseen = {expression}\n")
    statement = file.tree.body[-1]
    assert isinstance(statement, ast.Assign)
    return file.tf.values.of(statement.value)


@pytest.mark.parametrize(
    "expression",
    [
        "tf.io.decode_csv(line, defaults)",
        "tf.io.parse_single_example(record, features)",
        "tf.nn.moments(x, axes=[0])",
        "tf.linalg.svd(x)",
        "tf.experimental.dtensor.layout(x)",
    ],
)
def test_several_tensors_are_not_one(expression: str) -> None:
    assert value(expression).kind is Kind.UNKNOWN


@pytest.mark.parametrize(
    "expression", ["tf.io.decode_jpeg(x)", "tf.linalg.inv(x)", "tf.exp(x)", "tf.shape(x)"]
)
def test_one_tensor_is_one(expression: str) -> None:
    assert value(expression).kind is Kind.TENSOR


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        ("tf.zeros([2, 3])", "float32"),
        ("tf.zeros([2, 3], tf.int64)", "int64"),
        ("tf.zeros([2, 3], dtype=x.dtype)", None),
        ("tf.random.normal([2], 0.0, 1.0, x.dtype)", None),
    ],
)
def test_a_dtype_that_is_given_counts_even_if_it_is_unknown(
    expression: str, dtype: str | None
) -> None:
    assert value(expression).dtype == dtype


def test_what_is_unpacked_from_the_result_of_a_function_is_known_by_its_place() -> None:
    text = """\
import tensorflow as tf

def start():
    return tf.zeros([2]), [1, 2]

state, rest = start()
"""
    file = File("code.py", text)
    module = file.tf.tree.module
    kinds = [
        file.tf.values.bound(file.tf.bindings.of(module, name)[0]).kind
        for name in ("state", "rest", "tf")
    ]
    assert kinds == [Kind.TENSOR, Kind.LIST, Kind.UNKNOWN]
