"""What operations make of the shapes and types of arrays and tensors."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tfmemlint.facts.flow.frames import Frame, frame_at
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.library.promotion import of_arrays, quotient
from tfmemlint.facts.sizes import applications, layers, rows
from tfmemlint.facts.sizes.amounts import Amount, count, named, product
from tfmemlint.facts.sizes.numbers import Numbers
from tfmemlint.facts.sizes.rows import PYTHON_FLOATS
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts import TensorFlow


class Sized(NamedTuple):
    """The shape and the type of an array or a tensor, as far as they are known."""

    dims: tuple[Amount, ...] | None
    dtype: str | None = None
    stands_in: str = ""
    """The name of an array of made up numbers, which stands in for the data there will be."""

    @property
    def reversed(self) -> Sized:
        """The same with its axes in the opposite order."""
        return self._replace(dims=None if self.dims is None else self.dims[::-1])


Ask = Callable[[ast.expr, Frame | None], Sized | None]

_MODULES = ("numpy.", "tensorflow.", "keras.ops.", "keras.backend.", "keras.activations.")
_ONE_BY_ONE = frozenset(
    """abs absolute ascontiguousarray asarray array cast ceil clip clip_by_norm clip_by_value
    constant convert_to_tensor copy cos cumsum divide_no_nan dropout elu ensure_shape erf exp expm1
    floor
    flip_left_right flip_up_down gelu identity is_finite l2_normalize leaky_relu log log1p
    log_softmax logical_not nan_to_num negative ones_like per_image_standardization relu relu6
    reverse roll round rsqrt selu sigmoid sign silu sin softmax softplus softsign sqrt square
    stop_gradient swish tanh zeros_like adjust_brightness adjust_contrast random_brightness
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
_READS_IMAGES = frozenset(
    {"cv2.imread", "cv2.resize", "keras.utils.img_to_array", "keras.utils.load_img"}
)
_NAMED = (ast.Attribute, ast.Name)
_MAX_HOPS = 5
_RUNS = frozenset({"predict", "predict_on_batch", "__call__", "call"})


