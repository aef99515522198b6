"""What Keras layers make of the shape of their input, and how many numbers their weights are."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from math import ceil

from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes import applications
from tfmemlint.facts.sizes.amounts import Amount, count, product
from tfmemlint.light_typing import NamedTuple

Dims = tuple[Amount, ...]
Numbers = Callable[[ast.expr], tuple[int, ...] | None]
"""The whole numbers that a tuple, or one number, says."""

_KEEPS = frozenset(
    """Activation ActivityRegularization AlphaDropout BatchNormalization CenteredDropout Dropout ELU
    GaussianDropout GaussianNoise GroupNormalization LayerNormalization LeakyReLU Masking
    Normalization PReLU RandomBrightness RandomContrast RandomFlip RandomRotation RandomTranslation
    RandomZoom ReLU RMSNormalization Rescaling Softmax SpatialDropout1D SpatialDropout2D
    SpatialDropout3D SpectralNormalization UnitNormalization""".split()  # noqa: SIM905
)
IN_PLACE = frozenset({"Flatten", "Reshape", "InputLayer", "Permute", "Identity"})
"""Layers whose output is their input, seen in another shape."""
_MERGES = frozenset({"Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"})
_FOUR_A_CHANNEL = frozenset({"BatchNormalization", "Normalization"})
_TWO_A_CHANNEL = frozenset({"GroupNormalization", "LayerNormalization"})
_GATES = {"GRU": 3, "LSTM": 4, "SimpleRNN": 1}


class Layer(NamedTuple):
    """A layer as code makes it."""

    name: str
    """Its class, as `Dense`."""
    made: ast.Call
    numbers: Numbers

    def several(self, place: int | None, keyword: str) -> tuple[int, ...] | None:
        """The numbers of an argument."""
        given = argument(self.made, place, keyword)
        return None if given is None else self.numbers(given)

    def one(self, place: int | None, keyword: str, otherwise: int | None = None) -> int | None:
        """The number of an argument."""
        found = self.several(place, keyword)
        return found[0] if found else otherwise

    def says(self, place: int | None, keyword: str, otherwise: object = None) -> object:
        """The text, or the truth, of an argument."""
        given = argument(self.made, place, keyword)
        return given.value if isinstance(given, ast.Constant) else otherwise


def output(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    """The shape of what a layer makes."""
    if not inputs:
        return None
    given, name = inputs[0], layer.name
    if applications.is_ready_made(name):
        return applications.output(name, layer.made, given, layer.numbers)
    if name in _KEEPS or name in _MERGES or name in ("InputLayer", "Identity"):
        return max(inputs, key=len) if name in _MERGES else given
    if name in ("Dense", "EinsumDense"):
        units = layer.one(0, "units")
        return (*given[:-1], count(units)) if units else None
    if name == "Embedding":
        width = layer.one(1, "output_dim")
        return (*given, count(width)) if width else None
    if name == "Flatten":
        return (given[0], product(given[1:]))
    if name == "Reshape":
        return _reshaped(given, layer.several(0, "target_shape"))
    if name == "Concatenate":
        return joined(inputs, layer.one(0, "axis", -1) or -1)
    if name == "RepeatVector":
        times = layer.one(0, "n")
        return (given[0], count(times), *given[1:]) if times else None
    if name in ("MultiHeadAttention", "Attention", "AdditiveAttention"):
        return given
    if name in _GATES:
        units = layer.one(0, "units")
        steps = given[1:2] if layer.says(None, "return_sequences") is True else ()
        return (given[0], *steps, count(units)) if units else None
    return _spatial(layer, given)


def weights(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    """How many numbers the weights of a layer are; None where that is not known."""
    name, given = layer.name, inputs[0] if inputs else ()
    if applications.is_ready_made(name):
        return applications.weights(name, layer.made, layer.numbers)
    width = _whole(given[-1]) if given else None
    bias = layer.says(None, "use_bias", otherwise=True) is not False
    if name == "Embedding":
        rows, columns = layer.one(0, "input_dim"), layer.one(1, "output_dim")
        return rows * columns if rows and columns else None
    if name in _FOUR_A_CHANNEL:
        return width * 4 if width else None
    if name in _TWO_A_CHANNEL:
        return width * 2 if width else None
    if name == "Dense":
        units = layer.one(0, "units")
        return width * units + units * bias if units and width else None
    if name in _GATES:
        units = layer.one(0, "units")
        biases = 2 if name == "GRU" else 1
        gates = _GATES[name]
        return gates * units * (units + width + biases * bias) if units and width else None
    if name.startswith(("Conv", "SeparableConv", "DepthwiseConv")):
        return _of_convolution(layer, width, bias)
    if name == "MultiHeadAttention":
        heads, each = layer.one(0, "num_heads"), layer.one(1, "key_dim")
        value = layer.one(2, "value_dim") or each
        if not heads or not each or not value or not width:
            return None
        queries = 2 * heads * each * (width + bias) + heads * value * (width + bias)
        return queries + width * (heads * value + bias)
    return 0 if is_weightless(name) else None


def is_weightless(name: str) -> bool:
    """Whether layers of a class are known to have no weights, `Dropout` and the like."""
    known = name in _KEEPS | _MERGES | IN_PLACE or name.startswith(_WEIGHTLESS)
    return known and name not in _TWO_A_CHANNEL | _FOUR_A_CHANNEL


_WEIGHTLESS = (
    "Average",
    "Center",
    "Concatenate",
    "Cropping",
    "Flatten",
    "Global",
    "Max",
    "Random",
    "RepeatVector",
    "Resizing",
    "UpSampling",
    "ZeroPadding",
)


def _of_convolution(layer: Layer, width: int | None, bias: bool) -> int | None:
    filters, axes = _filters(layer), _axes(layer.name)
    kernel = layer.several(*_kernel_place(layer.name))
    if width is None or axes is None or kernel is None:
        return None
    area = 1
    for each in kernel * (axes if len(kernel) == 1 else 1):
        area *= each
    if layer.name.startswith("Depthwise"):
        return width * area + width * bias
    if filters is None:
        return None
    if layer.name.startswith("Separable"):
        return width * area + width * filters + filters * bias
    groups = layer.one(None, "groups", 1) or 1
    return width // groups * area * filters + filters * bias


def _spatial(layer: Layer, given: Dims) -> Dims | None:
    """Layers that slide over the axes between the batch and the channels."""
    name, axes = layer.name, _axes(layer.name)
    if axes is None or len(given) != axes + 2:
        return _resized(layer, given)
    batch, *space, channels = given
    if name.startswith("Global"):
        ones = [count(1)] * axes if layer.says(None, "keepdims") is True else []
        return (batch, *ones, channels)
    if name.startswith("ZeroPadding"):
        added = layer.several(0, "padding") or (1,)
        return (batch, *(each.plus(count(2 * added[0])) for each in space), channels)
    if name.startswith("UpSampling"):
        times = layer.several(0, "size") or (2,)
        times = times * axes if len(times) == 1 else times
        sizes = [count(by * (_whole(each) or 0)) for each, by in zip(space, times, strict=False)]
        return (batch, *sizes, channels)
    pools = "Pooling" in name
    kernel = layer.several(0, "pool_size") or (2,) if pools else layer.several(*_kernel_place(name))
    stride = layer.several(1 if pools else _kernel_place(name)[0] + 1, "strides")
    if kernel is None:
        return None
    stride = stride or (kernel if pools else (1,))
    same = str(layer.says(None, "padding", "valid")).lower() == "same"
    dilation = layer.one(None, "dilation_rate", 1) or 1
    made: list[Amount] = []
    for place, each in enumerate(space):
        size, by = _whole(each), stride[min(place, len(stride) - 1)]
        over = (kernel[min(place, len(kernel) - 1)] - 1) * dilation + 1
        if size is None or not by:
            return None
        if "Transpose" in name:
            made.append(count(size * by if same else size * by + max(over - by, 0)))
        else:
            made.append(count(ceil(size / by) if same else max(0, (size - over) // by + 1)))
    filters = None if pools or name.startswith("Depthwise") else _filters(layer)
    if not pools and not name.startswith("Depthwise") and filters is None:
        return None
    return (batch, *made, count(filters) if filters else channels)


def _resized(layer: Layer, given: Dims) -> Dims | None:
    if layer.name not in ("Resizing", "CenterCrop", "RandomCrop") or len(given) != 4:
        return None
    height, width = layer.one(0, "height"), layer.one(1, "width")
    return (given[0], count(height), count(width), given[3]) if height and width else None


def _axes(name: str) -> int | None:
    """Over how many axes a layer slides: 2 for `Conv2D` and `Conv2DTranspose`."""
    digits = [letter for letter in name if letter in "123"]
    return int(digits[-1]) if digits and name.startswith(_SLIDES) else None


_SLIDES = (
    "Average",
    "Conv",
    "Depthwise",
    "Global",
    "Max",
    "Separable",
    "UpSampling",
    "ZeroPadding",
)


def _kernel_place(name: str) -> tuple[int, str]:
    return (0 if name.startswith("Depthwise") else 1), "kernel_size"


def _filters(layer: Layer) -> int | None:
    return layer.one(0, "filters")


def _reshaped(given: Dims, wanted: tuple[int, ...] | None) -> Dims | None:
    if wanted is None:
        return None
    if -1 not in wanted:
        return (given[0], *map(count, wanted))
    sizes = [_whole(each) for each in given[1:]]
    there, rest = 1, 1
    for size in sizes:
        if size is None:
            return None
        there *= size
    for size in wanted:
        rest *= size if size > 0 else 1
    return (given[0], *(count(size if size > 0 else there // rest) for size in wanted))


def joined(inputs: Sequence[Dims], axis: int) -> Dims | None:
    """The shape of several arrays, one behind the other along an axis."""
    first = inputs[0]
    place = axis if axis >= 0 else len(first) + axis
    if not 0 <= place < len(first) or any(len(each) != len(first) for each in inputs):
        return None
    total = first[place]
    for each in inputs[1:]:
        total = total.plus(each[place])
    return (*first[:place], total, *first[place + 1 :])


def _whole(amount: Amount) -> int | None:
    return None if amount.value is None else int(amount.value)
