"""Loops that add the same to a tensor in every round."""

import pytest

from tfmemlint import File
from tfmemlint.facts.graphs.repeated_sums import RepeatedSums

BEFORE = (
    "import tensorflow as tf\nw = tf.Variable(1.0)\n@tf.function\ndef f(x, n):\n    total = x\n"
)


def sums(loop: str, before: str = BEFORE) -> list[tuple[str, str, str]]:
    """How often, what is added to, and what is added."""
    body = "".join(f"    {line}\n" for line in loop.splitlines())
    file = File("example.py", f"{before}{body}    return total\n")
    found = file.tf.of(RepeatedSums).all
    return [(file.source(each.times), each.name, file.source(each.value)) for each in found]


@pytest.mark.parametrize(
    ("loop", "value"),
    [
        ("for _ in range(n):\n    total += tf.tanh(x)", "tf.tanh(x)"),
        ("for _ in range(n):\n    total = tf.nn.relu(x) * w + total", "tf.nn.relu(x) * w"),
        ("for i in range(n):\n    made = tf.matmul(x, w)\n    total = total + made", "made"),
        ("for i in range(n):\n    a = x[:2]\n    b = tf.exp(a)\n    total += b - 1", "b - 1"),
    ],
)
def test_a_sum_of_equal_terms_is_known(loop: str, value: str) -> None:
    assert sums(loop) == [("n", "total", value)]


@pytest.mark.parametrize(
    "loop",
    [
        pytest.param("for i in range(n):\n    total += tf.tanh(x) * i", id="by the round"),
        pytest.param("for _ in range(n):\n    total += tf.tanh(total)", id="by the sum"),
        pytest.param("for _ in range(n):\n    x = tf.tanh(x)\n    total += x", id="by the last"),
        pytest.param("for _ in range(n):\n    total += tf.random.normal([2])", id="drawn"),
        pytest.param("for _ in range(n):\n    total += f(x)", id="a function of the module"),
        pytest.param("for _ in range(n):\n    total += 2", id="a number"),
        pytest.param("for _ in range(n):\n    print()\n    total += tf.tanh(x)", id="more"),
        pytest.param("for _ in range(n):\n    total += tf.tanh(x)\nelse:\n    pass", id="an else"),
        pytest.param("for _ in range(1, n):\n    total += tf.tanh(x)", id="two bounds"),
        pytest.param("for _ in tf.range(n):\n    total += tf.tanh(x)", id="a loop of the graph"),
        pytest.param("for i in xs:\n    total += tf.tanh(x)", id="things, not rounds"),
        pytest.param("while n:\n    total += tf.tanh(x)", id="a condition"),
    ],
)
def test_other_loops_are_not_taken_for_one(loop: str) -> None:
    assert sums(loop) == []


def test_eager_code_without_a_tape_holds_nothing_of_a_round() -> None:
    eager = BEFORE.replace("@tf.function\n", "")

    assert sums("for _ in range(n):\n    total += tf.tanh(x)", eager) == []


def test_a_tape_holds_what_each_round_makes() -> None:
    source = """
import tensorflow as tf
with tf.GradientTape() as tape:
    for _ in range(4):
        total += tf.tanh(x)
"""
    assert len(File("example.py", source).tf.of(RepeatedSums).all) == 1
