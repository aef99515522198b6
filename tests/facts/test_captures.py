"""NumPy arrays that traced code reads from around it."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File

TABLE = "import numpy as np\nimport tensorflow as tf\ntable = np.ones((8, 4))\n"


def read(source: str) -> File:
    return File("example.py", TABLE + dedent(source))


@pytest.mark.parametrize(
    ("expression", "op"),
    [
        ("tf.gather(table, x)", "tf.gather(table, x)"),
        ("tf.matmul(x, b=table)", "tf.matmul(x, b=table)"),
        ("tf.cast(x, tf.float64) + table", "tf.cast(x, tf.float64) + table"),
        ("table.shape", None),
        ("np.mean(table)", None),
        ("table[0]", None),
    ],
)
def test_what_takes_an_array_makes_a_constant_of_it(expression: str, op: str | None) -> None:
    file = read(f"@tf.function\ndef f(x):\n    return {expression}\n")

    (found,) = file.tf.captures.all
    taken = file.tf.captures.op(found.use)

    assert found.value.nbytes == 8 * 4 * 8
    assert (None if taken is None else ast.unparse(taken)) == op


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return tf.gather(table, x)",
        "@tf.function\ndef f(x, table):\n    return tf.gather(table, x)\nf(1, table)",
        "@tf.function\ndef f(x):\n    table = np.ones(4)\n    return tf.gather(table, x)",
        "table = tf.constant(table)\n@tf.function\ndef f(x):\n    return tf.gather(table, x)",
        "def g(x):\n    return table[x]\n"
        "@tf.function\ndef f(x):\n    return tf.py_function(g, [x], 'float64')",
    ],
)
def test_arguments_tensors_and_python_code_hold_no_copies(source: str) -> None:
    assert read(source).tf.captures.all == ()


@pytest.mark.parametrize(
    ("after", "stays"),
    [
        ("print(table.shape, len(table), np.mean(table), table[0])", True),
        ("table[0] = 1", False),
        ("table += 1", False),
        ("table.sort()", False),
        ("np.random.shuffle(table)", False),
        ("normalise(table)", False),
        ("other = table", False),
        ("view = table[:2]", False),
        ("view = table.T", False),
        ("view = np.reshape(table, -1)", False),
        ("np.add(table, 1, out=table)", False),
        ("total = table[:2] + table.sum()", True),
        ("table = table / 2", False),
    ],
)
def test_an_array_that_may_be_changed_does_not_stay(after: str, stays: bool) -> None:
    file = read(after)
    binding = file.tf.bindings.of(file.tree, "table")[0]

    assert file.tf.captures.stays(binding) == stays
