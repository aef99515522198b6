"""Tensors of ever other shapes, given to traced functions.

The shapes of its arguments are part of what a graph is made for: each new one has the function
traced again, unless it was told to do with fewer.
"""

from __future__ import annotations

import ast
from enum import Enum
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.flow.remade_functions import A_FEW
from tfmemlint.facts.graphs.retraces import Given
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.targets import element
from tfmemlint.facts.syntax.tracers import TF_FUNCTION
from tfmemlint.facts.syntax.tree import FunctionNode
from tfmemlint.light_typing import NamedTuple
from tfmemlint_rules._analyses.novelty import Novelty
from tfmemlint_rules._analyses.paddings import Paddings
from tfmemlint_rules._analyses.sequences import Sequences

_MAX_HOPS = 8
_SETTLED = ("input_signature", "reduce_retracing", "experimental_relax_shapes")

_KEEPS_SHAPE = frozenset(
    {
        "keras.ops.convert_to_tensor",
        "numpy.array",
        "numpy.asarray",
        "numpy.expand_dims",
        "tensorflow.cast",
        "tensorflow.constant",
        "tensorflow.convert_to_tensor",
        "tensorflow.expand_dims",
        "tensorflow.identity",
        "tensorflow.one_hot",
        "tensorflow.transpose",
    }
)
"""Functions whose result has one size for each of what they are given first, lists included."""
_STACKS = frozenset({"numpy.stack", "tensorflow.concat", "tensorflow.stack"})
_FILLS = frozenset(
    {
        "numpy.empty",
        "numpy.full",
        "numpy.ones",
        "numpy.random.normal",
        "numpy.random.rand",
        "numpy.random.randn",
        "numpy.zeros",
        "tensorflow.fill",
        "tensorflow.ones",
        "tensorflow.random.normal",
        "tensorflow.random.uniform",
        "tensorflow.zeros",
    }
)
"""Functions that make an array of sizes they are given."""
_RESIZES = frozenset(
    f"tensorflow.image.{name}"
    for name in ("random_crop", "resize", "resize_with_crop_or_pad", "resize_with_pad")
)
"""Functions that make pictures of sizes they are given behind them."""
_JOINS = frozenset(
    {
        "numpy.append",
        "numpy.concatenate",
        "numpy.hstack",
        "numpy.vstack",
        "tensorflow.concat",
        "tensorflow.pad",
    }
)
_PICKS = frozenset({"numpy.argwhere", "numpy.flatnonzero", "tensorflow.boolean_mask"})
_WHERE = frozenset({"numpy.where", "tensorflow.where"})
_WANT_SIZE = frozenset({"keras.backend.int_shape", "len", "tensorflow.unstack"})
"""Functions that need to know the size of what they are given first, if of nothing else."""
_RAGGED = ("tensorflow.RaggedTensor.from_", "tensorflow.ragged.constant", "tensorflow.ragged.stack")


class ShapedBy(Enum):
    """What gives a tensor its next shape."""

    SLICE = "a slice up to a number that changes"
    GROWTH = "it gets longer with every round"
    SEQUENCE = "a list as long as the text or the row it is made of"
    PADDING = "a batch padded to the longest of its examples"
    LIST = "a list of tensors gets longer with every round"
    PICK = "as many as there are to pick"


class Varying(NamedTuple):
    """One argument of one call."""

    given: Given
    part: ast.expr
    """What in the argument, or in what it was made of, has another shape each time."""
    by: ShapedBy
    loop: Loop | None
    """What repeats the call; None where every request does."""


class _Found(NamedTuple):
    part: ast.expr
    by: ShapedBy
    loop: Loop | None


