"""What makes traced functions of others: `tf.function`, by whatever name."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow

TF_FUNCTION = frozenset({"tensorflow.function"})
PARTIAL = frozenset({"functools.partial"})


class Tracers:
    """The expressions of one module that have TensorFlow trace what they are applied to."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names

    @cached_property
    def words(self) -> frozenset[str]:
        """The last words of all that may have TensorFlow trace a function."""
        if not self._names.mentions(TF_FUNCTION):
            return frozenset()
        return self._names.spelled(TF_FUNCTION) | self._results | {""}

    def makes_tf_function(self, expression: ast.expr) -> bool:
        """Whether applying this expression to a function has TensorFlow trace it.

        True of `tf.function`, `tf.function(jit_compile=True)`, `partial(tf.function, ...)`, and of
        names for these.
        """
        home = self._tree.elsewhere(expression)
        if home is not None:
            return home.tracers.makes_tf_function(expression)
        if not self._names.mentions(TF_FUNCTION):
            return False
        if self._names.is_any(expression, TF_FUNCTION):
            return True
        if isinstance(expression, ast.Name) and expression.id in self._results:
            expression = self._bindings.assigned(expression) or expression
        if isinstance(expression, ast.Call):
            if self._names.is_any(expression.func, PARTIAL):
                return bool(expression.args) and self.makes_tf_function(expression.args[0])
            return not expression.args and self.makes_tf_function(expression.func)
        return False

    @cached_property
    def _results(self) -> frozenset[str]:
        """The names that are given what some call returns."""
        calls = (each for each in self._bindings.all if isinstance(each.value, ast.Call))
        return frozenset(each.name for each in calls)
