"""How many rows arrays have where code says so: one, as many as a batch, or who knows."""

from __future__ import annotations

import ast
from enum import Enum
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.batches_of_one import adds_first_axis
from tfmemlint.facts.flow.flow import Origin
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.loops import Over
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.keras_apis import SEQUENCES
from tfmemlint.facts.library.shapes import is_all, is_rest
from tfmemlint.facts.pipelines.chains import BATCHING
from tfmemlint.facts.syntax.arithmetic import constant
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import called, same_code
from tfmemlint.facts.syntax.tree import FunctionNode

FEW = 32
"""What `predict` takes for a batch if it is told nothing."""
LARGE = 128
"""A batch of a pipeline that is more than a handful of those."""
_MAX_DEPTH = 20
_BESIDE = frozenset({"dstack", "hstack"})
_JOINS = _BESIDE | {"concat", "concatenate"}
_FED = ("evaluate", "evaluate_generator", "fit", "fit_generator", "predict_generator")
_PREDICTS = frozenset({"predict", "predict_on_batch"})
_METHODS_KEEP_ROWS = _PREDICTS | makers.METHODS_KEEP_ROWS


class Rows(Enum):
    """How many rows an array has at most."""

    ONE = 1
    FEW = 2
    """Fewer than `predict` takes at once."""
    BATCH = 3

    @property
    def words(self) -> str:
        """What messages call it."""
        return "one row" if self is Rows.ONE else "one batch"


