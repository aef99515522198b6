"""What takes the rows of an array: as many at a time as it wants, or all of them."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Over
from tfmemlint.facts.flow.uses import Trail
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.syntax.nodes import called, same_code
from tfmemlint.light_typing import NamedTuple


class Counted(NamedTuple):
    """`len(rows)`."""


class Iterated(NamedTuple):
    """`for row in rows:`, be it through `enumerate` or `zip`."""


class Cut(NamedTuple):
    """`for i in range(0, len(rows), size): batch = rows[i : i + size]`, with `i` used up."""

    loop: ast.For
    taken: ast.stmt
    """The assignment of a slice, with which the loop begins."""
    batch: str
    size: ast.expr


class Predicted(NamedTuple):
    """`model.predict(rows)`, told at most the size of its batches and what it reports."""

    call: ast.Call
    size: ast.expr | None


class Piped(NamedTuple):
    """`Dataset.from_tensor_slices(rows)`."""

    call: ast.Call


class Paired(NamedTuple):
    """`Dataset.from_tensor_slices((rows, labels))`."""

    slices: ast.Attribute
    """What is called."""
    others: list[ast.expr]
    """What the rows are paired with."""


Taker = Counted | Iterated | Cut | Predicted | Piped | Paired


class Takers:
    """What takes the rows of the arrays of a module."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._values = tf.values
        self._loops = tf.loops

    def of(self, trail: Trail) -> Taker | None:
        """What takes the rows at the end of a trail; None where it is something else.

        Or where it takes them more often than once an epoch.
        """
        rows, parent = trail[-1], self._tree.parent(trail[-1])
        if isinstance(parent, ast.Call) and called(parent) == "len":
            return Counted()
        if not self._is_taken_once_an_epoch(trail):
            return None
        if self._is_iterated(rows):
            return Iterated()
        match parent:
            case ast.Subscript(value=cut) if cut is rows:
                return self._cut(parent)
            case ast.Call(func=ast.Attribute(attr="predict")):
                return self._predicted(parent, rows)
            case ast.Call():
                return Piped(parent) if self._makes_pipeline(parent) else None
            case ast.Tuple():
                return self._paired(parent, rows)
            case _:
                return None

    def _is_taken_once_an_epoch(self, trail: Trail) -> bool:
        tree, since, rows = self._tree, trail[-2:][0], trail[-1]
        loops = [each for each in self._loops.around(rows) if not tree.inside(since, each.node)]
        if isinstance(tree.parent(rows), ast.Subscript):
            loops = loops[1:]  # one that takes a slice in each trip
        return all(loop.over is Over.EPOCHS for loop in loops)

    def _is_iterated(self, rows: ast.expr) -> bool:
        match self._tree.parent(rows):
            case ast.Call(func=ast.Name(id="enumerate" | "zip")) as call:
                return rows in call.args and self._is_iterated(call)
            case ast.For(iter=iterable) | ast.comprehension(iter=iterable):
                return iterable is rows
            case _:
                return False

    def _cut(self, part: ast.Subscript) -> Cut | None:
        taken = self._tree.parent(part)
        match taken, part.value, self._tree.parent(taken or part):
            case (
                ast.Assign(targets=[ast.Name(id=batch)]),
                ast.Name(id=name) as rows,
                ast.For(
                    target=ast.Name(id=offset) as target,
                    iter=ast.Call(func=ast.Name(id="range"), args=[ast.Constant(0), stop, size]),
                    body=[first, _, *_],
                ) as loop,
            ) if first is taken:
                pass
            case _:
                return None
        whole = ast.parse(f"{name}[{offset}:{offset} + ({ast.unparse(size)})]", mode="eval").body
        counted = self._values.rows(stop)
        if not same_code(whole, part) or not isinstance(counted, ast.Name):
            return None
        same = self._bindings.only(counted) == self._bindings.only(rows)
        scope = self._tree.scope(loop)
        offsets = next(each for each in self._bindings.of(scope, offset) if each.node is target)
        used_up = len(self._bindings.readers(offsets)) == 2
        return Cut(loop, first, batch, size) if same and used_up else None

    def _predicted(self, call: ast.Call, rows: ast.expr) -> Predicted | None:
        model = call.func.value if isinstance(call.func, ast.Attribute) else None
        given = {each.arg: each.value for each in call.keywords}
        if model is None or call.args != [rows] or not given.keys() <= _UNDERSTOOD:
            return None
        is_model = self._values.of(model).kind is Kind.MODEL
        return Predicted(call, given.get("batch_size")) if is_model else None

    def _paired(self, pair: ast.Tuple, rows: ast.expr) -> Paired | None:
        call = self._tree.parent(pair)
        if not isinstance(call, ast.Call) or not self._makes_pipeline(call):
            return None
        others = [each for each in pair.elts if each is not rows]
        return Paired(call.func, others) if isinstance(call.func, ast.Attribute) else None

    def _makes_pipeline(self, call: ast.Call) -> bool:
        plain = len(call.args) == 1 and not call.keywords
        return plain and self._names.qualified(call.func) == _SLICES


_SLICES = "tensorflow.data.Dataset.from_tensor_slices"
_UNDERSTOOD = frozenset({"batch_size", "callbacks", "verbose"})
