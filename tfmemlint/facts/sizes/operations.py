"""What operations make of the shapes and types of arrays and tensors."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes import layers, rows
from tfmemlint.facts.sizes.amounts import Amount, count, named
from tfmemlint.facts.sizes.images import IMAGES, METHODS, SIDES, Images
from tfmemlint.facts.sizes.networks import Networks
from tfmemlint.facts.sizes.numbers import Numbers
from tfmemlint.facts.sizes.reshapes import Reshapes
from tfmemlint.facts.sizes.sized import Ask, Sized, broadcast, matmul, promoted
from tfmemlint.facts.sizes.told import Told
from tfmemlint.facts.syntax.nodes import called, is_literal

_MODULES = ("numpy.", "tensorflow.", "keras.ops.", "keras.backend.", "keras.activations.")
_ONE_BY_ONE = frozenset(
    """abs absolute ascontiguousarray asarray array cast ceil clip clip_by_norm clip_by_value
    constant convert_to_tensor copy cos cumsum divide_no_nan dropout elu ensure_shape erf exp expm1
    floor
    flip_left_right flip_up_down gelu identity is_finite l2_normalize leaky_relu log log1p
    log_softmax logical_not nan_to_num negative ones_like per_image_standardization relu relu6
    permutation reverse roll round rsqrt selu sigmoid sign silu sin softmax softplus softsign sqrt
    square stop_gradient swish tanh zeros_like adjust_brightness adjust_contrast random_brightness
    random_contrast random_flip_left_right random_flip_up_down float32 Variable""".split()  # noqa: SIM905
)
_PAIRWISE = frozenset(
    """add divide floormod greater greater_equal less less_equal logical_and logical_or maximum
    minimum mod multiply not_equal equal pow power squared_difference subtract truediv""".split()  # noqa: SIM905
)
_COMPARES = frozenset(
    "equal greater greater_equal less less_equal logical_and logical_not not_equal".split()  # noqa: SIM905
)
_REDUCES = frozenset(
    """all amax amin any argmax argmin count_nonzero max mean median min prod reduce_all reduce_any
    reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_std reduce_sum
    reduce_variance std sum var""".split()  # noqa: SIM905
)
_METHODS = {
    "astype": "cast",
    "copy": "copy",
    "numpy": "identity",
    "max": "max",
    "mean": "mean",
    "min": "min",
    "std": "std",
    "sum": "sum",
    "var": "var",
}


class Operations:
    """What calls make, of tensors that are asked for one by one."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._values = tf.values
        self._numbers = tf.of(Numbers)
        self._told = tf.of(Told)
        self._reshapes = tf.of(Reshapes)
        self._networks = tf.of(Networks)
        self._images = tf.of(Images)

    def of(self, node: ast.Call, frame: Frame | None, ask: Ask, elements: Ask) -> Sized | None:
        """The shape and type of what a call gives; None where that is not known."""
        name = self._names.qualified(node.func)
        if name is None:
            return self._method(node, frame, ask) or self._networks.run(node, frame, ask)
        if name == "keras.Input":
            shape = self._told.shape(argument(node, 0, "shape"), frame)
            given = argument(node, None, "batch_size")
            batch = count(1) if given is None else self._numbers.of(given, frame)
            told = argument(node, None, "dtype")
            dtype = "float32" if told is None else self._values.dtype(told)
            return None if shape is None else Sized((batch, *shape), dtype)
        if name.startswith("keras.layers."):
            return None
        last = name.rpartition(".")[2]
        if name in IMAGES:
            return self._images.of(name, node, frame, ask)
        heard = rows.of_sound(name, node, lambda each: self._numbers.of(each, frame))
        if heard is not None:
            return Sized(heard, "complex64" if name.endswith(".stft") else "float32")
        if name == "keras.utils.pad_sequences":
            return self._padded_rows(node, frame)
        if not name.startswith(_MODULES):
            return None
        if last.startswith("decode_") and name.startswith(("tensorflow.image.", "tensorflow.io.")):
            channels = argument(node, 1, "channels")
            deep = named("channels") if channels is None else self._numbers.of(channels, frame)
            told = argument(node, None, "dtype")
            dtype = "uint8" if told is None else self._values.dtype(told)
            return Sized((*SIDES, deep), dtype)
        filled = makers.FILLED.get(name)
        if filled is not None:
            dims = self.dimensions(node, frame)
            told = argument(node, filled.dtype_place, "dtype")
            dtype = filled.dtype if told is None else self._values.dtype(told)
            whole = [each for each in dims or [] if each is not None]
            return Sized(tuple(whole), dtype) if dims and len(whole) == len(dims) else None
        if name in rows.IDENTITIES:
            square = rows.of_identity(name, node, lambda each: self._numbers.of(each, frame))
            _, _, place, dtype = rows.IDENTITIES[name]
            told = argument(node, place, "dtype")
            return Sized(square, dtype if told is None else self._values.dtype(told))
        return self._applied(last, name, node, frame, ask, elements)

    def _padded_rows(self, node: ast.Call, frame: Frame | None) -> Sized | None:
        made = rows.padded(
            node,
            lambda each: self._numbers.of(each, frame),
            lambda each: self._numbers.length(each, frame),
        )
        told = argument(node, 2, "dtype")
        dtype = "int32" if told is None else self._values.dtype(told)
        return None if made is None else Sized(made, dtype)

    def dimensions(self, made: ast.Call, frame: Frame | None) -> list[Amount | None] | None:
        """The sizes that something filled with numbers is given."""
        name = self._names.qualified(made.func) or ""
        filled = makers.FILLED.get(name)
        if filled is None and isinstance(made.func, ast.Attribute) and not name:
            filled = makers.GENERATED.get(made.func.attr)
            name = made.func.attr
        if filled is None:
            return None
        if name in makers.DIMENSIONS_AS_ARGUMENTS:
            return [self._numbers.of(each, frame) for each in made.args]
        found = self._told.shape(argument(made, filled.place, filled.keyword), frame)
        return None if found is None else [*found]

    def is_filled(self, name: str, made: ast.Call) -> bool:
        """Whether something is filled with numbers of no meaning."""
        generated = isinstance(made.func, ast.Attribute) and made.func.attr in makers.GENERATED
        return name in makers.FILLED or (not name and generated)

    def is_tensor(self, node: ast.expr, frame: Frame | None) -> bool:
        """Whether something is a tensor or a variable, and no array."""
        return self._values.of(node, frame).kind in (Kind.TENSOR, Kind.VARIABLE)

    def _applied(
        self, last: str, name: str, node: ast.Call, frame: Frame | None, ask: Ask, elements: Ask
    ) -> Sized | None:
        first = argument(node, 0, _FIRST.get(last, "x"))
        if first is None:
            return None
        if last in ("stack", "vstack") or (last in _FROM_LISTS and _may_be_list(first)):
            listed = self._stacked(first, node, frame, elements, last)
            if listed is not None:
                return listed
        if last in ("concat", "concatenate", "hstack", "vstack"):
            return self._joined(first, node, frame, ask, elements)
        if last in _FROM_LISTS and _is_range(first):
            return Sized((self._numbers.length(first, frame),), "int64")
        given = ask(first, frame)
        if given is None or given.dims is None:
            return Sized(()) if last in _REDUCES and _is_of_all(last, node) else None
        if last == "linspace" and not given.dims:
            dims = rows.spaced(node, lambda each: self._numbers.of(each, frame))
            return Sized(dims, "float64" if name.startswith("numpy.") else "float32")
        if last == "permutation" and not given.dims:
            return Sized((self._numbers.of(first, frame),), "int64")
        if last in _ONE_BY_ONE:
            dtype = self._dtype(name, node, given)
            dtype = rows.as_array(dtype, tensor=not name.startswith("numpy."))
            return given._replace(dtype=dtype, stands_in="")
        if last in _PAIRWISE:
            other = argument(node, 1, "y")
            second = ask(other, frame) if other is not None else None
            if second is None:
                return given if given.dims else None
            kinds = [
                Kind.TENSOR if self.is_tensor(each, frame) else Kind.ARRAY
                for each in (first, other)
                if each is not None
            ]
            numpy = name.startswith("numpy.")
            tensor = None if numpy or Kind.TENSOR not in kinds else (given, second)
            made = tensor[kinds.index(Kind.TENSOR)] if tensor is not None else None
            divides = last in ("divide", "truediv")
            dtype = promoted(given, second, divides=divides, tensor=made)
            dtype = "bool" if last in _COMPARES else dtype
            told = argument(node, None, "dtype")
            return broadcast(given, second, dtype if told is None else self._values.dtype(told))
        if last in _REDUCES:
            return self._reshapes.reduced(last, node, given, frame)
        if last in ("matmul", "dot") and len(node.args) > 1:
            return self._multiplied(node, given, frame, ask)
        return self._reshapes.of(last, node, given, frame, ask)

    def _dtype(self, name: str, node: ast.Call, given: Sized) -> str | None:
        place = makers.DTYPE_PLACE.get(name, 1 if name.endswith(".cast") else None)
        told = argument(node, place, "dtype")
        if told is not None:
            return self._values.dtype(told)
        return makers.HAS_DTYPE.get(name, given.dtype)

    def _multiplied(
        self, node: ast.Call, given: Sized, frame: Frame | None, ask: Ask
    ) -> Sized | None:
        other = ask(node.args[1], frame)
        if other is None or other.dims is None or given.dims is None:
            return None
        if is_literal(argument(node, 2, "transpose_a"), True):
            given = given._replace(dims=(*given.dims[:-2], given.dims[-1], given.dims[-2]))
        if is_literal(argument(node, 3, "transpose_b"), True):
            other = other._replace(dims=(*other.dims[:-2], other.dims[-1], other.dims[-2]))
        return matmul(given, other)

    def _stacked(
        self, first: ast.expr, node: ast.Call, frame: Frame | None, elements: Ask, last: str
    ) -> Sized | None:
        each = elements(first, frame)
        if each is None or each.dims is None:
            return None
        if last == "vstack" and len(each.dims) > 1:
            return None
        axis = argument(node, 1, "axis") if last == "stack" else None
        place = self._numbers.of(axis, frame).value if axis is not None else 0
        if place is None:
            return None
        at = int(place) if place >= 0 else len(each.dims) + 1 + int(place)
        length = self._numbers.length(first, frame)
        told = argument(node, makers.DTYPE_PLACE.get(last), "dtype")
        dtype = each.dtype if told is None else self._values.dtype(told)
        numpy = (self._names.qualified(node.func) or "").startswith("numpy.")
        dtype = rows.as_array(dtype, tensor=not numpy)
        return Sized((*each.dims[:at], length, *each.dims[at:]), dtype)

    def _joined(
        self, first: ast.expr, node: ast.Call, frame: Frame | None, ask: Ask, elements: Ask
    ) -> Sized | None:
        given = argument(node, 1, "axis")
        axis = self._numbers.of(given, frame).value if given is not None else 0
        if axis is None:
            return None
        if isinstance(first, (ast.List, ast.Tuple)):
            parts = [ask(each, frame) for each in first.elts]
            known = [each.dims for each in parts if each is not None and each.dims is not None]
            if len(known) < len(parts) or not parts or parts[0] is None:
                return None
            joined = layers.joined(known, int(axis))
            return None if joined is None else Sized(joined, parts[0].dtype)
        each = elements(first, frame)
        if each is None or not each.dims:
            return None
        at = int(axis) if axis >= 0 else len(each.dims) + int(axis)
        if not 0 <= at < len(each.dims):
            return None
        length = self._numbers.length(first, frame).times(each.dims[at])
        return each._replace(dims=(*each.dims[:at], length, *each.dims[at + 1 :]))

    def _method(self, node: ast.Call, frame: Frame | None, ask: Ask) -> Sized | None:
        if not isinstance(node.func, ast.Attribute):
            return None
        method = node.func.attr
        if method in makers.GENERATED:
            dims = self.dimensions(node, frame)
            value = self._values.of(node, frame)
            whole = [each for each in dims or [] if each is not None]
            if value.kind is Kind.ARRAY and dims and len(whole) == len(dims):
                return Sized(tuple(whole), value.dtype)
        if method not in _METHODS and method not in METHODS | {"reshape", "tolist"}:
            return None
        given = ask(node.func.value, frame)
        if given is None or given.dims is None:
            return None
        if method in METHODS:
            return self._images.method(node, given, frame)
        if method == "reshape":
            several = ast.Tuple([*node.args], ast.Load())
            shape = node.args[0] if len(node.args) == 1 else several
            return self._reshapes.as_told(given, shape, frame)
        if method in ("copy", "numpy"):
            return given
        if method == "tolist":
            return Sized(given.dims, rows.listed(given.dtype))
        if method == "astype":
            told = argument(node, 0, "dtype")
            return given._replace(dtype=None if told is None else self._values.dtype(told))
        shifted = ast.Call(node.func, [node.func.value, *node.args], node.keywords)
        return self._reshapes.reduced(method, shifted, given, frame)


_FIRST = {
    "array": "object",
    "asarray": "a",
    "concat": "values",
    "constant": "value",
    "convert_to_tensor": "value",
    "linspace": "start",
    "one_hot": "indices",
    "reduce_mean": "input_tensor",
    "reduce_sum": "input_tensor",
    "stack": "values",
}
_FROM_LISTS = frozenset({"array", "asarray", "constant", "convert_to_tensor"})


def _is_of_all(last: str, node: ast.Call) -> bool:
    """Whether a reduction leaves one number of whatever it is given."""
    told = argument(node, 1, "axis") or argument(node, 2, "keepdims")
    return told is None and last not in ("argmax", "argmin")


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and called(node) == "range"


def _may_be_list(node: ast.expr) -> bool:
    return isinstance(
        node, (ast.Attribute, ast.Name, ast.Call, ast.List, ast.ListComp, ast.Subscript, ast.Tuple)
    )
