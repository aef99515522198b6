"""What operations make of one shape: fewer axes, more, others."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes.amounts import Amount, count, product
from tfmemlint.facts.sizes.numbers import Numbers
from tfmemlint.facts.sizes.sized import Ask, Sized
from tfmemlint.facts.sizes.told import Told
from tfmemlint.facts.syntax.nodes import is_literal, is_none


class Reshapes:
    """What is made of a tensor whose shape is known."""

    def __init__(self, tf: TensorFlow) -> None:
        self._values = tf.values
        self._numbers = tf.of(Numbers)
        self._told = tf.of(Told)

    def of(
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
            return self.as_told(given, argument(node, 1, "shape"), frame)
        if last == "transpose":
            order = self._told.shape(argument(node, 1, "perm") or argument(node, 1, "axes"), frame)
            if order is None:
                return given.reversed
            places = [int(each.value) for each in order if each.value is not None]
            fits = sorted(places) == list(range(len(dims)))
            return given._replace(dims=tuple(dims[each] for each in places)) if fits else None
        if last in ("resize", "resize_with_pad", "resize_with_crop_or_pad") and len(dims) in (3, 4):
            first, second = argument(node, 1, "size"), argument(node, 2, "target_width")
            size = self._told.shape(first, frame) or ()
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

    def reduced(self, last: str, node: ast.Call, given: Sized, frame: Frame | None) -> Sized | None:
        assert given.dims is not None
        dtype = {"argmax": "int64", "argmin": "int64", "all": "bool"}.get(last, given.dtype)
        axis = argument(node, 1, "axis")
        keeps = is_literal(argument(node, 2, "keepdims"), True)
        if axis is None or is_none(axis):
            if last in ("argmax", "argmin") and axis is None:
                return given._replace(dims=given.dims[1:], dtype=dtype)
            return Sized((), dtype)
        wanted = self._told.shape(axis, frame)
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

    def as_told(self, given: Sized, told: ast.expr | None, frame: Frame | None) -> Sized | None:
        """The same numbers in the shape that is told; -1 stands for what is left."""
        wanted = self._told.shape(told, frame)
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
            times = self._told.shape(argument(node, 1, "multiples"), frame)
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
            added = self._told.shape(each, frame)
            if added is None:
                return None
            for more in added:
                size = size.plus(more) if more.value else size
            dims.append(size)
        return given._replace(dims=tuple(dims))
