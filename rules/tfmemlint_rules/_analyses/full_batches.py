"""Whole arrays that go through a model at once, in one call."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.passes import Pass
from tfmemlint.facts.flow.wholes import Whole
from tfmemlint.facts.graphs.tapes import Tape
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument, given_to
from tfmemlint.facts.library.shapes import width
from tfmemlint.facts.pipelines.chains import From
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import names_in
from tfmemlint.facts.syntax.tree import FunctionNode
from tfmemlint.light_typing import NamedTuple

BATCH = 32
"""Rows that a step is left with: what has no more is in order."""


_CHOSEN = frozenset({64, 128, 256})
"""Rows that people choose for a batch, as of the random numbers that a new layer is tried with."""


class FullBatch(NamedTuple):
    """One call that puts all rows of an array through a model."""

    call: ast.Call
    array: ast.expr
    """What the call is given."""
    passes: tuple[Pass, ...] = ()
    """Where the functions it runs call models, if it is a step that a loop repeats."""
    size: ast.expr | None = None
    """The size of batches a method of Keras is told: the number of rows."""
    fed: bool = False
    """Whether a session is given it, by its `feed_dict`."""
    cut: bool = False
    """Whether nothing tells of its rows but that other code cuts it into batches."""


class FullBatches:
    """The calls of a module that put whole arrays through models."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._values = tf.values
        self._passes = tf.passes
        self._tapes = tf.tapes
        self._wholes = tf.wholes
        self._sources = tf.sources
        self._datasets = tf.datasets
        self._loops = tf.loops

    @cached_property
    def all(self) -> tuple[FullBatch, ...]:
        """Every such call, in source order; none of those that a step makes in turn."""
        if not self._wholes.any_made and not self._cut and not self._names.mentions(_PLACEHOLDERS):
            return ()
        every = self._passes.may_be_any
        calls = list(self._tree.all(ast.Call)) if every else self._tree.calls(_KERAS_METHODS)
        steps: dict[ast.Call, FullBatch] = {}
        entered: set[FunctionNode] = set()
        ours = [each for each in calls if self._functions.function(each.func) is not None]
        for is_repeated, by_caller in ((self._is_in_loop, False), (self._is_called_in_loop, True)):
            for call in ours:
                if call in steps or (by_caller and self._tree.function(call) in entered):
                    continue
                passes = self._repeated(call) if is_repeated(call) else ()
                related = bool(passes) and self._needs_all(call, passes)
                step = self._step(call, passes) if passes and not related else None
                if step is not None:
                    steps[call] = step
                if step is not None or related:
                    entered.update(function for each in passes for function in each.functions)
        found: list[FullBatch | None] = []
        for call in calls:
            if call in steps:
                found.append(steps[call])
            elif isinstance(call.func, ast.Attribute) and call.func.attr in _KERAS_METHODS:
                found.append(self._given_to_keras(call, call.func))
            elif not entered or self._tree.function(call) not in entered:
                found.append(self._given_to_model(call))
        if self._names.mentions(_WIDE) or self._names.uses(_NETWORKS):
            found += map(self._fed, self._tree.calls(("eval", "run")))
        return tuple(each for each in found if each is not None)

    def _fed(self, call: ast.Call) -> FullBatch | None:
        """`sess.run(accuracy, feed_dict={x: x_test})`, of more rows than people choose."""
        for place, array in self._feeds(call):
            whole = self._wholes.of(array) or self._wholes.stored_in(array)
            if whole is None and self._is_gone_over(place, array):
                whole = Whole(None, None, loaded=True, given=False)
            if whole is None or whole.given or not whole.is_no_batch:
                continue
            if whole.rows is None and not (whole.loaded and self._takes_batches(place, array)):
                continue
            if (whole.width or self._width(place) or 0) > _NARROW:
                return FullBatch(call, array, fed=True)
        return None

    def _feeds(self, call: ast.Call) -> list[tuple[ast.expr, ast.expr]]:
        """The placeholders that a session is given something for, and what."""
        runs = isinstance(call.func, ast.Attribute) and call.func.attr == "run"
        given = argument(call, 1 if runs else 0, "feed_dict")
        if isinstance(given, ast.Name):
            given = self._bindings.assigned(given)
        if not isinstance(given, ast.Dict):
            return []
        return [(key, value) for key, value in zip(given.keys, given.values, strict=True) if key]

    def _takes_batches(self, place: ast.expr, array: ast.expr) -> bool:
        """Whether other calls feed the same placeholder with what is not all of an array."""
        made = self._placeholder(place)
        return made is not None and any(
            self._placeholder(other) is made and self._wholes.of(value) is None
            for call in self._tree.calls(("eval", "run"))
            for other, value in self._feeds(call)
            if value is not array
        )

    def _is_gone_over(self, place: ast.expr, array: ast.expr) -> bool:
        """Whether a loop over what is made of an array feeds the same placeholder, part by part."""
        made = self._placeholder(place)
        for call in self._tree.calls(("eval", "run")) if made is not None else ():
            fed = [value for other, value in self._feeds(call) if self._placeholder(other) is made]
            for loop in self._loops.around(call):
                handed = given_to(loop.iterable) if isinstance(loop.iterable, ast.Call) else ()
                is_over = any(self._bindings.same(each, array) for each in handed)
                if is_over and not loop.targets.isdisjoint(names_in(*fed)):
                    return True
        return False

    @cached_property
    def _cut(self) -> tuple[ast.expr, ...]:
        """The arrays that pipelines of a file cut into batches."""
        found: list[ast.expr] = []
        for chain in self._datasets.chains:
            made = chain.source.node
            if chain.source.kind is not From.SLICES or not isinstance(made, ast.Call):
                continue
            given = argument(made, 0, "tensors")
            batches = [each for each in chain.steps if each.method == "batch"]
            if given and any(self._is_chosen(each.argument("batch_size")) for each in batches):
                found += given.elts if isinstance(given, ast.Tuple) else [given]
        return tuple(found)

    def _is_chosen(self, size: ast.expr | None) -> bool:
        """Whether batches have a number of rows that is not that of all."""
        return size is not None and self._values.rows(size) is None

    def _is_cut(self, call: ast.Call, array: ast.expr) -> bool:
        """Whether a loop calls a model with all of what a pipeline cuts into batches."""
        if not self._is_in_loop(call) or (self._values.of(array).shape or (None,))[0] is not None:
            return False
        return any(self._bindings.same(each, array) for each in self._cut)

    def _width(self, place: ast.expr) -> int | None:
        """How many numbers a row has that a placeholder takes, by the shape it is declared with."""
        made = self._placeholder(place)
        return width(self._values.shape(argument(made, 1, "shape"))) if made is not None else None

    def _placeholder(self, place: ast.expr) -> ast.Call | None:
        ends = [each.node for each in self._sources.of(place).found]
        made = ends[0] if len(ends) == 1 else None
        is_one = isinstance(made, ast.expr) and self._names.call_of(made, _PLACEHOLDERS)
        return made if is_one and isinstance(made, ast.Call) else None

    def _is_all(self, array: ast.expr, frame: Frame | None = None, *, once: bool = False) -> bool:
        """Whether an array holds all rows of much; with `once`, surely not one of many."""
        whole = self._wholes.of(array, frame)
        if whole is None or not whole.is_told or (once and whole.given):
            return False
        return whole.rows is None or (whole.rows > BATCH and whole.rows not in _CHOSEN)

    def _is_in_loop(self, call: ast.Call) -> bool:
        return any(True for _ in self._tree.loops(call))

    def _is_called_in_loop(self, call: ast.Call) -> bool:
        """Whether a loop stands around a call of the function that makes a call."""
        in_none = not self._is_in_loop(call)
        return in_none and any(map(self._is_in_loop, self._callers.around(call)))

    def _repeated(self, call: ast.Call) -> tuple[Pass, ...]:
        """The passes of whole arrays below a call."""
        below = self._passes.below(call)
        return tuple(each for each in below if self._is_all(each.array, each.frame))

    def _step(self, call: ast.Call, found: tuple[Pass, ...]) -> FullBatch | None:
        """A step called in a loop that puts one whole array through a model, again and again."""
        array = self._passes.argument(found[0], call)
        return FullBatch(call, array, found) if array is not None else None

    def _needs_all(self, call: ast.Call, found: tuple[Pass, ...]) -> bool:
        """Whether a step relates rows or arrays, or takes gradients of what it is given."""
        entered = {function for each in found for function in each.functions}
        if len({self._passes.argument(each, call) for each in found}) > 1:
            return True
        tapes = (tape for tape in self._tapes.all if self._tree.function(tape.block) in entered)
        return any(map(self._relates_rows, entered)) or self._watches_inputs(tapes)

    def _takes_several(self, function: FunctionNode) -> bool:
        """Whether a function puts several of its arguments through models, whole."""
        found = (self._passes.of(node) for node in self._bodies.body(function))
        named = {self._wholes.named(each.array) for each in found if each is not None}
        names = [each for each in named if isinstance(each, ast.Name)]
        bound = {self._bindings.only(each) for each in names}
        return len([each for each in bound if each and each.how is How.PARAMETER]) > 1

    def _relates_rows(self, function: FunctionNode) -> bool:
        """Whether a function picks rows of what it is given, or asks for gradients in a graph."""
        ran = self._bodies.body(function)
        called = (node.func for node in ran if isinstance(node, ast.Call))
        return any(self._names.is_any(each, _RELATES_ROWS) for each in called)

    def _watches_inputs(self, tapes: Iterable[Tape]) -> bool:
        """Whether gradients of inputs are taken: a tape watches them, or is inside another."""
        return any(
            tape.watched or len({each.block for each in self._tapes.recording(tape.block)}) > 1
            for tape in tapes
        )

    def _given_to_model(self, call: ast.Call) -> FullBatch | None:
        """`model(x)`."""
        found = self._passes.of(call)
        if found is None or self._watches_inputs(self._tapes.recording(call)):
            return None
        is_all = self._is_all(found.array, once=True)
        if not is_all and not self._is_cut(call, found.array):
            return None
        function = self._tree.function(call)
        if function and (self._relates_rows(function) or self._takes_several(function)):
            return None
        return FullBatch(call, found.array, cut=not is_all)

    def _given_to_keras(self, call: ast.Call, method: ast.Attribute) -> FullBatch | None:
        """`model.predict_on_batch(x)`, or `model.predict(x, batch_size=len(x))`."""
        x, y = argument(call, 0, "x"), argument(call, 1, "y")
        maybe_keras = self._values.of(method.value).kind in (Kind.MODEL, Kind.UNKNOWN)
        if not maybe_keras or self._functions.function(method) is not None:
            return None
        if x is None or not self._is_all(x, once=True):
            return None
        place = _BATCH_SIZE_PLACE.get(method.attr)
        if place is None:
            return FullBatch(call, x)
        size = argument(call, place, "batch_size")
        arrays = [each for each in (x, y) if each is not None]
        all_rows = size is not None and any(self._is_length(size, each) for each in arrays)
        return FullBatch(call, x, size=size) if all_rows else None

    def _is_length(self, size: ast.expr, array: ast.expr) -> bool:
        counted, number = self._values.rows(size), self._values.number(size)
        if counted is not None and self._bindings.same(counted, array):
            return True
        rows = (self._values.of(array).shape or (None,))[0]
        return rows is not None and number is not None and number >= rows


