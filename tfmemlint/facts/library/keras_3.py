"""Code that needs Keras 3, and with it a TensorFlow of the same age."""

from __future__ import annotations

from tfmemlint.facts import TensorFlow

_ONLY_THERE = ("keras.distribution", "keras.ops", "keras.random", "keras_hub", "keras_rs")


def is_for_keras_3(tf: TensorFlow) -> bool:
    """Whether code uses what no Keras before the third version has: it runs from 2.16 on."""
    return tf.names.uses(_ONLY_THERE)
