"""What calls give back, of functions and methods that are known."""

from __future__ import annotations

import ast

from tfmemlint.facts.flow.flow import Flow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.sizes import Sizes, ValueOf
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.kinds import UNKNOWN, Extent, Kind, Value, common
from tfmemlint.facts.library.known_data import (
    KERAS_DATASETS,
    MNIST_PARTS,
    READ_DATA_SETS,
    SKLEARN_DATASETS,
)
from tfmemlint.facts.library.shapes import (
    Shape,
    counted,
    expanded,
    joined,
    reshaped,
    resized,
    squeezed,
)
from tfmemlint.facts.library.tensor_functions import gives_tensor
from tfmemlint.facts.library.traits import Filled
from tfmemlint.facts.syntax.arithmetic import constant
from tfmemlint.facts.syntax.classes import KERAS_BASES
from tfmemlint.facts.syntax.names import Names
from tfmemlint.facts.syntax.nodes import called

_HUB_MODULE = "tensorflow_hub.Module"
_TOKENIZER = "transformers.Tokenizer.from_pretrained"
_ENCODES = frozenset({"batch_encode_plus", "encode", "encode_plus"})
_HAS_DATA = frozenset({Kind.ARRAY, Kind.TENSOR, Kind.FRAME, Kind.VARIABLE, Kind.STORED})


