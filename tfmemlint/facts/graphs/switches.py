"""What a file sets for the whole program: that no graphs are made, or none by Keras."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import argument

EAGER_SWITCHES = (
    "tensorflow.config.experimental_run_functions_eagerly",
    "tensorflow.config.run_functions_eagerly",
)
"""What has no graph made at all."""
_SWITCHES = frozenset(EAGER_SWITCHES)
_BACKEND = "KERAS_BACKEND"
_SETS_BACKEND = frozenset({"keras.config.set_backend"})


class Switches:
    """The switches of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._callers = tf.callers
        self._sources = tf.sources

    @cached_property
    def left_on(self) -> tuple[ast.Call, ...]:
        """The calls that turn graphs off, where no test decides and nothing switches back."""
        found = [each for each, _ in self._names.calls(_SWITCHES)]
        given = [[*each.args, *(keyword.value for keyword in each.keywords)] for each in found]
        if not all(len(each) == 1 and self.is_true(each[0]) for each in given):
            return ()
        return tuple(each for each in found if not self.is_conditional(each))

    @cached_property
    def are_on(self) -> bool:
        """Whether the module, or a function that it calls, surely turns graphs off."""
        around = map(self._tree.function, self.left_on)
        return any(each is None or bool(self._callers.calls_of(each)) for each in around)

    @cached_property
    def compiles_eagerly(self) -> bool:
        """Whether all models that the file compiles are surely to run without graphs."""
        compiled = [call for call, _ in self._tree.methods("compile")]
        told = [argument(each, None, "run_eagerly") for each in compiled]
        return bool(told) and all(each is not None and self.is_true(each) for each in told)

    @cached_property
    def keras_runs_elsewhere(self) -> bool:
        """Whether the file has Keras compute with something else than TensorFlow: with JAX, say."""
        return any(
            isinstance(each, ast.Constant) and each.value != "tensorflow"
            for each in self._backends()
        )

    @cached_property
    def chooses_backend(self) -> bool:
        """Whether the file tells Keras what to compute with, be it TensorFlow."""
        return any(True for _ in self._backends())

    def _backends(self) -> Iterator[ast.expr]:
        """What is set: `os.environ["KERAS_BACKEND"] = "jax"`, `keras.config.set_backend("jax")`."""
        for assignment in self._tree.all(ast.Assign):
            for target in assignment.targets:
                if isinstance(target, ast.Subscript) and _is_backend(target.slice):
                    yield assignment.value
        for call, _ in self._tree.methods("putenv", "setdefault"):
            if len(call.args) == 2 and _is_backend(call.args[0]):
                yield call.args[1]
        for call, _ in self._names.calls(_SETS_BACKEND):
            yield from call.args

    def is_true(self, node: ast.expr) -> bool:
        """Whether an expression is surely `True`."""
        found = self._sources.constant(node)
        return found is not None and found.value is True

    def is_conditional(self, switch: ast.AST) -> bool:
        """Whether a test decides: `if debug:`; but what `if __name__` starts is the program."""
        below = switch
        for above in self._tree.ancestors(switch):
            if isinstance(above, ast.BoolOp) and below is not above.values[0]:
                return True
            if isinstance(above, (ast.If, ast.IfExp)) and "__name__" not in ast.unparse(above.test):
                return True
            below = above
        return self._is_offered(switch)

    def _is_offered(self, switch: ast.AST) -> bool:
        """Whether a function does nothing else, and nothing in the file calls it: others decide."""
        function = self._tree.function(switch)
        if function is None or isinstance(function, ast.Lambda):
            return False
        statements = (each for each in function.body if not _is_text(each))
        alone = all(each is self._tree.statement(switch) for each in statements)
        return alone and not self._callers.calls_of(function)


def _is_backend(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == _BACKEND


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
