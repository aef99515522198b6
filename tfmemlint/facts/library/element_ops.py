"""What TensorFlow's operations make of the tensors of an element: tables, no logic."""

from __future__ import annotations

from tfmemlint.facts.library import traits
from tfmemlint.facts.library.signatures import APIS, having


def _names(modules: str, names: str) -> frozenset[str]:
    return frozenset(f"{module}.{name}" for module in modules.split() for name in names.split())


EXACT = having(traits.EXACT, outside=("numpy.",))
"""Number by number, and to the last bit the same for one example and for a batch of them.

Others, such as `exp`, are computed by other means where numbers do not fill a whole vector.
"""
CASTS = having(traits.CASTS, outside=("numpy.",))
KEEPS_SIZE = having(traits.SIZE, outside=("numpy.", "keras."))
EXPANDS = having(traits.EXPANDS)
ADJUSTS = ("tensorflow.image.random_", "tensorflow.image.stateless_random_")
RESHAPES = having(traits.RESHAPES, outside=("numpy.",))
"""As many numbers, or more."""
JOINS = _names("tensorflow keras.ops", "concat concatenate stack")
SPLITS = having(traits.PIECES, outside=("numpy.",))
"""Several tensors of one, which together hold what it does."""
DECODES = having(traits.PIXELS)
REINTERPRETS = having(traits.BYTES)
"""Bytes that are taken for numbers."""
PARSES = having(traits.PARSES)
RESIZES = {name: row.sizes for name, row in APIS.items() if row.sizes is not None}
"""What gives images of another size, and the places where it is told which."""
RESIZE_KEYWORDS = ("size", "target_height", "target_width", "height", "width")
INTERPOLATES = having(traits.INTERPOLATES)
"""Those of them that give floats, unless they are told to pick the nearest pixels."""
RUNS_PYTHON = having(traits.RUNS_PYTHON)
STATEFUL = having(traits.STATEFUL)
RANDOM = (
    "tensorflow.random.",
    "tensorflow.random_",
    "tensorflow.image.random_",
    "tensorflow.image.extract_glimpse",
    "tensorflow.image.sample_distorted_bounding_box",
    "tensorflow.experimental.numpy.random.",
    "tensorflow.multinomial",
    "tensorflow.nn.RNNCellDropoutWrapper",
    "tensorflow.nn.all_candidate_sampler",
    "tensorflow.nn.dropout",
    "tensorflow.nn.experimental.",
    "tensorflow.nn.fixed_unigram_candidate_sampler",
    "tensorflow.nn.fractional_",
    "tensorflow.nn.learned_unigram_candidate_sampler",
    "tensorflow.nn.log_uniform_candidate_sampler",
    "tensorflow.nn.nce_loss",
    "tensorflow.nn.sampled_softmax_loss",
    "tensorflow.nn.uniform_candidate_sampler",
    "tensorflow.truncated_normal",
    "keras.backend.dropout",
    "keras.backend.random_",
    "keras.random.",
    "keras.layers.Dropout",
    "keras.layers.GaussianNoise",
    "keras.layers.Random",
    "numpy.random.",
    "random.",
)
STATELESS = (
    "tensorflow.random.stateless_",
    "tensorflow.random.experimental.stateless_",
    "tensorflow.image.stateless_",
)
PURE = (
    "tensorflow.argmax",
    "tensorflow.audio.",
    "tensorflow.bitcast",
    "tensorflow.bitwise.",
    "tensorflow.boolean_mask",
    "tensorflow.cast",
    "tensorflow.constant",
    "tensorflow.convert_to_tensor",
    "tensorflow.debugging.assert_",
    "tensorflow.dtypes.",
    "tensorflow.equal",
    "tensorflow.eye",
    "tensorflow.fill",
    "tensorflow.gather",
    "tensorflow.greater",
    "tensorflow.image.",
    "tensorflow.io.decode_",
    "tensorflow.io.parse_",
    "tensorflow.less",
    "tensorflow.linalg.",
    "tensorflow.linspace",
    "tensorflow.logical_",
    "tensorflow.math.",
    "tensorflow.meshgrid",
    "tensorflow.nn.",
    "tensorflow.norm",
    "tensorflow.not_equal",
    "tensorflow.one_hot",
    "tensorflow.ones",
    "tensorflow.range",
    "tensorflow.rank",
    "tensorflow.reduce_",
    "tensorflow.round",
    "tensorflow.scatter_nd",
    "tensorflow.sequence_mask",
    "tensorflow.shape",
    "tensorflow.signal.",
    "tensorflow.size",
    "tensorflow.slice",
    "tensorflow.sort",
    "tensorflow.sparse.",
    "tensorflow.split",
    "tensorflow.string",
    "tensorflow.unstack",
    "tensorflow.zeros",
    "keras.ops.",
    "math.",
)
"""What gives the same for the same, unless it is one of those below."""
UNSEEN = tuple(
    f"{module}{name}"
    for module, names in {
        "keras.ops.": """associative_scan cond custom_gradient fori_loop map scan switch
        vectorize vectorized_map while_loop""",
        "keras.ops.core.": "",
        "tensorflow.": "raw_ops. scatter_nd_",
        "tensorflow.nn.": """bidirectional_dynamic_rnn dynamic_rnn raw_rnn rnn_cell
        static_bidirectional_rnn static_rnn static_state_saving_rnn with_space_to_batch""",
        "tensorflow.sparse.": "map_values",
    }.items()
    for name in names.split() or [""]
)
"""What runs functions it is given, keeps variables, or may be anything."""
SMALLER = (
    "tensorflow.argmax",
    "tensorflow.image.total_variation",
    "tensorflow.math.argmax",
    "tensorflow.math.bincount",
    "tensorflow.math.count_nonzero",
    "tensorflow.math.reduce_",
    "tensorflow.math.top_k",
    "tensorflow.norm",
    "tensorflow.rank",
    "tensorflow.reduce_",
    "tensorflow.shape",
    "tensorflow.size",
    "tensorflow.string",
)
"""What may be small, however large the file is that it was made from."""
