"""Where TFM704 is silent: the oldest TensorFlow that the code is to run with has the name."""

import pytest

from tfmemlint import File, registry

SOURCE = """\
import tensorflow as tf

tf.keras.mixed_precision.experimental.set_policy("mixed_float16")
"""


@pytest.mark.parametrize(
    ("tensorflow", "speaks"), [(None, False), ((2, 9), True), ((2, 8), False), ((2, 3), False)]
)
def test_it_speaks_of_what_may_be_missing(tensorflow: tuple[int, ...] | None, speaks: bool) -> None:
    file = File("example.py", SOURCE, tensorflow)

    assert bool([*registry.load()["TFM704"].check(file)]) is speaks


def test_it_speaks_where_the_error_is_caught() -> None:
    setting = SOURCE.splitlines()[-1]
    caught = f"import tensorflow as tf\ntry:\n    {setting}\nexcept Exception:\n    pass\n"

    assert [*registry.load()["TFM704"].check(File("example.py", caught))]
