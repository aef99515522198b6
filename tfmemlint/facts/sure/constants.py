"""What names surely stand for all the time: numbers, texts, tensors; nothing that can change."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import element_ops as ops
from tfmemlint.facts.library.sure_words import DTYPES, MAKES_TENSORS, MAKES_TENSORS_TOO
from tfmemlint.facts.syntax.bindings import Binding

_MAX_HOPS = 8
_SCALARS = frozenset({"bool", "float", "int", "len", "str"})
"""Builtins whose results never change, whatever they are given."""


class Constants:
    """Which names and expressions surely stand for the same, unchangeable value."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._imports = tf.imports
        self._deleted = {each.id for each in tf.tree.all(ast.Name) if isinstance(each.ctx, ast.Del)}

    def is_builtin(self, name: ast.expr) -> bool:
        """Whether a name surely means what Python gives that name."""
        return isinstance(name, ast.Name) and self._bindings.home(name.id, name) is None

    def may_be_set(self, attribute: str) -> bool:
        """Whether another file may set an attribute of that name, or override it."""
        return self._imports.may_touch(attribute)

    def is_touched(self, name: str) -> bool:
        """Whether another file may give a name of this module another value, or see its own."""
        return self._imports.may_touch(name) or self._imports.is_imported

    def name(self, use: ast.Name, hops: int = _MAX_HOPS) -> bool:
        """Whether a name is given one unchangeable value, once."""
        binding = self.bound_once(use)
        if binding is None or not binding.is_whole or not hops:
            return False
        value = binding.value
        repeated = any(self._tree.loops(binding.node))
        if value is None or (repeated and not isinstance(value, ast.Constant)):
            return False
        return self.value(value, hops - 1)

    def bound_once(self, use: ast.Name) -> Binding | None:
        """The only binding that a name has in its scope, be it read from another one."""
        home = self._bindings.home(use.id, use)
        if home is None or use.id in self._deleted:
            return None
        found = self._bindings.of(home, use.id)
        if len(found) != 1 or isinstance(home, ast.ClassDef):
            return None
        if isinstance(home, ast.Module) and self._imports.may_touch(use.id):
            return None
        return found[0]

    def value(self, node: ast.expr, hops: int = _MAX_HOPS) -> bool:
        """Whether what an expression gives, here and now, never changes afterwards."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return self.name(node, hops) or (self._names.qualified(node) or "") in DTYPES
        if isinstance(node, ast.Attribute):
            return (self._names.qualified(node) or "") in DTYPES
        if isinstance(node, ast.Tuple):
            return all(self.value(each, hops) for each in node.elts)
        if isinstance(node, ast.UnaryOp):
            return self.value(node.operand, hops)
        if isinstance(node, ast.BinOp):
            return self.value(node.left, hops) and self.value(node.right, hops)
        if isinstance(node, ast.BoolOp):
            return all(self.value(each, hops) for each in node.values)
        if isinstance(node, ast.Compare):
            return all(self.value(each, hops) for each in (node.left, *node.comparators))
        if isinstance(node, ast.IfExp):
            return self.value(node.body, hops) and self.value(node.orelse, hops)
        return isinstance(node, ast.Call) and self._call(node)

    def _call(self, call: ast.Call) -> bool:
        if isinstance(call.func, ast.Name) and self.is_builtin(call.func):
            return call.func.id in _SCALARS
        return self.makes_tensor(call)

    def makes_tensor(self, call: ast.expr) -> bool:
        """Whether a call surely makes a tensor, which nothing can change."""
        name = self._names.called(call)
        if name.startswith(ops.UNSEEN):
            return False
        return name in MAKES_TENSORS or name.startswith(MAKES_TENSORS_TOO)
