"""What an expression holds: all the data or a part of it, its type and, where known, its size."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from enum import Enum
from math import prod
from typing import NamedTuple

from tfmemlint.facts import makers
from tfmemlint.facts.bindings import Binding, How, element
from tfmemlint.facts.flow import Flow, Frame, Origin
from tfmemlint.facts.functions import KERAS_BASES, Functions
from tfmemlint.facts.names import Names

_MAX_DEPTH = 30

Shape = tuple[int | None, ...]


class Kind(Enum):
    """What sort of thing a value is."""

    ARRAY = "NumPy array"
    TENSOR = "tensor"
    VARIABLE = "variable"
    FRAME = "data frame"
    DATASET = "dataset"
    MODEL = "model"
    LAYER = "layer"
    NUMBER = "number"
    LIST = "list"
    PATHS = "paths"
    PATH = "path"
    UNKNOWN = "unknown"


class Extent(Enum):
    """How much of the data a value is."""

    WHOLE = "whole"
    """All there is: a loaded file, a data set's array, an array made at its full size."""
    PART = "part"
    """A batch, an example, a slice."""
    UNKNOWN = "unknown"


class Value(NamedTuple):
    """What is known of one expression's value; every field may be unknown."""

    kind: Kind = Kind.UNKNOWN
    extent: Extent = Extent.UNKNOWN
    dtype: str | None = None
    shape: Shape | None = None
    origin: ast.expr | None = None
    """The expression that first made it, as `np.load(path)`."""

    @property
    def elements(self) -> int | None:
        """How many numbers it holds."""
        if self.shape is None:
            return None
        known = [size for size in self.shape if size is not None]
        return prod(known) if len(known) == len(self.shape) else None

    @property
    def nbytes(self) -> int | None:
        """Its size, where shape and dtype are known."""
        count = self.elements
        width = makers.DTYPE_BYTES.get(self.dtype or "")
        return None if count is None or width is None else count * width

    @property
    def is_array(self) -> bool:
        """Whether it is numbers in an array, on either side."""
        return self.kind in (Kind.ARRAY, Kind.TENSOR)


UNKNOWN = Value()

_AS_LIST = frozenset({"sorted", "list", "tuple", "reversed"})
ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Div: lambda left, right: left / right,
    ast.Mod: lambda left, right: left % right,
}


