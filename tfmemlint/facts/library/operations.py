"""What operations and Keras layers make of the tensors they are given."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import reduce
from math import inf

from tfmemlint.facts.flow.values import Values
from tfmemlint.facts.library import element_ops as ops
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import DTYPE_BYTES, FILLED, argument
from tfmemlint.facts.library.shapes import Shape, expanded, reshaped
from tfmemlint.facts.pipelines.features import FEATURES, feature, parsed
from tfmemlint.facts.pipelines.held import (
    LOST,
    NUMBER,
    OUTSIDE,
    Held,
    Several,
    Tensor,
    cast,
    number,
    pixels,
    resized,
    row,
    scaled,
    sizes,
    tensors,
    together,
    told,
    vague,
)
from tfmemlint.facts.pipelines.python_readers import run_reads
from tfmemlint.facts.syntax.functions import Functions
from tfmemlint.facts.syntax.names import Names
from tfmemlint.light_typing import NamedTuple


class Effects:
    """What code does besides giving a value, noted as it is run."""

    def __init__(self) -> None:
        self.random = False
        """It draws random numbers without being given their seeds."""
        self.stateful = False
        """It runs Python for each element, prints, or reads or changes what may change."""
        self.known = True
        """All of it is in sight and understood."""
        self.exact = True
        """Of a batch it makes, bit by bit, the batch of what it makes of the examples."""

    def lost(self) -> Tensor:
        """Something that was not understood."""
        self.known = False
        return LOST


class Given(NamedTuple):
    """The arguments of a call, run."""

    node: ast.Call
    places: tuple[Held, ...]
    keywords: Mapping[str | None, Held]

    @property
    def all(self) -> tuple[Held, ...]:
        """Every argument, those by place first."""
        return (*self.places, *self.keywords.values())

    @property
    def first(self) -> Held:
        """What the operation is applied to."""
        return self.all[0] if self.all else OUTSIDE

    def at(self, place: int | None, keyword: str) -> Held | None:
        """An argument by keyword or place."""
        by_place = None if place is None or place >= len(self.places) else self.places[place]
        return self.keywords.get(keyword, by_place)

    def number(self, place: int | None, keyword: str) -> float | None:
        """The number that is given, if it is a plain one."""
        held = self.at(place, keyword)
        return held.value if isinstance(held, Tensor) else None


class Operations:
    """The operations of TensorFlow, on tensors of which little is known."""

    def __init__(
        self, names: Names, functions: Functions, values: Values, effects: Effects
    ) -> None:
        self._names = names
        self._values = values
        self._effects = effects
        self._functions = functions

    def made(self, name: str, given: Given) -> Held:
        """What the operation `name` makes of its arguments."""
        effects, first = self._effects, given.first
        effects.random = effects.random or _is_random(name)
        effects.stateful = effects.stateful or name in ops.STATEFUL
        if name in ops.RUNS_PYTHON:
            return self._python(given)
        if given.all and isinstance(first, Tensor):
            exactly = self._exactly(name, first, given)
            if exactly is not None:
                return exactly
        of_element = any(part.times > 0 for each in given.all for part in tensors(each))
        effects.exact = effects.exact and not of_element
        data = isinstance(first, Tensor) and (first.is_decoded or first.times or first.shape)
        if isinstance(first, Tensor) and (data or name == "tensorflow.io.read_file"):
            of_data = self._of_data(name, first, given)
            if of_data is not None:
                return of_data
        if name in FILLED:
            filled = FILLED[name]
            dtype = self._dtype(given, filled.dtype_place, "dtype", filled.dtype)
            value = given.at(1, "value") if name == "tensorflow.fill" else None
            dtype = value.dtype if isinstance(value, Tensor) else dtype
            return Tensor(dtype, sizes(given.at(filled.place, filled.keyword)), 0.0)
        if name in FEATURES:
            return feature(name, given, self._values)
        if name in ops.PARSES:
            return parsed(name, given)
        if name in ops.JOINS:
            return _joined(name, first, given)
        seen = name.startswith(ops.PURE) or _is_random(name) or not of_element
        effects.known = effects.known and seen and not name.startswith(ops.UNSEEN)
        return OUTSIDE if name.startswith(ops.SMALLER) else vague(row(given.all))

    def pairwise(self, given: Sequence[Tensor]) -> Tensor:
        """Numbers combined one by one; what is broadcast might be along the batch as well."""
        data = [each for each in given if not each.is_number]
        ranks = {None if each.shape is None else len(each.shape) for each in data}
        of_element = all(each.times > 0 for each in data)
        is_sure = of_element and (len(data) == 1 or (len(ranks) == 1 and None not in ranks))
        self._effects.exact = self._effects.exact and is_sure
        return reduce(together, given)

    def divided(self, given: Sequence[Tensor], divisor: float | None) -> Tensor:
        """One by another; integers become floats before."""
        dividend = given[0]
        dtype = dividend.dtype or ""
        if dtype.startswith(("int", "uint")):
            dividend = cast(dividend, "float64" if DTYPE_BYTES[dtype] >= 4 else "float32")
        made = self.pairwise([dividend, *given[1:]])
        return scaled(made, 1 / divisor if divisor else None)

    def layer(self, maker: ast.Call, held: Held) -> Held:
        """What a Keras layer, made by this call, makes of its input."""
        name = self._names.qualified(maker.func) or ""
        if name == "keras.Sequential":
            layers = argument(maker, 0, "layers")
            for each in layers.elts if isinstance(layers, (ast.List, ast.Tuple)) else [maker]:
                made = self._values.of(each)
                if made.kind is not Kind.LAYER or not isinstance(made.origin, ast.Call):
                    return self._effects.lost()
                held = self.layer(made.origin, held)
            return held
        if not isinstance(held, Tensor):
            return self._effects.lost()
        is_random = name.startswith(ops.RANDOM)
        places = tuple(map(self._plain, maker.args))
        given = Given(maker, places, {each.arg: self._plain(each.value) for each in maker.keywords})
        self._effects.random = self._effects.random or is_random
        function = argument(maker, 0, "function") if name == "keras.layers.Lambda" else None
        applied = self._names.qualified(function)
        if function is not None and applied is not None:
            return self.made(applied, Given(ast.Call(function, [], []), (held,), {}))
        if name == "keras.layers.Rescaling":
            return scaled(cast(held, "float32"), given.number(0, "scale"))
        self._effects.exact = False
        if name in ops.RESIZES:
            return self._resized(name, held, given)
        if name == "keras.layers.Normalization":
            return cast(held, "float32")
        return pixels(cast(held, "float32")) if is_random else self._effects.lost()

    def _plain(self, node: ast.expr) -> Held:
        """A number, or a tuple of numbers, that stands in the code."""
        if isinstance(node, (ast.Tuple, ast.List)):
            return row(map(self._plain, node.elts))
        value = self._values.number(node)
        return OUTSIDE if value is None else number(value)

    def _dtype(
        self, given: Given, place: int | None, keyword: str, otherwise: str | None = None
    ) -> str | None:
        named = argument(given.node, place, keyword)
        return otherwise if named is None else self._values.dtype(named)

    def _exactly(self, name: str, first: Tensor, given: Given) -> Tensor | None:
        """What operations make that know no difference between an example and a batch."""
        operands = [each for each in given.all if isinstance(each, Tensor)]
        if name in ops.CASTS:
            return cast(first, self._dtype(given, 1, "dtype"))
        if name == "tensorflow.image.convert_image_dtype":
            return pixels(cast(first, self._dtype(given, 1, "dtype")))
        if name in ops.EXACT:
            factor = given.number(1, "y")
            if name.endswith(("divide", "truediv")):
                return self.divided(operands, factor)
            return scaled(self.pairwise(operands), factor if name.endswith("multiply") else None)
        if name == "tensorflow.one_hot":
            return self._one_hot(first, given)
        if name in ops.EXPANDS and given.number(1, "axis") == -1:
            return first._replace(shape=None if first.shape is None else (*first.shape, 1))
        return None

    def _of_data(self, name: str, first: Tensor, given: Given) -> Held | None:
        """What is made of a tensor of the element; None where nothing is known of that."""
        if name == "tensorflow.io.read_file":
            return Tensor("string", times=inf)
        if name in ops.DECODES:
            channels = given.number(1, "channels")
            image = (None, None, int(channels) if channels else None)
            dtype = self._dtype(given, None, "dtype", "uint8")
            return Tensor(dtype, image, first.times * 2, is_image=True, is_decoded=True)
        if name == "tensorflow.audio.decode_wav":
            return row((Tensor("float32", None, first.times * 2, is_decoded=True), NUMBER))
        if name in ops.REINTERPRETS:
            numbers = self._dtype(given, 1, "out_type")
            read = first.times == inf
            return Tensor(numbers, None, first.times, is_decoded=read, is_packed=True)
        if name in ops.RESIZES:
            return self._resized(name, first, given)
        if name in ops.SPLITS:
            return _split(name, first, given)
        if name == "tensorflow.image.per_image_standardization":
            return pixels(cast(first, "float32"))
        if name.endswith(".preprocess_input"):
            return pixels(cast(first, "float32"))
        if name == "tensorflow.image.rgb_to_grayscale":
            return resized(first, first.shape and (*first.shape[:-1], 1), first.dtype)
        if name == "tensorflow.image.grayscale_to_rgb":
            shape = first.shape and (*first.shape[:-1], 3)
            return pixels(first)._replace(shape=shape, times=first.times * 3)
        if name == "tensorflow.ensure_shape":
            return told(first, sizes(given.at(1, "shape")))
        if name in ops.KEEPS_SIZE or name.startswith(ops.ADJUSTS):
            return pixels(first) if name.startswith("tensorflow.image.") else first
        if name in ops.EXPANDS:
            return first._replace(shape=expanded(first.shape, given.number(1, "axis")))
        if name in ops.RESHAPES:
            wanted = sizes(given.at(1, "shape")) if name.endswith("reshape") else None
            made = reshaped(first.shape, wanted)
            is_open = made is not None and -1 in (wanted or ()) and first.shape is None
            return first._replace(shape=None if is_open else made)
        return None

    def _one_hot(self, first: Tensor, given: Given) -> Tensor:
        depth = given.number(1, "depth")
        self._effects.exact = self._effects.exact and given.at(4, "axis") is None
        dtype = self._dtype(given, 5, "dtype", "float32")
        width = DTYPE_BYTES.get(dtype or "", 1) / DTYPE_BYTES.get(first.dtype or "", 8)
        shape = (*first.shape, int(depth)) if depth and first.shape is not None else None
        return Tensor(dtype, shape, first.times * (depth or 0.125) * width)

    def _resized(self, name: str, held: Tensor, given: Given) -> Tensor:
        told = [given.at(place, "") for place in ops.RESIZES[name]]
        told += [given.at(None, keyword) for keyword in ops.RESIZE_KEYWORDS]
        said: Shape = ()
        for each in told:
            said += (sizes(each) or (None,)) if each is not None else ()
        channels = held.shape[-1] if held.shape else None
        together = held.shape[:-3] if held.shape else ()  # as many as a batch has
        shape = {2: (*together, *said, channels)}.get(len(said), said if len(said) > 2 else None)
        behind = max(ops.RESIZES[name], default=None)
        method = argument(given.node, None if behind is None else behind + 1, "method")
        method = method or argument(given.node, None, "interpolation")
        told_how = (self._names.qualified(method) or "").rpartition(".")[2]
        if isinstance(method, ast.Constant):
            told_how = str(method.value)
        picks = name not in ops.INTERPOLATES or told_how.lower().startswith("nearest")
        return resized(held._replace(is_image=True), shape, held.dtype if picks else "float32")

    def _python(self, given: Given) -> Held:
        """What Python code gives; of the name of a file, floats only after reading it."""
        self._effects.exact = False
        inputs = [part for each in given.all for part in tensors(each)]
        of_file = any(each.is_path or each.times == inf for each in inputs)
        of_file = of_file or run_reads(given.node, self._names, self._functions)

        def made(output: ast.expr | None) -> Tensor:
            dtype = self._values.dtype(output)
            is_read = of_file and dtype in ("uint8", "float16", "float32", "float64")
            return Tensor(dtype, None, inf if is_read else 0.0)

        outputs = argument(given.node, 2, "Tout")
        if isinstance(outputs, (ast.List, ast.Tuple)):
            return row(map(made, outputs.elts))
        return made(outputs)


def _split(name: str, whole: Tensor, given: Given) -> Held:
    """The pieces of a tensor, each as large: `tf.split(image, 3, axis=-1)`."""
    drops = name.endswith("unstack")
    keyword = "num" if drops else "num_or_size_splits"
    told = given.at(1, keyword)
    by_place = len(told.parts) if isinstance(told, Several) else given.number(1, keyword)
    axis = given.number(2, "axis")
    place = 0 if axis is None else int(axis)
    shape = whole.shape if whole.shape and -len(whole.shape) <= place < len(whole.shape) else None
    side = shape[place] if shape is not None else None
    pieces = int(by_place or (drops and side) or 0)
    if pieces == 0:
        return Several(((None, vague(whole)._replace(is_image=whole.is_image)),))
    cut = None
    if shape is not None:
        left = [] if drops else [None if side is None else side // pieces]
        place %= len(shape)
        cut = (*shape[:place], *left, *shape[place + 1 :])
    return row([whole._replace(shape=cut, times=whole.times / pieces)] * pieces)


def _joined(name: str, first: Held, given: Given) -> Tensor:
    """One tensor of several: as large as all of them, where each is known to be of the element."""
    parts = list(tensors(first))
    least = min((each.times for each in parts), default=0.0)
    is_image = any(each.is_image for each in parts)
    dtypes = {each.dtype for each in parts}
    made = vague(first)._replace(times=least, is_image=is_image)
    if not isinstance(first, Several) or None in first.keys or len(dtypes) != 1:
        return made
    made = made._replace(dtype=dtypes.pop(), times=sum(each.times for each in parts))
    shapes = {each.shape for each in parts}
    shape = shapes.pop()
    stacks = name.endswith("stack")
    axis = 0 if stacks and given.at(1, "axis") is None else given.number(1, "axis")
    axes = 0 if shape is None else len(shape) + stacks
    if shapes or shape is None or axis is None or not -axes <= axis < axes:
        return made
    place = int(axis) % axes
    if stacks:
        return made._replace(shape=(*shape[:place], len(parts), *shape[place:]))
    side = shape[place]
    long = None if side is None else side * len(parts)
    return made._replace(shape=(*shape[:place], long, *shape[place + 1 :]))


def _is_random(name: str) -> bool:
    return name.startswith(ops.RANDOM) and not name.startswith(ops.STATELESS)