class Results:
    """Values that known functions make of their arguments."""

    def __init__(self, names: Names, flow: Flow, sizes: Sizes) -> None:
        self._names = names
        self._flow = flow
        self._sizes = sizes

    def of_function(self, name: str, node: ast.Call, frame: Frame | None, value: ValueOf) -> Value:
        """What a call of an imported function gives, by the function's canonical name."""
        numpy = name.startswith("numpy.")
        kind = Kind.ARRAY if numpy else Kind.TENSOR
        if name in makers.MODELS or _is_application(name):
            return Value(Kind.MODEL, origin=node)
        if name in KERAS_BASES or name == _HUB_MODULE or name.startswith("keras.layers."):
            return Value(Kind.LAYER, origin=node)
        if name in makers.PATHS:
            return Value(Kind.PATHS, Extent.WHOLE, origin=node)
        if name in makers.PATH:
            return Value(Kind.PATH, Extent.PART, origin=node)
        if name in makers.FRAMES:
            return Value(Kind.FRAME, Extent.WHOLE, origin=node)
        if name == "numpy.memmap":
            mapped = Filled(4, "shape", "uint8", 1)
            return self._filled(kind, mapped, node, frame, value, by_dimension=False)
        if name in makers.LOADS_WHOLE:
            return Value(Kind.ARRAY, Extent.WHOLE, origin=node)
        if name in makers.STORED:
            return Value(Kind.STORED, Extent.WHOLE, origin=node)
        if name == "tensorflow.Variable":
            inner = value(node.args[0], frame) if node.args else UNKNOWN
            return Value(Kind.VARIABLE, inner.extent, inner.dtype, inner.shape, node)
        filled = makers.FILLED.get(name)
        if filled is not None:
            by_dimension = name in makers.DIMENSIONS_AS_ARGUMENTS
            return self._filled(kind, filled, node, frame, value, by_dimension=by_dimension)
        if name in makers.COUNTED or name in makers.SPACED:
            return self._counted(name, kind, node, frame, value)
        if name in makers.KEEPS_DATA or name.endswith(".preprocess_input"):
            return self._kept(name, kind, node, frame, value)
        if name in makers.JOINS and node.args and isinstance(node.args[0], (ast.List, ast.Tuple)):
            parts = [value(each, frame) for each in node.args[0].elts]
            whole = bool(parts) and all(each.extent is Extent.WHOLE for each in parts)
            extent = Extent.WHOLE if whole else Extent.UNKNOWN
            told = makers.argument(node, 1, "axis")
            axis = 1 if name == "numpy.hstack" else 0 if told is None else constant(told)
            shape = joined([each.shape for each in parts], axis)
            is_row = name.endswith("stack") and shape is not None and len(shape) == 1
            return Value(kind, extent, common(parts).dtype, None if is_row else shape, node)
        if numpy or name.startswith(("tensorflow.", "keras.ops.")):
            one = numpy or gives_tensor(name)
            return Value(kind, origin=node) if one else UNKNOWN
        return UNKNOWN

    def of_method(
        self, node: ast.Call, callee: ast.Attribute, frame: Frame | None, value: ValueOf
    ) -> Value:
        """What a call of a method of an array, a data frame or the like gives."""
        maker = callee.value
        made = self._maker(maker, frame)
        if made == _TOKENIZER and callee.attr in _ENCODES:
            return self.of_tokenizer(node, frame, value)
        if made in makers.RANDOM_GENERATORS:
            filled = makers.GENERATED.get(callee.attr)
            if filled is None:
                return Value(Kind.ARRAY, origin=node)
            by_dimension = callee.attr in makers.DIMENSIONS_AS_ARGUMENTS
            return self._filled(Kind.ARRAY, filled, node, frame, value, by_dimension=by_dimension)
        if made in makers.PATH and callee.attr in ("glob", "rglob", "iterdir"):
            return Value(Kind.PATHS, Extent.WHOLE, origin=node)
        if callee.attr in makers.SCALES and node.args and (made or "").startswith(makers.SCALERS):
            scaled = value(node.args[0], frame)
            is_data = scaled.is_array or scaled.kind is Kind.FRAME
            floats = made in makers.KEEPS_FLOATS and scaled.dtype is not None
            kept = scaled.dtype if (scaled.dtype or "").startswith("float") else "float64"
            dtype = kept if floats else None
            return scaled._replace(kind=Kind.ARRAY, dtype=dtype) if is_data else UNKNOWN
        inner = value(maker, frame)
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
            shape = inner.shape if callee.attr in ("astype", "clip", "copy", "numpy") else None
            if callee.attr == "reshape":
                wanted = (
                    self._sizes.shape(node.args[0], frame, value)
                    if len(node.args) == 1
                    else self._sizes.dimensions(node.args, frame, value)
                )
                shape = reshaped(inner.shape, wanted)
            return Value(
                Kind.ARRAY if callee.attr == "numpy" else inner.kind,
                inner.extent,
                inner.dtype if cast is None else self._sizes.dtype(cast),
                shape,
                inner.origin,
            )
        return UNKNOWN

    def _maker(self, made: ast.expr, frame: Frame | None) -> str | None:
        """The imported function that surely made something."""
        name = self._names.qualified(made.func) if isinstance(made, ast.Call) else None
        if name is not None or not isinstance(made, (ast.Attribute, ast.Name)):
            return name
        origins = self._flow.origins(made, frame) or ()
        calls = [each.value for each in origins if isinstance(each.value, ast.Call)]
        names = {self._names.qualified(each.func) for each in calls}
        return names.pop() if len(names) == 1 and len(calls) == len(origins) else None

    def of_object(self, node: ast.Call, frame: Frame | None, value: ValueOf) -> Value:
        """What an object gives that is called like a function: a tokenizer of `transformers`."""
        if makers.argument(node, None, "return_tensors") is None:
            return UNKNOWN
        is_tokenizer = self._maker(node.func, frame) == _TOKENIZER
        return self.of_tokenizer(node, frame, value) if is_tokenizer else UNKNOWN

    def of_tokenizer(self, node: ast.Call, frame: Frame | None, value: ValueOf) -> Value:
        """The numbers of words, as many rows as there are texts, in tensors or in arrays."""
        asked = getattr(makers.argument(node, None, "return_tensors"), "value", None)
        kind = {"np": Kind.ARRAY, "tf": Kind.TENSOR}.get(str(asked))
        texts = makers.argument(node, 0, "text")
        while isinstance(texts, ast.Call):
            method = texts.func if isinstance(texts.func, ast.Attribute) else None
            if called(texts) in ("list", "tuple") and len(texts.args) == 1:
                texts = texts.args[0]
            elif method is not None and method.attr in ("to_list", "tolist"):
                texts = method.value
            else:
                break
        if kind is None or texts is None:
            return UNKNOWN
        inner = value(texts, frame)
        return Value(kind, inner.extent, None, None, inner.origin)

    def of_loading(self, node: ast.Call, path: tuple[int, ...]) -> Value | None:
        """An element of what `keras.datasets.mnist.load_data()` returns."""
        name = self._names.qualified(node.func) or ""
        if name in makers.LOADS_WHOLE and len(path) == 1:
            return Value(Kind.ARRAY, Extent.WHOLE, origin=node)  # one of what was kept together
        if not (name.startswith("keras.datasets.") and name.endswith(".load_data")):
            return None
        if len(path) < 2:
            return Value(Kind.LIST, Extent.WHOLE, origin=node)
        shapes = KERAS_DATASETS.get(name.split(".")[2])
        if shapes is None or len(path) != 2 or not all(0 <= each <= 1 for each in path):
            return Value(Kind.ARRAY, Extent.WHOLE, origin=node)
        shape, dtype = shapes[path[0]][path[1]]
        return Value(Kind.ARRAY, Extent.WHOLE, dtype, shape, node)

    def of_bundle(self, node: ast.Attribute, frame: Frame | None) -> Value:
        """`load_iris().data` of scikit-learn, `mnist.test.images` of TensorFlow 1: ready-made."""
        part = node.value
        if node.attr in ("images", "labels"):
            if not isinstance(part, ast.Attribute) or part.attr not in MNIST_PARTS:
                return UNKNOWN
            return self._of_mnist(node.attr, part, frame)
        made = self._flow.meant(node.value, frame)
        name = self._names.called(made)
        if node.attr not in ("data", "target"):
            return UNKNOWN
        if name in makers.LOADS_WHOLE:
            return Value(Kind.ARRAY, Extent.WHOLE, origin=made)
        shape = SKLEARN_DATASETS.get(name)
        if shape is None:
            return UNKNOWN
        if node.attr == "target":
            return Value(Kind.ARRAY, Extent.WHOLE, None, shape[:1], made)
        return Value(Kind.ARRAY, Extent.WHOLE, "float64", shape, made)

    def _of_mnist(self, attribute: str, part: ast.Attribute, frame: Frame | None) -> Value:
        made = self._flow.meant(part.value, frame)
        if not isinstance(made, ast.Call) or not self._names.is_any(made.func, READ_DATA_SETS):
            return UNKNOWN
        shape = (MNIST_PARTS[part.attr], 784) if attribute == "images" else None
        return Value(Kind.ARRAY, Extent.WHOLE, "float32" if shape else None, shape, made)

    def _filled(
        self,
        kind: Kind,
        filled: Filled,
        node: ast.Call,
        frame: Frame | None,
        value: ValueOf,
        *,
        by_dimension: bool,
    ) -> Value:
        """An array of a given shape; `by_dimension` if each argument is one of its sizes."""
        shape = (
            self._sizes.dimensions(node.args, frame, value)
            if by_dimension
            else self._sizes.shape(
                makers.argument(node, filled.place, filled.keyword), frame, value
            )
        )
        given = makers.argument(node, filled.dtype_place, "dtype")
        dtype = filled.dtype
        if given is not None:
            dtype = self._sizes.dtype(given)
        elif dtype is None:
            filler = makers.argument(node, *filled.filler)
            dtype = None if filler is None else self._dtype_of(filler, kind, frame, value)
        return Value(kind, Extent.WHOLE, dtype, shape, node)

    def _dtype_of(
        self, node: ast.expr, kind: Kind, frame: Frame | None, value: ValueOf
    ) -> str | None:
        """The dtype of an array, or of an array of a number."""
        number = self._sizes.number(node, frame, value)
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return "bool"
        if number is None:
            return value(node, frame).dtype
        bits = 64 if kind is Kind.ARRAY else 32
        return f"{type(number).__name__}{bits}"

    def _counted(
        self, name: str, kind: Kind, node: ast.Call, frame: Frame | None, value: ValueOf
    ) -> Value:
        """Numbers at even distances: places or a grid, so not what a program has for its data."""
        given = makers.argument(node, None, "dtype")
        dtype = None if given is None else self._sizes.dtype(given)
        if name in makers.SPACED:
            ends = [value(each, frame) for each in node.args[:2]]
            count = makers.argument(node, 2, "num")
            number = 50 if count is None else self._sizes.number(count, frame, value)
            length = int(number) if number is not None else None
            shape = None if any(each.is_array for each in ends) else (length,)
            return Value(kind, dtype=makers.SPACED[name] if given is None else dtype, shape=shape)
        numbers = [self._sizes.number(each, frame, value) for each in node.args[:3]]
        known = [each for each in numbers if each is not None]
        if not known or len(known) < len(numbers) or len(node.keywords) > (given is not None):
            return Value(kind, dtype=dtype, shape=(None,))
        whole, fractional = makers.COUNTED[name]
        if given is None:
            dtype = whole if all(isinstance(each, int) for each in known) else fractional
        start, stop = (0, known[0]) if len(known) == 1 else known[:2]
        length = counted(start, stop, known[2] if len(known) == 3 else 1)
        return Value(kind, dtype=dtype, shape=(length,))

    def _kept(
        self, name: str, kind: Kind, node: ast.Call, frame: Frame | None, value: ValueOf
    ) -> Value:
        """Functions that give back all the data they are given, in some other form."""
        source = makers.argument(node, 0, makers.KEEPS_DATA.get(name, "x"))
        inner = value(source, frame) if source is not None else UNKNOWN
        if inner.kind not in _HAS_DATA:
            return Value(kind, shape=() if inner.kind is Kind.NUMBER else None, origin=node)
        if name.startswith(("keras.", "sklearn.")):
            kind = Kind.ARRAY if inner.kind is Kind.FRAME else inner.kind
        dtype = self._kept_dtype(name, node, inner)
        shape = self._kept_shape(name, node, inner, frame, value)
        axis = makers.argument(node, 1, "axis") if name.endswith(".expand_dims") else None
        one = axis is not None and constant(axis) == 0  # one example, as a batch of one
        origin = node if inner.kind is Kind.STORED else inner.origin
        return Value(kind, Extent.PART if one else inner.extent, dtype, shape, origin)

    def _kept_dtype(self, name: str, node: ast.Call, inner: Value) -> str | None:
        place = makers.DTYPE_PLACE.get(name)
        given = None if place is None else makers.argument(node, place, "dtype")
        if given is not None:
            return self._sizes.dtype(given)
        if name == "tensorflow.one_hot" and makers.argument(node, 2, "on_value") is not None:
            return None
        if name == "tensorflow.image.resize":
            method = makers.argument(node, 2, "method")
            named = (self._names.qualified(method) or "").rpartition(".")[2]
            if isinstance(method, ast.Constant):
                named = str(method.value)
            if named.lower().startswith("nearest"):
                return inner.dtype
            return "float32" if named or method is None else None
        if name in makers.GIVES_FLOATS or name.endswith(".preprocess_input"):
            return inner.dtype if (inner.dtype or "").startswith("float") else None
        return makers.HAS_DTYPE.get(name, inner.dtype)

    def _kept_shape(
        self, name: str, node: ast.Call, inner: Value, frame: Frame | None, value: ValueOf
    ) -> Shape | None:
        if name in makers.KEEPS_SHAPE:
            return inner.shape
        if name.endswith(".squeeze"):
            axis = makers.argument(node, 1, "axis")
            number = self._sizes.number(axis, frame, value) if axis is not None else None
            return squeezed(inner.shape, number) if axis is None or number is not None else None
        told = makers.argument(node, 1, makers.TOLD.get(name, ""))
        if told is None:
            return None
        if name.endswith(".reshape"):
            return reshaped(inner.shape, self._sizes.shape(told, frame, value))
        if name.endswith(".expand_dims"):
            return expanded(inner.shape, self._sizes.number(told, frame, value))
        if name == "tensorflow.image.resize":
            keeps_ratio = makers.argument(node, 3, "preserve_aspect_ratio") is not None
            size = None if keeps_ratio else self._sizes.shape(told, frame, value)
            return resized(inner.shape, size)
        if name == "tensorflow.one_hot" and inner.shape is not None:
            depth = self._sizes.number(told, frame, value)
            at_end = makers.argument(node, 4, "axis") is None
            return (*inner.shape, int(depth) if depth is not None else None) if at_end else None
        return None


def _is_application(name: str) -> bool:
    """Whether a name is a ready-made architecture: `keras.applications.ResNet50`."""
    return name.startswith("keras.applications.") and name.rpartition(".")[2][:1].isupper()
