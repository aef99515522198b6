"""What is treated as a model: compiled, trained on batches, or asked in Keras's own words."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.syntax.nodes import is_none

_MAY_BE_MODELS = frozenset({Kind.MODEL, Kind.UNKNOWN})
_NO_MODELS = (ast.Constant, ast.Dict, ast.JoinedStr, ast.Lambda, ast.List, ast.Set, ast.Tuple)
_COMPILED = frozenset({"loss", "metrics", "optimizer"})
_TOLD = {
    "evaluate": frozenset({"batch_size", "verbose"}),
    "fit": frozenset({"epochs", "steps_per_epoch", "validation_data", "validation_split"}),
    "predict": frozenset({"batch_size", "verbose"}),
}
"""What these methods of Keras are told by keywords; those of scikit-learn know none of them."""


_OF_KERAS = frozenset({b"keras", b"tensorflow", b"tf_keras"})
"""Words of files that import it, as they may stand in an import."""


class Treated:
    """The objects of a file that are what code does with them, wherever they come from."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._imports = tf.imports
        self._functions = tf.functions
        self._objects = tf.objects
        self._flow = tf.flow
        self._values = tf.values

    @property
    def any(self) -> bool:
        """Whether anything is compiled with a loss, trained on batches or loads weights."""
        return bool(self._handled)

    def is_model(self, callee: ast.expr) -> bool:
        """Whether code compiles something with a loss, or trains it on batches, as models are.

        Or asks it in words that only Keras knows, if nothing says that it is anything else.
        """
        if not self._is_of_keras:
            return False
        if self._names.qualified(callee) is not None or self._functions.definition(callee):
            return False
        held = [callee, *(each.value for each in self._flow.origins(callee) or ())]
        if any(self.is_same(each, one) for each in self._handled for one in held):
            return True
        return self.may_be_model(callee) and any(
            each is callee or self.is_same(each, callee) for each in self._asked
        )

    @cached_property
    def _is_of_keras(self) -> bool:
        """Whether the file has to do with Keras, be it by way of others of its project."""
        if self._names.uses(("keras", "tensorflow")):
            return True
        return not all(map(_OF_KERAS.isdisjoint, self._imports.words))

    @cached_property
    def _handled(self) -> tuple[ast.expr, ...]:
        found = [
            method.value
            for call, method in self._tree.methods("compile", "load_weights", "train_on_batch")
            if method.attr != "compile" or any(each.arg in _COMPILED for each in call.keywords)
        ]
        return tuple(found)

    @cached_property
    def _asked(self) -> tuple[ast.expr, ...]:
        return tuple(
            method.value
            for call, method in self._tree.methods(*_TOLD)
            if any(each.arg in _TOLD[method.attr] for each in call.keywords)
        )

    def may_be_model(self, given: ast.expr) -> bool:
        """Whether nothing that may give an expression its value is something else than a model."""
        if self._values.of(given).kind not in _MAY_BE_MODELS:
            return False
        for each in [origin.value for origin in self._flow.origins(given) or ()] or [given]:
            name = self._names.qualified(each.func) if isinstance(each, ast.Call) else None
            if isinstance(each, _NO_MODELS) and not is_none(each):
                return False
            if name is not None and not name.startswith(("keras", "tensorflow")):
                return False
        return True

    def is_same(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether two expressions stand for one object: by name, or by what makes it."""
        if isinstance(one, ast.Name) and isinstance(other, ast.Name):
            binding = self._bindings.only(one)
            if binding is not None and self._bindings.only(other) == binding:
                return True
        if isinstance(one, ast.Attribute) and isinstance(other, ast.Attribute):
            owner = self._functions.instance_of(one.value) if one.attr == other.attr else None
            if owner is not None and self._functions.instance_of(other.value) is owner:
                return True
        made = self._objects.made_once(one)
        return made is not None and self._objects.made_once(other) == made
