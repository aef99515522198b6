"""What functions do with the numbers they are given."""

import ast

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.handling import Handled, Handling


@pytest.mark.parametrize(
    ("body", "handled"),
    [
        ("return x", set[Handled]()),
        ("return tf.cast(n, tf.float32)", {Handled.CAST}),
        ("tf.summary.scalar('loss', x, step=n)", {Handled.SUMMARY}),
        ("return tf.matmul(x, x)[:, n]", {Handled.OPERAND}),
        ("return tf.gather(x, n)", {Handled.OPERAND}),
        ("return tf.stack([n, 1])", {Handled.OPERAND}),
        ("return strategy.run(step, args=(x, n))", {Handled.OPERAND}),
        ("return helper(n)", {Handled.CAST}),
        ("return tf.square(x * n)", {Handled.ARITHMETIC, Handled.OPERAND}),
        ("return x if n > 1 else -x", {Handled.BRANCH}),
        ("return x * max(n, 1)", {Handled.BRANCH}),
        ("for _ in range(n): x = -x", {Handled.STRUCTURE}),
        ("return tf.zeros([n, 1])", {Handled.STRUCTURE}),
        ("return tf.reshape(x, n)", {Handled.STRUCTURE}),
        ("return layers[n](x)", {Handled.STRUCTURE}),
        ("return x[:n]", {Handled.STRUCTURE}),
        ("return model(x, n)", {Handled.OTHER}),
    ],
)
def test_what_is_done_with_a_number(body: str, handled: set[Handled]) -> None:
    source = f"""import tensorflow as tf
def helper(k):
    return tf.cast(k, tf.int64)

@tf.function
def step(x, n):
    {body}
"""
    tf = File("example.py", source).tf
    function = next(each for each in tf.tree.all(ast.FunctionDef) if each.name == "step")

    assert tf.of(Handling).of(function, "n") == handled


def test_a_name_that_gets_another_value_goes_out_of_sight() -> None:
    tf = File("example.py", "def step(n):\n    n = n + 1\n").tf
    (function,) = tf.tree.all(ast.FunctionDef)

    assert Handled.OTHER in tf.of(Handling).of(function, "n")