_NARROW = 16
"""Numbers of a row that are labels, or features that no convolution is for."""
_WIDE = frozenset(
    {
        *("keras.layers.Conv1D", "keras.layers.Conv2D", "keras.layers.Conv3D", "keras.layers.LSTM"),
        *(f"tensorflow.{p}.{n}" for p in ("layers", "nn") for n in ("conv1d", "conv2d", "conv3d")),
        *("tensorflow.contrib.layers.conv2d", "tensorflow.contrib.slim.conv2d"),
        *("tensorflow.nn.bidirectional_dynamic_rnn", "tensorflow.nn.dynamic_rnn"),
        *("tensorflow.nn.convolution", "tensorflow.nn.static_rnn"),
    }
)
"""What makes far more of a row than the row has: where a session is fed, no model is in sight."""
_NETWORKS = (
    *("tensorflow.contrib.slim.nets", "tensorflow.contrib.slim.python.slim.nets"),
    "tf_slim.nets",
)
_PLACEHOLDERS = frozenset({"tensorflow.placeholder"})
_BATCH_SIZE_PLACE = {"predict": 1, "evaluate": 2}
_KERAS_METHODS = frozenset(
    {"predict_on_batch", "test_on_batch", "train_on_batch", *_BATCH_SIZE_PLACE}
)
_RELATES_ROWS = frozenset(
    {
        "tensorflow.boolean_mask",
        "tensorflow.gather",
        "tensorflow.gather_nd",
        "tensorflow.gradients",
        "tensorflow.hessians",
    }
)
