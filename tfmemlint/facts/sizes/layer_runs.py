"""A layer at work, and the bytes that this takes."""

from __future__ import annotations

import ast

from tfmemlint.facts.sizes import applications, layers, weights
from tfmemlint.facts.sizes.amounts import Amount, held, product
from tfmemlint.facts.sizes.layer_calls import Dims, Layer
from tfmemlint.light_typing import NamedTuple

FLOAT = 4
"""Bytes of a number of what layers hold."""


class Run(NamedTuple):
    """A layer at work: where that stands, what it is given and what it makes of that."""

    node: ast.expr
    layer: Layer
    inputs: tuple[Dims, ...]
    made: Dims | None

    @property
    def gives(self) -> Amount | None:
        """The bytes of its output, where that is not its input again; None if unknown."""
        if self.layer.name in layers.IN_PLACE:
            return held(0)
        if self.is_ready_made:  # what it keeps besides is not known
            return None
        if self.layer.says("dtype", "float32") not in ("float32", None):
            return None
        return None if self.made is None else product(self.made).times(held(FLOAT))

    @property
    def keeps(self) -> Amount | None:
        """The bytes that it keeps for its gradients: of its output, and of what led to it."""
        gives = self.gives
        if gives is None or self.made is None:
            return gives
        beside = layers.kept(self.layer, self.inputs, self.made)
        return None if beside is None else gives.plus(beside.times(held(FLOAT)))

    @property
    def is_ready_made(self) -> bool:
        """Whether it is a whole model of `keras.applications`."""
        return applications.is_ready_made(self.layer.name)

    @property
    def kernel(self) -> int | None:
        """How many numbers the one weight of it is that is drawn at random."""
        return weights.kernel(self.layer, self.inputs)

    @property
    def weights(self) -> int | None:
        """How many numbers its weights are."""
        return weights.weights(self.layer, self.inputs)


def unseen(node: ast.Call) -> Layer:
    """What stands for a layer of which nothing is known."""
    return Layer("", node, _nothing)


def _nothing(node: ast.expr) -> None:
    """No number is known of it."""
    del node