class Values:
    """Values of expressions, followed backwards to what made them."""

    def __init__(
        self,
        names: Names,
        functions: Functions,
        flow: Flow,
        is_dataset: Callable[[ast.expr, Frame | None], bool],
    ) -> None:
        self._names = names
        self._functions = functions
        self._flow = flow
        self._is_dataset = is_dataset
        self._known: dict[tuple[ast.expr, tuple[int, ...], Frame | None], Value] = {}
        self._depth = 0

    def of(self, expression: ast.expr, frame: Frame | None = None) -> Value:
        """The value of an expression; where several may reach it, what they have in common."""
        return self._remembered(expression, (), frame)

    def bound(self, binding: Binding) -> Value:
        """What one binding gives its name; parameters, imports and definitions are unknown."""
        if binding.value is None:
            return UNKNOWN
        return self._from_origin(Origin(binding.value, binding.how, binding.path))

    def number(self, expression: ast.expr | None, frame: Frame | None = None) -> int | float | None:
        """The number an expression surely is: literals, constants, sizes and arithmetic on them."""
        return self._number(expression, frame, _MAX_DEPTH // 2)

    def rows(self, expression: ast.expr, hops: int = 5) -> ast.expr | None:
        """The array whose length an expression is: `x` for `len(x)`, `x.shape[0]` and the like."""
        if isinstance(expression, ast.Name):
            origins = self._flow.origins(expression) if hops else None
            if origins is None or len(origins) != 1 or origins[0].path:
                return None
            is_assigned = origins[0].how is How.ASSIGNED
            return self.rows(origins[0].value, hops - 1) if is_assigned else None
        if isinstance(expression, ast.Call):
            if isinstance(expression.func, ast.Name) and expression.func.id in ("len", "int"):
                inner = expression.args[0] if len(expression.args) == 1 else None
                return self.rows(inner, hops) if inner and expression.func.id == "int" else inner
            return None
        if isinstance(expression, ast.Subscript) and _constant(expression.slice) == 0:
            shape = expression.value
            if isinstance(shape, ast.Attribute) and shape.attr == "shape":
                return shape.value
            if isinstance(shape, ast.Call) and self._names.is_any(shape.func, makers.SHAPE_OF):
                return shape.args[0] if shape.args else None
        return None

    def _remembered(self, node: ast.expr, path: tuple[int, ...], frame: Frame | None) -> Value:
        """The value of an expression or, with a path, of one of the elements it unpacks to."""
        key = (node, path, frame)
        if key not in self._known:
            if self._depth >= _MAX_DEPTH:
                return UNKNOWN
            self._known[key] = UNKNOWN  # what depends on itself is unknown
            self._depth += 1
            found = self._element(node, path, frame) if path else self._evaluate(node, frame)
            self._known[key] = found
            self._depth -= 1
        return self._known[key]

    # Evaluation, one method for each form of expression.

    def _evaluate(self, node: ast.expr, frame: Frame | None) -> Value:
        if isinstance(node, ast.Constant):
            is_number = isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
            return Value(Kind.NUMBER, origin=node) if is_number else UNKNOWN
        if isinstance(node, ast.Name):
            return self._from_origins(node, frame)
        if isinstance(node, ast.Call):
            return self._call(node, frame)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, frame)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, frame)
        if isinstance(node, ast.BinOp):
            return self._arithmetic(node, frame)
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand, frame)
        if isinstance(node, ast.IfExp):
            return common([self.of(node.body, frame), self.of(node.orelse, frame)])
        if isinstance(node, (ast.NamedExpr, ast.Await)):
            return self.of(node.value, frame)
        if isinstance(node, (ast.List, ast.Tuple)):
            return self._literal(node)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._comprehension(node, frame)
        return UNKNOWN

    def _from_origins(self, node: ast.expr, frame: Frame | None) -> Value:
        origins = self._flow.origins(node, frame)
        if origins is None:
            return UNKNOWN
        return common([self._from_origin(each) for each in origins])

    def _from_origin(self, origin: Origin) -> Value:
        if origin.how is How.LOOPED:
            return self._iterated(origin.value, origin.path, origin.frame)
        if origin.how in (How.ASSIGNED, How.ENTERED):
            return self._unpacked(origin.value, origin.path, origin.frame)
        return UNKNOWN

    def _unpacked(self, node: ast.expr, path: tuple[int, ...], frame: Frame | None) -> Value:
        node, path = element(node, path)
        return self._remembered(node, path, frame)

    def _element(self, node: ast.expr, path: tuple[int, ...], frame: Frame | None) -> Value:
        if isinstance(node, ast.Call):
            made = self._made_pair(node, path)
            if made is not None:
                return made
            split = self._names.qualified(node.func) in makers.SPLITS_ARGUMENTS
            if split and len(path) == 1 and 0 <= path[0] // 2 < len(node.args):
                whole = self.of(node.args[path[0] // 2], frame)
                return whole._replace(shape=_unknown_rows(whole.shape))
            returned = [
                self._unpacked(each.value, path, each.frame)
                for each in self._flow.returned(node, frame)
            ]
            return common(returned)
        if isinstance(node, ast.Name):
            origins = self._flow.origins(node, frame) or ()
            return common(
                [
                    self._unpacked(each.value, (*each.path, *path), each.frame)
                    for each in origins
                    if each.how is How.ASSIGNED
                ]
                if all(each.how is How.ASSIGNED for each in origins)
                else []
            )
        return UNKNOWN

    def _made_pair(self, node: ast.Call, path: tuple[int, ...]) -> Value | None:
        """An element of what `keras.datasets.mnist.load_data()` returns."""
        name = self._names.qualified(node.func) or ""
        if not (name.startswith("keras.datasets.") and name.endswith(".load_data")):
            return None
        if len(path) < 2:
            return Value(Kind.LIST, Extent.WHOLE, origin=node)
        shapes = makers.KERAS_DATASETS.get(name.split(".")[2])
        if shapes is None or len(path) != 2 or not all(0 <= each <= 1 for each in path):
            return Value(Kind.ARRAY, Extent.WHOLE, origin=node)
        shape, dtype = shapes[path[0]][path[1]]
        return Value(Kind.ARRAY, Extent.WHOLE, dtype, shape, node)

    def _iterated(self, node: ast.expr, path: tuple[int, ...], frame: Frame | None) -> Value:
        """What a loop over `node` gives its target."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            name, arguments = node.func.id, node.args
            if name == "enumerate" and path:
                counted = path[0] == 0
                return (
                    Value(Kind.NUMBER) if counted else self._iterated(arguments[0], path[1:], frame)
                )
            if name == "zip" and path and 0 <= path[0] < len(arguments):
                return self._iterated(arguments[path[0]], path[1:], frame)
            if name == "range":
                return Value(Kind.NUMBER)
            if name in ("reversed", "sorted", "list", "iter", "tqdm", "trange"):
                return self._iterated(arguments[0], path, frame)
        if isinstance(node, ast.Call) and self._names.is_any(node.func, makers.WRAPS_ITERABLE):
            return self._iterated(node.args[0], path, frame) if node.args else UNKNOWN
        if isinstance(node, ast.Call) and self._names.qualified(node.func) == "os.walk":
            return Value(Kind.PATHS, Extent.WHOLE, origin=node) if path == (2,) else UNKNOWN
        if isinstance(node, ast.Call) and self._names.qualified(node.func) == "tensorflow.range":
            return Value(Kind.TENSOR, Extent.PART, "int32", ())
        whole = self.of(node, frame)
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
        if name is not None:
            return self._made_by(name, node, frame)
        if self._is_dataset(node, frame):
            return Value(Kind.DATASET, origin=node)
        if isinstance(node.func, ast.Name) and node.func.id in _AS_LIST and node.args:
            inner = self.of(node.args[0], frame)
            is_paths = inner.kind is Kind.PATHS
            return inner if is_paths else Value(Kind.LIST, inner.extent, origin=node)
        definition = self._functions.definition(node.func)
        if isinstance(definition, ast.ClassDef):
            is_model = self._functions.is_keras(definition)
            return Value(Kind.MODEL, origin=node) if is_model else UNKNOWN
        if definition is not None:
            return common(
                [self.of(each.value, each.frame) for each in self._flow.returned(node, frame)]
            )
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func, frame)
        return UNKNOWN

    def _made_by(self, name: str, node: ast.Call, frame: Frame | None) -> Value:
        numpy = name.startswith("numpy.")
        kind = Kind.ARRAY if numpy else Kind.TENSOR
        if self._is_dataset(node, frame):
            return Value(Kind.DATASET, origin=node)
        if name in makers.MODELS or _is_application(name):
            return Value(Kind.MODEL, origin=node)
        if name in KERAS_BASES or name.startswith("keras.layers."):
            return Value(Kind.LAYER, origin=node)
        if name in makers.PATHS:
            return Value(Kind.PATHS, Extent.WHOLE, origin=node)
        if name in makers.PATH:
            return Value(Kind.PATH, Extent.PART, origin=node)
        if name in makers.FRAMES:
            return Value(Kind.FRAME, Extent.WHOLE, origin=node)
        if name in makers.LOADS_WHOLE:
            return Value(Kind.ARRAY, Extent.WHOLE, origin=node)
        if name == "tensorflow.Variable":
            inner = self.of(node.args[0], frame) if node.args else UNKNOWN
            return Value(Kind.VARIABLE, inner.extent, inner.dtype, inner.shape, node)
        filled = makers.FILLED.get(name)
        if filled is not None:
            shape = self.shape(makers.argument(node, filled.place, filled.keyword), frame)
            if name in makers.DIMENSIONS_AS_ARGUMENTS:
                shape = self._dimensions(node.args, frame)
            given = makers.argument(node, filled.dtype_place, "dtype")
            dtype = filled.dtype if given is None else self.dtype(given)
            return Value(kind, Extent.WHOLE, dtype, shape, node)
        if name in makers.KEEPS_DATA or name.endswith(".preprocess_input"):
            return self._kept(name, kind, node, frame)
        if name in makers.JOINS and node.args and isinstance(node.args[0], (ast.List, ast.Tuple)):
            parts = [self.of(each, frame) for each in node.args[0].elts]
            whole = bool(parts) and all(each.extent is Extent.WHOLE for each in parts)
            return Value(
                kind, Extent.WHOLE if whole else Extent.UNKNOWN, common(parts).dtype, None, node
            )
        if numpy or name.startswith(("tensorflow.", "keras.ops.")):
            one = name.startswith(makers.RETURNS_TENSOR) and name not in makers.RETURNS_SEVERAL
            one = one or numpy or name in makers.RETURNS_ONE
            return Value(kind, origin=node) if one else UNKNOWN
        return UNKNOWN

    def _kept(self, name: str, kind: Kind, node: ast.Call, frame: Frame | None) -> Value:
        """Functions that give back all the data they are given, in some other form."""
        source = makers.argument(node, 0, makers.KEEPS_DATA.get(name, "x"))
        inner = self.of(source, frame) if source is not None else UNKNOWN
        if inner.kind not in (Kind.ARRAY, Kind.TENSOR, Kind.FRAME, Kind.VARIABLE):
            return Value(kind, shape=() if inner.kind is Kind.NUMBER else None, origin=node)
        if name.startswith(("keras.", "sklearn.")):
            kind = Kind.ARRAY if inner.kind is Kind.FRAME else inner.kind
        dtype = self.dtype(makers.argument(node, 1, "dtype")) if name in makers.SETS_DTYPE else None
        shape = inner.shape if name in makers.KEEPS_SHAPE else None
        if name.endswith(".expand_dims"):
            axis = makers.argument(node, 1, "axis")
            if axis is not None and _constant(axis) == 0:  # one example, as a batch of one
                return Value(kind, Extent.PART, inner.dtype, None, inner.origin)
        return Value(kind, inner.extent, dtype or inner.dtype, shape, inner.origin)

    def _method(self, node: ast.Call, callee: ast.Attribute, frame: Frame | None) -> Value:
        maker = callee.value
        made = self._names.qualified(maker.func) if isinstance(maker, ast.Call) else None
        if made is None and isinstance(maker, ast.Name):
            origins = self._flow.origins(maker, frame) or ()
            calls = [each.value for each in origins if isinstance(each.value, ast.Call)]
            names = {self._names.qualified(each.func) for each in calls}
            made = names.pop() if len(names) == 1 and len(calls) == len(origins) else None
        if made in makers.RANDOM_GENERATORS:
            place = makers.GENERATOR_SIZE_PLACE.get(callee.attr)
            by_dimension = callee.attr in ("rand", "randn")
            if place is None and not by_dimension:
                return Value(Kind.ARRAY, origin=node)
            shape = (
                self._dimensions(node.args, frame)
                if by_dimension
                else self.shape(makers.argument(node, place, "size"), frame)
            )
            given = self.dtype(makers.argument(node, None, "dtype"))
            return Value(Kind.ARRAY, Extent.WHOLE, given or "float64", shape, node)
        if made in makers.PATH and callee.attr in ("glob", "rglob", "iterdir"):
            return Value(Kind.PATHS, Extent.WHOLE, origin=node)
        if callee.attr in makers.SCALES and node.args and (made or "").startswith(makers.SCALERS):
            scaled = self.of(node.args[0], frame)
            is_data = scaled.is_array or scaled.kind is Kind.FRAME
            return scaled._replace(kind=Kind.ARRAY, dtype=None) if is_data else UNKNOWN
        inner = self.of(maker, frame)
        if inner.kind is Kind.PATH and callee.attr in ("glob", "rglob", "iterdir"):
            return Value(Kind.PATHS, Extent.WHOLE, origin=node)
        if inner.kind is Kind.FRAME:
            is_array = callee.attr in ("to_numpy", "values")
            keeps = callee.attr in makers.FRAME_METHODS
            if is_array or keeps:
                return inner._replace(kind=Kind.ARRAY if is_array else Kind.FRAME)
            return UNKNOWN
        if inner.is_array and callee.attr in makers.ARRAY_METHODS:
            cast = makers.argument(node, 0, "dtype") if callee.attr == "astype" else None
            dtype = self.dtype(cast) or inner.dtype
            keeps = callee.attr in ("astype", "clip", "copy", "numpy")
            kind = Kind.ARRAY if callee.attr == "numpy" else inner.kind
            return Value(
                kind,
                inner.extent,
                dtype,
                inner.shape if keeps else None,
                inner.origin,
            )
        return UNKNOWN

    def _attribute(self, node: ast.Attribute, frame: Frame | None) -> Value:
        if self._names.qualified(node) is not None:
            return UNKNOWN
        found = self._from_origins(node, frame)
        if found.kind is not Kind.UNKNOWN:
            return found
        if node.attr in ("values", "T"):
            inner = self.of(node.value, frame)
            if inner.kind is Kind.FRAME and node.attr == "values":
                return inner._replace(kind=Kind.ARRAY)
            if inner.is_array and node.attr == "T":
                return inner._replace(shape=inner.shape[::-1] if inner.shape else None)
        return UNKNOWN

    def _subscript(self, node: ast.Subscript, frame: Frame | None) -> Value:
        inner = self.of(node.value, frame)
        if inner.kind is Kind.PATHS:
            sliced = isinstance(node.slice, ast.Slice)
            return Value(Kind.PATHS if sliced else Kind.PATH, Extent.PART, origin=inner.origin)
        if inner.kind is Kind.FRAME:
            if isinstance(node.slice, (ast.Constant, ast.List, ast.Name)):
                return inner._replace(shape=None)  # columns
            return UNKNOWN
        if not inner.is_array:
            return self._unpacked_constant(node, frame)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        first = indices[0] if indices else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            return inner._replace(dtype=None, shape=None)  # an array of an .npz file
        if _is_everything(first) or (isinstance(first, ast.Constant) and first.value is Ellipsis):
            rows = inner.shape[:1] if inner.shape else ()
            shape = inner.shape if len(indices) == 1 else ((*rows, None) if rows else None)
            return inner._replace(shape=shape)
        rest = inner.shape[1:] if inner.shape is not None and len(indices) == 1 else None
        if isinstance(first, ast.Slice):
            return inner._replace(
                extent=Extent.PART,
                shape=None if rest is None else (self._length(first, frame), *rest),
            )
        return inner._replace(extent=Extent.PART, shape=None)

    def _unpacked_constant(self, node: ast.Subscript, frame: Frame | None) -> Value:
        index = _constant(node.slice)
        if isinstance(index, int) and index >= 0:
            return self._unpacked(node.value, (index,), frame)
        return UNKNOWN

    def _length(self, part: ast.Slice, frame: Frame | None) -> int | None:
        if part.step is not None or (part.lower is not None and _constant(part.lower) != 0):
            return None
        upper = self.number(part.upper, frame) if part.upper is not None else None
        return int(upper) if upper is not None and upper >= 0 else None

    def _arithmetic(self, node: ast.BinOp, frame: Frame | None) -> Value:
        left, right = self.of(node.left, frame), self.of(node.right, frame)
        if isinstance(node.op, ast.MatMult):
            return left._replace(shape=None) if left.is_array else UNKNOWN
        for one, other in ((left, right), (right, left)):
            if one.is_array and other.kind in (Kind.NUMBER, Kind.UNKNOWN):
                dtype = one.dtype
                if (
                    isinstance(node.op, ast.Div)
                    and dtype is not None
                    and not dtype.startswith("float")
                ):
                    dtype = "float64" if one.kind is Kind.ARRAY else None
                return one._replace(dtype=dtype)
        if left.is_array and right.is_array:
            joined = common([left, right])._replace(origin=left.origin)
            for one, other in ((left, right), (right, left)):
                if one.extent is Extent.WHOLE and other.extent is Extent.UNKNOWN:  # a mean, say
                    joined = joined._replace(extent=one.extent, shape=one.shape, origin=one.origin)
            return joined
        if left.kind is Kind.PATHS and isinstance(node.op, ast.Add):
            return left
        if Kind.PATH in (left.kind, right.kind):
            return Value(Kind.PATH, Extent.PART, origin=left.origin or right.origin)
        if isinstance(node.op, ast.Mult) and Kind.LIST in (left.kind, right.kind):
            return Value(Kind.LIST, origin=node)
        number = left.kind is Kind.NUMBER and right.kind is Kind.NUMBER
        return Value(Kind.NUMBER, origin=node) if number else UNKNOWN

    def _literal(self, node: ast.List | ast.Tuple) -> Value:
        texts = [
            each
            for each in node.elts
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        ]
        if node.elts and len(texts) == len(node.elts):
            names = [str(each.value) for each in texts]
            if all(name.lower().endswith(makers.FILE_SUFFIXES) for name in names):
                return Value(Kind.PATHS, Extent.WHOLE, shape=(len(names),), origin=node)
        return Value(Kind.LIST, shape=(len(node.elts),), origin=node)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, frame: Frame | None) -> Value:
        over = self.of(node.generators[0].iter, frame)
        if over.kind is Kind.PATHS and self.of(node.elt, frame).kind is Kind.PATH:
            return Value(Kind.PATHS, over.extent, origin=over.origin)
        if isinstance(node.elt, ast.Call) and self._names.is_any(node.elt.func, makers.PATH):
            return Value(Kind.PATHS, Extent.WHOLE, origin=node)
        return Value(Kind.LIST, origin=node)

    # Numbers, shapes and types.

    def _number(self, node: ast.expr | None, frame: Frame | None, depth: int) -> int | float | None:
        if node is None or depth == 0:
            return None
        constant = _constant(node)
        if constant is not None:
            return constant
        if isinstance(node, ast.BinOp):
            operation = ARITHMETIC.get(type(node.op))
            left = self._number(node.left, frame, depth - 1) if operation else None
            right = self._number(node.right, frame, depth - 1) if operation else None
            if operation is None or left is None or right is None:
                return None
            try:
                return operation(left, right)
            except (ArithmeticError, ValueError):
                return None
        rows = self.rows(node)
        if rows is not None:
            shape = self.of(rows, frame).shape
            return shape[0] if shape else None
        found: set[int | float] = set()
        for each in self._flow.origins(node, frame) or ():
            is_whole = each.how is How.ASSIGNED and not each.path
            value = self._number(each.value, each.frame, depth - 1) if is_whole else None
            if value is None:  # no need to look further: functions that call themselves are many
                return None
            found.add(value)
        return found.pop() if len(found) == 1 else None

    def shape(self, node: ast.expr | None, frame: Frame | None = None) -> Shape | None:
        """The sizes a tuple, a list or a number gives; those that are not known are None."""
        if node is None:
            return None
        if isinstance(node, (ast.Tuple, ast.List)):
            return self._dimensions(node.elts, frame)
        if isinstance(node, ast.Name):
            origins = self._flow.origins(node, frame) or ()
            if len(origins) == 1 and isinstance(origins[0].value, (ast.Tuple, ast.List)):
                return self.shape(origins[0].value, origins[0].frame)
        size = self.number(node, frame)
        return (int(size),) if size is not None else None

    def _dimensions(self, nodes: Iterable[ast.expr], frame: Frame | None) -> Shape | None:
        sizes: list[int | None] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                inner = self.shape(node.value, frame)
                if inner is None:
                    return None
                sizes += inner
            else:
                size = self.number(node, frame)
                sizes.append(None if size is None else int(size))
        return tuple(sizes)

    def dtype(self, node: ast.expr | None) -> str | None:
        """The data type that is named: `tf.float32`, `np.float32`, `"float32"`."""
        if node is None:
            return None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value if node.value in makers.DTYPE_BYTES else None
        if isinstance(node, ast.Name) and node.id in ("float", "int", "bool"):
            return {"float": "float64", "int": "int64", "bool": "bool"}[node.id]
        name = (self._names.qualified(node) or "").rpartition(".")[2]
        return name if name in makers.DTYPE_BYTES else None


def common(values: Iterable[Value]) -> Value:
    """What several possible values agree on."""
    found = list(values)
    if not found:
        return UNKNOWN
    first, rest = found[0], found[1:]
    return Value(
        first.kind if all(each.kind is first.kind for each in rest) else Kind.UNKNOWN,
        first.extent if all(each.extent is first.extent for each in rest) else Extent.UNKNOWN,
        first.dtype if all(each.dtype == first.dtype for each in rest) else None,
        first.shape if all(each.shape == first.shape for each in rest) else None,
        first.origin,
    )


def _is_application(name: str) -> bool:
    """Whether a name is a ready-made architecture: `keras.applications.ResNet50`."""
    return name.startswith("keras.applications.") and name.rpartition(".")[2][:1].isupper()


def _unknown_rows(shape: Shape | None) -> Shape | None:
    return (None, *shape[1:]) if shape else None


def _is_everything(index: ast.expr | None) -> bool:
    return isinstance(index, ast.Slice) and index.lower is index.upper is index.step is None


def _constant(node: ast.expr) -> int | float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _constant(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return None if isinstance(node.value, bool) else node.value
    return None
