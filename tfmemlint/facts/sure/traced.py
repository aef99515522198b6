"""Traced functions of which nothing is seen but what they give, when they are called."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.steady_words import DRAWS
from tfmemlint.facts.library.words import LIBRARIES
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.tracers import TF_FUNCTION
from tfmemlint.facts.syntax.tree import FunctionNode

_KEEPS_GRAPHS = frozenset(
    [
        "Checkpoint",
        "CheckpointManager",
        "SavedModel",
        "SavedModelBuilder",
        "TFLiteConverter",
        "as_graph_def",
        "export",
        "get_concrete_function",
        "graph_def",
        "saved_model",
        "save",
        "signatures",
        "wrap_function",
        "write_graph",
        "xla",
    ]
)
"""What keeps or shows the graphs of functions; and what compiles them in another way."""
_TENSORS = frozenset({Kind.ARRAY, Kind.TENSOR, Kind.VARIABLE})
_INTEGERS = frozenset({"tensorflow.int32", "tensorflow.int64"})
_CASTS = frozenset({"tensorflow.cast"})
_EXACT = (ast.Add, ast.Sub, ast.Mult)
_KNOWN = LIBRARIES | {"absl", "matplotlib", "sklearn", "tqdm"}


class Traced:
    """What is sure of the uses of traced functions."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._members = tf.members
        self._values = tf.values
        self._datasets = tf.datasets
        self._constants = tf.constants
        self._imports = tf.imports

    @cached_property
    def keeps_no_graphs(self) -> bool:
        """Whether the file neither saves nor shows a graph, nor has one compiled otherwise."""
        if not _KEEPS_GRAPHS.isdisjoint(self._tree.attributes):
            return False
        if any(each.arg in ("jit_compile", "signatures") for each in self._tree.all(ast.keyword)):
            return False
        return not any(each.name in _KEEPS_GRAPHS for each in self._tree.all(ast.alias))

    @cached_property
    def imports_libraries_alone(self) -> bool:
        """Whether no imported code can set up devices that tensors made earlier would spoil."""
        for statement in self._tree.all(ast.Import, ast.ImportFrom):
            if isinstance(statement, ast.ImportFrom):
                names = ["." if statement.level else statement.module or ""]
            else:
                names = [each.name for each in statement.names]
            if not all(each.partition(".")[0] in _KNOWN for each in names):
                return False
        return True

    def calls(self, function: FunctionNode) -> tuple[ast.Call, ...] | None:
        """All calls of a function; None where anything else may be done with it."""
        if isinstance(function, ast.Lambda) or not self._is_plain(function):
            return None
        if self._tree.elsewhere(function) is not None:
            return None
        if self._imports.may_touch(function.name) or self._is_handed_out(function):
            return None
        owner = self._members.class_of(function)
        if owner is not None:
            named = [each for each in self._tree.all(ast.FunctionDef) if each.name == function.name]
            uses: list[ast.expr] = [*self._tree.attributes.get(function.name, ())]
            alone = named == [function]
        else:
            scope = self._tree.scope(function)
            uses = [*self._bindings.loads(scope, function.name)]
            alone = len(self._bindings.of(scope, function.name)) == 1
        calls = [self._tree.parent(each) for each in uses]
        found = [
            call
            for call, use in zip(calls, uses, strict=True)
            if isinstance(call, ast.Call) and call.func is use
        ]
        return tuple(found) if alone and len(found) == len(uses) else None

    def _is_handed_out(self, function: FunctionNode) -> bool:
        """Whether another file has a name for what this module calls so."""
        return self._imports.is_imported and isinstance(self._tree.scope(function), ast.Module)

    def _is_plain(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether nothing but `tf.function` decorates a function, without options of its own."""
        if not isinstance(function, ast.FunctionDef) or len(function.decorator_list) > 1:
            return False
        return all(self._is_plain_wrapper(each) for each in function.decorator_list)

    def _is_plain_wrapper(self, wrapper: ast.expr) -> bool:
        if isinstance(wrapper, ast.Call):
            known = all(each.arg == "input_signature" for each in wrapper.keywords)
            return known and not wrapper.args and self._names.is_any(wrapper.func, TF_FUNCTION)
        return self._names.is_any(wrapper, TF_FUNCTION)

    def are_tensors(self, given: Iterable[ast.expr]) -> bool:
        """Whether expressions surely give tensors, or what becomes one by itself."""
        return all(map(self.is_tensor, given))

    def is_tensor(self, given: ast.expr) -> bool:
        """Whether an expression surely gives a tensor, or an array: no value of Python's own."""
        if self._constants.makes_tensor(given) or self._values.of(given).kind in _TENSORS:
            return True
        binding = self._bindings.only(given)
        if binding is None or binding.value is None:
            return False
        if binding.how is How.LOOPED:
            return len(binding.path) < 2 and self._datasets.is_dataset(binding.value)
        return binding.is_whole and self._constants.makes_tensor(binding.value)

    def draws(self, function: ast.AST) -> bool:
        """Whether a function may draw random numbers, whose seeds hang on all that is traced."""
        named = (getattr(each, "attr", getattr(each, "id", "")) for each in ast.walk(function))
        return any(word in name.lower() for name in named for word in DRAWS)

    def keeps_whole(self, function: FunctionNode, parameter: str) -> bool:
        """Whether a number is only taken for an integer, of which every digit stays.

        It is cast to an integer, counted on with others, and returned, or given to a variable.
        """
        found = self._bindings.of(function, parameter)
        uses = self._bindings.loads(function, parameter)
        return len(found) == 1 and all(map(self._is_kept_whole, uses))

    def _is_kept_whole(self, use: ast.expr) -> bool:
        cast = self._tree.parent(use)
        if not isinstance(cast, ast.Call) or cast.args[:1] != [use] or len(cast.args) != 2:
            return False
        if not self._names.is_any(cast.func, _CASTS):
            return False
        if not self._names.is_any(cast.args[1], _INTEGERS):
            return False
        node: ast.AST = cast
        above = self._tree.parent(node)
        while isinstance(above, ast.BinOp) and isinstance(above.op, _EXACT):
            other = above.right if above.left is node else above.left
            if not isinstance(other, ast.Constant) or not isinstance(other.value, int):
                return False
            node, above = above, self._tree.parent(above)
        if isinstance(above, ast.Return):
            return True
        if isinstance(above, ast.Tuple):
            return isinstance(self._tree.parent(above), ast.Return)
        method = above.func if isinstance(above, ast.Call) else None
        assigns = isinstance(method, ast.Attribute) and method.attr in ("assign", "assign_add")
        return assigns and self._values.of(getattr(method, "value", use)).kind is Kind.VARIABLE
