"""Calls that could be made for some rows of their arrays after others."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.passes import Pass
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import given_to
from tfmemlint.facts.syntax.tree import FunctionNode

_SAME_FOR_EVERY_BATCH = ("keras.losses.", "keras.metrics.", "keras.optimizers.")


class Sliceable:
    """Which arguments of a call would have to be cut, if it were made slice by slice."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._flow = tf.flow
        self._values = tf.values
        self._passes = tf.passes
        self._tapes = tf.tapes
        self._tracing = tf.tracing
        self._uses = tf.uses
        self._wholes = tf.wholes

    def step(self, call: ast.Call, passes: Iterable[Pass]) -> list[ast.expr] | None:
        """As `arguments`, for a call of functions that put arrays through models.

        What it gives back has to be an account of what it did: a loss, not what a model made.
        """
        entered = {function for each in passes for function in each.functions}
        trains = any(self._tree.function(tape.block) in entered for tape in self._tapes.all)
        dropped = isinstance(self._tree.statement(call), ast.Expr)
        if not dropped and (not trains or self._passes.gives_output(call)):
            return None
        return None if any(map(self._needs_all_rows, entered)) else self.arguments(call)

    def arguments(self, call: ast.Call) -> list[ast.expr] | None:
        """The names of the arrays that a call is given, one or two of as many rows.

        None where its statement does more than call it, or where other code needs what comes of
        all rows.
        """
        given = given_to(call)
        arrays = [each for each in given if self._values.of(each).is_array]
        named = [rows for each in arrays if (rows := self._wholes.named(each)) is not None]
        shapes = [self._values.of(each).shape for each in named]
        statement = self._tree.statement(call)
        if (
            not _is_alone(statement, call)
            or not all(each in arrays or self._is_no_data(each) for each in given)
            or not len(arrays) == len(named) in (1, 2)
            or len({shape[0] for shape in shapes if shape and shape[0]}) > 1
            or any(map(self._meets_an_array, self._uses.of_names_in(statement)))
        ):
            return None
        return named

    def _needs_all_rows(self, function: FunctionNode) -> bool:
        """Whether a step reads whole arrays it is not given, or declares the shape of any."""
        traced = self._tracing.functions.get(function)
        words = ast.walk(traced.at) if traced else ()
        if any(isinstance(each, ast.keyword) and each.arg == "input_signature" for each in words):
            return True
        for node in self._bodies.body(function):
            if isinstance(node, (ast.Name, ast.Attribute)) and self._wholes.of(node) is not None:
                home = self._bindings.home(node.id, node) if isinstance(node, ast.Name) else None
                if home is None or not self._tree.inside(home, function):
                    return True
        return False

    def _is_no_data(self, node: ast.expr) -> bool:
        """Whether an argument is the same for all rows: a number, a model, an optimiser, a loss."""
        if isinstance(node, ast.Constant) or self._functions.function(node) is not None:
            return True
        if self._values.of(node).kind in (Kind.NUMBER, Kind.MODEL, Kind.LAYER):
            return True
        values = [each.value for each in self._flow.origins(node) or ()]
        names = [self._names.qualified(each.func) for each in values if isinstance(each, ast.Call)]
        return bool(names) and all(
            each is not None and each.startswith(_SAME_FOR_EVERY_BATCH) for each in names
        )

    def _meets_an_array(self, use: ast.Name) -> bool:
        """Whether a result is computed with whole arrays, whose rows are no longer its own."""
        around = [each for each in self._tree.ancestors(use) if isinstance(each, ast.expr)]
        here = self._tree.statement(use)
        widest = [each for each in (use, *around) if self._tree.statement(each) is here][-1]
        nodes = ast.walk(widest)
        return any(isinstance(each, ast.expr) and self._wholes.of(each) for each in nodes)


def _is_alone(statement: ast.stmt, call: ast.Call) -> bool:
    """Whether a statement only makes the call, and at most names something of its result."""
    value = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
    while value is not None and value is not call:
        if isinstance(value, (ast.Attribute, ast.Subscript)):  # step(x, y)["loss"].numpy()
            value = value.value
        else:
            value = value.func if isinstance(value, ast.Call) and not value.args else None
    return value is call
