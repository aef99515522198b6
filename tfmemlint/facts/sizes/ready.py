"""What is made of data sets that libraries have ready: it is as large as it is, whoever runs it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

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
_OTHERS = frozenset[str]()


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

    def is_array(self, node: ast.expr, frame: Frame | None = None) -> bool:
        """Whether an array, or each of a tuple of them, is such data, or made of it."""
        return bool(self.loaders(node, frame))

    def loaders(
        self, node: ast.expr, frame: Frame | None = None, hops: int = _MAX_HOPS
    ) -> frozenset[str]:
        """What gives the data that an array is made of; none where any of it is something else."""
        if not hops:
            return _OTHERS
        if isinstance(node, (ast.Tuple, ast.List)):
            return _all_of(self.loaders(each, frame, hops) for each in node.elts)
        if isinstance(node, ast.BinOp):
            return self.loaders(node.left, frame, hops - 1) | self.loaders(
                node.right, frame, hops - 1
            )
        if isinstance(node, ast.Call):
            return self._makers(node, frame, hops)
        origins = self._flow.origins(node, frame) or ()
        if origins:
            return _all_of(self.loaders(each.value, each.frame, hops - 1) for each in origins)
        inside = node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else None
        return _OTHERS if inside is None else self.loaders(inside, frame, hops - 1)

    def _makers(self, call: ast.Call, frame: Frame | None, hops: int) -> frozenset[str]:
        name = self._names.qualified(call.func)
        if name in _LOADS:
            return frozenset({name})
        returned = tuple(self._flow.returned(call, frame))
        if returned:
            return _all_of(self.loaders(each.value, each.frame, hops - 1) for each in returned)
        of = call.args[0] if call.args else None
        if name is None and isinstance(call.func, ast.Attribute):
            scales = of is not None and call.func.attr in SCALES
            of = of if scales else call.func.value  # `x_train.reshape(-1, 784)`
        return _OTHERS if of is None else self.loaders(of, frame, hops - 1)


def _all_of(parts: Iterable[frozenset[str]]) -> frozenset[str]:
    """What gives all parts; none where one of them is something else, or there is none."""
    found = [*parts]
    return frozenset[str]().union(*found) if all(found) else _OTHERS
