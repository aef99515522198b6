"""Loops that take a tensor apart, slice by slice, where a gradient goes back through each."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.flow import Origin
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.flow.paths import End
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import given_to
from tfmemlint.facts.library.shapes import is_all, is_rest
from tfmemlint.facts.sizes.weights import is_weightless
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import names_in
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts.flow.frames import Frame

FEW = 8
"""Slices that cost little, whatever their size: no more than so many tensors."""
_MOST_HOPS = 12
_MOST_CALLERS = 3
_RANGES = frozenset({Over.EPOCHS, Over.RANGE})
_PLACES = (ast.Attribute, ast.Name, ast.Subscript)
_TENSORS = (Kind.TENSOR, Kind.VARIABLE)
_COMPUTES = ("keras.activations.", "keras.backend.", "keras.ops.", "tensorflow.")
_ENDS_GRADIENTS = (
    *("arg", "assert", "bincount", "constant", "convert", "equal", "eye", "fill", "floor"),
    *("greater", "histogram", "is_", "less", "linspace", "logical", "ones", "one_hot", "random"),
    *("range", "rank", "round", "sequence_mask", "shape", "sign", "size", "stop_gradient"),
    *("where", "zeros"),
)
"""How the last words begin of operations through which no gradient goes, or may not."""
_LISTS = ("List[", "Sequence[", "Tuple[", "list[", "tuple[", "typing.")
_INTEGERS = ("int", "uint", "bool", "string")


class Sliced(NamedTuple):
    """A tensor of which a loop takes one slice in each round."""

    loop: Loop
    tensor: ast.expr
    slices: tuple[ast.Subscript, ...]
    """Where it does, in source order."""
    counters: tuple[ast.expr, ...]
    """Which slice each of them is, as the code says it: `t`, `t + 1`."""
    axis: int
    in_graph: bool
    """Whether a graph may have all of it at once."""

    @property
    def header(self) -> ast.expr:
        """What the loop goes over."""
        assert not isinstance(self.loop.node, ast.While)
        return self.loop.node.iter


class _Slice(NamedTuple):
    loop: Loop
    tensor: ast.expr
    subscript: ast.Subscript
    counter: ast.expr


class SlicedTensors:
    """Such tensors of a file, where the loop is run for a gradient."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._callers = tf.callers
        self._classes = tf.classes
        self._members = tf.members
        self._flow = tf.flow
        self._sources = tf.sources
        self._values = tf.values
        self._tensors = tf.tensors
        self._tapes = tf.tapes
        self._tracing = tf.tracing
        self._loops = tf.loops

    @cached_property
    def all(self) -> tuple[Sliced, ...]:
        """Every one of them, in source order."""
        found: dict[tuple[ast.AST, str, int], list[_Slice]] = {}
        for subscript in self._tree.all(ast.Subscript):
            place = _place(subscript)
            if place is None or not isinstance(subscript.ctx, ast.Load):
                continue
            axis, counter = place
            loop = self._over_slices(subscript, counter)
            tensor = self._before(loop, subscript.value) if loop is not None else None
            if loop is not None and tensor is not None and self._is_one(subscript, axis):
                taken = _Slice(loop, tensor, subscript, counter)
                found.setdefault((loop.node, ast.unparse(subscript.value), axis), []).append(taken)
        several = (self._together(taken, axis) for (_, _, axis), taken in found.items())
        return tuple(
            each for each in several if self._lasts(each) and self._is_differentiated(each)
        )

    def _lasts(self, sliced: Sliced) -> bool:
        """Whether what is made of a slice outlives its round: else the last alone has a gradient.

        `loss = compare(x[:, i])` puts it in a name that each round gives something else.
        """
        if sliced.loop.trips is None and self._counts_tensors(sliced.header):
            return False
        statements = [self._tree.statement(each) for each in sliced.slices]
        if not all(self._tree.inside(each, sliced.loop.node) for each in statements):
            return True
        names = (each for each in sliced.loop.body if isinstance(each, ast.Name))
        read = {each.id for each in names if isinstance(each.ctx, ast.Load)}
        return not all(_is_only_named(each, read) for each in statements)

    def _counts_tensors(self, header: ast.expr) -> bool:
        """Whether there is a round for each of several tensors in a list: there are a handful."""
        counted = header.args if isinstance(header, ast.Call) else []
        of = counted[-1] if counted else None
        if not isinstance(of, ast.Call) or len(of.args) != 1 or ast.unparse(of.func) != "len":
            return False
        function = self._tree.function(of)
        taken = function.args.args if isinstance(function, FUNCTIONS) else []
        listed = ast.unparse(of.args[0])
        told = next((each.annotation for each in taken if each.arg == listed), None)
        return told is not None and ast.unparse(told).startswith(_LISTS)

    def _together(self, taken: list[_Slice], axis: int) -> Sliced:
        loop, tensor, subscript, _ = taken[0]
        slices = tuple(each.subscript for each in taken)
        counters = tuple(each.counter for each in taken)
        traced = self._tracing.why(subscript) is not None
        in_graph = traced or self._is_of_keras(subscript)
        return Sliced(loop, tensor, slices, counters, axis, in_graph)

    def _before(self, loop: Loop, held: ast.expr) -> ast.expr | None:
        """The tensor as it was before a loop, wherever a round puts it."""
        for end in self._sources.same(held):
            node = end.node if end.frame is None else None
            if isinstance(node, _PLACES) and self._loops.invariant(node, loop):
                return node
        return None

    def _over_slices(self, subscript: ast.Subscript, counter: ast.expr) -> Loop | None:
        """The loop of Python's whose rounds count a tensor's slices."""
        named = names_in(counter)
        for loop in self._loops.around(subscript):
            if named & loop.targets:
                counts = loop.over in _RANGES and len(named) == 1
                many = loop.trips is None or loop.trips > FEW
                return loop if counts and many else None
        return None

    def _is_one(self, subscript: ast.Subscript, axis: int) -> bool:
        """Whether what is taken apart is one tensor, and not a list of several."""
        if axis or isinstance(subscript.slice, ast.Tuple):
            return True
        held = subscript.value
        return self._values.of(held).kind in _TENSORS or self._tensors.is_tensor(held)

    def _is_differentiated(self, sliced: Sliced) -> bool:
        node = sliced.slices[0]
        return self._is_recorded(node) and self._has_gradient(sliced.tensor, None, _MOST_HOPS)

    def _is_recorded(self, node: ast.AST) -> bool:
        """Whether code is run for a gradient: under a tape, in a layer, or as a model's loss."""
        leading = self._callers.leading_to(node, _MOST_CALLERS)
        return any(self._tapes.recording(each) or self._is_of_keras(each) for each in leading)

    def _is_of_keras(self, node: ast.AST) -> bool:
        """Whether Keras runs code to train something: in a layer, or as a loss."""
        function = self._tree.function(node)
        if function is None or getattr(function, "name", "") != "call":
            return function in self._losses
        owner = self._members.class_of(function)
        return owner is not None and self._classes.is_keras(owner)

    @cached_property
    def _losses(self) -> frozenset[FunctionNode]:
        """The functions that `compile(loss=f)` is given."""
        given = (
            each.value
            for call, _ in self._tree.methods("compile")
            for each in call.keywords
            if each.arg == "loss"
        )
        found = (self._functions.function(each) for each in given)
        return frozenset(each for each in found if each is not None)

    def _has_gradient(self, node: ast.expr, frame: Frame | None, hops: int) -> bool:
        """Whether an expression surely is computed of something that is trained, or watched."""
        if not hops:
            return False
        if isinstance(node, ast.Call):
            return self._of_call(node, frame, hops)
        if isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
            return any(self._has_gradient(each, frame, hops - 1) for each in sides)
        if isinstance(node, (ast.List, ast.Tuple)):
            return any(self._has_gradient(each, frame, hops - 1) for each in node.elts)
        if isinstance(node, (ast.UnaryOp, ast.NamedExpr)):
            inner = node.operand if isinstance(node, ast.UnaryOp) else node.value
            return self._has_gradient(inner, frame, hops - 1)
        if not isinstance(node, _PLACES):
            return False
        if self._values.of(node, frame).kind is Kind.VARIABLE or self._is_watched(node):
            return True
        if isinstance(node, ast.Name) and self._is_output(node):
            return True
        if isinstance(node, ast.Subscript) and self._has_gradient(node.value, frame, hops - 1):
            return True
        before = self._sources.same(node, frame)[1:2] or self._flow.origins(node, frame) or ()
        return any(self._comes_with_one(each, hops - 1) for each in before)

    def _comes_with_one(self, before: End | Origin, hops: int) -> bool:
        if isinstance(before, Origin):
            return before.is_whole and self._has_gradient(before.value, before.frame, hops)
        inner = before.node
        return isinstance(inner, ast.expr) and self._has_gradient(inner, before.frame, hops)

    def _of_call(self, call: ast.Call, frame: Frame | None, hops: int) -> bool:
        name = self._names.qualified(call.func) or ""
        if name.startswith(_COMPUTES):
            word = name.rpartition(".")[2]
            if word.startswith(_ENDS_GRADIENTS) or (word == "cast" and _is_integer(call)):
                return False
            return any(self._has_gradient(each, frame, hops - 1) for each in given_to(call))
        if name:
            return False
        layer = self._values.of(call.func, frame)
        if layer.kind in (Kind.LAYER, Kind.MODEL):
            made = layer.origin.func if isinstance(layer.origin, ast.Call) else None
            kind = (self._names.qualified(made) or "").rpartition(".")[2]
            if not is_weightless(kind):
                return True
            return any(self._has_gradient(each, frame, hops - 1) for each in given_to(call))
        return any(
            self._has_gradient(each.value, each.frame, hops - 1)
            for each in self._flow.returned(call, frame)
        )

    def _is_output(self, name: ast.Name) -> bool:
        """Whether a name is what a model gave: the second that its loss is given."""
        binding = self._bindings.only(name)
        if binding is None or binding.how is not How.PARAMETER:
            return False
        function = self._tree.function(name)
        taken = function.args.args if isinstance(function, FUNCTIONS) else []
        return function in self._losses and len(taken) > 1 and taken[1] is binding.node

    def _is_watched(self, node: ast.expr) -> bool:
        return any(
            isinstance(node, ast.Name) and self._bindings.same(each, node)
            for tape in self._tapes.recording(node)
            for each in tape.watched
        )


