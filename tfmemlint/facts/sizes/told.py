"""The sizes that code says: one number, several in a row, or by a name."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.sizes.amounts import Amount, count
from tfmemlint.facts.sizes.numbers import Numbers

_NAMED = (ast.Attribute, ast.Name)
_MAX_HOPS = 5


class Told:
    """The sizes that expressions give as a shape."""

    def __init__(self, tf: TensorFlow) -> None:
        self._values = tf.values
        self._flow = tf.flow
        self._numbers = tf.of(Numbers)

    def shape(
        self, node: ast.expr | None, frame: Frame | None, hops: int = _MAX_HOPS
    ) -> tuple[Amount, ...] | None:
        """The sizes that a tuple, a list or one number says."""
        if node is None:
            return None
        if isinstance(node, (ast.Tuple, ast.List)):
            found: list[Amount] = []
            for each in node.elts:
                inner = self.shape(each.value, frame) if isinstance(each, ast.Starred) else None
                if isinstance(each, ast.Starred) and inner is None:
                    return None
                found += inner if inner is not None else [self._numbers.of(each, frame)]
            return tuple(found)
        shape = self._values.shape(node, frame)
        if shape is not None and None not in shape:
            return tuple(count(each) for each in shape if each is not None)
        before = self._flow.one_before(node, frame) if isinstance(node, _NAMED) else None
        if hops and before is not None:
            return self.shape(before.value, before.frame, hops - 1)
        return (self._numbers.of(node, frame),)
