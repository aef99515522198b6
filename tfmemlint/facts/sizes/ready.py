"""What is made of data sets that libraries have ready: it is as large as it is, whoever runs it."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library.known_data import (
    CATALOGUE,
    KERAS_DATASETS,
    READ_DATA_SETS,
    SKLEARN_DATASETS,
)
from tfmemlint.facts.library.makers import SCALES, argument
from tfmemlint.facts.pipelines.chains import Chain, From

_MAX_HOPS = 12
_LOADS = frozenset(
    {f"keras.datasets.{name}.load_data" for name in KERAS_DATASETS}
    | {*READ_DATA_SETS, *SKLEARN_DATASETS}
)


class Ready:
    """Arrays and pipelines, followed backwards to data sets of tutorials."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._flow = tf.flow

    def is_chain(self, chain: Chain) -> bool:
        """Whether a pipeline gives nothing but what such a data set holds."""
        source = chain.source
        if source.kind is From.MIXED:
            return bool(source.parts) and all(map(self.is_chain, source.parts))
        if not isinstance(source.node, ast.Call):
            return False
        if source.kind is From.CATALOGUE:
            given = argument(source.node, 0, "name")
            return isinstance(given, ast.Constant) and given.value in CATALOGUE
        tensors = argument(source.node, 0, "tensors")
        sliced = source.kind in (From.SLICES, From.TENSORS)
        return sliced and tensors is not None and self.is_array(tensors)

    def is_array(self, node: ast.expr, frame: Frame | None = None, hops: int = _MAX_HOPS) -> bool:
        """Whether an array, or each of a tuple of them, is such data, or made of it."""
        if not hops:
            return False
        if isinstance(node, (ast.Tuple, ast.List)):
            return bool(node.elts) and all(self.is_array(each, frame, hops) for each in node.elts)
        if isinstance(node, ast.BinOp):
            return any(self.is_array(each, frame, hops - 1) for each in (node.left, node.right))
        if isinstance(node, ast.Call):
            return self._is_made(node, frame, hops)
        origins = self._flow.origins(node, frame) or ()
        if origins:
            return all(self.is_array(each.value, each.frame, hops - 1) for each in origins)
        inside = node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else None
        return inside is not None and self.is_array(inside, frame, hops - 1)

    def _is_made(self, call: ast.Call, frame: Frame | None, hops: int) -> bool:
        name = self._names.qualified(call.func)
        if name in _LOADS:
            return True
        returned = tuple(self._flow.returned(call, frame))
        if returned:
            return all(self.is_array(each.value, each.frame, hops - 1) for each in returned)
        of = call.args[0] if call.args else None
        if name is None and isinstance(call.func, ast.Attribute):
            scales = of is not None and call.func.attr in SCALES
            of = of if scales else call.func.value  # `x_train.reshape(-1, 784)`
        return of is not None and self.is_array(of, frame, hops - 1)
