"""What a file makes use of, by canonical name."""

from __future__ import annotations

import pytest

from tfmemlint import File

LITE = ("tensorflow.lite",)


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\ntf.lite.TFLiteConverter.from_keras_model(m)\n",
        "from tensorflow import lite\n",
        "from tensorflow.lite.python import convert\n",
        "import tensorflow.compat.v2 as T\nc = T.lite.Optimize.DEFAULT\n",
    ],
)
def test_is_seen_under_any_alias(text: str) -> None:
    assert File("code.py", text).tf.names.uses(LITE)


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\ntf.linalg.inv(m)\n",
        "import tflite\ntflite.lite()\n",
        "# tf.lite\nx = 'tensorflow.lite'\n",
    ],
)
def test_is_not_seen_where_something_else_is_meant(text: str) -> None:
    assert not File("code.py", text).tf.names.uses(LITE)
