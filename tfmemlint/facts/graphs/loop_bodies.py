"""The bodies of Python loops: which could be that of a graph loop, whose variables are tensors."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import called, names_in, stored_in, within

_LEAVES_PYTHON = (
    ast.AsyncFor,
    ast.AsyncFunctionDef,
    ast.AsyncWith,
    ast.Await,
    ast.Break,
    ast.ClassDef,
    ast.Continue,
    ast.Delete,
    ast.FunctionDef,
    ast.Global,
    ast.Lambda,
    ast.NamedExpr,
    ast.Nonlocal,
    ast.Return,
    ast.Try,
    ast.While,
    ast.Yield,
    ast.YieldFrom,
)
"""What a graph loop has no like of, or what is too much to follow."""
_TAKES_INDEX = frozenset(
    {
        "keras.ops.cast",
        "keras.ops.one_hot",
        "keras.ops.take",
        "tensorflow.cast",
        "tensorflow.gather",
        "tensorflow.one_hot",
        "tensorflow.print",
        "tensorflow.roll",
    }
)
"""Functions to which a Python integer and an integer tensor are the same."""
_DOES_IN_GRAPH = frozenset(
    {"apply_gradients", "assign", "assign_add", "assign_sub", "reset_state", "update_state"}
    | {"watch"}
)
"""Methods of variables, optimizers, metrics and tapes that leave nothing behind in Python."""
_DRAWS = ("numpy.random.", "random.", "time.")
_RESHAPES = frozenset(
    f"tensorflow.{each}"
    for each in ("concat", "expand_dims", "pad", "repeat", "squeeze", "stack", "tile")
)
_DATA = frozenset({Kind.ARRAY, Kind.TENSOR, Kind.VARIABLE})


class LoopBodies:
    """What the bodies of loops ask of Python."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._callers = tf.callers
        self._tracers = tf.tracers
        self._values = tf.values
        self._tensors = tf.tensors

    def fit_graph(self, loop: Loop, besides: Collection[ast.stmt] = ()) -> bool:
        """Whether a `for` over a range could surely be one graph loop, its variable a tensor.

        What the statements `besides` do does not count, only what they read: they will be replaced.
        """
        node = loop.node
        if not (isinstance(node, ast.For) and isinstance(node.target, ast.Name)) or node.orelse:
            return False
        computes = is_range(node.iter) and self._computes(node, loop, besides)
        return computes and self.takes_tensor(node.target)

    def fit_dataset(self, loop: Loop) -> bool:
        """Whether a `for` over a dataset's elements could surely be one graph loop."""
        node = loop.node
        return isinstance(node, ast.For) and not node.orelse and self._computes(node, loop)

    def _computes(self, node: ast.For, loop: Loop, besides: Collection[ast.stmt] = ()) -> bool:
        body = list(within(node.body))
        return (
            not any(isinstance(each, _LEAVES_PYTHON) or self._draws(each) for each in body)
            and all(
                self._has_no_effect(each, loop)
                for each in body
                if isinstance(each, ast.stmt) and each not in besides
            )
            and all(self._keeps_its_kind(each, loop) for each in self._carried(body, besides))
        )

    def _draws(self, node: ast.AST) -> bool:
        """Whether Python itself draws a number, which a graph loop would do once for all trips."""
        return self._names.called(node).startswith(_DRAWS)

    def takes_tensor(self, target: ast.Name) -> bool:
        """Whether a loop's variable is used only where an integer tensor does as well."""
        scope, loop = self._tree.scope(target), self._tree.parent(target)
        bindings = self._bindings.of(scope, target.id)
        binding = next((each for each in bindings if each.node is target), None)
        return binding is not None and all(
            self._tree.inside(use, loop if isinstance(loop, ast.stmt) else scope)
            and self._takes_index(use)
            for use in self._bindings.readers(binding)
        )

    def brings(self, name: ast.Name, loop: Loop, at: ast.stmt | None = None) -> bool:
        """Whether a name has a value when the loop begins, and at `at`, further up, the same."""
        before, _ = self._bound(name, loop)
        if before is None:
            return True
        limit = getattr(at or loop.node, "lineno", 0)
        return bool(before) and all(_line(each) < limit for each in before)

    def carries(self, name: ast.Name, loop: Loop) -> bool:
        """Whether a name is a tensor when the loop begins, and in it what became of that one."""
        before, inside = self._bound(name, loop)
        if not before or not inside:
            return not inside and self._tensors.is_tensor(name)
        entering = self._entering(name, loop, before)
        return bool(entering) and all(map(self._tensors.starts_as_tensor, entering))

    def _bound(self, name: ast.Name, loop: Loop) -> tuple[list[Binding] | None, list[Binding]]:
        """Where a name gets its values before the loop and in it; None for names from elsewhere."""
        home = self._bindings.home(name.id, name)
        if home is None or home is not self._tree.scope(loop.node):
            elsewhere = home is None or not self._tree.inside(home, loop.node)
            return (None if elsewhere else []), []
        bindings = self._bindings.of(home, name.id)
        inside = [each for each in bindings if self._tree.inside(each.node, loop.node)]
        start = getattr(loop.node, "lineno", 0)
        return [each for each in bindings if _line(each) < start], inside

    def _entering(self, name: ast.Name, loop: Loop, before: list[Binding]) -> list[Binding]:
        """Which of the bindings before the loop give a read in the loop its value."""
        reads = self._bindings.loads(self._tree.scope(loop.node), name.id)
        found = {
            each
            for use in reads
            if self._tree.inside(use, loop.node)
            for each in self._bindings.reaching(use)
        }
        _, inside = self._bound(name, loop)
        added = any(each.how is How.AUGMENTED for each in inside)
        return [each for each in before if added or each in found]

    def _has_no_effect(self, statement: ast.stmt, loop: Loop) -> bool:
        """Whether a statement does nothing but give names their values."""
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            stored = [each for target in targets for each in ast.walk(target)]
            return not any(isinstance(each, (ast.Attribute, ast.Subscript)) for each in stored)
        if isinstance(statement, ast.Expr):
            called = statement.value.func if isinstance(statement.value, ast.Call) else None
            is_op = (self._names.qualified(called) or "").startswith("tensorflow.")
            method = called.attr if isinstance(called, ast.Attribute) else ""
            is_op = is_op or method in _DOES_IN_GRAPH or self._is_traced(called)
            return is_op or isinstance(statement.value, ast.Constant)
        if isinstance(statement, ast.If):
            return not self._changes(statement.test, loop)
        return isinstance(statement, (ast.For, ast.With, ast.Pass))

    def _is_traced(self, called: ast.expr | None) -> bool:
        """Whether a function is traced by itself: its Python runs once, whatever calls it."""
        function = self._functions.function(called) if called is not None else None
        decorators: list[ast.expr] = getattr(function, "decorator_list", [])
        return any(map(self._tracers.makes_tf_function, decorators))

    def _changes(self, test: ast.expr, loop: Loop) -> bool:
        stored = stored_in(loop.node)
        return not names_in(test).isdisjoint(stored)

    def _takes_index(self, use: ast.Name) -> bool:
        node: ast.AST = use
        parent = self._tree.parent(node)
        while isinstance(parent, (ast.BinOp, ast.UnaryOp)):
            node, parent = parent, self._tree.parent(parent)
        if isinstance(parent, ast.Call):
            return self._names.is_any(parent.func, _TAKES_INDEX)
        if isinstance(parent, ast.Tuple):
            node, parent = parent, self._tree.parent(parent)
        is_index = isinstance(parent, ast.Subscript) and parent.slice is node
        return (
            is_index
            and isinstance(parent, ast.Subscript)
            and (self._tensors.is_tensor(parent.value))
        )

    def _carried(
        self, body: Collection[ast.AST], besides: Collection[ast.stmt]
    ) -> Iterator[ast.Name]:
        """Where the body binds names, once for each name."""
        replaced = {each for statement in besides for each in ast.walk(statement)}
        stored = {
            each.id: each
            for each in body
            if isinstance(each, ast.Name)
            and isinstance(each.ctx, ast.Store)
            and each not in replaced
        }
        return iter(stored.values())

    def _keeps_its_kind(self, stored: ast.Name, loop: Loop) -> bool:
        """Whether a name the loop binds is a tensor before the loop too, if it has to be."""
        before, inside = self._bound(stored, loop)
        if before is None:
            return False
        scope = self._tree.scope(loop.node)
        leaves = any(
            each in inside
            for use in self._bindings.loads(scope, stored.id)
            if not self._tree.inside(use, loop.node)
            for each in self._bindings.reaching(use)
        )
        needed = before if leaves else self._entering(stored, loop, before)
        if needed and any(map(self._is_reshaped, inside)):
            return False
        return bool(needed or not leaves) and all(
            self._tensors.starts_as_tensor(each)
            or self._is_given_tensors(each)
            or self._is_running_sum(each, inside)
            for each in needed
        )

    def _is_reshaped(self, binding: Binding) -> bool:
        """Whether a name gets a tensor of another shape than it had: `x = tf.concat([x, y], 0)`."""
        made = self._names.call_of(binding.value, _RESHAPES)
        return made is not None and binding.name in names_in(made)

    def _is_given_tensors(self, start: Binding) -> bool:
        """Whether this is a parameter of a traced function that all callers give data for."""
        if start.how is not How.PARAMETER:
            return False
        given = self._callers.given_for(start)
        return bool(given) and all(
            each is not None
            and (self._values.of(each).kind in _DATA or self._tensors.is_tensor(each))
            for each in given
        )

    def _is_running_sum(self, start: Binding, inside: Collection[Binding]) -> bool:
        """`total = 0.0` before the loop, and nothing but `total += tf.reduce_sum(x)` in it."""
        zero = start.value.value if isinstance(start.value, ast.Constant) else None
        return isinstance(zero, float) and all(
            each.how is How.AUGMENTED
            and isinstance(each.value, ast.Call)
            and (self._names.qualified(each.value.func) or "").startswith("tensorflow.reduce_")
            and len(each.value.args) == 1
            and not each.value.keywords
            for each in inside
        )


def _line(binding: Binding) -> int:
    line: int = getattr(binding.node, "lineno", 0)
    return line


def is_range(iterable: ast.expr) -> bool:
    """Whether this is a call of `range` with plain arguments."""
    return called(iterable) == "range"
