"""NumPy arrays that traced code reads from around it: each trace copies them into its graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from itertools import chain

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.graphs.tracing import RUNS_PYTHON, TracedBy
from tfmemlint.facts.library.kinds import Kind, Value
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode
from tfmemlint.light_typing import NamedTuple

_CONVERTS = ("keras.ops.", "tensorflow.")
_MOST_HOPS = 4
_LEAVES_PYTHON = ("tensorflow.data.", "tensorflow.debugging.", "tensorflow.print")
_MAKES_GRAPHS = ("tensorflow.Graph", "tensorflow.Session", "tensorflow.wrap_function")
_BEFORE_TENSORS = (
    "billiard",
    "celery",
    "concurrent.futures.ProcessPoolExecutor",
    "multiprocess",
    "os.fork",
    "pathos",
    "tensorflow.config.experimental.set_",
    "tensorflow.config.experimental_connect",
    "tensorflow.config.set_",
    "tensorflow.config.threading.set_",
    "tensorflow.debugging.set_log_device_placement",
    "tensorflow.distribute.MultiWorker",
    "tensorflow.distribute.Parameter",
    "tensorflow.distribute.TPU",
    "tensorflow.distribute.cluster_resolver",
    "tensorflow.distribute.experimental",
    "tensorflow.experimental.dtensor",
    "tensorflow.tpu",
    "torch.multiprocessing",
    "torch.utils.data",
)


class Capture(NamedTuple):
    """An array that a traced function reads, and that is no argument of its."""

    use: ast.Name | ast.Attribute | ast.Subscript
    function: FunctionNode
    value: Value
    binding: Binding | None
    """Where the array gets its name, if it has one, of its own and for good."""


class Captures:
    """The arrays that graphs hold copies of."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._callers = tf.callers
        self._members = tf.members
        self._flow = tf.flow
        self._values = tf.values
        self._tensors = tf.tensors
        self._tracing = tf.tracing

    @cached_property
    def all(self) -> tuple[Capture, ...]:
        """Every read of such an array, in source order."""
        if not self._tracing.functions:
            return ()
        found = [*self._of_names(), *self._of_attributes()]
        found += self._of_others({each.use for each in found})
        return tuple(sorted(found, key=lambda each: (each.use.lineno, each.use.col_offset)))

    def op(self, use: ast.expr) -> ast.Call | ast.BinOp | None:
        """The TensorFlow operation that takes an array as it is, and so as a constant."""
        above = self._tree.parent(use)
        if isinstance(above, ast.keyword):
            above = self._tree.parent(above)
        if isinstance(above, ast.Call) and above.func is not use:
            name = self._names.qualified(above.func) or ""
            taken = name.startswith(_CONVERTS) and not name.startswith(_LEAVES_PYTHON)
            return above if taken and name not in RUNS_PYTHON else None
        if isinstance(above, ast.BinOp):
            other = above.right if above.left is use else above.left
            return above if self._tensors.is_tensor(other) else None
        return None

    @cached_property
    def makes_graphs(self) -> bool:
        """Whether the file makes graphs by hand, in which tensors made outside are of no use."""
        return self._tracing.by_hand or self._names.uses(_MAKES_GRAPHS)

    @cached_property
    def wants_tensors_late(self) -> bool:
        """Whether the file does what TensorFlow may not survive once there are tensors.

        It sets up devices or threads, or has processes forked.
        """
        return self._names.uses(_BEFORE_TENSORS)

    def _of_names(self) -> Iterator[Capture]:
        outer = self._assigned_outside()
        for name in self._tree.all(ast.Name):
            if name.id not in outer or not isinstance(name.ctx, ast.Load):
                continue
            function = self._tree.function(name)
            if function is None:
                continue
            home = self._bindings.home(name.id, name)
            if home is None or home is function or self._tracing.why(name) is None:
                continue
            found = self._bindings.reaching(name)
            plain = all(each.how is How.ASSIGNED and self._is_outside(each) for each in found)
            value = self._values.of(name) if found and plain else None
            if value is not None and value.kind is Kind.ARRAY:
                binding = found[0] if len(found) == 1 else None
                yield Capture(name, self._named(function), value, binding)

    def _assigned_outside(self) -> set[str]:
        """The names that are given values where functions inside can see them."""
        tree = self._tree
        around = {tree.function(each) for kind in FUNCTIONS for each in tree.all(kind)}
        found = {name for each in tree.all(ast.Global, ast.Nonlocal) for name in each.names}
        for binding in self._bindings.all:
            if binding.how is How.ASSIGNED and binding.name not in found:
                scope = tree.scope(binding.node)
                if scope in around or not isinstance(scope, FUNCTIONS):
                    found.add(binding.name)
        return found

    def _of_attributes(self) -> Iterator[Capture]:
        known = self._tree.attributes
        for attribute in chain.from_iterable(known.get(name, ()) for name in self._members.names):
            held = attribute.value
            if not isinstance(held, ast.Name):
                continue
            function = self._tree.function(attribute)
            if function is None or not isinstance(attribute.ctx, ast.Load):
                continue
            if self._tracing.why(attribute) is None:
                continue
            if self._functions.instance_of(held) is not None:
                value = self._values.of(attribute)
                origin = value.origin
                made_outside = origin is not None and self._tracing.why(origin) is None
                if value.kind is Kind.ARRAY and made_outside:
                    yield Capture(attribute, self._named(function), value, None)

    def _of_others(self, known: set[ast.expr]) -> Iterator[Capture]:
        """What operations take that stands for such an array: an entry, an argument, an alias."""
        for use in self._tree.all(ast.Name, ast.Attribute, ast.Subscript):
            function = self._tree.function(use)
            if use in known or function is None or not isinstance(use.ctx, ast.Load):
                continue
            if self._tracing.why(use) is None or not (self.op(use) or self._is_sliced(use)):
                continue
            value = self._values.of(use)
            if value.kind is Kind.ARRAY and self._is_brought(use, _MOST_HOPS):
                yield Capture(use, self._named(function), value, None)

    def _is_sliced(self, use: ast.expr) -> bool:
        """Whether a pipeline is made of it."""
        above = self._tree.parent(use)
        while isinstance(above, (ast.Tuple, ast.List, ast.Dict)):
            above = self._tree.parent(above)
        return self._names.called(above).startswith("tensorflow.data.Dataset.from_tensor")

    def _is_brought(self, node: ast.expr, hops: int) -> bool:
        """Whether an array surely comes from outside, and no call has made a tensor of it."""
        if self._tracing.why(node) is None:
            return True
        if hops == 0:
            return False
        if isinstance(node, ast.Name):
            bindings = self._bindings.reaching(node)
            if any(each.how is How.PARAMETER for each in bindings):
                return len(bindings) == 1 and self._is_handed_on(node, bindings[0], hops)
        origins = self._flow.origins(node) or ()
        return bool(origins) and all(
            each.how is How.ASSIGNED
            and not each.path
            and each.value is not node
            and self._is_brought(each.value, hops - 1)
            for each in origins
        )

    def _is_handed_on(self, name: ast.Name, parameter: Binding, hops: int) -> bool:
        """Whether traced code calls the function, and no other: it gives the array itself."""
        function = self._tree.function(parameter.node)
        calls = self._callers.calls_of(function) if function is not None else ()
        given = [
            self._callers.argument(each, function, name.id)
            for each in calls
            if function is not None and self._tracing.why(each) is not None
        ]
        why = self._tracing.functions.get(function) if function is not None else None
        is_plain = why is None or why.by is TracedBy.CALLER
        return (
            is_plain
            and bool(given)
            and len(given) == len(calls)
            and all(each is not None and self._is_brought(each, hops - 1) for each in given)
        )

    def _is_outside(self, binding: Binding) -> bool:
        return self._tracing.why(binding.node) is None

    def _named(self, function: FunctionNode) -> FunctionNode:
        """The function itself, or the named one around a lambda."""
        around = self._tree.function(function)
        if isinstance(function, ast.Lambda) and around is not None and self._tracing.why(function):
            return self._named(around)
        return function
