"""Operations that loops make anew as they have a session run them: TensorFlow 1's graphs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts.flow.loops import Loop
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts import TensorFlow

_SESSIONS = frozenset(
    {
        *("tensorflow.InteractiveSession", "tensorflow.Session", "tensorflow.get_default_session"),
        *("keras.backend.get_session", "tensorflow.train.MonitoredTrainingSession"),
    }
)
_GRAPHS = frozenset({"tensorflow.Graph", "tensorflow.reset_default_graph"})
_NO_OPS = frozenset(
    {
        *("all_variables", "function", "get_collection", "get_collection_ref", "get_default_graph"),
        *("get_global_step", "get_or_create_global_step", "get_trainable_variables"),
        *("get_variables", "global_variables", "local_variables", "model_variables"),
        *("moving_average_variables", "trainable_variables"),
    }
)
"""What gives what the graph has already; the first to ask for a step's number may make it, once."""
_CHANGES = frozenset({"assign", "assign_add", "assign_sub"})


class SessionOp(NamedTuple):
    """One operation that is made, and run, in every round."""

    made: ast.Call
    loop: Loop


class SessionOps:
    """Such operations of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._anew = tf.anew

    @cached_property
    def all(self) -> tuple[SessionOp, ...]:
        """Every one, in source order."""
        return tuple(self._found()) if self._names.mentions(_SESSIONS) else ()

    def _found(self) -> Iterator[SessionOp]:
        for call, _ in self._tree.methods("run"):
            given = call.args[0] if call.args else None
            several = given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
            for made in several:
                if not isinstance(made, ast.Call) or not self._is_op(made):
                    continue
                rounds = self._anew.rounds(made)
                if rounds is not None and not self._has_own_graph(rounds[0]):
                    yield SessionOp(made, rounds[0])

    def _is_op(self, made: ast.Call) -> bool:
        """Whether a call adds to the graph: `tf.assign(v, x)`, `v.assign(x)`."""
        name = self._names.qualified(made.func)
        if name is None:
            return isinstance(made.func, ast.Attribute) and made.func.attr in _CHANGES
        package, _, word = name.rpartition(".")
        plain = word[:1].islower() and "initialize" not in word and word not in _NO_OPS
        return plain and package.partition(".")[0] == "tensorflow"

    def _has_own_graph(self, loop: Loop) -> bool:
        """Whether each round begins with another graph."""
        return any(self._names.is_any(each.func, _GRAPHS) for each in self._anew.ran(loop))
