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
from tfmemlint.facts.syntax.names import Names
from tfmemlint.facts.syntax.nodes import nodes_of
from tfmemlint.light_typing import NamedTuple

_BEGINS = frozenset(
    {
        *("tensorflow.InteractiveSession", "tensorflow.Session"),
        "tensorflow.train.MonitoredTrainingSession",
    }
)
_SESSIONS = _BEGINS | {"keras.backend.get_session", "tensorflow.get_default_session"}
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
ASSIGNS = frozenset({"assign", "assign_add", "assign_sub"})
ASSIGNING = frozenset(f"tensorflow.{each}" for each in ASSIGNS)
_MAKES = ASSIGNS | {"apply_gradients", "get_next", "make_initializer", "minimize"}
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
        self._callers = tf.callers
        self._loops = tf.loops
        self._names = tf.names
        self._values = tf.values
        self._sources = tf.sources
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
        if rounds is not None and self._is_one_each(made, rounds[0]):
            rounds = self._many_rounds.of(rounds[0].node) or (
                None if self._is_once(rounds[0].node, _MAX_HOPS) else rounds
            )
        if rounds is None or self._has_own_graph(rounds[0]):
            return None
        return SessionOp(made, rounds[0])

    def _is_one_each(self, made: ast.expr, loop: Loop) -> bool:
        """Whether each round of a loop gives another variable its value."""
        variable = assigned(made, self._names)
        names = nodes_of(ast.Name, variable) if variable is not None else ()
        return any(self._varies(each, loop) for each in names)

    def _is_once(self, node: ast.AST, hops: int) -> bool:
        """Whether code surely runs once: as a module, an object or a session begins, or by that."""
        if hops == 0 or any(self._loops.around(node)):
            return False
        function = self._tree.function(node)
        if function is None or any(
            self._tree.function(call) is function for call, _ in self._names.calls(_BEGINS)
        ):
            return True
        calls = self._callers.calls_of(function)
        begins = getattr(function, "name", "") == "__init__"
        return (begins or bool(calls)) and all(self._is_once(each, hops - 1) for each in calls)

    def _varies(self, name: ast.Name, loop: Loop) -> bool:
        """Whether a name is the loop's own, or something that is found by it."""
        before = (each.node for each in self._sources.same(name))
        return any(
            each.id in loop.targets and self._tree.inside(each, loop.node)
            for node in before
            if isinstance(node, ast.expr)
            for each in nodes_of(ast.Name, node)
        )

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


def assigned(made: ast.expr, names: Names) -> ast.expr | None:
    """The variable that an operation sets."""
    if not isinstance(made, ast.Call):
        return None
    if names.is_any(made.func, ASSIGNING):
        return argument(made, 0, "ref")
    is_method = isinstance(made.func, ast.Attribute) and made.func.attr in ASSIGNS
    return made.func.value if is_method and isinstance(made.func, ast.Attribute) else None


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
