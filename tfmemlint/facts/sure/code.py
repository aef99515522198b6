"""Functions that surely do the same with the same, whenever they are run, and nothing else.

All that such a function runs is read, statement by statement: what is not known to compute is not.
"""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import element_ops as ops
from tfmemlint.facts.library.steady_words import BUILTINS
from tfmemlint.facts.library.sure_words import (
    ELEMENT_ATTRIBUTES,
    ELEMENT_METHODS,
    MAKES_TENSORS,
    NEVER_FAIL,
)
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import children
from tfmemlint.facts.syntax.tracers import TF_FUNCTION
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode
from tfmemlint.light_typing import NamedTuple

_MOST = 40
"""Functions of the module that one may run."""
_COMPUTES = BUILTINS - {"complex", "divmod", "filter", "map", "type"}
_NOT_PURE = (*ops.RANDOM, *ops.STATEFUL, *ops.UNSEEN, "tensorflow.io.write", "tensorflow.io.read")
_STATEMENTS = (ast.AnnAssign, ast.Assign, ast.AugAssign, ast.Expr, ast.FunctionDef, ast.If)
_MORE_STATEMENTS = (ast.Assert, ast.For, ast.Pass, ast.Return)
_EXPRESSIONS = (
    ast.Attribute,
    ast.BinOp,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.Constant,
    ast.Dict,
    ast.DictComp,
    ast.IfExp,
    ast.Lambda,
    ast.List,
    ast.ListComp,
    ast.Name,
    ast.Slice,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
)
_PARTS = (ast.arguments, ast.arg, ast.comprehension, ast.keyword, ast.operator, ast.unaryop)
_MORE_PARTS = (ast.boolop, ast.cmpop, ast.expr_context)


class Pure(NamedTuple):
    """What is sure of a function."""

    is_pure: bool
    """It gives the same for the same, whenever that is, and does nothing else."""
    never_fails: bool = False
    """It gives something for all that has shapes which are known beforehand."""


