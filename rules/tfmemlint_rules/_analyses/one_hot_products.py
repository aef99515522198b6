"""Rows of a table that are picked by multiplying it with one-hot vectors."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.syntax.tree import FUNCTIONS
from tfmemlint.light_typing import NamedTuple

_PRODUCTS = frozenset({"tensorflow.linalg.matmul", "tensorflow.matmul", "keras.ops.matmul"})
_ONE_HOTS = frozenset({"tensorflow.one_hot", "keras.ops.one_hot"})
_TURNS = frozenset({"adjoint_a", "transpose_a", "adjoint_b", "transpose_b"})
_MARKS = frozenset({"on_value", "off_value", "axis"})
_ACCELERATORS = ("tpu", "xla")


class OneHotProduct(NamedTuple):
    """`tf.matmul(tf.one_hot(ids, n), table)`."""

    product: ast.expr
    one_hot: ast.Call
    ids: ast.expr
    table: ast.expr
    depth: ast.expr


class OneHotProducts:
    """Such products of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._objects = tf.objects
        self._sources = tf.sources

    @cached_property
    def all(self) -> tuple[OneHotProduct, ...]:
        """Every one, in source order."""
        if not self._names.mentions(_ONE_HOTS):
            return ()
        pairs = [
            (call, argument(call, 0, "a"), argument(call, 1, "b"))
            for call, _ in self._names.calls(_PRODUCTS)
            if not any(each.arg in _TURNS for each in call.keywords) and len(call.args) <= 2
        ]
        products = (each for each in self._tree.all(ast.BinOp) if isinstance(each.op, ast.MatMult))
        found = [self._of(*each) for each in pairs]
        found += [self._of(each, each.left, each.right) for each in products]
        return tuple(each for each in found if each is not None)

    def _of(
        self, product: ast.expr, one_hot: ast.expr | None, table: ast.expr | None
    ) -> OneHotProduct | None:
        made = self._made(one_hot) if one_hot is not None else None
        if made is None or table is None or self._is_chosen(product):
            return None
        ids, depth = argument(made, 0, "indices"), argument(made, 1, "depth")
        if depth is None:
            depth = argument(made, 1, "num_classes")
        if ids is None or depth is None or any(each.arg in _MARKS for each in made.keywords):
            return None
        return OneHotProduct(product, made, ids, table, depth)

    def _made(self, node: ast.expr) -> ast.Call | None:
        """The `one_hot` that an expression is, if nothing else is done with it."""
        made = self._sources.same(node)[-1].node
        alone = made is self._objects.made_for(node).node
        return self._names.call_of(made, _ONE_HOTS) if alone else None

    def _is_chosen(self, node: ast.AST) -> bool:
        """Whether its function gathers, too, or speaks of TPUs or XLA, which multiply faster."""
        outer = [each for each in self._tree.ancestors(node) if isinstance(each, FUNCTIONS)]
        around = outer[-1] if outer else self._tree.statement(node)
        tests = (test for test, _ in self._tree.tests(node, self._tree.module))
        gathers = any(
            isinstance(each, ast.Call) and getattr(each.func, "attr", "") == "gather"
            for each in ast.walk(around)
            if outer
        )
        return gathers or any(map(_speaks_of_accelerators, (around, *tests)))


def _speaks_of_accelerators(code: ast.AST) -> bool:
    for each in ast.walk(code):
        said = getattr(each, "attr", "") or getattr(each, "id", "") or getattr(each, "name", "")
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            said = each.value
        if isinstance(said, str) and any(word in said.lower() for word in _ACCELERATORS):
            return True
    return False
