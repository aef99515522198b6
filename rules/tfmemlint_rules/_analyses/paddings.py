"""Batches that are padded to the longest of their examples, and examples that are all of a size."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.remade_functions import A_FEW
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.pipelines.chains import Chain, From
from tfmemlint.facts.syntax.nodes import is_none

_PASSES_BATCHES = methods.PASSING | {"cache"}
_SIGNATURES = ("output_shapes", "output_signature")
_FIXES = (
    "tensorflow.ensure_shape",
    "tensorflow.image.random_crop",
    "tensorflow.image.resize",
    "tensorflow.io.FixedLenFeature",
    "tensorflow.pad",
)
"""What examples are given one size with, unless something else in their making leaves it open."""
_LEAVES_OPEN = (
    "tensorflow.io.FixedLenSequenceFeature",
    "tensorflow.io.RaggedFeature",
    "tensorflow.io.VarLenFeature",
    "tensorflow.io.decode_raw",
    "tensorflow.io.parse_tensor",
    "tensorflow.sparse.to_dense",
)


class Paddings:
    """What the pipelines of a module pad."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._values = tf.values

    def is_padded(self, chain: Chain, path: tuple[int, ...]) -> bool:
        """Whether the batches of a pipeline are as long as the longest example of each."""
        batched = [i for i, each in enumerate(chain.methods) if each == "padded_batch"]
        place = batched[-1] if batched else -1
        if place < 0 or not _PASSES_BATCHES.issuperset(chain.methods[place + 1 :]):
            return False
        taken = (each.argument("count") for each in chain.steps[place:] if each.method == "take")
        counts = [self._values.number(each) for each in taken]
        if any(count is not None and 0 <= count <= A_FEW for count in counts):
            return False
        if chain.source.kind is From.SLICES and "map" not in chain.methods[:place]:
            return False  # rows of an array are all of a size
        shapes = chain.steps[place].argument("padded_shapes")
        if isinstance(shapes, ast.Tuple) and path and path[-1] < len(shapes.elts):
            several = all(isinstance(each, (ast.List, ast.Tuple)) for each in shapes.elts)
            shapes = shapes.elts[path[-1]] if several else shapes
        if shapes is None:
            return not self._is_fixed(chain, place)
        return any(map(_is_open, ast.walk(shapes)))

    def _is_fixed(self, chain: Chain, place: int) -> bool:
        """Whether examples are of one size: by a generator's signature, a feature, a crop."""
        maps = [each for each in chain.steps[:place] if each.method == "map"]
        made = chain.source.node
        if chain.source.kind is From.GENERATOR and isinstance(made, ast.Call) and not maps:
            named = (each.value for each in made.keywords if each.arg in _SIGNATURES)
            signature = next(named, None)
            return signature is not None and not any(map(_is_open, ast.walk(signature)))
        fixes = False
        for step in maps:
            given = step.argument("map_func")
            function = self._functions.function(given) if given is not None else None
            for each in self._bodies.body(function) if function is not None else ():
                if isinstance(each, ast.Attribute):
                    name = self._names.qualified(each) or ""
                    if name.startswith(_LEAVES_OPEN):
                        return False
                    fixes = fixes or name.startswith(_FIXES) or each.attr == "set_shape"
        return fixes


def _is_open(size: ast.AST) -> bool:
    """Whether a size is left to the longest example: `None`, -1, the sizes the dataset has."""
    if isinstance(size, ast.UnaryOp):
        return isinstance(size.op, ast.USub)
    if isinstance(size, ast.Attribute):
        return size.attr in ("get_output_shapes", "output_shapes")
    return is_none(size)