class Batches:
    """The arrays of a module that have but a few rows."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._flow = tf.flow
        self._values = tf.values
        self._datasets = tf.datasets
        self._loops = tf.loops
        self._iterables = tf.iterables
        self._passes = tf.passes
        self._asked: list[tuple[ast.expr, Frame | None]] = []
        self._known: dict[tuple[ast.expr, Frame | None], Rows | None] = {}

    def of_inputs(self, node: ast.expr, frame: Frame | None = None) -> Rows | None:
        """The rows of what a model is given: one array, or several with as many rows each."""
        if isinstance(node, (ast.List, ast.Tuple)):
            inputs = (
                self.of_inputs(each, frame) if isinstance(each, ast.List) else self.of(each, frame)
                for each in node.elts
            )
            return next(filter(None, inputs), None)
        if isinstance(node, ast.Dict):
            return next(filter(None, (self.of(each, frame) for each in node.values)), None)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            several = [each for each in (node.left, node.right) if isinstance(each, ast.List)]
            if several:
                return self.of_inputs(several[0], frame)
        if isinstance(node, ast.Call) and called(node) in ("dict", "list") and len(node.args) == 1:
            whole = node.args[0]
            return self._of_each(whole) if called(node) == "list" else self.of_inputs(whole, frame)
        if isinstance(node, ast.Name):
            origin = self._flow.one_before(node, frame)
            if origin is not None and _are_inputs(origin.value):
                return self.of_inputs(origin.value, origin.frame)
        return self.of(node, frame)

    def of(self, node: ast.expr, frame: Frame | None = None) -> Rows | None:
        """The rows an array surely has, if they are no more than a batch; None if unknown."""
        if (node, frame) not in self._known:
            if len(self._asked) > _MAX_DEPTH:
                return None
            self._asked.append((node, frame))
            found = self._structured(node, frame) or self._measured(node, frame)
            self._asked.pop()
            self._known[node, frame] = found
        return self._known[node, frame]

    def _measured(self, node: ast.expr, frame: Frame | None) -> Rows | None:
        shape = self._values.of(node, frame).shape
        rows = shape[0] if shape is not None and len(shape) > 1 else None
        return _few(rows)

    def _structured(self, node: ast.expr, frame: Frame | None) -> Rows | None:
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._named(node, frame)
        if isinstance(node, ast.Subscript):
            return self._indexed(node, frame)
        if isinstance(node, ast.Call):
            return self._made(node, frame)
        if isinstance(node, ast.BinOp):
            both = [self.of(each, frame) for each in (node.left, node.right)]
            return next(filter(None, both), None)
        if isinstance(node, ast.IfExp):
            return _most([self.of(each, frame) for each in (node.body, node.orelse)])
        return self.of(node.value, frame) if isinstance(node, ast.NamedExpr) else None

    def _named(self, node: ast.expr, frame: Frame | None) -> Rows | None:
        origins = self._flow.origins(node, frame) or ()
        found = [self._bound(each) for each in origins if not self._is_of_itself(each)]
        return _most(found)

    def _is_of_itself(self, origin: Origin) -> bool:
        """Whether something is made of what is asked about, or predicted from that."""
        made = [origin.value]
        given = self._predicted_from(origin.value)
        if given is not None:
            made += given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
        return any((each, origin.frame) in self._asked for each in made)

    def _predicted_from(self, node: ast.expr) -> ast.expr | None:
        """What a model is given, where an expression is all that it predicts from that."""
        callee = node.func if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not isinstance(callee, ast.Attribute):
            return None
        return makers.argument(node, 0, "x") if callee.attr in _PREDICTS else None

    def _bound(self, origin: Origin) -> Rows | None:
        if origin.is_whole:
            return self.of(origin.value, origin.frame)
        if origin.how is How.ASSIGNED:
            given = self._predicted_from(origin.value) if len(origin.path) == 1 else None
            if given is not None:  # an output of several
                return self.of_inputs(given, origin.frame)
            return self._part(origin.value, origin.frame)
        if origin.how is How.LOOPED and origin.binding is not None:
            return self._taken(origin.binding.node)
        return None

    def _part(self, whole: ast.expr, frame: Frame | None) -> Rows | None:
        """A part of what a loop takes from a pipeline: `x` of `(x, mask), y = batch`."""
        if isinstance(whole, ast.Call):
            return self._drawn(whole, frame)
        origins = self._flow.origins(whole, frame) or () if isinstance(whole, ast.Name) else ()
        if len(origins) == 1 and isinstance(origins[0].value, ast.Call) and origins[0].is_whole:
            return self._drawn(origins[0].value, origins[0].frame)
        looped = [each for each in origins if each.how is How.LOOPED and each.binding is not None]
        if not looped or len(looped) < len(origins):
            return None
        return _most([self._taken(each.binding.node) for each in looped if each.binding])

    def _taken(self, target: ast.AST) -> Rows | None:
        """What a loop over a pipeline takes from it in each round."""
        around = self._tree.ancestors(target)
        header = next(
            each for each in around if isinstance(each, (ast.For, ast.AsyncFor, ast.comprehension))
        )
        loop = self._loops.loop(header)
        if loop.iterable is None or loop.over not in (Over.DATASET, Over.UNKNOWN):
            return None
        if loop.over is Over.UNKNOWN:
            yielded = self._yielded(loop.iterable)
            if yielded is not None:
                return yielded
            if self._is_sequence(loop.iterable) or self._is_fed(loop.iterable):
                return Rows.BATCH
            return Rows.BATCH if self._iterables.gives_data(loop.iterable) else None
        return self._given_by(loop.iterable)

    def _drawn(self, call: ast.Call, frame: Frame | None) -> Rows | None:
        """What `next(iter(batches))` takes, if that is known to be no more than a few rows."""
        if called(call) != "next" or not call.args:
            return None
        made = self._flow.one_before(call.args[0], frame)
        value = made.value if made is not None else call.args[0]
        is_iterator = isinstance(value, ast.Call) and called(value) == "iter" and value.args
        drawn_from = value.args[0] if isinstance(value, ast.Call) and is_iterator else value
        if self._is_fed(drawn_from):
            return Rows.BATCH
        if not is_iterator:
            return None
        found = self._given_by(drawn_from) if self._datasets.of(drawn_from) else None
        return None if found is Rows.BATCH else found

    def _is_fed(self, iterable: ast.expr) -> bool:
        """Whether a model is fed what a generator of the module gives: it gives batches."""
        function = self._generator(iterable)
        return function is not None and function in self._feeding

    def _generator(self, made: ast.expr | None) -> FunctionNode | None:
        call = made if isinstance(made, ast.Call) else None
        inner = self._flow.enter(call, None) if call is not None else None
        if inner is None or not self._bodies.yields(inner.function):
            return None
        return inner.function

    @cached_property
    def _feeding(self) -> frozenset[FunctionNode]:
        """The generators that models are trained on, or asked about."""
        fed = [call.args[0] for call, _ in self._tree.methods(*_FED) if call.args]
        made = [each.value for given in fed for each in self._flow.origins(given) or ()]
        return frozenset(filter(None, map(self._generator, [*fed, *made])))

    def _given_by(self, pipeline: ast.expr) -> Rows | None:
        """The rows of an element of a pipeline."""
        found: list[Rows | None] = []
        for chain in self._datasets.of(pipeline):
            sizes = [each.argument("batch_size") for each in chain.steps if each.method in BATCHING]
            if isinstance(chain.source.node, ast.Call) and not sizes:  # of Keras's, from files
                sizes = [makers.argument(chain.source.node, None, "batch_size")]
            size = self._values.number(sizes[-1]) if sizes else None
            if size is not None and size > LARGE:
                return None
            few = _few(size) if len(sizes) == 1 else Rows.FEW  # of batches, who knows how many
            found.append(Rows.BATCH if size is None or size > FEW else few)
        return _most(found) or Rows.BATCH

    def _is_sequence(self, iterable: ast.expr) -> bool:
        """Whether this is an object of a class of batches, as Keras trains on."""
        made = iterable if isinstance(iterable, ast.Call) else None
        owner = self._functions.definition(made.func) if made is not None else None
        owner = owner or self._functions.instance_of(iterable)
        lineage = self._functions.lineage(owner) if isinstance(owner, ast.ClassDef) else ()
        return any(self._names.is_any(base, SEQUENCES) for each in lineage for base in each.bases)

    def _yielded(self, iterable: ast.expr) -> Rows | None:
        """The rows of what a generator of the module gives, if that is one array each time."""
        call = iterable if isinstance(iterable, ast.Call) else None
        inner = self._flow.enter(call, None) if call is not None else None
        body = self._bodies.body(inner.function) if inner is not None else ()
        given = [each.value for each in body if isinstance(each, ast.Yield)]
        return _most([self.of(each, inner) if each is not None else None for each in given])

    def _indexed(self, node: ast.Subscript, frame: Frame | None) -> Rows | None:
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        first = indices[0] if indices else None
        if adds_first_axis(node.slice):
            return Rows.ONE
        if is_all(first) or is_rest(first):
            return self.of(node.value, frame)
        if isinstance(first, ast.Slice) and first.step is None:
            return _few(self._length(first, frame))
        part = isinstance(first, ast.Constant) and len(indices) == 1
        return self._part(node.value, frame) if part else None

    def _length(self, part: ast.Slice, frame: Frame | None) -> float | None:
        """How many rows a slice has: `x[:8]`, `x[8:16]`, `x[i : i + 1]`, `x[-1:]`."""
        lower, upper = part.lower, part.upper
        if isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add) and lower is not None:
            for one, other in ((upper.left, upper.right), (upper.right, upper.left)):
                if same_code(one, lower):
                    return self._values.number(other, frame)
        first = 0 if lower is None else self._values.number(lower, frame)
        if upper is None:
            return -first if first is not None and first < 0 else None
        last = self._values.number(upper, frame)
        return None if first is None or last is None or first < 0 else last - first

    def _made(self, call: ast.Call, frame: Frame | None) -> Rows | None:
        name = self._names.qualified(call.func)
        if name is not None:
            return self._of_function(name, call, frame)
        if called(call) == "next":
            return self._drawn(call, frame)
        returned = [
            self.of(each.value, each.frame)
            for each in self._flow.returned(call, frame)
            if (each.value, each.frame) not in self._asked
        ]
        if returned:
            return _most(returned)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "reshape":
            return self._reshaped(call.args[0] if len(call.args) == 1 else call, frame)
        if isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS_KEEP_ROWS:
            predicts = call.func.attr in _PREDICTS
            given = self._predicted_from(call) if predicts else call.func.value
            return None if given is None else self.of_inputs(given, frame)
        if self._passes.is_model(call.func, frame) and call.args:
            return self.of_inputs(call.args[0], frame)
        return None

    def _of_function(self, name: str, call: ast.Call, frame: Frame | None) -> Rows | None:
        filled = makers.FILLED.get(name)
        if filled is not None:
            told = makers.argument(call, filled.place, filled.keyword)
            return None if told is None else self._reshaped(told, frame)
        last = name.rpartition(".")[2]
        given = makers.argument(call, 0, makers.KEEPS_DATA.get(name, "x"))
        if last == "expand_dims":
            if _axis(call, 1) == 0:
                return Rows.ONE
            return None if given is None else self.of(given, frame)
        if last == "reshape":
            shape = makers.argument(call, 1, makers.TOLD.get(name, "shape"))
            if shape is not None and given is not None and self._merges(shape, frame):
                return Rows.BATCH if self.of(given, frame) is not None else None
            return None if shape is None else self._reshaped(shape, frame)
        if last == "squeeze" and _axis(call, 1) == 0:  # a batch of one batch
            several = self.of(given, frame) if given else None
            return None if several is Rows.ONE else several
        if last in _JOINS and isinstance(given, (ast.List, ast.Tuple)):
            beside = last in _BESIDE or _axis(call, 1) not in (None, 0)
            return self.of_inputs(given, frame) if beside else None
        if last in ("append", "delete", "insert") and given is not None:
            beside = _axis(call, 3 if last == "insert" else 2) not in (None, 0)
            return self.of(given, frame) if beside else None
        if last == "stack" and _axis(call, 1) not in (None, 0):
            first = given.left if isinstance(given, ast.BinOp) else given  # `(x,) * 3`
            is_list = isinstance(first, (ast.List, ast.Tuple))
            return self.of_inputs(first, frame) if first and is_list else None
        if name in makers.KEEPS_ROWS or last == "preprocess_input":
            if isinstance(given, (ast.List, ast.Tuple)):
                starred = any(isinstance(each, ast.Starred) for each in given.elts)
                return None if starred else _few(len(given.elts))
            return None if given is None else self.of(given, frame)
        return None

    def _reshaped(self, shape: ast.expr, frame: Frame | None) -> Rows | None:
        """The rows a shape tells: `(1, -1)`, `[1, n]`, `(1,) + x.shape`, or `x.reshape(1, n)`."""
        if isinstance(shape, ast.Call):
            return self._first(shape.args, frame)
        origin = self._flow.one_before(shape, frame) if isinstance(shape, ast.Name) else None
        told = origin.value if origin is not None else shape
        if isinstance(told, ast.BinOp) and isinstance(told.op, ast.Add):  # `(1,) + x.shape`
            first = told.left.elts if isinstance(told.left, (ast.List, ast.Tuple)) else []
            return _few(self._values.number(first[0], frame)) if first else None
        return self._first(told.elts, frame) if isinstance(told, (ast.List, ast.Tuple)) else None

    def _merges(self, shape: ast.expr, frame: Frame | None) -> bool:
        """Whether a shape makes one axis of the first two: `(x.shape[0] * x.shape[1], …)`."""
        origin = self._flow.one_before(shape, frame) if isinstance(shape, ast.Name) else None
        told = origin.value if origin is not None else shape
        first = told.elts[0] if isinstance(told, (ast.List, ast.Tuple)) and told.elts else None
        if not isinstance(first, ast.BinOp) or not isinstance(first.op, ast.Mult):
            return False
        axes = [each.slice for each in (first.left, first.right) if isinstance(each, ast.Subscript)]
        return sorted(str(constant(each)) for each in axes) == ["0", "1"]

    def _first(self, sizes: list[ast.expr], frame: Frame | None) -> Rows | None:
        return _few(self._values.number(sizes[0], frame)) if len(sizes) > 1 else None

    def _of_each(self, node: ast.expr) -> Rows | None:
        """The rows of the arrays that `list(x)` makes of the first axis of another."""
        if not isinstance(node, ast.Call) or _axis(node, 1) != 1:
            return None
        return Rows.ONE if self._names.qualified(node.func) == "numpy.expand_dims" else None


def _are_inputs(made: ast.expr) -> bool:
    """Whether several arrays are put together, or copied: `dict(template)`."""
    copied = isinstance(made, ast.Call) and called(made) == "dict"
    return copied or isinstance(made, (ast.List, ast.Tuple, ast.Dict))


def _axis(call: ast.Call, place: int) -> float | None:
    given = makers.argument(call, place, "axis")
    return None if given is None else constant(given)


def _few(rows: float | None) -> Rows | None:
    if rows is None or not 1 <= rows <= FEW:
        return None
    return Rows.ONE if rows == 1 else Rows.FEW


def _most(found: list[Rows | None]) -> Rows | None:
    """What several arrays have at most, if it is known of each."""
    if not found or None in found:
        return None
    return Rows(max(each.value for each in found if each is not None))
