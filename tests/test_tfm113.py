"""Files that unroll by design: one mention of a converter or a TPU silences the whole file."""

from __future__ import annotations

import pytest

from tfmemlint import File, registry

check = registry.load()["TFM113"].check

UNROLLED = """\
import tensorflow as tf

@tf.function
def unrolled(x):
    outputs = []
    for t in range(64):
        outputs.append(tf.sigmoid(x[t]))
    return tf.stack(outputs)
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "converter = tf.lite.TFLiteConverter.from_concrete_functions([f])\n", id="TFLite"
        ),
        pytest.param("strategy = tf.distribute.TPUStrategy(resolver)\n", id="a TPU strategy"),
        pytest.param("tf.tpu.experimental.initialize_tpu_system()\n", id="a TPU system"),
    ],
)
def test_a_file_is_silent_that_converts_for(text: str) -> None:
    assert list(check(File("model.py", UNROLLED + text))) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing else"),
        pytest.param("strategy = tf.distribute.MirroredStrategy()\n", id="another strategy"),
        pytest.param("# tf.lite would unroll this\n", id="a comment"),
    ],
)
def test_a_file_is_not_silent_for(text: str) -> None:
    (found,) = check(File("model.py", UNROLLED + text))
    assert found.message == (
        "`outputs.append(tf.sigmoid(x[t]))` in a loop over `range(64)`: "
        "the graph gets 64 copies of the body"
    )
