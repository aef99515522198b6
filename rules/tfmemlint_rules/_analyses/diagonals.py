"""Jacobians of whole batches, of which only each example's own part is used."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import argument
from tfmemlint.light_typing import NamedTuple

_EINSUM = frozenset({"tensorflow.einsum", "numpy.einsum", "keras.ops.einsum"})


class Diagonal(NamedTuple):
    """One `tape.jacobian(y, x)`, and what takes its diagonal."""

    asked: ast.Call
    taken: ast.Call
    plain: bool
    """Whether the axes are as `batch_jacobian` gives them."""


class Diagonals:
    """Such calls of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._tapes = tf.tapes
        self._flow = tf.flow
        self._bindings = tf.bindings

    @cached_property
    def all(self) -> tuple[Diagonal, ...]:
        """Every one, in source order of the `einsum`."""
        found = (self._of(call) for call, _ in self._names.calls(_EINSUM))
        return tuple(each for each in found if each is not None)

    def _of(self, call: ast.Call) -> Diagonal | None:
        equation = call.args[0] if len(call.args) == 2 else None
        if not isinstance(equation, ast.Constant) or not isinstance(equation.value, str):
            return None
        given, arrow, made = equation.value.replace(" ", "").partition("->")
        twice = [each for each in made if given.count(each) == 2]
        if not arrow or twice[:1] != [made[:1]] or given[:1] != made[:1] or "," in given:
            return None
        asked = self._asked(call.args[1])
        if asked is None or argument(asked, 2, "unconnected_gradients") is not None:
            return None
        return Diagonal(asked, call, self._drops(given, made))

    def _drops(self, given: str, made: str) -> bool:
        """Whether the other axes keep their order: "bxby->bxy"."""
        second = given.index(made[0], 1)
        return made == given[:second] + given[second + 1 :] and len(set(made)) == len(made)

    def _asked(self, expression: ast.expr) -> ast.Call | None:
        """The one `jacobian` that an expression is, of one target and one source."""
        made = self._flow.meant(expression)
        method = made.func if isinstance(made, ast.Call) else None
        is_one = isinstance(method, ast.Attribute) and method.attr == "jacobian"
        if not isinstance(made, ast.Call) or not isinstance(method, ast.Attribute) or not is_one:
            return None
        known = any(made is each for tape in self._tapes.all for each in tape.asked)
        return made if known or self._tapes.is_one(method.value) else None

    def is_only_taken(self, found: Diagonal) -> ast.Assign | None:
        """The assignment that gives the jacobian a name, if only the `einsum` ever reads it."""
        statement = self._tree.parent(found.asked)
        match statement:
            case ast.Assign(targets=[ast.Name() as name]):
                pass
            case _:
                return None
        read = found.taken.args[1]
        home = self._bindings.home(name.id, name)
        loads = self._bindings.loads(home, name.id) if home is not None else ()
        once = len(self._bindings.sharing(name)) == 1
        return statement if [*loads] == [read] and once else None
