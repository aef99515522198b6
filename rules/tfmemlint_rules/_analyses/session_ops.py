"""Operations that loops make anew as they have a session run them: TensorFlow 1's graphs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.flow.many_rounds import ManyRounds
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument, given_to
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.light_typing import NamedTuple

_SESSIONS = frozenset(
    {
        *("tensorflow.InteractiveSession", "tensorflow.Session", "tensorflow.get_default_session"),
        *("keras.backend.get_session", "tensorflow.train.MonitoredTrainingSession"),
    }
)
_GRAPHS = frozenset(
    {"keras.backend.clear_session", "tensorflow.Graph", "tensorflow.reset_default_graph"}
)
_NO_OPS = frozenset(
    {
        *("all_variables", "function", "get_collection", "get_collection_ref", "get_default_graph"),
        *("get_global_step", "get_or_create_global_step", "get_trainable_variables"),
        *("get_variables", "global_variables", "local_variables", "model_variables"),
        *("moving_average_variables", "trainable_variables"),
    }
)
"""What gives what the graph has already; the first to ask for a step's number may make it, once."""
_SAVERS = frozenset({"tensorflow.train.Saver"})
"""What adds operations that save and restore each variable, to be run by its own methods."""
_RUNS = ("eval", "run")
_MAKES = frozenset(
    {
        *("apply_gradients", "assign", "assign_add", "assign_sub", "get_next", "make_initializer"),
        "minimize",
    }
)
"""Methods of variables, optimizers and iterators that add to the graph."""


_OPERATORS = (ast.Div, ast.FloorDiv, ast.MatMult, ast.Mod, ast.Pow, ast.Sub)
"""What no list of things to run knows: `+` joins two of them, `*` repeats one."""
_MAX_HOPS = 4


class SessionOp(NamedTuple):
    """One operation that is made, and run, in every round."""

    made: ast.expr
    loop: Loop


class SessionOps:
    """Such operations of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._names = tf.names
        self._values = tf.values
        self._growths = tf.growths
        self._remade_models = tf.remade_models
        self._many_rounds = tf.of(ManyRounds)

    @cached_property
    def all(self) -> tuple[SessionOp, ...]:
        """Every one, in source order."""
        if not self._names.mentions(_SESSIONS) and not any(map(_is_fed, self._tree.calls(_RUNS))):
            return ()
        found = {each.made: each for each in self._found()}
        return tuple(
            sorted(found.values(), key=lambda each: (each.made.lineno, each.made.col_offset))
        )

    def _found(self) -> Iterator[SessionOp]:
        savers = (self._repeated(call, call) for call, _ in self._names.calls(_SAVERS))
        yield from filter(None, savers)
        for call, method in self._tree.methods(*_RUNS):
            given = method.value if method.attr == "eval" else argument(call, 0, "fetches")
            for fetched in _each(given):
                found = next(
                    filter(
                        None,
                        (self._repeated(each, call) for each in self._made(fetched, _MAX_HOPS)),
                    ),
                    None,
                )
                if found is not None:
                    yield found

    def _repeated(self, made: ast.expr, run: ast.Call) -> SessionOp | None:
        """An operation that a loop makes and runs; others may have called for it to be made.

        One for each variable, made in a loop of its own, is run by the loop around that.
        """
        rounds = self._many_rounds.of(made)
        if rounds is not None and not self._runs(rounds[0], run):
            rounds = self._many_rounds.of(run)
            if rounds is not None and not self._runs(rounds[0], made):
                return None
        if rounds is None or self._has_own_graph(rounds[0]):
            return None
        return SessionOp(made, rounds[0])

    def _runs(self, loop: Loop, node: ast.expr) -> bool:
        return any(each is node for each in self._remade_models.ran(loop))

    def _made(self, fetched: ast.expr, hops: int, *, runs: bool = True) -> Iterator[ast.expr]:
        """What adds to the graph so that there is something to run, the last of it first.

        `runs` tells that the expression itself is run, and not only has to do with what is.
        """
        if isinstance(fetched, ast.Call):
            if self._is_op(fetched):
                yield fetched
            elif hops:
                yield from self._made_by(fetched, hops - 1, runs=runs)
        elif runs and _computes(fetched):
            yield fetched
        elif isinstance(fetched, ast.Attribute):
            yield from self._made(fetched.value, hops, runs=False)
        elif isinstance(fetched, ast.Subscript):
            if runs and self._values.of(fetched.value).kind is Kind.TENSOR:
                yield fetched
            yield from self._made(fetched.value, hops, runs=runs)
        elif isinstance(fetched, ast.ListComp):
            yield from self._made(fetched.elt, hops, runs=runs)
        elif isinstance(fetched, ast.Name) and hops:
            for binding in self._bindings.reaching(fetched):
                if binding.how is How.ASSIGNED and binding.value is not None:
                    for each in _each(binding.value):
                        yield from self._made(each, hops - 1, runs=runs)
            for grown in self._growths.filling(fetched, None):
                for each in grown.elements:
                    yield from self._made(each, hops - 1, runs=runs)

    def _made_by(self, call: ast.Call, hops: int, *, runs: bool) -> Iterator[ast.expr]:
        """What a function of the module gives back, or others are given.

        For one of another file the call stands, if that makes something.
        """
        function = self._functions.function(call.func)
        home = self._tree.elsewhere(function) if function is not None else None
        if function is not None and home is not None:
            there = home.of(SessionOps)
            returned = home.bodies.returns(function)
            if any(any(there._made(each, hops, runs=runs)) for each in returned):
                yield call
        elif function is not None:
            for each in self._bodies.returns(function):
                yield from self._made(each, hops, runs=runs)
        else:
            for each in given_to(call):
                yield from self._made(each, hops, runs=False)

    def _is_op(self, made: ast.Call) -> bool:
        """Whether a call adds to the graph: `tf.assign(v, x)`, `v.assign(x)`, `model(x)`."""
        name = self._names.qualified(made.func)
        if name is None:
            if self._values.of(made.func).kind in (Kind.LAYER, Kind.MODEL):
                return True
            return isinstance(made.func, ast.Attribute) and made.func.attr in _MAKES
        package, _, word = name.rpartition(".")
        plain = word[:1].islower() and "initialize" not in word and word not in _NO_OPS
        return plain and package.partition(".")[0] == "tensorflow"

    def _has_own_graph(self, loop: Loop) -> bool:
        """Whether each round begins with another graph."""
        return any(self._names.is_any(each.func, _GRAPHS) for each in self._remade_models.ran(loop))


def _is_fed(call: ast.Call) -> bool:
    return any(each.arg == "feed_dict" for each in call.keywords)


def _computes(fetched: ast.expr) -> bool:
    """Whether an operator makes what is run: `-loss`, `loss / 2`."""
    if isinstance(fetched, ast.UnaryOp):
        return isinstance(fetched.op, (ast.Invert, ast.USub))
    return isinstance(fetched, ast.BinOp) and isinstance(fetched.op, _OPERATORS)


def _each(fetched: ast.expr | None) -> Iterator[ast.expr]:
    """The things that one call runs: one, or those of a list or a dictionary."""
    if isinstance(fetched, (ast.List, ast.Tuple)):
        for each in fetched.elts:
            yield from _each(each)
    elif isinstance(fetched, ast.Dict):
        for each in fetched.values:
            yield from _each(each)
    elif fetched is not None:
        yield fetched