def _is_only_named(statement: ast.stmt, read: set[str]) -> bool:
    """Whether a statement does nothing but give names a value that none of `read` is."""
    if not isinstance(statement, ast.Assign):
        return False
    names = [each for target in statement.targets for each in ast.walk(target)]
    plain = all(isinstance(each, (ast.Name, ast.Tuple, ast.expr_context)) for each in names)
    return plain and read.isdisjoint(each.id for each in names if isinstance(each, ast.Name))


def _place(subscript: ast.Subscript) -> tuple[int, ast.expr] | None:
    """Which axis is gone through, and by what: 1 and `t` for `x[:, t, :]`."""
    index = subscript.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    counters = [(place, each) for place, each in enumerate(parts) if _counts(each)]
    if len(counters) != 1:
        return None
    place, counter = counters[0]
    before, after = parts[:place], parts[place + 1 :]
    if not all(is_all(each) or is_rest(each) for each in (*before, *after)):
        return None
    if any(map(is_rest, before)):
        return -1 - len(after), counter
    return place, counter


def _counts(index: ast.expr) -> bool:
    """Whether an index is a name, or that and a number: `t`, `t + 1`."""
    if isinstance(index, ast.BinOp) and isinstance(index.op, (ast.Add, ast.Sub)):
        sides = (index.left, index.right)
        names = [each for each in sides if isinstance(each, ast.Name)]
        return len(names) == 1 and any(isinstance(each, ast.Constant) for each in sides)
    return isinstance(index, ast.Name)


def _is_integer(cast: ast.Call) -> bool:
    dtypes = (*cast.args[1:], *(each.value for each in cast.keywords if each.arg == "dtype"))
    words = (getattr(each, "attr", getattr(each, "value", "")) for each in dtypes)
    return any(str(each).startswith(_INTEGERS) for each in words)