class Results:
    """What calls make, of tensors that are asked for one by one."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._values = tf.values
        self._flow = tf.flow
        self._numbers = tf.of(Numbers)

    def of(self, node: ast.Call, frame: Frame | None, ask: Ask, elements: Ask) -> Sized | None:
        """The shape and type of what a call gives; None where that is not known."""
        name = self._names.qualified(node.func)
        if name is None:
            return self._method(node, frame, ask) or self._run(node, frame, ask)
        if name == "keras.Input":
            shape = self._shape(argument(node, 0, "shape"), frame)
            given = argument(node, None, "batch_size")
            batch = count(1) if given is None else self._numbers.of(given, frame)
            told = argument(node, None, "dtype")
            dtype = "float32" if told is None else self._values.dtype(told)
            return None if shape is None else Sized((batch, *shape), dtype)
        if name.startswith("keras.layers."):
            return None
        last = name.rpartition(".")[2]
        if name in _READS_IMAGES:
            return self._read(name, node, frame, ask)
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
            return Sized((*_SIDES, deep), dtype)
        filled = makers.FILLED.get(name)
        if filled is not None:
            dims = self.dimensions(node, frame)
            told = argument(node, filled.dtype_place, "dtype")
            dtype = filled.dtype if told is None else self._values.dtype(told)
            whole = [each for each in dims or [] if each is not None]
            return Sized(tuple(whole), dtype) if dims and len(whole) == len(dims) else None
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

    def _read(self, name: str, node: ast.Call, frame: Frame | None, ask: Ask) -> Sized | None:
        """Pictures as other libraries read them and cut them to size."""
        if name == "keras.utils.img_to_array":
            given = ask(node.args[0], frame) if node.args else None
            return None if given is None else given._replace(dtype="float32")
        if name == "keras.utils.load_img":
            size = self._shape(argument(node, None, "target_size"), frame)
            mode = argument(node, None, "color_mode")
            gray = isinstance(mode, ast.Constant) and mode.value == "grayscale"
            sides = (
                size if size is not None and len(size) == 2 else (named("height"), named("width"))
            )
            return Sized((*sides, count(1 if gray else 3)), "uint8")
        if name == "cv2.imread":
            flag = argument(node, 1, "flags")
            gray = flag is not None and "GRAY" in ast.unparse(flag)
            return Sized(_SIDES if gray else (*_SIDES, count(3)), "uint8")
        given = ask(node.args[0], frame) if node.args else None
        size = self._shape(argument(node, 1, "dsize"), frame)
        if given is None or given.dims is None or size is None or len(size) != 2:
            return None
        return given._replace(dims=(size[1], size[0], *given.dims[2:]))

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
        found = self._shape(argument(made, filled.place, filled.keyword), frame)
        return None if found is None else [*found]

    def is_filled(self, name: str, made: ast.Call) -> bool:
        """Whether something is filled with numbers of no meaning."""
        generated = isinstance(made.func, ast.Attribute) and made.func.attr in makers.GENERATED
        return name in makers.FILLED or (not name and generated)

    def is_tensor(self, node: ast.expr, frame: Frame | None) -> bool:
        """Whether something is a tensor or a variable, and no array."""
        return self._values.of(node, frame).kind in (Kind.TENSOR, Kind.VARIABLE)

    def matmul(self, left: Sized, right: Sized) -> Sized | None:
        """The product of matrices, or of stacks of them."""
        if not left.dims or not right.dims:
            return None
        leading = left.dims[:-1]
        columns = right.dims[-1:] if len(right.dims) > 1 else ()
        return Sized((*leading, *columns), promoted(left, right))

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
            return None
        if last == "linspace" and not given.dims:
            dims = rows.spaced(node, lambda each: self._numbers.of(each, frame))
            return Sized(dims, "float64" if name.startswith("numpy.") else "float32")
        if last in _ONE_BY_ONE:
            dtype = self._told(name, node, given)
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
            return self._reduced(last, node, given, frame)
        if last in ("matmul", "dot") and len(node.args) > 1:
            return self._multiplied(node, given, frame, ask)
        return self._reshaped(last, node, given, frame, ask)

    def _told(self, name: str, node: ast.Call, given: Sized) -> str | None:
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
        if _is_true(argument(node, 2, "transpose_a")):
            given = given._replace(dims=(*given.dims[:-2], given.dims[-1], given.dims[-2]))
        if _is_true(argument(node, 3, "transpose_b")):
            other = other._replace(dims=(*other.dims[:-2], other.dims[-1], other.dims[-2]))
        return self.matmul(given, other)

    def _reshaped(
        self, last: str, node: ast.Call, given: Sized, frame: Frame | None, ask: Ask
    ) -> Sized | None:
        assert given.dims is not None
        dims = given.dims
        if last == "one_hot":
            depth = argument(node, 1, "depth")
            told = argument(node, 5, "dtype")
            dtype = "float32" if told is None else self._values.dtype(told)
            return Sized((*dims, self._numbers.of(depth, frame)), dtype) if depth else None
        if last == "expand_dims":
            axis = argument(node, 1, "axis")
            place = self._numbers.of(axis, frame).value if axis is not None else None
            if place is None:
                return None
            at = int(place) if place >= 0 else len(dims) + 1 + int(place)
            return given._replace(dims=(*dims[:at], count(1), *dims[at:]))
        if last == "reshape":
            return self._as_told(given, argument(node, 1, "shape"), frame)
        if last == "transpose":
            order = self._shape(argument(node, 1, "perm") or argument(node, 1, "axes"), frame)
            if order is None:
                return given.reversed
            places = [int(each.value) for each in order if each.value is not None]
            fits = sorted(places) == list(range(len(dims)))
            return given._replace(dims=tuple(dims[each] for each in places)) if fits else None
        if last in ("resize", "resize_with_pad", "resize_with_crop_or_pad") and len(dims) in (3, 4):
            first, second = argument(node, 1, "size"), argument(node, 2, "target_width")
            size = self._shape(first, frame) or ()
            if last != "resize" and second is not None and first is not None:
                size = (self._numbers.of(first, frame), self._numbers.of(second, frame))
            dtype = "float32" if last != "resize_with_crop_or_pad" else given.dtype
            return Sized((*dims[:-3], *size, dims[-1]), dtype) if len(size) == 2 else None
        if last in ("tile", "repeat"):
            return self._repeated(last, node, given, frame)
        if last == "pad":
            return self._padded(given, argument(node, 1, "paddings"), frame)
        if last == "gather":
            picked = ask(node.args[1], frame) if len(node.args) > 1 else None
            if picked is None or picked.dims is None or len(node.args) + len(node.keywords) > 2:
                return None
            return given._replace(dims=(*picked.dims, *dims[1:]))
        if last == "boolean_mask":
            return given._replace(dims=(dims[0]._replace(value=None), *dims[1:]))
        return None

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

    def _reduced(
        self, last: str, node: ast.Call, given: Sized, frame: Frame | None
    ) -> Sized | None:
        assert given.dims is not None
        dtype = {"argmax": "int64", "argmin": "int64", "all": "bool"}.get(last, given.dtype)
        axis = argument(node, 1, "axis")
        keeps = _is_true(argument(node, 2, "keepdims"))
        if axis is None or (isinstance(axis, ast.Constant) and axis.value is None):
            if last in ("argmax", "argmin") and axis is None:
                return given._replace(dims=given.dims[1:], dtype=dtype)
            return Sized((), dtype)
        wanted = self._shape(axis, frame)
        places = [int(each.value) for each in wanted or () if each.value is not None]
        if not wanted or len(places) < len(wanted):
            return None
        gone = {each % len(given.dims) if given.dims else 0 for each in places}
        dims = [
            count(1) if place in gone else each
            for place, each in enumerate(given.dims)
            if keeps or place not in gone
        ]
        return given._replace(dims=tuple(dims), dtype=dtype)

    def _as_told(self, given: Sized, told: ast.expr | None, frame: Frame | None) -> Sized | None:
        wanted = self._shape(told, frame)
        if wanted is None or given.dims is None:
            return None
        if all(each.value != -1 for each in wanted):
            return given._replace(dims=wanted)
        rest = product([each for each in wanted if each.value != -1])
        whole = product(given.dims)
        left = whole.rounded_up(rest)
        return given._replace(dims=tuple(left if each.value == -1 else each for each in wanted))

    def _repeated(
        self, last: str, node: ast.Call, given: Sized, frame: Frame | None
    ) -> Sized | None:
        assert given.dims is not None
        if last == "tile":
            times = self._shape(argument(node, 1, "multiples"), frame)
            if times is None or len(times) != len(given.dims):
                return None
            pairs = zip(given.dims, times, strict=True)
            return given._replace(dims=tuple(one.times(other) for one, other in pairs))
        times_given, axis = argument(node, 1, "repeats"), argument(node, 2, "axis")
        if times_given is None or axis is None:
            return None
        by, place = self._numbers.of(times_given, frame), self._numbers.of(axis, frame).value
        if place is None:
            return None
        at = int(place) % len(given.dims)
        return given._replace(
            dims=(*given.dims[:at], given.dims[at].times(by), *given.dims[at + 1 :])
        )

    def _padded(self, given: Sized, told: ast.expr | None, frame: Frame | None) -> Sized | None:
        assert given.dims is not None
        if not isinstance(told, (ast.List, ast.Tuple)) or len(told.elts) != len(given.dims):
            return None
        dims: list[Amount] = []
        for size, each in zip(given.dims, told.elts, strict=True):
            added = self._shape(each, frame)
            if added is None:
                return None
            for more in added:
                size = size.plus(more) if more.value else size
            dims.append(size)
        return given._replace(dims=tuple(dims))

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
        if method not in _METHODS and method not in ("reshape", "tolist"):
            return None
        given = ask(node.func.value, frame)
        if given is None or given.dims is None:
            return None
        if method == "reshape":
            several = ast.Tuple([*node.args], ast.Load())
            shape = node.args[0] if len(node.args) == 1 else several
            return self._as_told(given, shape, frame)
        if method in ("copy", "numpy"):
            return given
        if method == "tolist":
            return Sized(given.dims, rows.listed(given.dtype))
        if method == "astype":
            told = argument(node, 0, "dtype")
            return given._replace(dtype=None if told is None else self._values.dtype(told))
        shifted = ast.Call(node.func, [node.func.value, *node.args], node.keywords)
        return self._reduced(method, shifted, given, frame)

    def _run(self, node: ast.Call, frame: Frame | None, ask: Ask) -> Sized | None:
        """What a layer, or a model that is a row of them, makes of its input."""
        callee = node.func
        if isinstance(callee, ast.Attribute) and callee.attr in _RUNS:
            callee = callee.value
        row = self.row_of(callee, frame)
        given = self._inputs(node, row, frame, ask)
        if not given or not row:
            return None
        made = layers.through(row, [each.dims or () for each in given])
        dtype = "float32" if (given[0].dtype or "").startswith(("int", "uint")) else given[0].dtype
        return None if made is None else Sized(made, dtype or "float32")

    def _inputs(
        self, node: ast.Call, row: list[layers.Layer] | None, frame: Frame | None, ask: Ask
    ) -> list[Sized]:
        found = [ask(each, frame) for each in layers.several_given(node, row)]
        known = [each for each in found if each is not None and each.dims is not None]
        return known if len(known) == len(found) else []

    def row_of(self, callee: ast.expr, frame: Frame | None = None) -> list[layers.Layer] | None:
        """The layers of a `Sequential`, or one layer by itself; None for anything else."""
        named = isinstance(callee, ast.Call) and self._names.qualified(callee.func) is not None
        made = callee if named else self._values.of(callee, frame).origin
        if not isinstance(made, ast.Call):
            return None
        name = self._names.qualified(made.func) or ""
        inside = frame_at(self._tree, made, frame)

        def numbers(node: ast.expr) -> tuple[int, ...] | None:
            return self._whole(node, inside)

        if name == "keras.Sequential":
            listed = argument(made, 0, "layers")
            if not isinstance(listed, (ast.List, ast.Tuple)):
                return None
            found: list[layers.Layer] = []
            for each in listed.elts:
                inner = self.row_of(each, frame)
                if inner is None:
                    return None
                found += inner
            return found
        if name in ("keras.Input", "keras.layers.Input"):
            return [layers.Layer("InputLayer", made, numbers, None, inside)]
        if name.startswith("keras.applications."):
            ready = f"{applications.PREFIX}{name.rpartition('.')[2]}"
            return [layers.Layer(ready, made, numbers, None, inside)]
        if not name.startswith("keras.layers."):
            return None
        return [layers.Layer(name.rpartition(".")[2], made, numbers, self.row_of, inside)]

    def output_of(self, model: ast.expr, frame: Frame | None = None) -> layers.Dims | None:
        """The shape of `model.output`, of a ready-made model that is told of its input."""
        row = self.row_of(model, frame)
        only = row[0] if row is not None and len(row) == 1 else None
        if only is None or not applications.is_ready_made(only.name):
            return None
        told = applications.inputs(only.made, only.numbers) or (count(1),)
        return layers.output(only, [told])

    def _whole(self, node: ast.expr, frame: Frame | None) -> tuple[int, ...] | None:
        found = self._shape(node, frame)
        whole = [int(each.value) for each in found or () if each.value is not None]
        return tuple(whole) if found is not None and len(whole) == len(found) else None

    def _shape(
        self, node: ast.expr | None, frame: Frame | None, hops: int = _MAX_HOPS
    ) -> tuple[Amount, ...] | None:
        """The sizes that a tuple, a list or one number says."""
        if node is None:
            return None
        if isinstance(node, (ast.Tuple, ast.List)):
            found: list[Amount] = []
            for each in node.elts:
                inner = self._shape(each.value, frame) if isinstance(each, ast.Starred) else None
                if isinstance(each, ast.Starred) and inner is None:
                    return None
                found += inner if inner is not None else [self._numbers.of(each, frame)]
            return tuple(found)
        shape = self._values.shape(node, frame)
        if shape is not None and None not in shape:
            return tuple(count(each) for each in shape if each is not None)
        origins = self._flow.origins(node, frame) or () if isinstance(node, _NAMED) else ()
        if hops and len(origins) == 1 and not origins[0].path:
            return self._shape(origins[0].value, origins[0].frame, hops - 1)
        return (self._numbers.of(node, frame),)


_SIDES = (named("height"), named("width"))
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


def _is_range(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    )


def broadcast(left: Sized, right: Sized, dtype: str | None) -> Sized | None:
    """The shape of what is made of two arrays number by number."""
    if left.dims is None or right.dims is None:
        return None
    longer, shorter = sorted((left.dims, right.dims), key=len, reverse=True)
    padded = (*(count(1) for _ in range(len(longer) - len(shorter))), *shorter)
    pairs = zip(longer, padded, strict=True)
    dims = tuple(other if one.value == 1 else one for one, other in pairs)
    return Sized(dims, dtype)


def promoted(
    left: Sized, right: Sized, *, divides: bool = False, tensor: Sized | None = None
) -> str | None:
    """The type of what is made of two arrays: a plain number has none of its own.

    A tensor among them, `tensor`, has the other become one of its type.
    """
    if tensor is not None and tensor.dtype is not None:
        return quotient(tensor.dtype, tensor=True) if divides else tensor.dtype
    weak = [each for each in (left, right) if not each.dims and _is_weak(each.dtype)]
    if weak:
        other = right if left is weak[0] else left
        dtype = other.dtype
        if weak[0].dtype == PYTHON_FLOATS and dtype not in (None, PYTHON_FLOATS):
            dtype = of_arrays(dtype, "float16") if quotient(dtype) == dtype else "float64"
        if _is_weak(dtype):
            both = {each.dtype for each in (left, right)}
            dtype = PYTHON_FLOATS if divides or PYTHON_FLOATS in both else dtype
            return None if None in both else dtype
    elif left.dtype is None or right.dtype is None:
        dtype = left.dtype or right.dtype if not (left.dims and right.dims) else None
    else:
        dtype = of_arrays(left.dtype, right.dtype) if left.dtype != right.dtype else left.dtype
    return quotient(dtype) if divides else dtype


def _is_weak(dtype: str | None) -> bool:
    """Whether it is that of Python's own numbers, if of any."""
    return dtype is None or dtype in rows.LISTED


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _may_be_list(node: ast.expr) -> bool:
    return isinstance(node, (*_NAMED, ast.Call, ast.List, ast.ListComp, ast.Subscript, ast.Tuple))
