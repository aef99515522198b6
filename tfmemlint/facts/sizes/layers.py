"""What Keras layers make of the shape of their input."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from math import ceil, prod

from tfmemlint.facts.library import keras_layers as known
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes import applications
from tfmemlint.facts.sizes.amounts import NOTHING, Amount, count, product
from tfmemlint.facts.sizes.layer_calls import Dims, Layer

IN_PLACE = frozenset({"Flatten", "Reshape", "InputLayer", "Permute", "Identity"})
"""Layers whose output is their input, seen in another shape."""
_ATTENDS = frozenset({"AdditiveAttention", "Attention"})
_KEPT_A_STEP = {"GRU": 6, "LSTM": 7}
"""Rows of their width that a step keeps in TensorFlow's loops, as they were counted."""
_RECURRENT = frozenset({"GRU", "LSTM", "SimpleRNN"})


def output(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    """The shape of what a layer makes."""
    if not inputs:
        return None
    given, kind = inputs[0], layer.kind
    if applications.is_ready_made(layer.name):
        return applications.output(layer.name, layer.made, given, layer.numbers)
    if layer.name in known.KEEPS:
        return given
    if not layer.is_understood:
        return None
    if kind in _BY_KIND:
        return _BY_KIND[kind](layer, inputs)
    return _slid(layer, given) if layer.axes is not None else None


def through(row: Sequence[Layer], inputs: Sequence[Dims]) -> Dims | None:
    """The shape of what layers make, one behind the other."""
    for layer in row:
        made = output(layer, inputs)
        if made is None:
            return None
        inputs = [made]
    return inputs[0] if inputs else None


def several_given(node: ast.Call, row: Sequence[Layer] | None) -> list[ast.expr]:
    """The tensors that a call gives to the first of these layers."""
    names = known.TOGETHER.get(row[0].name) if row else None
    if names is not None:
        found = [argument(node, place, name) for place, name in enumerate(names)]
        return [each for each in found if each is not None]
    first = node.args[:1]
    if first and isinstance(first[0], (ast.List, ast.Tuple)):
        return first[0].elts
    return first


def kept(layer: Layer, inputs: Sequence[Dims], made: Dims) -> Amount | None:
    """How many numbers a layer keeps for its gradients, beside what it gives."""
    if layer.name == "LayerNormalization":
        return product(made)  # before it is scaled and shifted
    if layer.name == "MultiHeadAttention":
        return _kept_of_attention(layer, inputs)
    if layer.name == "Bidirectional":
        row = layer.inner
        inner = output(row[0], inputs) if row and len(row) == 1 else None
        one = kept(row[0], inputs, inner) if row and inner is not None else None
        return None if one is None else one.plus(one)
    if layer.name == "TimeDistributed" and inputs and len(inputs[0]) > 2:
        return product(inputs[0]).times(inputs[0][1])  # a step's gradient is as large as them all
    gates = _KEPT_A_STEP.get(layer.name)
    units = layer.one("units")
    if gates and units and inputs and len(inputs[0]) == 3:
        batch, steps, width = inputs[0]  # each step of the input is taken out of it, too
        rows = batch.times(steps)
        return rows.times(count(gates * units)).plus(rows.times(width))
    return NOTHING


def _kept_of_attention(layer: Layer, inputs: Sequence[Dims]) -> Amount | None:
    """Queries, keys, values, what they are mixed to, and the share of each step in each."""
    heads, each = layer.one("num_heads"), layer.one("key_dim")
    value = layer.one("value_dim", each) if each else None
    if not heads or not each or not value or len(inputs) < 2:
        return None
    if any(len(one) != 3 for one in inputs):
        return None
    (batch, queries, _), (_, keys, _) = inputs[:2]
    rows = batch.times(queries).times(count(heads * (each + value)))
    columns = batch.times(keys).times(count(heads * (each + value)))
    return rows.plus(columns).plus(batch.times(count(heads)).times(queries).times(keys))


def _merged(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    """Of inputs that are stretched to each other, where an axis of one is 1."""
    del layer
    longest = max(map(len, inputs))
    padded = [(*[count(1)] * (longest - len(each)), *each) for each in inputs]
    columns = zip(*padded, strict=True)
    return tuple(next((each for each in one if each.value != 1), one[0]) for one in columns)


def _dense(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    units = layer.one("units")
    return (*inputs[0][:-1], count(units)) if units else None


def _embedded(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    width = layer.one("output_dim")
    return (*inputs[0], count(width)) if width else None


def _flat(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    del layer
    given = inputs[0]
    return (given[0], product(given[1:]) if given[1:] else count(1)) if given else None


def _reshaped(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    given, wanted = inputs[0], layer.several("target_shape")
    if wanted is None:
        return None
    if -1 not in wanted:
        return (given[0], *map(count, wanted))
    sizes = wholes(given[1:])
    if sizes is None:
        return None
    left = prod(sizes) // prod(each for each in wanted if each > 0)
    return (given[0], *(count(each if each > 0 else left) for each in wanted))


def _permuted(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    given, order = inputs[0], layer.several("dims")
    if order is None or sorted(order) != [*range(1, len(given))]:
        return None
    return (given[0], *(given[place] for place in order))


def _concatenated(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    axis = layer.one("axis", -1)
    return None if axis is None else joined(inputs, axis)


def _repeated(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    times = layer.one("n")
    return (inputs[0][0], count(times), *inputs[0][1:]) if times else None


def _resized(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    given, height, width = inputs[0], layer.one("height"), layer.one("width")
    if not height or not width or len(given) not in (3, 4):
        return None
    return (*given[:-3], count(height), count(width), given[-1])


def _attended(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    if layer.name in _ATTENDS:
        query, *others = inputs
        return (*query[:-1], *others[0][-1:]) if others else None
    return inputs[0]


def _recurrent(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    given, width = inputs[0], layer.one("units")
    if layer.name == "RNN":
        cells = layer.inner
        width = cells[0].one("units") if cells and len(cells) == 1 else None
    sequences = layer.says("return_sequences", otherwise=False)
    if not width or len(given) != 3 or not isinstance(sequences, bool):
        return None
    return (given[0], *(given[1:2] if sequences else ()), count(width))


def _both_ways(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    row, mode = layer.inner, layer.says("merge_mode", "concat")
    made = through(row, inputs) if row and row[0].name in _RECURRENT else None
    if made is None:
        return None
    if mode == "concat":
        return (*made[:-1], made[-1].plus(made[-1]))
    return made if mode in ("ave", "mul", "sum") else None


def _of_each_step(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    given, row = inputs[0], layer.inner
    made = through(row, [(given[0], *given[2:])]) if row and len(given) > 2 else None
    return None if made is None else (*made[:1], *given[1:2], *made[1:])


def _wrapped(layer: Layer, inputs: Sequence[Dims]) -> Dims | None:
    row = layer.inner
    return through(row, inputs) if row else None


_BY_KIND: dict[str, Callable[[Layer, Sequence[Dims]], Dims | None]] = {
    **dict.fromkeys(known.MERGES, _merged),
    **dict.fromkeys(known.TOGETHER, _attended),
    **dict.fromkeys(_ATTENDS, _attended),
    **dict.fromkeys((*_RECURRENT, "RNN"), _recurrent),
    **dict.fromkeys(("CenterCrop", "RandomCrop", "Resizing"), _resized),
    **dict.fromkeys(("Embedding", "ReversibleEmbedding"), _embedded),
    "Bidirectional": _both_ways,
    "Concatenate": _concatenated,
    "Dense": _dense,
    "Flatten": _flat,
    "Permute": _permuted,
    "RepeatVector": _repeated,
    "Reshape": _reshaped,
    "SpectralNormalization": _wrapped,
    "TimeDistributed": _of_each_step,
}


def _slid(layer: Layer, given: Dims) -> Dims | None:
    """Layers that slide over the axes between the batch and the channels."""
    kind, axes = layer.kind, layer.axes or 0
    if kind == "ConvLSTM" and len(given) == axes + 3:
        made = _slid_over(layer, (given[0], *given[2:]))
        sequences = layer.says("return_sequences", otherwise=False)
        if made is None or not isinstance(sequences, bool):
            return None
        return (given[0], *(given[1:2] if sequences else ()), *made[1:])
    if kind == "ConvLSTM" or len(given) != axes + 2:
        return None
    batch, *space, channels = given
    if kind.startswith("Global"):
        keeps = layer.says("keepdims", otherwise=False)
        ones = [count(1)] * axes if keeps is True else []
        return (batch, *ones, channels) if isinstance(keeps, bool) else None
    if kind.startswith("Adaptive"):
        sizes = across(layer.several("output_size"), axes)
        return None if sizes is None else (batch, *map(count, sizes), channels)
    if kind in ("Cropping", "ZeroPadding"):
        return _cut_or_padded(layer, given)
    if kind == "UpSampling":
        times = across(layer.several("size", (2,)), axes)
        before = wholes(space)
        if times is None or before is None:
            return None
        return (batch, *(count(one * by) for one, by in zip(before, times, strict=True)), channels)
    return _slid_over(layer, given)


def _cut_or_padded(layer: Layer, given: Dims) -> Dims | None:
    cuts, axes = layer.kind == "Cropping", len(given) - 2
    told = layer.given("cropping" if cuts else "padding")
    sides = _sides(layer, told, axes)
    sizes = wholes(given[1:-1])
    if sides is None or sizes is None:
        return None
    sign = -1 if cuts else 1
    made = [each + sign * sum(side) for each, side in zip(sizes, sides, strict=True)]
    return (given[0], *map(count, made), given[-1]) if min(made) > 0 else None


def _sides(layer: Layer, told: ast.expr | None, axes: int) -> Sequence[tuple[int, ...]] | None:
    """How much is cut off, or added, before and behind, on each axis."""
    if told is None:  # of all of these, `Cropping2D` alone does nothing unless it is told
        return [(0, 0) if layer.name == "Cropping2D" else (1, 1)] * axes
    parts = told.elts if isinstance(told, (ast.List, ast.Tuple)) else []
    if parts and all(isinstance(each, (ast.List, ast.Tuple)) for each in parts):
        pairs = [layer.numbers(each) for each in parts]
        whole = [each for each in pairs if each is not None and len(each) == 2]
        return whole if len(whole) == axes else None
    found = layer.numbers(told)
    if found is None:
        return None
    if axes == 1 and len(found) == 2:
        return [found]
    each_axis = across(found, axes)
    return None if each_axis is None else [(each, each) for each in each_axis]


def _slid_over(layer: Layer, given: Dims) -> Dims | None:
    kind, axes = layer.kind, len(given) - 2
    pools, is_depthwise = kind.endswith("Pooling"), kind == "DepthwiseConv"
    kernel = across(layer.several("pool_size", (2,)) if pools else kernel_of(layer), axes)
    strides = layer.several("strides", kernel if pools else (1,))
    stride, dilation = across(strides, axes), across(layer.several("dilation_rate", (1,)), axes)
    padding = layer.says("padding", "valid")
    space = wholes(given[1:-1])
    if not (kernel and stride and dilation and space and isinstance(padding, str)):
        return None
    valid = padding.lower() == "valid"
    made: list[int] = []
    for size, over, by, spread in zip(space, kernel, stride, dilation, strict=True):
        reach = (over - 1) * spread + 1
        if kind == "ConvTranspose":
            made.append(size * by + (max(reach - by, 0) if valid else 0))
        else:
            made.append((size - reach) // by + 1 if valid else ceil(size / by))
    channels = given[-1]
    if is_depthwise:
        width, times = channels.value, layer.one("depth_multiplier", 1)
        if times is None or width is None:
            return None
        channels = count(width * times)
    elif not pools:
        filters = layer.one("filters")
        if not filters:
            return None
        channels = count(filters)
    return (given[0], *map(count, made), channels) if min(made) > 0 else None


def kernel_of(layer: Layer) -> tuple[int, ...] | None:
    """The sides of a kernel."""
    sides = [layer.numbers(each) for each in layer.sides]
    known = tuple(each[0] for each in sides if each is not None and len(each) == 1)
    return known if sides and len(known) == len(sides) else layer.several("kernel_size")


def across(numbers: tuple[int, ...] | None, axes: int) -> tuple[int, ...] | None:
    """A number for each axis, where there is one for all of them or one for each."""
    if numbers is None or len(numbers) not in (1, axes):
        return None
    return numbers * axes if len(numbers) < axes else numbers


def wholes(dims: Sequence[Amount]) -> tuple[int, ...] | None:
    """The sizes, where all of them are known."""
    found = [int(each.value) for each in dims if each.value is not None]
    return tuple(found) if len(found) == len(dims) else None


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
