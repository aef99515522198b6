"""What a file makes use of, by canonical name, and what it calls it."""

from __future__ import annotations

import ast

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


def called_there(text: str) -> str | None:
    file = File("code.py", text)
    (mark,) = (
        call for call in file.tf.tree.all(ast.Call) if getattr(call.func, "id", None) == "mark"
    )
    return file.tf.names.module("tensorflow", mark)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import tensorflow as tf\nmark()\n", "tf"),
        ("import tensorflow\nmark()\n", "tensorflow"),
        ("import tensorflow.compat.v2 as T\ndef f():\n    mark()\n", "T"),
        ("def f():\n    import tensorflow as tf\n    mark()\n", "tf"),
        ("import tensorflow as tf\nimport tensorflow as tf\nmark()\n", "tf"),
        (
            "try:\n    import tensorflow.compat.v2 as tf\nexcept ImportError:\n"
            "    import tensorflow as tf\nmark()\n",
            "tf",
        ),
    ],
)
def test_the_name_of_a_module_is_the_one_the_import_gave_it(text: str, name: str) -> None:
    assert called_there(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "from tensorflow import stack\nmark()\n",
        "import tensorflow.keras\nmark()\n",
        "import tensorflow as tf\ndef f(tf):\n    mark()\n",
        "import tensorflow as tf\ntf = None\nmark()\n",
        "import tensorflow as tf\nimport torch as tf\nmark()\n",
        "import tensorflow\nimport tensorflow.keras as tensorflow\nmark()\n",
        "def f():\n    import tensorflow as tf\ndef g():\n    mark()\n",
    ],
)
def test_a_module_that_is_not_surely_imported_has_no_name(
    text: str,
) -> None:
    assert called_there(text) is None
