"""Which functions of TensorFlow and `keras.ops` give back one tensor: tables, by their names."""

from __future__ import annotations

from tfmemlint.facts.library import traits
from tfmemlint.facts.library.signatures import having


def gives_tensor(name: str) -> bool:
    """Whether what a function gives, by its canonical name, is surely one tensor."""
    return name in _SINGLE or (name.startswith(_FAMILIES) and name not in _SEVERAL)


_FAMILIES = (
    "keras.ops.",
    "tensorflow.add",
    "tensorflow.argmax",
    "tensorflow.concat",
    "tensorflow.einsum",
    "tensorflow.gather",
    "tensorflow.image.",
    "tensorflow.io.",
    "tensorflow.linalg.",
    "tensorflow.math.",
    "tensorflow.matmul",
    "tensorflow.nn.",
    "tensorflow.ones_like",
    "tensorflow.pad",
    "tensorflow.random.",
    "tensorflow.range",
    "tensorflow.reduce_",
    "tensorflow.sigmoid",
    "tensorflow.signal.",
    "tensorflow.stack",
    "tensorflow.strings.",
    "tensorflow.tanh",
    "tensorflow.where",
    "tensorflow.zeros_like",
)

_SINGLE = having(traits.SINGLE)
"""Functions whose names others begin with, so that a prefix would not do."""
_SEVERAL = having(traits.SEVERAL)
"""What, for all its name, gives several tensors: a list, a tuple or a dictionary."""
