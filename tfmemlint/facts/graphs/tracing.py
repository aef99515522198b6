"""Which code TensorFlow traces into a graph, and why."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.graphs.switches import EAGER_SWITCHES
from tfmemlint.facts.library import element_ops
from tfmemlint.facts.library.pipeline_methods import METHODS
from tfmemlint.facts.syntax.bindings import Binding
from tfmemlint.facts.syntax.nodes import nodes_of
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode
from tfmemlint.light_typing import NamedTuple

_MAX_CALLERS = 4

KERAS_TRACED = frozenset({"call", "train_step", "test_step", "predict_step"})
"""Methods that Keras runs inside its own traced functions."""

_KERAS_RUNS = frozenset(
    {
        "compile",
        "evaluate",
        "fit",
        "fit_generator",
        "predict",
        "predict_on_batch",
        "test_on_batch",
        "train_on_batch",
    }
)
"""Methods with which Keras runs a model, in a traced function of its own."""

DATASET_TAKES_FUNCTION = {
    "reduce": 1,
    **{name: row.function for name, row in METHODS.items() if row.function is not None},
}
"""Dataset methods that trace a function, and at which place they take it."""

RUNS_PYTHON = element_ops.RUNS_PYTHON | {"tensorflow.init_scope"}
"""What leaves the graph again: functions given to these run as plain Python."""

_LIFTS = frozenset({"tensorflow.init_scope"})
_MAKES_GRAPHS_BY_HAND = (
    "keras.backend.get_session",
    "keras.backend.gradients",
    "keras.backend.placeholder",
    "keras.backend.set_session",
    "tensorflow.contrib.",
    "tensorflow.disable_eager_execution",
    "tensorflow.disable_v2_behavior",
    "tensorflow.get_default_graph",
    "tensorflow.get_variable",
    "tensorflow.placeholder",
    "tensorflow.train.SessionRunHook",
    "tensorflow.variable_scope",
)
_SESSION, _SETTINGS = "tensorflow.Session", "tensorflow.ConfigProto"
"""By the second, and a session made with it, TensorFlow 2 is told how much of a device to take."""


class TracedBy(Enum):
    """Why a function runs as a graph."""

    TF_FUNCTION = "tf.function"
    KERAS = "Keras"
    DATASET = "tf.data"
    CALLER = "a traced caller"


class Traced(NamedTuple):
    """That a function is traced, and the place that says so."""

    by: TracedBy
    at: ast.AST
    """The decorator, wrapping call, class, dataset method, or call in traced code."""


class Tracing:
    """The traced functions of a module: declared so, given to tf.data, or called from such.

    Where the file turns graphs off, tf.data traces alone; Keras does not, nor where it runs on
    something else.
    """

    def __init__(self, tf: TensorFlow, *, obeys_switches: bool = True) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._classes = tf.classes
        self._members = tf.members
        self._tracers = tf.tracers
        self._datasets = tf.datasets
        self._imports = tf.imports
        self._switches = tf.switches if obeys_switches else None

    @cached_property
    def makes_no_functions(self) -> bool:
        """Whether the file surely has every `tf.function`, and every step of Keras, run eagerly."""
        return self._switches is not None and self._switches.are_on

    @cached_property
    def is_off(self) -> bool:
        """Whether functions, or models, are told to run without graphs, or may be."""
        compiled = (each for each in self._tree.all(ast.keyword) if each.arg == "run_eagerly")
        return self._names.uses(EAGER_SWITCHES) or any(
            not isinstance(each.value, ast.Constant) or bool(each.value.value) for each in compiled
        )

    @cached_property
    def by_hand(self) -> bool:
        """Whether the file makes graphs by hand, for a session to run, as TensorFlow 1 does."""
        if self._names.uses(_MAKES_GRAPHS_BY_HAND):
            return True
        return self._names.uses((_SESSION, _SETTINGS)) and not self._only_configures

    @property
    def _only_configures(self) -> bool:
        """Whether code names the first version where it means that, and has no session run."""
        modules = (each.module or "" for each in self._tree.all(ast.ImportFrom))
        named = any(each.startswith("tensorflow.compat") for each in modules)
        runs = any(
            call.args or call.keywords or method.attr != "run"
            for call, method in self._tree.methods("as_default", "eval", "run")
        )
        named = named or "compat" in self._tree.attributes
        return named and not runs and self._names.uses((_SETTINGS,))

    @cached_property
    def functions(self) -> Mapping[FunctionNode, Traced]:
        """The functions that run as a graph, and why."""
        return {function: whys[0] for function, whys in self._whys.items()}

    def given(self, binding: Binding) -> Iterator[tuple[ast.Call, ast.expr]]:
        """What calls in this file give for a parameter, unless its function runs as a graph."""
        function = self._tree.taker(binding.node)
        calls = self._callers.calls_of(function) if function not in self.functions else ()
        for call in calls:
            given = self._callers.argument(call, function, binding.name)
            if given is not None and self._tree.inside(given, call):
                yield call, given

    def why(self, node: ast.AST) -> Traced | None:
        """Why the code at `node` runs as a graph; None where nothing says that it does."""
        function = self._traced_around(node)
        return None if function is None else self.functions[function]

    def roots(self, node: ast.AST) -> tuple[Traced, ...]:
        """Everything that has the code at `node` traced: in place of a caller, why that one is."""
        function = self._traced_around(node)
        pending = [] if function is None else [function]
        found: list[Traced] = []
        for each in pending:
            for why in self._whys[each]:
                if why.by is not TracedBy.CALLER:
                    found.append(why)
                    continue
                caller = self._traced_around(why.at)
                if caller is not None and caller not in pending:
                    pending.append(caller)
        return tuple(found)

    def surely_eager(self, node: ast.AST, hops: int = _MAX_CALLERS) -> bool:
        """Whether nothing traces the code at `node`, which is run by the module alone."""
        function = self._tree.function(node)
        if function is None:
            return True
        calls = self._callers.calls_of(function) if hops and self.why(node) is None else ()
        return bool(calls) and all(self.surely_eager(each, hops - 1) for each in calls)

    def _traced_around(self, node: ast.AST) -> FunctionNode | None:
        """The innermost function around `node` that is traced, if code there runs with it."""
        if self._is_lifted(node):
            return None
        function = self._tree.function(node)
        while function is not None and function not in self.functions:
            if function in self._python:
                return None
            function = self._tree.function(function)
        return function

    def _is_lifted(self, node: ast.AST) -> bool:
        """Whether code leaves the graph that is being made: `with tf.init_scope():`."""
        if not self._names.mentions(_LIFTS):
            return False
        for above in self._tree.ancestors(node):
            if isinstance(above, FUNCTIONS):
                return False
            if isinstance(above, ast.With) and node not in above.items:
                calls = (getattr(each.context_expr, "func", None) for each in above.items)
                if any(self._names.is_any(each, _LIFTS) for each in calls):
                    return True
        return False

    @cached_property
    def _whys(self) -> Mapping[FunctionNode, list[Traced]]:
        """The functions that run as a graph, each with its own declarations or else its callers."""
        found: dict[FunctionNode, list[Traced]] = {}
        for function, why in (*self.declared, *self._declared_elsewhere()):
            if why.by is TracedBy.DATASET or not self.makes_no_functions:
                found.setdefault(function, []).append(why)
        declared = frozenset(found)
        pending = list(found)
        for function in pending:
            for called, call in self._run_by(function):
                if called not in found:
                    pending.append(called)
                if called not in declared:
                    found.setdefault(called, []).append(Traced(TracedBy.CALLER, call))
        return found

    @cached_property
    def declared(self) -> tuple[tuple[FunctionNode, Traced], ...]:
        """The functions that this file itself has traced, and how."""
        return tuple(self._declared())

    def _declared_elsewhere(self) -> Iterator[tuple[FunctionNode, Traced]]:
        """What other files say of the functions that they share with this one."""
        called = {each for each, _ in self._callers.called_elsewhere}
        homes = {id(home): home for each in called if (home := self._tree.elsewhere(each))}
        for home in homes.values():
            yield from (each for each in home.tracing.declared if each[0] in called)
        for importer in self._imports.importers:
            for function, why in importer.tracing.declared:
                if self._tree.elsewhere(function) is None:
                    yield function, why

    def _declared(self) -> Iterator[tuple[FunctionNode, Traced]]:
        functions = self._functions
        for definition in self._tree.all(ast.FunctionDef, ast.AsyncFunctionDef):
            decorators = list(filter(self._tracers.makes_tf_function, definition.decorator_list))
            for decorator in decorators:
                yield definition, Traced(TracedBy.TF_FUNCTION, decorator)
            if decorators or definition.name not in KERAS_TRACED:
                continue
            owner = self._members.class_of(definition)
            if owner and self._classes.is_keras(owner) and not self._keras_traces_nothing:
                yield definition, Traced(TracedBy.KERAS, owner)
        for call in self._tree.calls({*self._tracers.words, *DATASET_TAKES_FUNCTION}):
            if self._tracers.makes_tf_function(call.func):
                given = (
                    *call.args[:1],
                    *(each.value for each in call.keywords if each.arg == "func"),
                )
                named = functions.function(given[0]) if given else None
                wrapped = named or functions.named(call)
                if isinstance(wrapped, FUNCTIONS):
                    yield wrapped, Traced(TracedBy.TF_FUNCTION, call)
            if isinstance(call.func, ast.Attribute) and call.func.attr in DATASET_TAKES_FUNCTION:
                for mapped in self._given_to_dataset(call, call.func):
                    yield mapped, Traced(TracedBy.DATASET, call)

    @cached_property
    def _keras_traces_nothing(self) -> bool:
        elsewhere = self._switches is not None and (
            self._switches.keras_runs_elsewhere or self._switches.compiles_eagerly
        )
        return elsewhere or self._runs_models_by_hand or self._is_run_by_hand

    @cached_property
    def _is_run_by_hand(self) -> bool:
        """Whether the programs that import this file run its models so, and none has one traced."""
        programs = [each.tracing for each in self._imports.importers]
        by_hand = any(each._runs_models_by_hand for each in programs)
        return by_hand and not any(each._traces for each in (self, *programs))

    @cached_property
    def _runs_models_by_hand(self) -> bool:
        """Whether this is a program that trains a model of its own and has nothing trace one.

        `with tf.GradientTape() as tape: model(x)`, and no `tf.function`, no `fit` in the file.
        """
        tapes = (
            block
            for block in self._tree.all(ast.With)
            for item in block.items
            if isinstance(item.context_expr, ast.Call)
            and self._names.qualified(item.context_expr.func) == "tensorflow.GradientTape"
        )
        if not any(self._runs_a_model(block) for block in tapes if self._is_program(block)):
            return False
        return not self._traces

    @property
    def _traces(self) -> bool:
        """Whether the file has anything traced, by itself or by Keras."""
        runs = self._tree.methods(*_KERAS_RUNS)
        traces = self._names.uses(("tensorflow.function",))
        return traces or not all(self._functions.function(method) for _, method in runs)

    def _runs_a_model(self, block: ast.AST, hops: int = _MAX_CALLERS) -> bool:
        """Whether code calls an instance of a Keras class of this module, or what it calls does."""
        calls = [*nodes_of(ast.Call, block)]
        owners = (self._functions.instance_of(call.func) for call in calls)
        if any(owner is not None and self._classes.is_keras(owner) for owner in owners):
            return True
        called = (self._functions.function(call.func) for call in calls if hops)
        return any(each is not None and self._runs_a_model(each, hops - 1) for each in called)

    def _is_program(self, node: ast.AST) -> bool:
        """Whether running the module runs the code at `node`."""
        leading = self._callers.leading_to(node, _MAX_CALLERS)
        return any(self._tree.function(each) is None for each in leading)

    def _given_to_dataset(self, call: ast.Call, method: ast.Attribute) -> Iterator[FunctionNode]:
        if not self._datasets.is_dataset(method.value):
            return
        place = DATASET_TAKES_FUNCTION[method.attr]
        given = call.args[place : place + 1]
        given += [each.value for each in call.keywords if each.arg in ("map_func", "predicate")]
        for argument in given:
            function = self._functions.function(argument)
            if function is not None:
                yield function

    def _run_by(self, function: FunctionNode) -> Iterator[tuple[FunctionNode, ast.Call]]:
        """The functions that traced code calls, or hands to TensorFlow to run in the same graph."""
        for node in self._bodies.body(function):
            if not isinstance(node, ast.Call) or self._is_lifted(node):
                continue
            called = self._functions.function(node.func)
            if called is not None:
                yield called, node
            name = self._names.qualified(node.func) or ""
            replica_run = isinstance(node.func, ast.Attribute) and node.func.attr == "run"
            if replica_run or (name.startswith("tensorflow.") and name not in RUNS_PYTHON):
                for argument in node.args:
                    given = self._functions.function(argument)
                    if given is not None:
                        yield given, node

    @cached_property
    def _python(self) -> frozenset[FunctionNode]:
        """The functions handed to `tf.py_function` and the like."""
        given = (
            self._functions.function(call.args[0])
            for call, _ in self._names.calls(RUNS_PYTHON)
            if call.args
        )
        return frozenset(function for function in given if function is not None)
