"""Keras objects that have no state but their variables, and draw no random numbers."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import steady_words as words
from tfmemlint.facts.syntax.nodes import is_literal

HOPS = 5
SETTERS = frozenset({"__setattr__", "delattr", "setattr"})


class Stateless:
    """What made the Keras objects of a file, and whether a run of them is like every other."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._classes = tf.classes
        self._tracers = tf.tracers

    def maker(self, expression: ast.expr, hops: int = HOPS) -> str | None:
        """What made the Keras object that an expression is, if that has no state but variables."""
        name = self.made_by(expression, hops)
        if name is None or self._sets_attributes:
            return None
        odd = any(each in name for each in words.ODD_LAYERS) or name == "keras.layers.Layer"
        holds_layers = not name.startswith(("keras.losses.", "keras.metrics.", "keras.optimizers."))
        return None if odd or (holds_layers and self._has_odd_layers) else name

    def made_by(self, expression: ast.expr, hops: int = HOPS) -> str | None:
        """What makes the Keras object that an expression is, be it one that is traced."""
        if isinstance(expression, ast.Name) and hops:
            value = self._bindings.assigned(expression)
            return self.made_by(value, hops - 1) if value is not None else None
        if isinstance(expression, ast.Attribute) and hops:
            owner = self._functions.instance_of(expression.value)
            values = self._functions.attributes(owner, expression.attr) if owner else ()
            return self.made_by(values[0], hops - 1) if len(values) == 1 else None
        if not isinstance(expression, ast.Call):
            return None
        if hops and expression.args and self._tracers.makes_tf_function(expression.func):
            return self.made_by(expression.args[0], hops - 1)
        name = self._names.qualified(expression.func) or ""
        return name if name.startswith(words.OBJECTS) else None

    def is_plain_run(self, maker: str, call: ast.Call) -> bool:
        """Whether a layer or model draws no random numbers as it is called here."""
        training = [each.value for each in call.keywords if each.arg in ("training", None)]
        off = all(is_literal(each, False) for each in training)
        return off or not self.may_drop(maker)

    def may_drop(self, maker: str) -> bool:
        return maker.startswith("keras.applications.") or self._drops

    @cached_property
    def has_one_writer(self) -> bool:
        """Whether all summaries go to the same file."""
        made = [call for call, _ in self._names.calls(words.WRITERS)]
        return len(made) == 1 and not any(self._tree.loops(made[0]))

    @cached_property
    def _sets_attributes(self) -> bool:
        """Whether the file sets attributes of other objects than `self`: `layer.rate = 0.1`."""
        if self._tree.calls(SETTERS) or "__dict__" in self._tree.attributes:
            return True
        written = (
            each for each in self._tree.all(ast.Attribute) if not isinstance(each.ctx, ast.Load)
        )
        return any(self._functions.instance_of(each.value) is None for each in written)

    @cached_property
    def _has_odd_layers(self) -> bool:
        """Whether the file has layers that run code of its own, or always draw random numbers."""
        if any(map(self._classes.is_keras, self._tree.all(ast.ClassDef))):
            return True
        return any(each in word for word in self._mentioned for each in words.ODD_LAYERS)

    @cached_property
    def _drops(self) -> bool:
        """Whether the file has layers that draw random numbers in training."""
        lowered = (each.lower() for each in self._mentioned)
        return any("dropout" in each or "noise" in each for each in lowered)

    @cached_property
    def _mentioned(self) -> frozenset[str]:
        names = {each.id for each in self._tree.all(ast.Name)}
        names.update(each.name for each in self._tree.all(ast.alias))
        names.update(each.arg or "" for each in self._tree.all(ast.keyword))
        return frozenset(names.union(self._tree.attributes))
