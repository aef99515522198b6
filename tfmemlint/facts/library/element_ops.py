"""What TensorFlow's operations make of the tensors of an element: tables, no logic."""

from __future__ import annotations


def _names(modules: str, names: str) -> frozenset[str]:
    return frozenset(f"{module}.{name}" for module in modules.split() for name in names.split())


EXACT = _names(
    "tensorflow tensorflow.math keras.ops",
    """abs add clip_by_value divide identity maximum minimum multiply negative square
    stop_gradient subtract truediv""",
)
"""Number by number, and to the last bit the same for one example and for a batch of them.

Others, such as `exp`, are computed by other means where numbers do not fill a whole vector.
"""
CASTS = _names("tensorflow tensorflow.dtypes keras.ops", "cast saturate_cast")
KEEPS_SIZE = _names(
    "tensorflow tensorflow.math tensorflow.nn tensorflow.image",
    """adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_jpeg_quality
    adjust_saturation clip_by_norm convert_to_tensor cos ensure_shape exp flip_left_right
    flip_up_down hsv_to_rgb l2_normalize log log1p ones_like pow relu reverse rgb_to_hsv
    rgb_to_yuv roll rot90 rsqrt sigmoid sign sin softmax sqrt tanh transpose where zeros_like""",
) | {"tensorflow.sparse.to_dense", "tensorflow.sparse_tensor_to_dense"}
EXPANDS = _names("tensorflow keras.ops", "expand_dims")
ADJUSTS = ("tensorflow.image.random_", "tensorflow.image.stateless_random_")
RESHAPES = _names(
    "tensorflow tensorflow.image keras.ops",
    "expand_dims pad repeat reshape squeeze tile",
)
"""As many numbers, or more."""
JOINS = _names("tensorflow keras.ops", "concat concatenate stack")
DECODES = _names(
    "tensorflow.image tensorflow.io",
    "decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png",
)
REINTERPRETS = _names("tensorflow.io tensorflow", "decode_raw parse_tensor")
"""Bytes that are taken for numbers."""
PARSES = _names(
    "tensorflow.io tensorflow",
    "parse_example parse_sequence_example parse_single_example parse_single_sequence_example",
)
RESIZES = {
    "tensorflow.image.crop_to_bounding_box": (3, 4),
    "tensorflow.image.pad_to_bounding_box": (3, 4),
    "tensorflow.image.random_crop": (1,),
    "tensorflow.image.resize": (1,),
    "tensorflow.image.resize_images": (1,),
    "tensorflow.image.resize_with_crop_or_pad": (1, 2),
    "tensorflow.image.resize_with_pad": (1, 2),
    "tensorflow.image.stateless_random_crop": (1,),
    "tensorflow.image.central_crop": (),
    "keras.layers.CenterCrop": (0, 1),
    "keras.layers.RandomCrop": (0, 1),
    "keras.layers.Resizing": (0, 1),
    "keras.ops.image.resize": (1,),
}
"""What gives images of another size, and the places where it is told which."""
RESIZE_KEYWORDS = ("size", "target_height", "target_width", "height", "width")
INTERPOLATES = frozenset(
    {
        "tensorflow.image.resize",
        "tensorflow.image.resize_images",
        "tensorflow.image.resize_with_pad",
        "keras.layers.CenterCrop",
        "keras.layers.RandomCrop",
        "keras.layers.Resizing",
    }
)
"""Those of them that give floats, unless they are told to pick the nearest pixels."""
RUNS_PYTHON = frozenset(
    {
        "tensorflow.numpy_function",
        "tensorflow.py_func",
        "tensorflow.py_function",
    }
)
STATEFUL = RUNS_PYTHON | {
    "tensorflow.print",
    "tensorflow.Print",
    "tensorflow.Variable",
    "tensorflow.random.Generator",
    "tensorflow.random.get_global_generator",
    "tensorflow.timestamp",
    "tensorflow.io.write_file",
}
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
