"""Code made of TensorFlow operations alone: traced, it computes what it computes now."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import argument, given_to
from tfmemlint.facts.syntax.nodes import holds, is_literal, names_in, stored_in

_MAX_HOPS = 4


class Ops:
    """Which code of a module `Dataset.map` could run as it stands."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._functions = tf.functions
        self._members = tf.members
        self._tracers = tf.tracers

    def traceable(
        self, code: Iterable[ast.stmt | ast.expr], symbolic: Iterable[str], hops: int = _MAX_HOPS
    ) -> bool:
        """Whether straight-line code only applies deterministic operations to its tensors.

        `symbolic` are the names that hold tensors when it starts; what it binds are tensors too.
        Everything else it reads is a Python value, the same for each run.
        """
        nodes = tuple(code)
        tensors = {*symbolic, *stored_in(*nodes)}
        return all(self._is_traceable(each, frozenset(tensors), hops) for each in nodes)

    def _is_traceable(self, node: ast.AST, tensors: frozenset[str], hops: int) -> bool:
        if isinstance(node, ast.Call):
            return self._is_operation(node, tensors, hops)
        if isinstance(node, ast.Attribute):
            return not _mentions(node, tensors)
        if isinstance(node, ast.Assign):
            named = all(isinstance(each, ast.Name) for each in node.targets)
            return named and self._is_traceable(node.value, tensors, hops)
        if isinstance(node, ast.AugAssign):
            return isinstance(node.target, ast.Name) and self._is_traceable(
                node.value, tensors, hops
            )
        if isinstance(node, _SIMPLE):
            inner = ast.iter_child_nodes(node)
            return all(self._is_traceable(each, tensors, hops) for each in inner)
        has_call = holds(ast.Call, node)
        return isinstance(node, ast.expr) and not has_call and not _mentions(node, tensors)

    def _is_operation(self, call: ast.Call, tensors: frozenset[str], hops: int) -> bool:
        given = given_to(call)
        if not all(self._is_traceable(each, tensors, hops) for each in given):
            return False
        name = self._names.qualified(call.func)
        if name is not None:
            return _is_pure(name, call)
        function = self._functions.function(call.func)
        if function is not None and hops:
            return self._is_traceable_function(function, hops - 1)
        method = call.func if isinstance(call.func, ast.Attribute) else None
        return method is not None and method.attr == "set_shape"

    def _is_traceable_function(self, function: ast.AST, hops: int) -> bool:
        if isinstance(function, ast.Lambda):
            parameters = function.args
            code: list[ast.stmt | ast.expr] = [function.body]
        elif isinstance(function, ast.FunctionDef):
            plain = all(self._tracers.makes_tf_function(each) for each in function.decorator_list)
            if not plain:
                return False
            parameters = function.args
            code = [each for each in function.body if not _is_docstring(each)]
        else:
            return False
        passed = [each.arg for each in (*parameters.posonlyargs, *parameters.args)]
        if self._members.class_of(function) is not None:
            passed = passed[1:]
        passed += [each.arg for each in parameters.kwonlyargs]
        return self.traceable(code, passed, hops)


def _is_pure(name: str, call: ast.Call) -> bool:
    """Whether a function is an operation that gives the same for the same, of a known rank."""
    decoder = name.removeprefix("tensorflow.io.").removeprefix("tensorflow.image.")
    if decoder in ("decode_bmp", "decode_image", "decode_jpeg", "decode_png"):
        channels = argument(call, 1, "channels")
        known = isinstance(channels, ast.Constant) and channels.value in (1, 3, 4)
        animated = argument(call, 3, "expand_animations")
        still = is_literal(animated, False)
        return known and (still or decoder != "decode_image")
    if name.startswith(_RANDOM) or name.startswith("tensorflow.image.decode_"):
        return False
    return name in _PURE or name.startswith(_PURE_MODULES) or name.endswith(".preprocess_input")


def _mentions(node: ast.AST, names: frozenset[str]) -> bool:
    return not names_in(node).isdisjoint(names)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


_SIMPLE = (
    ast.AnnAssign,
    ast.BinOp,
    ast.Constant,
    ast.Expr,
    ast.List,
    ast.Name,
    ast.Return,
    ast.Slice,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
)
_RANDOM = (
    "tensorflow.image.extract_glimpse",
    "tensorflow.image.random_",
    "tensorflow.image.sample_distorted",
    "tensorflow.image.stateless_",
)
_PURE_MODULES = (
    "tensorflow.dtypes.",
    "tensorflow.image.",
    "tensorflow.math.",
    "tensorflow.strings.",
)
_PURE = frozenset(
    {
        "tensorflow.abs",
        "tensorflow.add",
        "tensorflow.cast",
        "tensorflow.clip_by_value",
        "tensorflow.concat",
        "tensorflow.constant",
        "tensorflow.convert_to_tensor",
        "tensorflow.divide",
        "tensorflow.expand_dims",
        "tensorflow.identity",
        "tensorflow.io.read_file",
        "tensorflow.multiply",
        "tensorflow.pad",
        "tensorflow.reduce_max",
        "tensorflow.reduce_mean",
        "tensorflow.reduce_min",
        "tensorflow.repeat",
        "tensorflow.reshape",
        "tensorflow.reverse",
        "tensorflow.squeeze",
        "tensorflow.stack",
        "tensorflow.subtract",
        "tensorflow.tile",
        "tensorflow.transpose",
        "tensorflow.zeros_like",
    }
)
