"""Which functions of TensorFlow and `keras.ops` give back one tensor: tables, by their names."""

from __future__ import annotations


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

_SINGLE = frozenset(
    {
        "tensorflow.abs",
        "tensorflow.boolean_mask",
        "tensorflow.broadcast_to",
        "tensorflow.clip_by_norm",
        "tensorflow.clip_by_value",
        "tensorflow.cos",
        "tensorflow.cumsum",
        "tensorflow.divide",
        "tensorflow.equal",
        "tensorflow.exp",
        "tensorflow.eye",
        "tensorflow.floor",
        "tensorflow.gather_nd",
        "tensorflow.greater",
        "tensorflow.less",
        "tensorflow.log",
        "tensorflow.logical_and",
        "tensorflow.logical_not",
        "tensorflow.logical_or",
        "tensorflow.maximum",
        "tensorflow.minimum",
        "tensorflow.multiply",
        "tensorflow.negative",
        "tensorflow.norm",
        "tensorflow.pow",
        "tensorflow.rank",
        "tensorflow.repeat",
        "tensorflow.reverse",
        "tensorflow.roll",
        "tensorflow.round",
        "tensorflow.scatter_nd",
        "tensorflow.searchsorted",
        "tensorflow.sequence_mask",
        "tensorflow.shape",
        "tensorflow.sign",
        "tensorflow.sin",
        "tensorflow.size",
        "tensorflow.slice",
        "tensorflow.sort",
        "tensorflow.sqrt",
        "tensorflow.square",
        "tensorflow.stop_gradient",
        "tensorflow.strided_slice",
        "tensorflow.subtract",
        "tensorflow.tensor_scatter_nd_update",
        "tensorflow.tensordot",
        "tensorflow.tile",
        "tensorflow.truediv",
    }
)
"""Functions whose names others begin with, so that a prefix would not do."""
_SEVERAL = frozenset(
    {
        "tensorflow.image.combined_non_max_suppression",
        "tensorflow.image.non_max_suppression_with_scores",
        "tensorflow.io.decode_csv",
        "tensorflow.io.parse_example",
        "tensorflow.io.parse_sequence_example",
        "tensorflow.io.parse_single_example",
        "tensorflow.io.parse_single_sequence_example",
        "tensorflow.linalg.eig",
        "tensorflow.linalg.eigh",
        "tensorflow.linalg.lu",
        "tensorflow.linalg.qr",
        "tensorflow.linalg.slogdet",
        "tensorflow.linalg.svd",
        "tensorflow.math.approx_max_k",
        "tensorflow.math.top_k",
        "tensorflow.nn.ctc_beam_search_decoder",
        "tensorflow.nn.ctc_greedy_decoder",
        "tensorflow.nn.moments",
        "tensorflow.nn.top_k",
        "tensorflow.nn.weighted_moments",
    }
)
"""What, for all its name, gives several tensors: a list, a tuple or a dictionary."""
