"""Which code is written for the Keras that ran sessions."""

import pytest

from tfmemlint import File


@pytest.mark.parametrize(
    "code",
    [
        "from keras.layers.advanced_activations import LeakyReLU",
        "from keras.layers import normalization",
        "from keras import objectives",
        "import keras.backend.tensorflow_backend as K",
        "from keras.engine.topology import Layer",
        "from keras_contrib.layers import InstanceNormalization",
        "from tensorflow.contrib.keras.api.keras.models import Sequential",
        "import tensorflow.contrib.slim as slim",
        "from keras import backend as K\ntrain = K.function([x], [], updates=steps)",
    ],
)
def test_modules_that_later_versions_do_not_have_say_so(code: str) -> None:
    assert File("code.py", code).tf.is_for_session_keras


@pytest.mark.parametrize(
    "code",
    [
        "from keras.layers import Conv2D, LeakyReLU",
        "from tensorflow.keras.layers.convolutional import Conv2D",
        "import keras.layers as layers",
        "from keras.layers.merging import Add",
        "from keras import backend as K\nlook = K.function([x], [y])",
        "from .keras.layers.core import Dense",
        "try:\n    from keras import ops\nexcept ImportError:\n    from keras import objectives",
        "from keras_core import Sequential\nfrom mine.contrib import keras",
    ],
)
def test_what_later_versions_have_does_not(code: str) -> None:
    assert not File("code.py", code).tf.is_for_session_keras


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("# Tutorial for Tensorflow 1.15, Keras 2.2.4\n", True),
        ("import os\n  # keras==2.3.1\n", True),
        ("# TensorFlow v1.14\n", True),
        ("# Keras 2.10, TensorFlow 2.10\n", False),
        ("keras = 2.2\n", False),
        ("# torch 1.4\n", False),
    ],
)
def test_comments_say_it(code: str, expected: bool) -> None:
    assert File("code.py", code).is_for_sessions is expected


@pytest.mark.parametrize(("oldest", "expected"), [((1, 14), True), ((2, 0), False), (None, False)])
def test_requirements_say_it(oldest: tuple[int, ...] | None, expected: bool) -> None:
    assert File("code.py", "", oldest).is_for_sessions is expected
