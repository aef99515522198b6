"""Code written for the first version of Keras, which no later one runs."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow

_ARGUMENTS = frozenset(
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
_METHODS = frozenset({"evaluate_generator", "fit", "fit_generator", "predict_generator"})


def is_for_keras_1(tf: TensorFlow) -> bool:
    """Whether code tells Keras something by a name that only Keras 1 had for it."""
    for each in tf.tree.all(ast.keyword):
        call = tf.tree.parent(each) if each.arg in _ARGUMENTS else None
        if not isinstance(call, ast.Call):
            continue
        if (tf.names.qualified(call.func) or "").startswith("keras.layers."):
            return True
        is_method = isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS
        if is_method and tf.functions.function(call.func) is None:
            return True
    return False
