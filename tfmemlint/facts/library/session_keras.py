"""Code written for the Keras that ran sessions, as it did on its own up to version 2.3."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow

_ONLY_THERE = (
    "keras.backend.tensorflow_backend",
    "keras.engine.topology",
    "keras.layers.advanced_activations",
    "keras.layers.convolutional",
    "keras.layers.core",
    "keras.layers.embeddings",
    "keras.layers.merge",
    "keras.layers.noise",
    "keras.layers.normalization",
    "keras.layers.pooling",
    "keras.layers.recurrent",
    "keras.layers.wrappers",
    "keras.legacy",
    "keras_contrib",
)
"""Modules that nobody was told to import from since, where later versions have them at all."""

_FUNCTION = frozenset({"keras.backend.function"})


def is_for_session_keras(tf: TensorFlow) -> bool:
    """Whether code imports what stood in the Keras of its own that ran sessions, or has them run.

    `tensorflow.keras` is not meant, whatever is imported from it.
    """
    imports = tf.tree.all(ast.Import, ast.ImportFrom)
    return any(map(_is_only_there, imports)) or any(map(_updates, tf.names.calls(_FUNCTION)))


def _updates(called: tuple[ast.Call, str]) -> bool:
    """`K.function(inputs, outputs, updates=...)`, which is refused where code runs eagerly."""
    call, _ = called
    return len(call.args) > 2 or any(each.arg == "updates" for each in call.keywords)


def _is_only_there(statement: ast.Import | ast.ImportFrom) -> bool:
    modules = [each.name for each in statement.names]
    if isinstance(statement, ast.ImportFrom):
        if statement.level:
            return False
        modules = [f"{statement.module}.{each}" for each in modules]
    return any(f"{each}.".startswith(tuple(f"{old}." for old in _ONLY_THERE)) for each in modules)
