"""Which pipelines give one example at a time, and who trains on what they give as it comes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.library.kinds import Extent, Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.library.shapes import is_new
from tfmemlint.facts.pipelines.chains import Chain, From
from tfmemlint.facts.pipelines.consumers import End, Into

_KEEPS_EXAMPLES = methods.having(methods.KEEPS, but=methods.ADDS) | {"map"}
_HOLDS_EXAMPLES = frozenset({Kind.ARRAY, Kind.TENSOR, Kind.PATHS})
_KEEPS_ROWS = frozenset({"astype", "copy"})
_MAKES_BATCHES = frozenset(
    {
        "concat",
        "concatenate",
        "expand_dims",
        "load",
        "numpy_function",
        "parse_example",
        "py_function",
        "repeat",
        "reshape",
        "stack",
        "tile",
    }
)
"""What functions call that may make a batch of an example, or have one already."""


class Examples:
    """The pipelines of a module whose elements are single examples."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._bindings = tf.bindings
        self._flow = tf.flow
        self._values = tf.values
        self._datasets = tf.datasets
        self._read_batches = tf.read_batches
        self._consumers = tf.consumers

    def trains_as_they_come(self, end: End) -> bool:
        """Whether a pipeline ends in training that takes each element for a batch.

        In the `fit` of a Keras model, or in a loop that takes gradients and makes no batches.
        """
        at = end.at
        if end.into is Into.FIT and isinstance(at, ast.Call):
            model = at.func.value if isinstance(at.func, ast.Attribute) else None
            return model is not None and self._values.of(model).kind is Kind.MODEL
        if end.into is not Into.LOOP or not isinstance(at, ast.For):
            return False
        return self._consumers.trains(at) and not self._may_batch(at.body)

    def are_single(self, chain: Chain) -> bool:
        """Whether each element of a pipeline is surely one example."""
        source, kind = chain.source.node, chain.source.kind
        if not _KEEPS_EXAMPLES.issuperset(chain.methods) or not isinstance(source, ast.Call):
            return False
        for step in chain.steps:
            if step.method == "map":
                function = self._datasets.function(step)
                if function is None or self._may_batch([function]):
                    return False
        if kind is From.SLICES:
            arrays = argument(source, 0, "tensors")
            while isinstance(arrays, ast.Tuple) and arrays.elts:
                arrays = arrays.elts[0]
            return arrays is not None and self._has_examples_for_rows(arrays)
        if self._read_batches.are_single(chain.source):
            return True
        if kind is From.CATALOGUE:
            return all(each.arg not in ("batch_size", None) for each in source.keywords)
        return kind in (From.FILES, From.RECORDS) and "map" in chain.methods

    def _has_examples_for_rows(self, array: ast.expr) -> bool:
        value = self._values.of(array)
        holds_all = value.extent is Extent.WHOLE and value.kind in _HOLDS_EXAMPLES
        return holds_all and not self._is_regrouped(array)

    def _is_regrouped(self, array: ast.expr) -> bool:
        """Whether a `reshape` gives an array another number of rows, or may."""
        made = self._flow.meant(array) if isinstance(array, ast.Name) else array
        method = made.func if isinstance(made, ast.Call) else None
        while isinstance(method, ast.Attribute) and method.attr in _KEEPS_ROWS:
            made = method.value
            method = made.func if isinstance(made, ast.Call) else None
        if not isinstance(made, ast.Call) or not isinstance(method, ast.Attribute):
            return False
        if method.attr != "reshape":
            return False
        of_library = self._names.qualified(method) is not None
        before = made.args[0] if of_library and made.args else method.value
        told = made.args[1:] if of_library else made.args
        sizes = told[0].elts if told and isinstance(told[0], (ast.Tuple, ast.List)) else told
        rows = self._values.rows(sizes[0]) if sizes else None
        if rows is not None and self._bindings.same(rows, before):
            return False
        was, now = self._rows(before), self._rows(made)
        return was is None or was != now

    def _rows(self, array: ast.expr) -> int | None:
        shape = self._values.of(array).shape
        return shape[0] if shape else None

    def _may_batch(self, code: Iterable[ast.AST]) -> bool:
        """Whether code has calls that may make a batch, or adds an axis: `x[None]`."""
        for node in self._consumers.run_by(code):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in _MAKES_BATCHES:
                    return True
            elif isinstance(node, ast.Subscript):
                indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                if any(map(is_new, indices)):
                    return True
        return False
