"""Which versions of Keras code is written for, as far as what it uses tells."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow

_ANYWHERE = frozenset(
    {
        "border_mode",
        "dim_ordering",
        "nb_col",
        "nb_epoch",
        "nb_filter",
        "nb_row",
        "nb_val_samples",
        "nb_worker",
        "samples_per_epoch",
    }
)
"""What methods of models and layers are told by these names is refused today."""
_BY_LAYERS = frozenset(
    {
        "W_constraint",
        "W_regularizer",
        "b_constraint",
        "b_regularizer",
        "dropout_U",
        "dropout_W",
        "filter_length",
        "forget_bias_init",
        "init",
        "inner_activation",
        "inner_init",
        "pool_length",
        "subsample",
        "subsample_length",
    }
)
_BY_MODELS = frozenset({"input", "output"})
_OF_KERAS_1 = _ANYWHERE | _BY_LAYERS | _BY_MODELS
_METHODS = frozenset({"evaluate_generator", "fit", "fit_generator", "predict_generator"})
_OF_SESSIONS = (
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
    "keras.objectives",
    "keras.utils.visualize_util",
    "keras_contrib",
    "tensorflow.contrib",
)
"""Modules that nobody was told to import from since, where later versions have them at all."""
_FUNCTION = frozenset({"keras.backend.function"})
_OF_KERAS_3 = ("keras.distribution", "keras.ops", "keras.random", "keras_hub", "keras_rs")


def is_for_keras_1(tf: TensorFlow) -> bool:
    """Whether code tells Keras something by a name that only Keras 1 had for it."""
    told = (each for each in tf.tree.all(ast.keyword) if each.arg in _OF_KERAS_1)
    return any(_is_of_keras_1(tf, each) for each in told)


def _is_of_keras_1(tf: TensorFlow, told: ast.keyword) -> bool:
    call = tf.tree.parent(told)
    if not isinstance(call, ast.Call):
        return False
    name = tf.names.called(call)
    if told.arg in _BY_MODELS:
        return name == "keras.Model"
    if name.startswith("keras.layers."):
        return True
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS
    return is_method and told.arg in _ANYWHERE and tf.functions.function(call.func) is None


def is_for_session_keras(tf: TensorFlow) -> bool:
    """Whether code imports what stood in the Keras of its own that ran sessions, or has them run.

    It did so up to version 2.3. `tensorflow.keras` is not meant, whatever is imported from it. What
    stands in a `try` may be there for an older version alone.
    """
    imports = filter(_is_of_sessions, tf.tree.all(ast.Import, ast.ImportFrom))
    needed = (
        each
        for each in imports
        if not isinstance(tf.tree.parent(each), (ast.Try, ast.ExceptHandler))
    )
    return any(needed) or any(map(_updates, tf.names.calls(_FUNCTION)))


def is_for_keras_3(tf: TensorFlow) -> bool:
    """Whether code uses what no Keras before the third version has: it runs from 2.16 on.

    Keras before 2.4 had several backends, too, and took no pipelines.
    """
    chosen = tf.switches.chooses_backend and tf.names.uses(("tensorflow.data.",))
    return chosen or tf.names.uses(_OF_KERAS_3)


def _updates(called: tuple[ast.Call, str]) -> bool:
    """`K.function(inputs, outputs, updates=...)`, which is refused where code runs eagerly."""
    call, _ = called
    return len(call.args) > 2 or any(each.arg == "updates" for each in call.keywords)


def _is_of_sessions(statement: ast.Import | ast.ImportFrom) -> bool:
    modules = [each.name for each in statement.names]
    if isinstance(statement, ast.ImportFrom):
        if statement.level:
            return False
        modules = [f"{statement.module}.{each}" for each in modules]
    return any(f"{each}.".startswith(tuple(f"{old}." for old in _OF_SESSIONS)) for each in modules)
