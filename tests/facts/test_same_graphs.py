"""Traced functions that would be the same if they were made before the loop that makes them."""

from textwrap import dedent

import pytest

from tfmemlint import File

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

    (found,) = file.tf.remakes.all

    assert found.loop is not None
    assert found.made is not None
    assert file.tf.same_graphs.before(found.made, found.loop) == same


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("return tf.square(x) + np.sqrt(2)", True),
        ("return model(x)", True),
        ("optimizer.apply_gradients(zip(x, model.weights))", True),
        ("with tf.GradientTape() as tape: return tape.gradient(x, x)", True),
        ("return sum(list(x))", True),
        ("return self.model(x)", False),
        ("return reader.next()", False),
        ("return [each(x) for each in layers]", False),
    ],
)
def test_what_is_out_of_sight_may_do_more_than_compute(body: str, known: bool) -> None:
    file = read(f"""
import keras
model = keras.Sequential([])
optimizer = keras.optimizers.SGD()

for x in xs:
    @tf.function
    def step(x):
        {body}
    step(x)
""")

    (found,) = file.tf.remakes.all

    assert found.made is not None
    assert file.tf.same_graphs.is_known(found.made) == known


def test_what_a_loop_hands_to_others_they_may_change() -> None:
    file = read("""
for x in xs:
    grow(layers)
    @tf.function
    def step(x):
        return [layer(x) for layer in layers]
    step(x)
""")

    (found,) = file.tf.remakes.all

    assert found.loop is not None
    assert found.made is not None
    assert not file.tf.same_graphs.before(found.made, found.loop)
