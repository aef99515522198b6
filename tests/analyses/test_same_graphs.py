"""Traced functions that would be the same if they were made before the loop that makes them."""

from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.same_graphs import SameGraphs

IMPORT = "import tensorflow as tf\nimport numpy as np\n"


def read(source: str) -> File:
    return File("example.py", IMPORT + dedent(source))


@pytest.mark.parametrize(
    ("body", "same"),
    [
        ("return model(x) * weight", True),
        ("return np.sqrt(x) + helper(x)", True),
        ("return x * rate", False),
        ("return x * state.rate", False),
        ("return x + np.random.normal()", False),
        ("print(x)\n        return x", False),
        ("seen.append(x)\n        return x", False),
        ("return counting(x)", False),
    ],
)
def test_what_a_loop_changes_keeps_a_function_in_it(body: str, same: bool) -> None:
    file = read(f"""
def helper(x):
    return x + 1

def counting(x):
    global count
    count += 1
    return x

for rate in rates:
    state.rate = rate
    @tf.function
    def step(x):
        {body}
    step(xs)
""")

    (found,) = file.tf.remade_functions.all

    assert found.loop is not None
    assert found.made is not None
    assert file.tf.of(SameGraphs).before(found.made, found.loop) == same


def test_what_a_loop_hands_to_others_they_may_change() -> None:
    file = read("""
for x in xs:
    grow(layers)
    @tf.function
    def step(x):
        return [layer(x) for layer in layers]
    step(x)
""")

    (found,) = file.tf.remade_functions.all

    assert found.loop is not None
    assert found.made is not None
    assert not file.tf.of(SameGraphs).before(found.made, found.loop)


def test_what_is_wrapped_in_the_loop_that_defines_it_cannot_be_wrapped_before() -> None:
    file = read("""
def outer(x):
    return x + 1

for x in xs:
    def inner(x):
        return x + 1
    step = tf.function(inner)
    step(x)
    other = tf.function(outer)
    other(x)
""")

    one, other = file.tf.remade_functions.all

    assert one.loop is not None
    assert one.made is not None
    assert other.made is not None
    assert not file.tf.of(SameGraphs).before(one.made, one.loop)
    assert file.tf.of(SameGraphs).before(other.made, one.loop)
