"""Python loops that tracing writes out: the graph gets their bodies once for every trip."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from tfmemlint.facts import makers
from tfmemlint.facts.bindings import Binding, Bindings, How
from tfmemlint.facts.datasets import Datasets
from tfmemlint.facts.functions import Functions, default
from tfmemlint.facts.graph_loops import GraphLoops, InGraph
from tfmemlint.facts.kinds import Kind
from tfmemlint.facts.loops import Loop, Loops, Over
from tfmemlint.facts.names import Names
from tfmemlint.facts.pulls import Pulls
from tfmemlint.facts.tensors import Tensors
from tfmemlint.facts.tracing import Tracing
from tfmemlint.facts.tree import FUNCTIONS, Tree, within
from tfmemlint.facts.values import Values

_MAX_HOPS = 4

_COUNTS = frozenset({Over.EPOCHS, Over.OFFSETS, Over.RANGE})
_PIECES = {
    "numpy.array_split": (1, "indices_or_sections"),
    "numpy.split": (1, "indices_or_sections"),
    "tensorflow.split": (1, "num_or_size_splits"),
    "tensorflow.unstack": (1, "num"),
}
"""What cuts something into pieces, and which argument says into how many."""
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


class Unrollings:
    """The loops of traced code whose many trips all compute alike.

    Not those whose trips differ by more than data: that pick layers, make them, or fill a list.
    Nor those that go over a dataset by Python, of which `Pulls` tells.
    """

    def __init__(
        self,
        tree: Tree,
        bindings: Bindings,
        names: Names,
        functions: Functions,
        datasets: Datasets,
        values: Values,
        loops: Loops,
        tracing: Tracing,
        tensors: Tensors,
        graph_loops: GraphLoops,
        pulls: Pulls,
    ) -> None:
        self._tree = tree
        self._bindings = bindings
        self._names = names
        self._functions = functions
        self._datasets = datasets
        self._values = values
        self._loops = loops
        self._tracing = tracing
        self._tensors = tensors
        self._graph_loops = graph_loops
        self._pulls = pulls

    @cached_property
    def all(self) -> tuple[Unrolled, ...]:
        """Every such loop whose number of trips is known, in source order."""
        if not self._tracing.functions:
            return ()
        found = [
            Unrolled(loop, trips, self._passes_over(body))
            for loop, body in self._candidates()
            if (trips := self._trips(loop))
            and self._computes(body, _MAX_HOPS)
            and not self._differs(loop, body)
            and not self._is_constant(body, set())
            and not self._is_pulled(loop)
        ]
        return tuple(sorted(found, key=_place))

    def _candidates(self) -> Iterator[tuple[Loop, list[ast.AST]]]:
        """The loops of traced code with what they repeat: statements, and what `sum` adds up."""
        for node in self._tree.all(ast.For):
            if self._tracing.why(node) is not None:
                yield self._loops.loop(node), list(within(node.body))
        for call in self._tree.all(ast.Call):
            made = call.args[0] if call.args else None
            adds = isinstance(call.func, ast.Name) and call.func.id == "sum"
            if not adds or not isinstance(made, (ast.GeneratorExp, ast.ListComp)):
                continue
            if len(made.generators) == 1 and self._tracing.why(call) is not None:
                yield self._loops.loop(made.generators[0]), list(within([made.elt]))

    # How often.

    def _trips(self, loop: Loop) -> int | None:
        """How many trips Python makes; None where the graph makes them or none can tell."""
        node = loop.node
        if isinstance(node, ast.While) or self._graph_loops.becomes(loop) is InGraph.LOOP:
            return None
        if loop.over in _COUNTS and isinstance(loop.iterable, ast.Call):
            bounds = loop.iterable.args
            if any(map(self._tensors.is_tensor, bounds)) or _is_zipped(node.iter):
                return None
            return self._counted(bounds) if loop.trips is None else loop.trips
        return self._pieces(node.iter, _MAX_HOPS)

    def _counted(self, bounds: list[ast.expr]) -> int | None:
        """How far `range` counts if callers out of sight leave out what has a default."""
        numbers = [self._number(each, _MAX_HOPS) for each in bounds]
        known = [each for each in numbers if each is not None]
        if len(known) < len(bounds) or not 1 <= len(known) <= 3 or known[2:] == [0]:
            return None
        return len(range(*known))

    def _number(self, bound: ast.expr, hops: int) -> int | None:
        number = self._values.number(bound)
        if number is not None or not isinstance(bound, ast.Name) or hops == 0:
            return number if isinstance(number, int) else None
        binding = self._bindings.only(bound)
        if binding is None or binding.how is not How.PARAMETER:
            return None
        function = next(
            each for each in self._tree.ancestors(binding.node) if isinstance(each, FUNCTIONS)
        )
        calls = self._functions.calls_of(function)
        given = [self._functions.argument(each, function, bound.id) for each in calls]
        given = given or [default(function, bound.id)]
        found = [None if each is None else self._number(each, hops - 1) for each in given]
        known = [each for each in found if each is not None]
        return min(known) if known and len(known) == len(found) else None

    def _pieces(self, iterable: ast.expr, hops: int) -> int | None:
        """How many arrays an iterable holds that tracing does not know as one tensor."""
        if hops == 0:
            return None
        if isinstance(iterable, ast.Name):
            binding = self._bindings.only(iterable)
            if binding is None or binding.how is not How.ASSIGNED or binding.path:
                return None
            return self._pieces(binding.value, hops - 1) if binding.value is not None else None
        if isinstance(iterable, ast.ListComp):
            return self._listed(iterable)
        if isinstance(iterable, ast.Call):
            if isinstance(iterable.func, ast.Name) and iterable.func.id in ("enumerate", "zip"):
                counts = [self._pieces(each, hops - 1) for each in iterable.args]
                known = [each for each in counts if each is not None]
                return min(known) if known and len(known) == len(counts) else None
            if self._names.is_any(iterable.func, makers.WRAPS_ITERABLE) and iterable.args:
                return self._pieces(iterable.args[0], hops - 1)
            asked = _PIECES.get(self._names.qualified(iterable.func) or "")
            if asked is not None:
                number = self._values.number(makers.argument(iterable, *asked))
                return number if isinstance(number, int) else None
        value = self._values.of(iterable)
        known_rows = value.kind is Kind.ARRAY and bool(value.shape) and self._is_ours(iterable)
        return value.shape[0] if known_rows and value.shape else None

    def _listed(self, made: ast.ListComp) -> int | None:
        loop = self._loops.loop(made.generators[0])
        plain = len(made.generators) == 1 and not made.generators[0].ifs
        is_data = self._values.of(made.elt).is_array and plain
        return loop.trips if is_data and loop.over in _COUNTS else None

    def _is_ours(self, array: ast.expr) -> bool:
        """Whether an array is no argument of traced code, where it would arrive as a tensor."""
        return not any(
            each.how is How.PARAMETER
            for name in ast.walk(array)
            if isinstance(name, ast.Name)
            for each in self._bindings.reaching(name)
        )

    # What the trips do.

    def _differs(self, loop: Loop, body: list[ast.AST]) -> bool:
        """Whether a trip may be the last, or has something of its own: a layer, a list entry."""
        if self._graph_loops.picks_python(loop):
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
            return hops > 0 and self._computes([*self._functions.body(function)], hops - 1)
        if isinstance(call.func, ast.Name) and call.func.id in _OF_PYTHON:
            return False
        if self._values.of(call.func).kind in (Kind.LAYER, Kind.MODEL):
            return True
        return any(map(self._tensors.is_tensor, call.args))

    def _is_constant(self, body: Iterable[ast.AST], seen: set[Binding]) -> bool:
        """Whether code computes the same for every call, which TensorFlow then does beforehand."""
        for each in body:
            if isinstance(each, ast.Call):
                name = self._names.qualified(each.func) or ""
                python = isinstance(each.func, ast.Name) and each.func.id in _OF_PYTHON
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
    node = unrolled.loop.node
    assert not isinstance(node, ast.While)
    return node.iter.lineno, node.iter.col_offset


def _adds_to_list(node: ast.AST) -> bool:
    """`xs += [x]`, `xs = xs + [x]`."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.value, ast.List)
    added = node.value if isinstance(node, ast.Assign) else None
    return isinstance(added, ast.BinOp) and isinstance(added.right, ast.List)


def _is_zipped(iterable: ast.expr) -> bool:
    """Whether what is counted goes with something else: `zip(range(n), layers)`."""
    return any(
        isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "zip"
        for each in ast.walk(iterable)
    )
