"""What calls give back, of functions and methods that are known."""

from __future__ import annotations

import ast

from tfmemlint.facts import makers
from tfmemlint.facts.flow import Flow, Frame
from tfmemlint.facts.functions import KERAS_BASES
from tfmemlint.facts.kinds import UNKNOWN, Extent, Kind, Value, common
from tfmemlint.facts.names import Names
from tfmemlint.facts.sizes import Sizes, ValueOf, constant


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
            inner = value(node.args[0], frame) if node.args else UNKNOWN
            return Value(Kind.VARIABLE, inner.extent, inner.dtype, inner.shape, node)
        filled = makers.FILLED.get(name)
        if filled is not None:
            shape = self._sizes.shape(
                makers.argument(node, filled.place, filled.keyword), frame, value
            )
            if name in makers.DIMENSIONS_AS_ARGUMENTS:
                shape = self._sizes.dimensions(node.args, frame, value)
            given = makers.argument(node, filled.dtype_place, "dtype")
            dtype = filled.dtype if given is None else self._sizes.dtype(given)
            return Value(kind, Extent.WHOLE, dtype, shape, node)
        if name in makers.KEEPS_DATA or name.endswith(".preprocess_input"):
            return self._kept(name, kind, node, frame, value)
        if name in makers.JOINS and node.args and isinstance(node.args[0], (ast.List, ast.Tuple)):
            parts = [value(each, frame) for each in node.args[0].elts]
            whole = bool(parts) and all(each.extent is Extent.WHOLE for each in parts)
            return Value(
                kind, Extent.WHOLE if whole else Extent.UNKNOWN, common(parts).dtype, None, node
            )
        if numpy or name.startswith(("tensorflow.", "keras.ops.")):
            one = name.startswith(makers.RETURNS_TENSOR) and name not in makers.RETURNS_SEVERAL
            one = one or numpy or name in makers.RETURNS_ONE
            return Value(kind, origin=node) if one else UNKNOWN
        return UNKNOWN

    def of_method(
        self, node: ast.Call, callee: ast.Attribute, frame: Frame | None, value: ValueOf
    ) -> Value:
        """What a call of a method of an array, a data frame or the like gives."""
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
                self._sizes.dimensions(node.args, frame, value)
                if by_dimension
                else self._sizes.shape(makers.argument(node, place, "size"), frame, value)
            )
            given = self._sizes.dtype(makers.argument(node, None, "dtype"))
            return Value(Kind.ARRAY, Extent.WHOLE, given or "float64", shape, node)
        if made in makers.PATH and callee.attr in ("glob", "rglob", "iterdir"):
            return Value(Kind.PATHS, Extent.WHOLE, origin=node)
        if callee.attr in makers.SCALES and node.args and (made or "").startswith(makers.SCALERS):
            scaled = value(node.args[0], frame)
            is_data = scaled.is_array or scaled.kind is Kind.FRAME
            return scaled._replace(kind=Kind.ARRAY, dtype=None) if is_data else UNKNOWN
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
            dtype = self._sizes.dtype(cast) or inner.dtype
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

    def of_loading(self, node: ast.Call, path: tuple[int, ...]) -> Value | None:
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

    def _kept(
        self, name: str, kind: Kind, node: ast.Call, frame: Frame | None, value: ValueOf
    ) -> Value:
        """Functions that give back all the data they are given, in some other form."""
        source = makers.argument(node, 0, makers.KEEPS_DATA.get(name, "x"))
        inner = value(source, frame) if source is not None else UNKNOWN
        if inner.kind not in (Kind.ARRAY, Kind.TENSOR, Kind.FRAME, Kind.VARIABLE):
            return Value(kind, shape=() if inner.kind is Kind.NUMBER else None, origin=node)
        if name.startswith(("keras.", "sklearn.")):
            kind = Kind.ARRAY if inner.kind is Kind.FRAME else inner.kind
        dtype = (
            self._sizes.dtype(makers.argument(node, 1, "dtype"))
            if name in makers.SETS_DTYPE
            else None
        )
        shape = inner.shape if name in makers.KEEPS_SHAPE else None
        if name.endswith(".expand_dims"):
            axis = makers.argument(node, 1, "axis")
            if axis is not None and constant(axis) == 0:  # one example, as a batch of one
                return Value(kind, Extent.PART, inner.dtype, None, inner.origin)
        return Value(kind, inner.extent, dtype or inner.dtype, shape, inner.origin)


def _is_application(name: str) -> bool:
    """Whether a name is a ready-made architecture: `keras.applications.ResNet50`."""
    return name.startswith("keras.applications.") and name.rpartition(".")[2][:1].isupper()
