"""What code calls an imported module."""

from __future__ import annotations

import ast

import pytest

from tfmemlint import File, edits


def called(text: str) -> str | None:
    file = File("code.py", text)
    (mark,) = (
        call for call in file.tf.tree.all(ast.Call) if getattr(call.func, "id", None) == "mark"
    )
    return edits.module(file, "tensorflow", mark)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import tensorflow as tf\nmark()\n", "tf"),
        ("import tensorflow\nmark()\n", "tensorflow"),
        ("import tensorflow.compat.v2 as T\ndef f():\n    mark()\n", "T"),
        ("def f():\n    import tensorflow as tf\n    mark()\n", "tf"),
    ],
)
def test_is_the_name_the_import_gave_it(text: str, name: str) -> None:
    assert called(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "from tensorflow import stack\nmark()\n",
        "import tensorflow.keras\nmark()\n",
        "import tensorflow as tf\ndef f(tf):\n    mark()\n",
        "import tensorflow as tf\ntf = None\nmark()\n",
        "def f():\n    import tensorflow as tf\ndef g():\n    mark()\n",
    ],
)
def test_is_unknown_where_the_import_cannot_be_seen_or_is_not_of_the_module(text: str) -> None:
    assert called(text) is None
