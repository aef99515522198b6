"""Whether lists could take the place of arrays that loops make longer, to be joined once."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.syntax.bindings import How
from tfmemlint_rules._analyses.joins import Joined, Joins

_MAX_HOPS = 3
_GIVES_NEW = frozenset({"copy", "numpy", "predict", "predict_on_batch"})
_SUPPRESS = "contextlib.suppress"
_WRITES = frozenset({"fill", "partition", "put", "resize", "sort"})
"""Methods of arrays that write into them."""


class JoinsAsLists:
    """What a list would hold in place of an array that grows."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._values = tf.values
        self._joins = tf.of(Joins)

    def start(self, joined: Joined) -> ast.Assign | None:
        """What makes the array, where nothing would notice a list in its place until the loop ends.

        It stands in the same block, and nothing but code behind the loop reads the array.
        """
        target, loop = joined.target, joined.loops[-1].node
        if isinstance(loop, ast.comprehension) or not isinstance(target, ast.Name):
            return None
        joins = self._joins.alike(joined)
        inside = [each for join in joins for each in ast.walk(join.call)]
        own = [each for each in inside if isinstance(each, ast.Name) and each.id == target.id]
        targets = [join.target for join in joins]
        given = {each for use in own for each in self._bindings.reaching(use)}
        starts = [each for each in given if each.node not in targets]
        if len(starts) != 1 or not starts[0].is_whole:
            return None
        made, (block, place) = self._tree.statement(starts[0].node), self._tree.place(loop)
        behind = block[place + 1 :]
        alone = all(
            use in own or any(self._tree.inside(use, each) for each in behind)
            for binding in given
            for use in self._bindings.readers(binding)
        )
        if not isinstance(made, ast.Assign) or made.targets != [starts[0].node]:
            return None
        if any(self._is_tried(join.node, loop) for join in joins):
            return None  # what cannot be joined would be found out behind the loop
        if any(self._may_be_variable(each, _MAX_HOPS) for each in joined.added):
            return None  # a list would hold the variable, and not what it was in each round
        return made if made in block[:place] and alone else None

    def _is_tried(self, node: ast.AST, loop: ast.AST) -> bool:
        """Whether code of a loop goes on where a node fails: `try`, or `with suppress()`."""
        for above in self._tree.ancestors(node):
            if above is loop:
                return False
            if isinstance(above, ast.Try):
                return True
            entered = above.items if isinstance(above, ast.With) else []
            calls = (each.context_expr for each in entered)
            if any(
                self._names.qualified(getattr(each, "func", None)) == _SUPPRESS for each in calls
            ):
                return True
        return False

    def adds_new(self, joined: Joined) -> bool:
        """Whether what is added is an object of its own in each round, which nothing changes.

        And whose type has a say in that of the whole: that of a Python number has none where more
        than two are joined at once.
        """
        return all(
            self._is_new(each, joined, _MAX_HOPS)
            and not (joined.function == "numpy.append" and self._may_be_number(each, _MAX_HOPS))
            for each in joined.added
        )

    def _may_be_number(self, node: ast.expr, hops: int) -> bool:
        kind = self._values.of(node).kind
        if kind in (Kind.NUMBER, Kind.UNKNOWN) and isinstance(node, (ast.BinOp, ast.Constant)):
            return True
        binding = self._bindings.only(node) if isinstance(node, ast.Name) and hops else None
        value = binding.value if binding is not None and not binding.path else None
        if value is not None:
            return self._may_be_number(value, hops - 1)
        return kind is Kind.NUMBER and not isinstance(node, ast.Call)

    def _may_be_variable(self, node: ast.expr, hops: int) -> bool:
        """Whether this is a variable, or an object's attribute: `layer.kernel`, `weights[0]`."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return any(self._may_be_variable(each, hops) for each in node.elts)
        kind = self._values.of(node).kind
        if kind is not Kind.UNKNOWN:
            return kind is Kind.VARIABLE
        if isinstance(node, ast.Name) and hops:
            values = [each.value for each in self._bindings.reaching(node) if not each.path]
            return any(each and self._may_be_variable(each, hops - 1) for each in values)
        if isinstance(node, ast.Subscript):
            plain = isinstance(node.slice, ast.Constant)
            return plain and self._may_be_variable(node.value, hops)
        return isinstance(node, ast.Attribute) and self._names.qualified(node) is None

    def _is_new(self, node: ast.expr, joined: Joined, hops: int) -> bool:
        kind = self._values.of(node).kind
        if kind in (Kind.NUMBER, Kind.TENSOR) or isinstance(node, (ast.BinOp, ast.Constant)):
            return True
        if isinstance(node, (ast.List, ast.Tuple)):
            return all(self._is_new(each, joined, hops) for each in node.elts)
        if isinstance(node, ast.Call):
            function, name = node.func, self._names.qualified(node.func) or ""
            if isinstance(function, ast.Attribute) and not name:
                new = function.attr in _GIVES_NEW
                return new or self._is_new(function.value, joined, hops)
            if name in makers.KEEPS_DATA:  # it may be a view of what it is given
                return bool(node.args) and self._is_new(node.args[0], joined, hops)
            made = self._values.of(function).kind in (Kind.LAYER, Kind.MODEL)
            return made or name.startswith("numpy.")
        binding = self._bindings.only(node)
        if binding is None or binding.value is None or binding.path or hops == 0:
            return False
        changed = any(map(self._changes, self._bindings.readers(binding)))
        own = self._tree.inside(binding.node, joined.loops[0].node) and not changed
        own = own and binding.how is How.ASSIGNED
        return own and self._is_new(binding.value, joined, hops - 1)

    def _changes(self, use: ast.Name) -> bool:
        """Whether code writes into what a name holds: `y[0] = 1`, `y.sort()`."""
        above = self._tree.parent(use)
        if isinstance(above, ast.Attribute):
            return above.attr in _WRITES
        return isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Store)
