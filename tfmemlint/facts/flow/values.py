"""What an expression holds: all the data or a part of it, its type and, where known, its size."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import partial

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.averages import average
from tfmemlint.facts.flow.flow import Origin
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.measured import Measured
from tfmemlint.facts.flow.options import Options
from tfmemlint.facts.flow.results import Results
from tfmemlint.facts.flow.sizes import Sizes
from tfmemlint.facts.flow.solver import Question
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.kinds import UNKNOWN, Extent, Kind, Value, arithmetic, common
from tfmemlint.facts.library.shapes import Shape, any_rows, indexed, is_all, is_rest, written_out
from tfmemlint.facts.syntax.arithmetic import constant
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import called
from tfmemlint.facts.syntax.targets import element

_UNDECIDED = Value(origin=ast.Name(id=""))
"""What is known of a value that depends on itself, before anything else is."""
_VALUE = Question("value", _UNDECIDED, UNKNOWN)
_BUNDLED = ("data", "images", "labels", "target")
_PLACES = ("iloc", "loc")
_MOST_NESTED = 5
"""Tuples within tuples; a tree of them has no end: `left, right = node; node = left`."""
_AS_LIST = frozenset({"sorted", "list", "tuple", "reversed"})


class Values:
    """Values of expressions, followed backwards to what made them."""

    def __init__(self, tf: TensorFlow) -> None:
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._classes = tf.classes
        self._flow = tf.flow
        self._is_dataset = tf.datasets.is_dataset
        self._measured = Measured(tf.tree, tf.names, tf.flow)
        self._sizes = Sizes(tf.names, tf.flow, self._measured, tf.of(Options).number)
        self._results = Results(tf.names, tf.flow, self._sizes)
        self._solver = tf.solver

    def of(self, expression: ast.expr, frame: Frame | None = None) -> Value:
        """The value of an expression; where several may reach it, what they have in common."""
        return _decided(lambda: self._of(expression, frame))

    def bound(self, binding: Binding) -> Value:
        """What one binding gives its name; parameters, imports and definitions are unknown."""
        if binding.value is None:
            return UNKNOWN
        origin = Origin(binding.value, binding.how, binding.path)
        return _decided(lambda: self._from_origin(origin))

    def number(self, expression: ast.expr | None, frame: Frame | None = None) -> int | float | None:
        """The number an expression surely is: literals, constants, sizes and arithmetic on them."""
        return self._sizes.number(expression, frame, self.of)

    def rows(self, expression: ast.expr, frame: Frame | None = None) -> ast.expr | None:
        """The array whose length an expression is: `x` for `len(x)`, `x.shape[0]` and the like."""
        return (self._measured.rows(expression, frame) or (None,))[0]

    def keeps_most(self, whole: ast.expr, part: ast.Slice, frame: Frame | None = None) -> bool:
        """Whether a slice leaves out but an end: `xs[1:]`, `xs[: int(0.8 * len(xs))]`."""
        return self._sizes.keeps_most(whole, part, frame, self.of)

    def share(self, number: ast.expr, whole: ast.expr, frame: Frame | None) -> float | None:
        """How much of all there is `int(0.8 * len(xs))` is; None if that does not ask for it."""
        return self._sizes.share(number, whole, frame, self.of)

    def shape(self, node: ast.expr | None, frame: Frame | None = None) -> Shape | None:
        """The sizes a tuple, a list or a number gives; those that are not known are None."""
        return self._sizes.shape(node, frame, self.of)

    def dtype(self, node: ast.expr | None) -> str | None:
        """The data type that is named: `tf.float32`, `np.float32`, `"float32"`."""
        return self._sizes.dtype(node)

    def _of(self, node: ast.expr, frame: Frame | None) -> Value:
        return self._asked(node, (), frame)

    def _asked(self, node: ast.expr, path: tuple[int, ...], frame: Frame | None) -> Value:
        """The value of an expression or, with a path, of one of the elements it unpacks to."""
        if isinstance(node, ast.Constant):
            return UNKNOWN if path else _literal(node)
        found: Value = self._solver.ask(_VALUE, self._answer, node, path, frame)
        if found is _UNDECIDED:
            raise _UndecidedError
        return found

    def _answer(self, node: ast.expr, path: tuple[int, ...], frame: Frame | None) -> Value:
        try:
            return self._element(node, path, frame) if path else self._evaluate(node, frame)
        except _UndecidedError:
            return _UNDECIDED

    def _any_of(self, values: Iterable[Callable[[], Value]]) -> Value:
        """What several possible values agree on, as far as they do not depend on this one."""
        found: list[Value] = []
        undecided = False
        for value in values:
            try:
                found.append(value())
            except _UndecidedError:
                undecided = True
        if undecided and not found:
            raise _UndecidedError
        return common(found)

    # Evaluation, one method for each form of expression.

    def _evaluate(self, node: ast.expr, frame: Frame | None) -> Value:
        if isinstance(node, ast.Name):
            found = self._from_origins(node, frame)
            said = found.kind is Kind.UNKNOWN and self._is_said_to_be_dataset(node, frame)
            return Value(Kind.DATASET, origin=node) if said else found
        if isinstance(node, ast.Call):
            return self._call(node, frame)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, frame)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, frame)
        if isinstance(node, ast.BinOp):
            return arithmetic(node, self._of(node.left, frame), self._of(node.right, frame))
        if isinstance(node, ast.UnaryOp):
            return self._of(node.operand, frame)
        if isinstance(node, ast.IfExp):
            return self._any_of(partial(self._of, each, frame) for each in (node.body, node.orelse))
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return self._any_of(partial(self._of, each, frame) for each in node.values)
        if isinstance(node, (ast.NamedExpr, ast.Await)):
            return self._of(node.value, frame)
        if isinstance(node, (ast.List, ast.Tuple)):
            return self._sequence(node)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._comprehension(node, frame)
        return UNKNOWN

    def _from_origins(self, node: ast.expr, frame: Frame | None) -> Value:
        origins = self._flow.origins(node, frame)
        if origins is None:
            return UNKNOWN
        return self._any_of(partial(self._from_origin, each) for each in origins)

    def _is_said_to_be_dataset(self, node: ast.Name, frame: Frame | None) -> bool:
        binding = self._bindings.only(node)
        annotated = binding is not None and getattr(binding.node, "annotation", None) is not None
        return annotated and self._is_dataset(node, frame)

    def _from_origin(self, origin: Origin) -> Value:
        if origin.how is How.LOOPED:
            return self._iterated(origin.value, origin.path, origin.frame)
        if origin.how in (How.ASSIGNED, How.ENTERED):
            return self._unpacked(origin.value, origin.path, origin.frame)
        return UNKNOWN

    def _unpacked(self, node: ast.expr, path: tuple[int, ...], frame: Frame | None) -> Value:
        node, path = element(node, path)
        return self._asked(node, path, frame)

    def _element(self, node: ast.expr, path: tuple[int, ...], frame: Frame | None) -> Value:
        if isinstance(node, ast.Call):
            made = self._results.of_loading(node, path)
            if made is not None:
                return made
            name = self._names.qualified(node.func)
            given, inner = makers.given_back(name, node, path) or (None, path)
            if given is not None and not inner:
                whole = self._of(given, frame)
                return whole._replace(shape=any_rows(whole.shape))
            returned = self._flow.returned(node, frame)
            return self._any_of(
                partial(self._unpacked, each.value, path, each.frame) for each in returned
            )
        if isinstance(node, ast.Name) and len(path) < _MOST_NESTED:
            origins = self._flow.origins(node, frame) or ()
            ways = ((each.value, (*each.path, *path), each.frame) for each in origins)
            if all(each.how is How.ASSIGNED for each in origins):
                return self._any_of(partial(self._unpacked, *each) for each in ways)
        return UNKNOWN

    def _iterated(self, node: ast.expr, path: tuple[int, ...], frame: Frame | None) -> Value:
        """What a loop over `node` gives its target."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            name, arguments = node.func.id, node.args
            if name == "enumerate" and path and path[0] == 0:
                return Value(Kind.NUMBER)
            if name == "enumerate" and path:
                return self._iterated(arguments[0], path[1:], frame)
            if name == "zip" and path and 0 <= path[0] < len(arguments):
                return self._iterated(arguments[path[0]], path[1:], frame)
            if name in makers.RANGES:
                return Value(Kind.NUMBER)
            if name in ("reversed", "sorted", "list", "iter", "tqdm"):
                return self._iterated(arguments[0], path, frame)
        if isinstance(node, ast.Call) and self._names.is_any(node.func, makers.WRAPS_ITERABLE):
            return self._iterated(node.args[0], path, frame) if node.args else UNKNOWN
        if isinstance(node, ast.Call) and self._names.qualified(node.func) == "os.walk":
            return Value(Kind.PATHS, Extent.WHOLE, origin=node) if path == (2,) else UNKNOWN
        if isinstance(node, ast.Call) and self._names.qualified(node.func) == "tensorflow.range":
            return Value(Kind.TENSOR, Extent.PART, "int32", ())
        whole = self._of(node, frame)
        if whole.kind is Kind.PATHS:
            return Value(Kind.PATH, Extent.PART, origin=whole.origin)
        if whole.kind is Kind.DATASET:
            return Value(Kind.TENSOR, Extent.PART, origin=whole.origin)
        if whole.is_array:
            shape = whole.shape[1:] if whole.shape else None
            return Value(whole.kind, Extent.PART, whole.dtype, shape, whole.origin)
        return UNKNOWN

    def _call(self, node: ast.Call, frame: Frame | None) -> Value:
        name = self._names.qualified(node.func)
        if self._is_dataset(node, frame):
            return Value(Kind.DATASET, origin=node)
        found = average(self._names, node, frame, self._of)
        if found is not None:
            return found
        if name is not None:
            return self._results.of_function(name, node, frame, self._of)
        if called(node) in _AS_LIST and node.args:
            inner = self._of(node.args[0], frame)
            is_paths = inner.kind is Kind.PATHS
            return inner if is_paths else Value(Kind.LIST, inner.extent, origin=node)
        definitions = self._functions.definitions(node.func)
        classes = [each for each in definitions if isinstance(each, ast.ClassDef)]
        if classes:
            is_model = all(map(self._classes.is_keras, classes))
            alike = is_model and len(classes) == len(definitions)
            return Value(Kind.MODEL, origin=node) if alike else UNKNOWN
        if definitions:
            returned = self._flow.returned(node, frame)
            return self._any_of(partial(self._of, each.value, each.frame) for each in returned)
        if isinstance(node.func, ast.Attribute):
            found = self._results.of_method(node, node.func, frame, self._of)
            if found.kind is not Kind.UNKNOWN:
                return found
        return self._results.of_object(node, frame, self._of)

    def _attribute(self, node: ast.Attribute, frame: Frame | None) -> Value:
        if self._names.qualified(node) is not None:
            return UNKNOWN
        found = self._from_origins(node, frame)
        if found.kind is not Kind.UNKNOWN:
            return found
        if node.attr in ("values", "T", "path", "name", *_PLACES):
            inner = self._of(node.value, frame)
            if inner.kind is Kind.FRAME and node.attr in _PLACES:
                return inner
            if inner.kind is Kind.PATH and node.attr in ("path", "name"):
                return inner
            if inner.kind is Kind.FRAME and node.attr == "values":
                return inner._replace(kind=Kind.ARRAY)
            if inner.is_array and node.attr == "T":
                return inner._replace(shape=inner.shape[::-1] if inner.shape else None)
        return self._results.of_bundle(node, frame) if node.attr in _BUNDLED else UNKNOWN

    def _subscript(self, node: ast.Subscript, frame: Frame | None) -> Value:
        inner = self._of(node.value, frame)
        if inner.kind is Kind.PATHS:
            sliced = isinstance(node.slice, ast.Slice)
            return Value(Kind.PATHS if sliced else Kind.PATH, Extent.PART, origin=inner.origin)
        if inner.kind is Kind.FRAME:
            return self._of_frame(inner, node, frame)
        if not inner.is_array and inner.kind is not Kind.STORED:
            return self._unpacked_constant(node, frame)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        first = indices[0] if indices else None
        if inner.kind is Kind.STORED:
            if indices and not isinstance(first, ast.Slice) and not is_rest(first):
                return inner if isinstance(first, (ast.Constant, ast.Name)) else UNKNOWN
            inner = Value(Kind.ARRAY, inner.extent, origin=node)  # what is read of it
            if not indices:
                return inner
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            return inner._replace(dtype=None, shape=None)  # an array of an .npz file
        if is_all(first) or is_rest(first):
            return inner._replace(shape=indexed(inner.shape, indices))
        rest = inner.shape[1:] if inner.shape is not None and len(indices) == 1 else None
        if isinstance(first, ast.Slice):
            most = self._sizes.keeps_most(node.value, first, frame, self._of)
            rows = self._sizes.length(first, next(iter(inner.shape or ()), None), frame, self._of)
            extent = inner.extent if most else Extent.PART
            return inner._replace(extent=extent, shape=None if rest is None else (rows, *rest))
        picked = self._of(first, frame) if first is not None and len(indices) == 1 else UNKNOWN
        made = picked.origin if picked.extent is not Extent.PART else None
        if isinstance(made, ast.Call) and self._names.is_any(made.func, makers.PERMUTES):
            return inner._replace(shape=any_rows(inner.shape))
        return inner._replace(extent=Extent.PART, shape=None)

    def _of_frame(self, inner: Value, node: ast.Subscript, frame: Frame | None) -> Value:
        """Columns of a table, of all its rows or of some."""
        if not isinstance(node.value, ast.Attribute) or node.value.attr not in _PLACES:
            columns = isinstance(node.slice, (ast.Constant, ast.List, ast.Name))
            return inner._replace(shape=None) if columns else UNKNOWN
        rows = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
        if not isinstance(rows, ast.Slice):
            return UNKNOWN
        most = self._sizes.keeps_most(node.value.value, rows, frame, self._of)
        return inner._replace(extent=inner.extent if most else Extent.PART, shape=None)

    def _unpacked_constant(self, node: ast.Subscript, frame: Frame | None) -> Value:
        index = constant(node.slice)
        if isinstance(index, int) and index >= 0:
            found = self._unpacked(node.value, (index,), frame)
            if found.kind is not Kind.UNKNOWN:
                return found
        return self._from_origins(node, frame)

    def _sequence(self, node: ast.List | ast.Tuple) -> Value:
        texts = [each.value for each in node.elts if isinstance(each, ast.Constant)]
        names = [each for each in texts if isinstance(each, str)]
        files = [name for name in names if name.lower().endswith(makers.FILE_SUFFIXES)]
        if files and len(files) == len(node.elts):
            return Value(Kind.PATHS, Extent.WHOLE, shape=(len(files),), origin=node)
        written = written_out(node)  # what is empty is to be filled
        return Value(Kind.LIST, shape=(written,) if written else None, origin=node)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, frame: Frame | None) -> Value:
        over = self._of(node.generators[0].iter, frame)
        if over.kind is Kind.PATHS and self._of(node.elt, frame).kind is Kind.PATH:
            return Value(Kind.PATHS, over.extent, origin=over.origin)
        if isinstance(node.elt, ast.Call) and self._names.is_any(node.elt.func, makers.PATH):
            return Value(Kind.PATHS, Extent.WHOLE, origin=node)
        return Value(Kind.LIST, origin=node)


def _literal(node: ast.Constant) -> Value:
    is_number = isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
    return Value(Kind.NUMBER, origin=node) if is_number else UNKNOWN


class _UndecidedError(Exception):
    """A value depends on itself, and nothing else has been found to give it yet."""


def _decided(value: Callable[[], Value]) -> Value:
    try:
        return value()
    except _UndecidedError:
        return UNKNOWN
