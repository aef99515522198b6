"""Python loops that tracing writes out: the graph gets their bodies once for every trip."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import called, names_in, within
from tfmemlint.light_typing import NamedTuple

_MAX_HOPS = 4
LIKES_STRAIGHT_CODE = (
    "tensorflow.distribute.TPUStrategy",
    "tensorflow.distribute.experimental.TPUStrategy",
    "tensorflow.lite",
    "tensorflow.tpu",
)
"""What may be why a loop is written out."""

_NO_OPERATIONS = (
    "tensorflow.DType",
    "tensorflow.GradientTape",
    "tensorflow.TensorShape",
    "tensorflow.TensorSpec",
    "tensorflow.autograph.",
    "tensorflow.config.",
    "tensorflow.device",
    "tensorflow.dtypes.as_dtype",
    "tensorflow.get_static_value",
    "tensorflow.is_tensor",
    "tensorflow.name_scope",
    "tensorflow.print",
)
_OF_PYTHON = frozenset(
    {"dict", "enumerate", "getattr", "hasattr", "id", "isinstance", "len", "list", "max", "min"}
    | {"print", "range", "repr", "reversed", "set", "str", "tuple", "type", "zip"}
)
_OPERATIONS = ("keras.activations.", "keras.backend.", "keras.losses.", "keras.ops.", "tensorflow.")
_NEW_EACH_TIME = (
    "keras.random.",
    "tensorflow.Variable",
    "tensorflow.io.",
    "tensorflow.nn.dropout",
    "tensorflow.numpy_function",
    "tensorflow.py_function",
    "tensorflow.random.",
    "tensorflow.timestamp",
)
"""What gives other values in each call of a graph."""
_COLLECTS = frozenset({"add", "append", "appendleft", "extend", "insert", "setdefault", "update"})
_LEAVES = (ast.Await, ast.Break, ast.Return, ast.Yield, ast.YieldFrom)
_MADE_PER_TRIP = frozenset({Kind.LAYER, Kind.MODEL, Kind.VARIABLE})


class Unrolled(NamedTuple):
    """One loop, and how many copies of its body the graph gets."""

    loop: Loop
    trips: int
    dataset: ast.expr | None
    """The dataset that a loop in its body goes over: every copy is one pass."""

    @property
    def header(self) -> ast.expr:
        """What the loop goes over, or the condition of a `while`."""
        return self.loop.node.test if isinstance(self.loop.node, ast.While) else self.loop.node.iter


class Unrollings:
    """The loops of traced code whose many trips all compute alike.

    Not those whose trips differ by more than data: that pick layers, make them, or fill a list.
    Nor those that go over a dataset by Python, of which `Pulls` tells.
    """

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._datasets = tf.datasets
        self._values = tf.values
        self._loops = tf.loops
        self._tracing = tf.tracing
        self._tensors = tf.tensors
        self._graph_loops = tf.graph_loops
        self._pulls = tf.pulls
        self._traced_rounds = tf.traced_rounds

    @cached_property
    def all(self) -> tuple[Unrolled, ...]:
        """Every such loop whose number of trips is known, in source order."""
        if not self._tracing.functions:
            return ()
        found = [
            Unrolled(loop, trips, self._passes_over(body))
            for loop, body in self._candidates()
            if (trips := self._traced_rounds.of(loop))
            and self._computes(body, _MAX_HOPS)
            and not self._differs(loop, body)
            and not self._is_constant(body, set())
            and not self._is_pulled(loop)
        ]
        return tuple(sorted(found, key=_place))

    def _candidates(self) -> Iterator[tuple[Loop, list[ast.AST]]]:
        """The loops of traced code with what they repeat: statements, and what `sum` adds up."""
        for node in self._tree.all(ast.For, ast.While):
            if self._tracing.why(node) is not None:
                yield self._loops.loop(node), list(within(node.body))
        for call in self._tree.calls(("sum",)):
            made = call.args[0] if call.args else None
            adds = isinstance(call.func, ast.Name)
            if not adds or not isinstance(made, (ast.GeneratorExp, ast.ListComp)):
                continue
            if len(made.generators) == 1 and self._tracing.why(call) is not None:
                yield self._loops.loop(made.generators[0]), list(within([made.elt]))

    def _differs(self, loop: Loop, body: list[ast.AST]) -> bool:
        """Whether a trip may be the last, or has something of its own: a layer, a list entry."""
        if self._graph_loops.picks_python(loop) or self._counter_picks(loop, body):
            return True
        for each in body:
            if isinstance(each, _LEAVES) or _adds_to_list(each):
                return True
            if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
                return True
            if isinstance(each, ast.Call):
                method = each.func.attr if isinstance(each.func, ast.Attribute) else ""
                if method in _COLLECTS or self._values.of(each).kind in _MADE_PER_TRIP:
                    return True
        return False

    def _counter_picks(self, loop: Loop, body: list[ast.AST]) -> bool:
        """Whether what a `while` counts is an index into more than data, or part of a text."""
        test = loop.node.test if isinstance(loop.node, ast.While) else None
        counted = names_in(test) if test else ()
        for each in body if counted else ():
            if isinstance(each, ast.Subscript):
                data = self._values.of(each.value).is_array
                index = None if data or self._tensors.is_tensor(each.value) else each.slice
            elif isinstance(each, ast.FormattedValue):
                index = each.value
            else:
                index = None
            names = ast.walk(index) if index is not None else ()
            if any(isinstance(name, ast.Name) and name.id in counted for name in names):
                return True
        return False

    def _computes(self, body: list[ast.AST], hops: int) -> bool:
        """Whether code adds operations to the graph."""
        return any(
            self._is_operation(each, hops) if isinstance(each, ast.Call) else self._combines(each)
            for each in body
        )

    def _combines(self, node: ast.AST) -> bool:
        if isinstance(node, ast.AugAssign):
            return self._tensors.is_tensor(node.target)
        return isinstance(node, ast.BinOp) and self._tensors.is_tensor(node)

    def _is_operation(self, call: ast.Call, hops: int) -> bool:
        name = self._names.qualified(call.func)
        if name is not None:
            return name.startswith(_OPERATIONS) and not name.startswith(_NO_OPERATIONS)
        function = self._functions.function(call.func)
        if function is not None:
            return hops > 0 and self._computes([*self._bodies.body(function)], hops - 1)
        if called(call) in _OF_PYTHON:
            return False
        if self._values.of(call.func).kind in (Kind.LAYER, Kind.MODEL):
            return True
        return any(map(self._tensors.is_tensor, call.args))

    def _is_constant(self, body: Iterable[ast.AST], seen: set[Binding]) -> bool:
        """Whether code computes the same for every call, which TensorFlow then does beforehand."""
        for each in body:
            if isinstance(each, ast.Call):
                name = self._names.qualified(each.func) or ""
                python = called(each) in _OF_PYTHON
                if not python and (not name or name.startswith(_NEW_EACH_TIME)):
                    return False
            read = isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
            if isinstance(each, ast.Name) and read and not self._holds_constant(each, seen):
                return False
        return True

    def _holds_constant(self, name: ast.Name, seen: set[Binding]) -> bool:
        if self._names.qualified(name) is not None:
            return True
        pending = [*self._bindings.reaching(name)]
        for binding in pending:
            if binding in seen:
                continue
            seen.add(binding)
            if binding.value is None:
                return False
            if self._tracing.why(binding.node) is None:
                return self._values.of(name).kind in (Kind.ARRAY, Kind.NUMBER)
            if binding.how is How.AUGMENTED and isinstance(binding.node, ast.Name):
                pending += self._bindings.reaching(binding.node)
            if not self._is_constant(within([binding.value]), seen):
                return False
        return True

    def _passes_over(self, body: list[ast.AST]) -> ast.expr | None:
        inner = (self._loops.loop(each) for each in body if isinstance(each, ast.For))
        over = (each.iterable for each in inner if each.iterable is not None)
        return next((each for each in over if self._datasets.is_dataset(each)), None)

    def _is_pulled(self, loop: Loop) -> bool:
        """Whether a dataset is what the loop goes over: `zip(itertools.count(), dataset)`."""
        node = loop.node
        return not isinstance(node, ast.While) and any(
            self._tree.inside(pull.node, node.iter) for pull in self._pulls.all
        )


def _place(unrolled: Unrolled) -> tuple[int, int]:
    return unrolled.header.lineno, unrolled.header.col_offset


def _adds_to_list(node: ast.AST) -> bool:
    """`xs += [x]`, `xs = xs + [x]`."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.value, ast.List)
    added = node.value if isinstance(node, ast.Assign) else None
    return isinstance(added, ast.BinOp) and isinstance(added.right, ast.List)
