"""What kinds of classes there are: layers, models, enumerations, and their constants."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow

KERAS_BASES = frozenset(
    {
        "keras.layers.Layer",
        "keras.Model",
        "keras.Sequential",
        "keras.layers.AbstractRNNCell",
        "keras.losses.Loss",
        "keras.metrics.Metric",
        "keras_hub.models.Model",
        "tensorflow.Module",
        "transformers.TFModel",
    }
)

KERAS_MODELS = frozenset(
    {"keras.Model", "keras.Sequential", "keras_hub.models.Model", "transformers.TFModel"}
)
_CALLBACKS = frozenset({"keras.callbacks.Callback", "keras.callbacks.LambdaCallback"})


class Classes:
    """The classes of one module by what they inherit from."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._functions = tf.functions
        self._members = tf.members
        self._enumerations: dict[ast.ClassDef, bool] = {}

    def is_keras(self, owner: ast.ClassDef) -> bool:
        """Whether a class is a Keras layer or model, directly or through classes of the module."""
        return any(
            self._names.is_any(base, KERAS_BASES) or self._is_keras_name(base)
            for each in self._functions.lineage(owner)
            for base in each.bases
        )

    def _is_keras_name(self, base: ast.expr) -> bool:
        name = self._names.qualified(base) or ""
        return name.startswith(("keras.layers.", "keras.applications."))

    def is_model(self, owner: ast.ClassDef) -> bool:
        """Whether a class is a Keras model, which has `fit` and `predict`, not a mere layer."""
        return self._is_heir(owner, KERAS_MODELS)

    def is_callback(self, owner: ast.ClassDef) -> bool:
        """Whether a class is one of Keras's callbacks, in which Keras sets the `model`."""
        return self._is_heir(owner, _CALLBACKS)

    def _is_heir(self, owner: ast.ClassDef, of: frozenset[str]) -> bool:
        lineage = self._functions.lineage(owner)
        return any(self._names.is_any(base, of) for each in lineage for base in each.bases)

    def is_enumeration(self, owner: ast.ClassDef) -> bool:
        """Whether the values of a class's names are members, not what is written."""
        if owner not in self._enumerations:
            bases = (base for each in self._functions.lineage(owner) for base in each.bases)
            found = any((self._names.qualified(base) or "").startswith("enum.") for base in bases)
            self._enumerations[owner] = found
        return self._enumerations[owner]

    def class_constant(self, attribute: ast.Attribute) -> ast.expr | None:
        """The number that a class gives an attribute, `STEPS = 400`, and that nothing changes."""
        home = self._tree.elsewhere(attribute)
        if home is not None:
            return home.classes.class_constant(attribute)
        several = self._members.in_bodies.get(attribute.attr, ())
        if len(several) != 1 or attribute.attr in self._members.names:
            return None
        owner, given = several[0]
        number = isinstance(given, (ast.BinOp, ast.Constant, ast.UnaryOp))
        functions, holder = self._functions, attribute.value
        held = functions.instance_of(holder) or functions.definition(holder)
        if not number or not isinstance(held, ast.ClassDef) or owner not in functions.lineage(held):
            return None
        return None if self.is_enumeration(owner) else given