class Code:
    """The functions of a file that surely compute, and nothing else."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._members = tf.members
        self._constants = tf.constants
        self._known: dict[ast.expr, Pure] = {}

    def of(self, function: ast.expr | None) -> Pure:
        """What is sure of a function that an expression names, or is."""
        if function is None:
            return Pure(False)
        if function not in self._known:
            self._known[function] = self._of(function)
        return self._known[function]

    def _of(self, function: ast.expr) -> Pure:
        if self._tree.elsewhere(function) is not None:
            return Pure(False)
        name = self._names.qualified(function)
        if name is not None:
            return Pure(_is_pure(name), name in NEVER_FAIL)
        inside: list[FunctionNode] = []
        pending = [self._meant(function)]
        for found in pending:
            if found is None or self._tree.elsewhere(found) is not None:
                return Pure(False)
            if len(inside) == _MOST or not self._is_plain(found):
                return Pure(False)
            if found not in inside:
                inside.append(found)
                pending += self._called(found)
        nodes = [node for each in inside for node in _within(each)]
        if not all(self._is_sure(node, inside) for node in nodes):
            return Pure(False)
        return Pure(True, all(map(self._never_fails, nodes)))

    def _meant(self, function: ast.expr) -> FunctionNode | None:
        """The function of this module that an expression surely is, under no other condition."""
        if isinstance(function, ast.Lambda):
            return function
        if isinstance(function, ast.Attribute):  # a method of `self`, or of a class
            return self._method(function)
        if not isinstance(function, ast.Name):
            return None
        binding = self._constants.bound_once(function)
        if binding is None or binding.path or binding.how not in (How.DEFINED, How.ASSIGNED):
            return None
        if binding.how is How.ASSIGNED:
            return binding.value if isinstance(binding.value, ast.Lambda) else None
        return binding.node if isinstance(binding.node, FUNCTIONS) else None

    def _method(self, method: ast.Attribute) -> FunctionNode | None:
        """The method that an attribute surely is: nothing else of that name is to be had."""
        found = self._functions.function(method)
        if found is None or self._members.class_of(found) is None:
            return None
        if self._functions.overrides(found) or self._constants.may_be_set(method.attr):
            return None
        stored = (each.ctx for each in self._tree.attributes.get(method.attr, ()))
        named = [each for each in self._tree.all(ast.FunctionDef) if each.name == method.attr]
        alone = all(isinstance(each, ast.Load) for each in stored) and named == [found]
        return found if alone else None

    def _is_plain(self, function: FunctionNode) -> bool:
        """Whether a function is no generator, and its defaults never change."""
        if isinstance(function, ast.AsyncFunctionDef):
            return False
        given = function.args
        defaults = [*given.defaults, *(each for each in given.kw_defaults if each is not None)]
        decorators = [] if isinstance(function, ast.Lambda) else function.decorator_list
        return all(map(self._constants.value, defaults)) and all(
            self._names.is_any(each, TF_FUNCTION)
            or (isinstance(each, ast.Name) and each.id == "staticmethod")
            for each in decorators
        )

    def _called(self, function: FunctionNode) -> list[FunctionNode | None]:
        """The functions of this module that one names; None for one that is not surely meant."""
        found: list[FunctionNode | None] = []
        for node in _within(function):
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                definition = self._functions.definition(node)
                if definition is not None and not self._tree.inside(definition, function):
                    found.append(self._meant(node))
        return found

    def _is_sure(self, node: ast.AST, inside: list[FunctionNode]) -> bool:
        if isinstance(node, ast.Name):
            return self._is_sure_name(node, inside)
        if isinstance(node, ast.Attribute):
            return self._is_sure_attribute(node, inside)
        if isinstance(node, ast.Call):
            return self._is_sure_call(node, inside)
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            return isinstance(node.value, ast.Name) and self._bindings.is_own(node.value, inside)
        if isinstance(node, ast.For):
            return not node.orelse
        if isinstance(node, ast.FunctionDef):
            return self._is_plain(node)
        return isinstance(
            node, (*_STATEMENTS, *_MORE_STATEMENTS, *_EXPRESSIONS, *_PARTS, *_MORE_PARTS)
        )

    def _is_sure_name(self, name: ast.Name, inside: list[FunctionNode]) -> bool:
        if self._bindings.is_own(name, inside):
            return True
        if not isinstance(name.ctx, ast.Load):
            return False
        if self._names.qualified(name) is not None:
            above = self._tree.parent(name)
            return isinstance(above, ast.Attribute) or self._is_known(name)
        if self._constants.is_builtin(name):
            return name.id in _COMPUTES
        if isinstance(self._functions.definition(name), FUNCTIONS):
            return self._meant(name) is not None
        return self._constants.name(name)

    def _is_known(self, node: ast.expr) -> bool:
        """Whether a name of a library is that of an operation that computes, or of a constant."""
        name = self._names.qualified(node) or ""
        return _is_pure(name) or self._constants.value(node)

    def _is_sure_attribute(self, node: ast.Attribute, inside: list[FunctionNode]) -> bool:
        if not isinstance(node.ctx, ast.Load):
            return False
        if self._names.qualified(node) is not None:
            above = self._tree.parent(node)
            longer = isinstance(above, ast.Attribute) and self._names.qualified(above) is not None
            return longer or self._is_known(node)
        if isinstance(self._functions.definition(node), FUNCTIONS):
            return self._meant(node) is not None
        owner = self._functions.instance_of(node.value)
        if owner is not None:
            return self._is_fixed_member(owner, node)
        return node.attr in ELEMENT_ATTRIBUTES

    def _is_fixed_member(self, owner: ast.ClassDef, node: ast.Attribute) -> bool:
        """Whether `self.size` is set once, by `__init__`, to what never changes."""
        stored = [
            each
            for each in self._tree.attributes.get(node.attr, ())
            if not isinstance(each.ctx, ast.Load)
        ]
        values = self._functions.attributes(owner, node.attr)
        if len(stored) != 1 or len(values) != 1 or self._constants.may_be_set(node.attr):
            return False
        within = self._tree.function(stored[0])
        bound = any(node.attr == each.name for each in self._bindings.named(node.attr))
        inherited = any(owner is not each and self._inherits(each) for each in self._classes())
        named = getattr(within, "name", "") == "__init__" and not bound and not inherited
        return named and self._constants.value(values[0])

    def _classes(self) -> list[ast.ClassDef]:
        return list(self._tree.all(ast.ClassDef))

    def _inherits(self, owner: ast.ClassDef) -> bool:
        """Whether a class has bases of this module, whose attributes may be its own."""
        return any(
            isinstance(self._functions.definition(each), ast.ClassDef) for each in owner.bases
        )

    def _is_sure_call(self, call: ast.Call, inside: list[FunctionNode]) -> bool:
        callee = call.func
        if any(each.arg is None for each in call.keywords):
            return False
        if any(isinstance(each, ast.Starred) for each in call.args):
            return False
        name = self._names.qualified(callee)
        if name is not None:
            return _is_pure(name)
        if isinstance(callee, ast.Name):
            return self._constants.is_builtin(callee) or self._meant(callee) is not None
        if not isinstance(callee, ast.Attribute):
            return False
        return self._meant(callee) is not None or callee.attr in ELEMENT_METHODS

    def _never_fails(self, node: ast.AST) -> bool:
        """Whether a node gives something for whatever it is given, once it has been traced."""
        if isinstance(node, ast.Call):
            name = self._names.qualified(node.func)
            if name is None:
                return isinstance(node.func, ast.Name) and not self._constants.is_builtin(node.func)
            sized = name in ("tensorflow.fill", "tensorflow.zeros", "tensorflow.ones")
            sized = sized or ".stateless_" in name or name == "tensorflow.image.resize"
            place = 1 if name == "tensorflow.image.resize" else 0
            given = node.args[place : place + 1] if sized else []
            return name in NEVER_FAIL and (
                not sized or (all(map(self._is_shape, given)) and bool(given))
            )
        if isinstance(node, ast.Subscript):
            return isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)) or (
                self._constants.value(node.right)
            )
        return not isinstance(node, (ast.Assert, ast.For, ast.ListComp, ast.DictComp))

    def _is_shape(self, node: ast.expr) -> bool:
        elements = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
        return all(self._constants.value(each) for each in elements)


def _is_pure(name: str) -> bool:
    if name.startswith(ops.STATELESS):
        return True
    computes = name.startswith(ops.PURE) or name in MAKES_TENSORS
    return computes and not name.startswith(_NOT_PURE)


def _within(function: FunctionNode) -> list[ast.AST]:
    """The nodes of a function's body, and those of functions in it; no decorators or defaults."""
    pending: list[ast.AST] = (
        [function.body] if isinstance(function, ast.Lambda) else [*function.body]
    )
    for node in pending:
        pending += children(node)
    return pending