class VaryingShapes:
    """Where loops call traced functions with tensors of many shapes."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._datasets = tf.datasets
        self._paddings = tf.of(Paddings)
        self._novelty = tf.of(Novelty)
        self._values = tf.values
        self._flow = tf.flow
        self._loops = tf.loops
        self._tracing = tf.tracing
        self._retraces = tf.retraces
        self._changing_numbers = tf.changing_numbers
        self._sequences = tf.of(Sequences)

    @cached_property
    def all(self) -> tuple[Varying, ...]:
        """The first such argument of every call, in source order."""
        found: dict[ast.Call, Varying] = {}
        for given in self._retraces.given(_SETTLED):
            if given.call not in found:
                varying = self._tensor(given.argument, given.call, _MAX_HOPS)
                if varying is None:
                    grown = self._grown_list(given.argument, given.call)
                    varying = grown and grown._replace(by=ShapedBy.LIST)
                if varying is not None:
                    found[given.call] = Varying(given, *varying)
        return tuple(sorted(found.values(), key=lambda each: _place(each.given.call)))

    def maker(self, function: FunctionNode) -> ast.expr | None:
        """The `tf.function`, or call of it, that has a function traced, and could be told more.

        None where it is hidden behind another name, or where XLA is to compile every shape.
        """
        made = self._tracing.functions[function].at
        called = made.func if isinstance(made, ast.Call) else made
        compiles = isinstance(made, ast.Call) and any(
            each.arg in ("jit_compile", "experimental_compile", None) for each in made.keywords
        )
        plain = isinstance(called, ast.expr) and self._names.is_any(called, TF_FUNCTION)
        return made if isinstance(made, ast.expr) and plain and not compiles else None

    def asks_for_shape(self, function: FunctionNode, hops: int = _MAX_HOPS) -> bool:
        """Whether a function, or one of the module that it calls, has Python ask for a shape."""
        for each in self._bodies.body(function):
            asks = isinstance(each, ast.Attribute) and each.attr in ("get_shape", "shape")
            if isinstance(each, ast.Attribute) and asks and self._names.qualified(each) is None:
                return True
            if isinstance(each, ast.Call):
                name = self._names.qualified(each.func) or getattr(each.func, "id", "")
                if name in _WANT_SIZE and len(each.args) == 1:
                    return True
                called = self._functions.function(each.func)
                if called is not None and hops and self.asks_for_shape(called, hops - 1):
                    return True
        return False

    # Tensors.

    def _tensor(self, tensor: ast.expr, at: ast.AST, hops: int) -> _Found | None:
        """What gives a tensor another shape each time the code at `at` runs."""
        if hops == 0:
            return None
        put = self._moved(tensor)
        if put is not None:
            return self._tensor(put, put, hops - 1)
        if isinstance(tensor, ast.Name):
            found = (self._named(each, at, hops) for each in self._bindings.reaching(tensor))
            return next((each for each in found if each is not None), None)
        if isinstance(tensor, ast.Subscript):
            return self._subscript(tensor, at, hops)
        if isinstance(tensor, ast.BinOp):
            sides = (self._tensor(each, at, hops - 1) for each in (tensor.left, tensor.right))
            return next((each for each in sides if each is not None), None)
        return self._result(tensor, at, hops) if isinstance(tensor, ast.Call) else None

    def _moved(self, held: ast.expr) -> ast.expr | None:
        """What was put where an expression reads it, be it by the only caller of its function."""
        put = self._flow.put_there(held)
        if put is not None or not isinstance(held, (ast.Attribute, ast.Name, ast.Subscript)):
            return put
        here = self._tree.function(held)
        way = self._flow.same(held) if here is not None else (held,)
        before = way[1] if len(way) > 1 else held
        return None if self._tree.function(before) is here else before

    def _result(self, call: ast.Call, at: ast.AST, hops: int) -> _Found | None:
        first = call.args[0] if call.args else None
        if self._names.is_any(call.func, _KEEPS_SHAPE) and first is not None:
            found = self._tensor(first, at, hops - 1) or self._list(first, at, hops - 1)
            return None if self._reads_fields(call, first) else found
        if self._names.is_any(call.func, _STACKS) and first is not None:
            return self._grown_list(first, at)
        if self._names.is_any(call.func, _FILLS):
            return self._filled(call, call.args, at)
        if self._names.is_any(call.func, _RESIZES):
            return self._filled(call, call.args[1:3], at)
        if self._flow.called(call) is not None:
            return self._returned(call, (), hops - 1)
        picks = self._names.is_any(call.func, _PICKS)
        picks = picks or (self._names.qualified(call.func) in _WHERE and len(call.args) == 1)
        if picks and not call.keywords:
            return self._changing(call, ShapedBy.PICK, at)
        method = call.func if isinstance(call.func, ast.Attribute) else None
        if method is None:
            return None
        if method.attr in ("astype", "numpy"):
            return self._tensor(method.value, at, hops - 1)
        if method.attr == "to_tensor" and self._is_ragged(method.value, hops - 1):
            sized = argument(call, 2, "shape") is not None
            return None if sized else self._changing(call, ShapedBy.SEQUENCE, at)
        return None

    def _filled(self, call: ast.Call, sizes: list[ast.expr], at: ast.AST) -> _Found | None:
        """`np.zeros((n, 8))`, where `n` is another number each time."""
        shape = argument(call, None, "shape") or argument(call, None, "size")
        given = [shape] if shape is not None else sizes
        sizes = [
            size
            for each in given
            for size in (each.elts if isinstance(each, (ast.List, ast.Tuple)) else [each])
        ]
        loops = (self._varies(each, at) for each in sizes)
        loop = next((each for each in loops if each is not None), None)
        return _Found(call, ShapedBy.SLICE, loop) if loop is not None else None

    def _returned(self, call: ast.Call, path: tuple[int, ...], hops: int) -> _Found | None:
        """As `_tensor`, of what a function of the module gives back."""
        function = self._flow.called(call)
        returned = self._bodies.returns(function) if function is not None and hops > 0 else ()
        parts = [element(each, path) for each in returned]
        found = [self._tensor(each, each, hops) for each, rest in parts if not rest]
        return found[0] if len(found) == 1 else None

    def _reads_fields(self, call: ast.Call, words: ast.expr) -> bool:
        """Whether the words of a line are numbers: `np.array(line.split(), dtype=float)`."""
        if isinstance(words, ast.Name):
            binding = self._bindings.only(words)
            words = binding.value if binding is not None and binding.value else words
        split = isinstance(words, ast.Call) and getattr(words.func, "attr", "") == "split"
        above = self._tree.parent(call)
        cast = isinstance(above, ast.Attribute) and above.attr == "astype"
        return split and (cast or argument(call, 1, "dtype") is not None)

    def _subscript(self, part: ast.Subscript, at: ast.AST, hops: int) -> _Found | None:
        if self._values.of(part.value).kind in (Kind.LIST, Kind.PATHS):
            return None  # of a list each element is an argument of its own
        indices = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
        for each in indices:
            loop = self._cut(each, at) if isinstance(each, ast.Slice) else None
            if loop is not None:
                return _Found(part, ShapedBy.SLICE, loop)
        if all(isinstance(each, (ast.Constant, ast.Slice)) for each in indices):
            whole = not any(isinstance(getattr(each, "value", None), int) for each in indices)
            found = self._tensor(part.value, at, hops - 1) if whole else None
            slices = (each for each in indices if isinstance(each, ast.Slice))
            cut = found is not None and any(self._limits(each, found.by) for each in slices)
            return None if cut else found
        if len(indices) == 1 and self._is_ragged(part.value, hops - 1):
            return self._changing(part, ShapedBy.SEQUENCE, at)
        return None

    def _limits(self, part: ast.Slice, by: ShapedBy) -> bool:
        """Whether a slice leaves few lengths of all there are: `x[:32]`, `x[:, -n:]`.

        What grows has as many before it is that long.
        """
        lower, upper = part.lower, part.upper
        if lower is None:
            size = None if isinstance(upper, ast.UnaryOp) else upper
        else:
            size = lower.operand if isinstance(lower, ast.UnaryOp) and upper is None else None
        number = self._values.number(size)
        few = by is not ShapedBy.GROWTH or number is None or number <= A_FEW
        return size is not None and few

    def _cut(self, part: ast.Slice, at: ast.AST) -> Loop | None:
        """The loop that gives a slice its length: not where it only moves."""
        lower, upper = part.lower, part.upper
        start = self._varies(lower, at) if lower is not None else None
        end = self._varies(upper, at) if upper is not None else None
        if end is not None and (lower is None or self._loops.invariant(lower, end)):
            return end
        if start is not None and (upper is None or self._loops.invariant(upper, start)):
            return start
        if lower is not None and isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add):
            sides = ((upper.left, upper.right), (upper.right, upper.left))
            for same, length in sides:
                if self._bindings.same(same, lower):
                    return self._varies(length, at)
        return None

    def _varies(self, number: ast.expr, at: ast.AST) -> Loop | None:
        change = self._changing_numbers.of(number, at)
        return change and change.loop

    # Names.

    def _named(self, binding: Binding, at: ast.AST, hops: int) -> _Found | None:
        if binding.how is How.LOOPED:
            return self._looped(binding, at, hops)
        if binding.how is How.PARAMETER:
            return self._passed(binding, hops)
        around = [each for each in self._around(at) if self._tree.inside(binding.node, each.node)]
        if binding.how is not How.ASSIGNED or binding.value is None or not around:
            return None
        if not binding.path and self._is_joined(binding):
            return self._growing(binding, around[0])
        found = self._tensor(binding.value, binding.node, hops - 1)
        batches = found is not None and found.by is ShapedBy.PADDING
        if binding.path and isinstance(binding.value, ast.Call):
            return found if batches else self._returned(binding.value, binding.path, hops - 1)
        return found if batches or not binding.path else None

    def _looped(self, binding: Binding, at: ast.AST, hops: int) -> _Found | None:
        """An element of a dataset that is padded batch by batch, or a row of a ragged tensor."""
        for loop in self._around(at):
            if isinstance(loop.node, ast.While) or loop.iterable is None:
                continue
            if not self._tree.inside(binding.node, loop.node.target):
                continue
            if self._is_ragged(loop.iterable, hops - 1):
                return _Found(loop.iterable, ShapedBy.SEQUENCE, loop)
            chains = self._datasets.of(loop.iterable)
            if chains and all(self._paddings.is_padded(each, binding.path) for each in chains):
                return _Found(loop.iterable, ShapedBy.PADDING, loop)
        return None

    def _passed(self, binding: Binding, hops: int) -> _Found | None:
        found = (
            self._tensor(given, call, hops - 1) for call, given in self._tracing.given(binding)
        )
        return next(filter(None, found), None)

    def _is_joined(self, binding: Binding) -> bool:
        """`x = tf.concat([x, y], 0)`, but not `x = tf.concat([x[1:], y], 0)`, which moves on."""
        value = binding.value
        if not isinstance(value, ast.Call) or not self._names.is_any(value.func, _JOINS):
            return False
        first = value.args[0] if value.args else None
        joined = first.elts if isinstance(first, (ast.List, ast.Tuple)) else [first]
        return any(isinstance(each, ast.Name) and each.id == binding.name for each in joined)

    def _growing(self, binding: Binding, loop: Loop) -> _Found | None:
        """What joins more to a name in a loop in which nothing else gives it a value."""
        others = self._bindings.of(self._tree.scope(binding.node), binding.name)
        inside = [each for each in others if self._tree.inside(each.node, loop.node)]
        alone = all(map(self._is_joined, inside)) and len(inside) < len(others)
        assert binding.value is not None
        return _Found(binding.value, ShapedBy.GROWTH, loop) if alone else None

    # Lists.

    def _list(self, listed: ast.expr, at: ast.AST, hops: int) -> _Found | None:
        """What gives a list of numbers, or one in it, another length each time."""
        put = self._moved(listed) if hops else None
        if put is not None:
            return self._list(put, put, hops - 1)
        if isinstance(listed, (ast.List, ast.Tuple)):
            inner = (self._list(each, at, hops - 1) for each in listed.elts) if hops else ()
            return next((each for each in inner if each is not None), None)
        grown = self._grown_list(listed, at)
        if grown is not None or not self._sequences.is_of_text(listed):
            return grown
        return self._changing(listed, ShapedBy.SEQUENCE, at)

    def _grown_list(self, listed: ast.expr, at: ast.AST) -> _Found | None:
        for loop in self._around(at) if isinstance(listed, ast.Name) else ():
            if isinstance(listed, ast.Name) and self._sequences.grows(listed, loop):
                return _Found(listed, ShapedBy.GROWTH, loop)
        return None

    # Sources.

    def _is_ragged(self, value: ast.expr, hops: int) -> bool:
        if isinstance(value, ast.Name) and hops > 0:
            given = self._bindings.assigned(value)
            return given is not None and self._is_ragged(given, hops - 1)
        if isinstance(value, ast.Subscript):
            return isinstance(value.slice, ast.Slice) and self._is_ragged(value.value, hops - 1)
        return self._names.called(value).startswith(_RAGGED)

    def _changing(self, part: ast.expr, by: ShapedBy, at: ast.AST) -> _Found | None:
        """The innermost loop of many rounds in which an expression is about something else."""
        for loop in self._around(at):
            if self._novelty.is_new(part, loop):
                return _Found(part, by, loop)
        return _Found(part, by, None) if self._novelty.is_of_request(part, at) else None

    def _around(self, at: ast.AST) -> list[Loop]:
        around = self._changing_numbers.run_by(at)
        return [each for each in around if each.trips is None or each.trips > A_FEW]


def _place(call: ast.Call) -> tuple[int, int]:
    return call.lineno, call.col_offset
