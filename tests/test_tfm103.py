"""What the fix of TFM103 says to the oldest TensorFlow that the code is to run with."""

import pytest

from tfmemlint import File, registry

SOURCE = """\
import tensorflow as tf

@tf.function
def f(x):
    return tf.reduce_sum(x)

for n in range(1, 100):
    f(tf.ones([100])[:n])
"""


@pytest.mark.parametrize(
    ("tensorflow", "said"),
    [
        (None, "tf.function(reduce_retracing=True)"),
        ((2, 9), "tf.function(reduce_retracing=True)"),
        ((2, 8), "tf.function(experimental_relax_shapes=True)"),
    ],
)
def test_sizes_are_left_open_in_the_words_of_the_time(
    tensorflow: tuple[int, ...] | None, said: str
) -> None:
    file = File("example.py", SOURCE, tensorflow)
    (found,) = registry.load()["TFM103"].check(file)

    assert found.fix is not None
    (edit,) = found.fix.edits
    assert edit.text == said
