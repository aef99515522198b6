"""How many numbers the weights of Keras layers are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from tfmemlint.facts.library import keras_layers as known
from tfmemlint.facts.sizes import applications
from tfmemlint.facts.sizes.layer_calls import Dims, Layer, kind_of
from tfmemlint.facts.sizes.layers import across, kernel_of, output, wholes
from tfmemlint.facts.syntax.nodes import is_none

_CONVOLUTIONS = ("Conv", "ConvLSTM", "ConvTranspose", "DepthwiseConv", "SeparableConv")
_DRAWN = frozenset({"Conv", "ConvTranspose", "Dense", "Embedding"})
_GATES = {"GRU": 3, "LSTM": 4, "SimpleRNN": 1}


def weights(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    """How many numbers the weights of a layer are; None where that is not known."""
    name, kind = layer.name, layer.kind
    if applications.is_ready_made(name):
        return applications.weights(name, layer.made, layer.numbers)
    if is_weightless(name):
        return 0
    counts = _COUNTS.get(kind)
    if counts is None or not layer.is_understood:
        return None
    return counts(layer, inputs)


def kernel(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    """How many numbers the one weight of a layer is that is drawn at random by default."""
    if layer.kind not in _DRAWN:
        return None
    told = layer.given("kernel_initializer") or layer.given("embeddings_initializer")
    whole = weights(layer, inputs) if told is None else None
    if (
        whole is None
        or layer.kind == "Embedding"
        or layer.says("use_bias", otherwise=True) is False
    ):
        return whole
    width = layer.one("units" if layer.kind == "Dense" else "filters")
    return None if width is None else whole - width


def is_weightless(name: str) -> bool:
    """Whether layers of a class are known to have no weights, `Dropout` and the like."""
    if name in known.KEEPS | known.MERGES | known.WEIGHTLESS:
        return name not in known.NORMALIZES
    return kind_of(name) in known.WEIGHTLESS_OF_AXES


def _width(inputs: Sequence[Dims], place: int = -1) -> int | None:
    """How long an axis of the first input is."""
    if not inputs or not -len(inputs[0]) <= place < len(inputs[0]):
        return None
    size = inputs[0][place].value
    return None if size is None else int(size)


def _is(layer: Layer, parameter: str, *, otherwise: bool = True) -> bool | None:
    """Whether an argument says yes; None where that is not known."""
    said = layer.says(parameter, otherwise=otherwise)
    return said if isinstance(said, bool) else None


def _dense(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    width, units, bias = _width(inputs), layer.one("units"), _is(layer, "use_bias")
    return width * units + units * bias if width and units and bias is not None else None


def _embedding(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    del inputs
    rows, columns = layer.one("input_dim"), layer.one("output_dim")
    tied = _is(layer, "tie_weights")
    if not rows or not columns or tied is None:
        return None
    return rows * columns * (1 if tied else 2)


def _recurrent(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    if layer.name == "RNN":
        cells = layer.inner
        if not cells or len(cells) != 1 or not cells[0].name.endswith("Cell"):
            return None
        return _recurrent(cells[0]._replace(name=cells[0].name.removesuffix("Cell")), inputs)
    width, units, bias = _width(inputs), layer.one("units"), _is(layer, "use_bias")
    twice = _is(layer, "reset_after") if layer.name == "GRU" else False
    gates = _GATES.get(layer.name)
    if not width or not units or bias is None or twice is None or gates is None:
        return None
    return gates * units * (units + width + bias * (2 if twice else 1))


def _convolution(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    kernel = across(kernel_of(layer), layer.axes or 0)
    width, bias = _width(inputs), _is(layer, "use_bias")
    if not kernel or not width or bias is None:
        return None
    kind, area = layer.kind, prod(kernel)
    if kind in ("DepthwiseConv", "SeparableConv"):
        times = layer.one("depth_multiplier", 1)
        if times is None:
            return None
        if kind == "DepthwiseConv":
            return width * times * (area + bias)
    else:
        times = 1
    filters, groups = layer.one("filters"), layer.one("groups", 1)
    if not filters or not groups:
        return None
    if kind == "SeparableConv":
        return width * times * (area + filters) + filters * bias
    if kind == "ConvLSTM":
        return 4 * filters * (area * (width + filters) + bias)
    return width // groups * area * filters + filters * bias


def _of_channels(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    """A row of numbers for scale, for center, and two more for what was seen of batches."""
    axes = layer.several("axis", (-1,))
    centers, scales = _is(layer, "center"), _is(layer, "scale")
    sizes = [_width(inputs, each) for each in axes or ()]
    whole = [each for each in sizes if each]
    if not whole or len(whole) < len(sizes) or centers is None or scales is None:
        return None
    if layer.given("gamma") is not None or layer.given("rms_scaling") is not None:
        return None
    if layer.name == "RMSNormalization":
        return prod(whole)
    return prod(whole) * (centers + scales + 2 * (layer.name == "BatchNormalization"))


def _normalization(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    """A mean and a variance of each, and how many there were; none where they are told."""
    told = layer.given("mean")
    if told is not None:
        return None if is_none(told) else 0
    given = layer.given("axis")
    if is_none(given):
        return 3
    axes = layer.several("axis", (-1,))
    sizes = [_width(inputs, each) for each in axes or ()]
    whole = [each for each in sizes if each]
    return 2 * prod(whole) + 1 if whole and len(whole) == len(sizes) else None


def _slopes(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    """One for each number of an example, but on axes that share them."""
    shared = layer.several("shared_axes", ())
    sizes = wholes(inputs[0][1:]) if inputs else None
    if shared is None or sizes is None:
        return None
    return prod(each for place, each in enumerate(sizes, 1) if place not in shared)


def _attention(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    """The matrices of queries, keys and values, and of what comes out."""
    if layer.name == "GroupQueryAttention":
        heads, each = layer.one("num_query_heads"), layer.one("head_dim")
        fewer, value = layer.one("num_key_value_heads"), each
    else:
        heads, each = layer.one("num_heads"), layer.one("key_dim")
        fewer, value = heads, layer.one("value_dim", each) if each else None
    bias, widths = _is(layer, "use_bias"), [_width([one]) for one in inputs]
    whole = [one for one in widths if one]
    if len(whole) < 2 or len(whole) < len(widths):
        return None
    if not heads or not fewer or not each or not value or bias is None:
        return None
    queries, values, keys = whole[0], whole[1], whole[-1]
    made = heads * each * (queries + bias) + fewer * each * (keys + bias)
    return made + fewer * value * (values + bias) + queries * (heads * value + bias)


def _scores(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    if layer.name == "AdditiveAttention":
        scaled, width = _is(layer, "use_scale"), _width(inputs)
        return None if scaled is None or width is None else scaled * width
    scaled, mode = _is(layer, "use_scale", otherwise=False), layer.says("score_mode", "dot")
    if scaled is None or mode not in ("concat", "dot"):
        return None
    return scaled + (mode == "concat")


def _both_ways(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    row = layer.inner
    one = weights(row[0], inputs) if row and len(row) == 1 and row[0].name in _GATES else None
    return None if one is None else 2 * one


def _of_each_step(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    row = layer.inner
    if not row or not inputs or len(inputs[0]) < 3:
        return None
    given, total = [(inputs[0][0], *inputs[0][2:])], 0
    for each in row:
        more, made = weights(each, given), output(each, given)
        if more is None or made is None:
            return None
        given, total = [made], total + more
    return total


def _spectral(layer: Layer, inputs: Sequence[Dims]) -> int | None:
    """Those of the layer, and a vector as wide as its kernel."""
    row = layer.inner
    inner = row[0] if row and len(row) == 1 else None
    if inner is None or inner.kind not in ("Conv", "Dense", "Embedding"):
        return None
    own, made = weights(inner, inputs), output(inner, inputs)
    width = _width([made]) if made is not None else None
    return None if own is None or width is None else own + width


_COUNTS: dict[str, Callable[[Layer, Sequence[Dims]], int | None]] = {
    **dict.fromkeys(_GATES, _recurrent),
    **dict.fromkeys(known.NORMALIZES, _of_channels),
    **dict.fromkeys(known.TOGETHER, _attention),
    **dict.fromkeys(("AdditiveAttention", "Attention"), _scores),
    **dict.fromkeys(_CONVOLUTIONS, _convolution),
    **dict.fromkeys(("Embedding", "ReversibleEmbedding"), _embedding),
    "Bidirectional": _both_ways,
    "Dense": _dense,
    "Normalization": _normalization,
    "PReLU": _slopes,
    "RNN": _recurrent,
    "SpectralNormalization": _spectral,
    "TimeDistributed": _of_each_step,
}
