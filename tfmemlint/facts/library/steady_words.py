"""What is known to compute and nothing else, and what changes how code is traced: tables."""

from __future__ import annotations

from tfmemlint.facts.library.element_ops import PURE

_TOP = """abs acos acosh add add_n argmax argmin argsort as_string asin asinh atan atan2 atanh
batch_to_space bfloat16 bitcast bool boolean_mask broadcast_dynamic_shape broadcast_static_shape
broadcast_to case cast clip_by_global_norm clip_by_norm clip_by_value complex complex128 complex64
concat cond constant control_dependencies convert_to_tensor cos cosh cumsum device divide double
dynamic_partition dynamic_stitch edit_distance eig eigvals einsum ensure_shape equal exp expand_dims
eye fftnd fill floor foldl foldr function gather gather_nd gradients greater greater_equal group
half hessians histogram_fixed_width identity identity_n float16 float32 float64 int16 int32 int64
int8 is_tensor less less_equal linspace logical_and logical_not logical_or map_fn matmul
matrix_square_root maximum meshgrid minimum multiply name_scope negative newaxis no_op norm
not_equal one_hot ones ones_like pad pow rank realdiv recompute_grad reduce_all reduce_any
reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_std reduce_sum
reduce_variance repeat reshape reverse reverse_sequence roll round rsqrt saturate_cast scalar_mul
scan scatter_nd searchsorted sequence_mask shape shape_n sigmoid sign sin sinh size slice sort
space_to_batch split sqrt square squared_difference squeeze stack stop_gradient strided_slice string
subtract switch_case tan tanh tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min
tensor_scatter_nd_sub tensor_scatter_nd_update tensordot tile transpose truediv truncatediv
truncatemod uint16 uint32 uint64 uint8 unique unique_with_counts unravel_index unstack
vectorized_map where while_loop zeros zeros_like GradientTape IndexedSlices RaggedTensor Tensor
TensorArray TensorShape TensorSpec"""
_NUMPY = """abs arange array asarray ceil cos exp expand_dims float16 float32 float64 floor inf
int32 int64 linspace log log2 log10 max maximum mean min minimum nan newaxis ones ones_like pi power
prod reshape sin sqrt square stack sum tan tanh tile transpose uint8 zeros zeros_like"""

EXACT = (
    frozenset(f"tensorflow.{each}" for each in _TOP.split())
    | frozenset(f"numpy.{each}" for each in _NUMPY.split())
    | {"functools.partial", "functools.wraps", "keras", "math", "numpy", "tensorflow"}
)
"""Names of functions, and modules, that may stand in traced code for themselves."""
COMPUTES = (
    *(each for each in PURE if each.endswith((".", "_"))),
    "keras.activations.",
    "keras.losses.",
    "tensorflow.autodiff.",
    "tensorflow.autograph.experimental.set_loop_options",
    "tensorflow.autograph.experimental.do_not_convert",
    "tensorflow.ragged.",
    "tensorflow.strings.",
)
DRAWS = (
    "candidate_sampler",
    "distorted",
    "dropout",
    "fractional",
    "initializer",
    "multinomial",
    "nce_loss",
    "random",
    "sampled",
    "shuffle",
)
"""What the names of operations have in them that draw random numbers."""
OBJECTS = (
    "keras.Input",
    "keras.Model",
    "keras.Sequential",
    "keras.applications.",
    "keras.layers.",
    "keras.losses.",
    "keras.metrics.",
    "keras.optimizers.",
)
"""What gives objects that change by variables alone, where no one sets their attributes."""
ODD_LAYERS = ("AugMix", "CutMix", "Lambda", "MixUp", "RandAugment", "Random")
WRITERS = frozenset({"tensorflow.summary.create_file_writer"})
BUILTINS = frozenset(
    {"abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "filter", "float"}
    | {"frozenset", "int", "isinstance", "len", "list", "map", "max", "min", "pow", "range"}
    | {"reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "type", "zip"}
)
METHODS = frozenset(
    {"apply_gradients", "as_list", "assign", "assign_add", "assign_sub", "batch_jacobian"}
    | {"concat", "copy", "count", "endswith", "format", "gather", "gather_nd", "get_shape"}
    | {"gradient", "index", "items", "jacobian", "join", "keys", "lower", "minimize", "read"}
    | {"read_value", "reset_state", "reset_states", "result", "scatter_nd_update", "scatter_update"}
    | {"set_shape", "split", "stack", "startswith", "stop_recording", "strip", "to_tensor"}
    | {"unstack", "update_state", "value", "values", "watch", "write"}
)
"""Methods of tensors, variables, tapes, metrics, optimizers, and of Python's own containers."""
ATTRIBUTES = METHODS | {"T", "append", "dtype", "extend", "indices", "ndim", "rank", "shape"}
"""What may be read of what traced code is given, if that is a tensor, and not an object."""
RECORDS = frozenset(
    {"append", "as_default", "astype", "batch", "close", "debug", "done", "extend", "flush"}
    | {
        "hex",
        "info",
        "item",
        "map",
        "mean",
        "numpy",
        "prefetch",
        "repeat",
        "reshape",
        "save",
        "set_postfix",
    }
    | {"set_description", "shape", "shuffle", "skip", "sum", "take", "tobytes", "tolist"}
    | {"update", "warning"}
)
"""Methods that loops call to note and to show what traced code gave."""
LOOKS_ON = frozenset({"PIL", "cv2", "matplotlib", "pandas", "scipy", "sklearn", "tqdm"})
"""Libraries that know nothing of TensorFlow's objects."""
SETS = (
    "keras.backend.",
    "keras.config.",
    "keras.mixed_precision.",
    "tensorflow.compat.",
    "tensorflow.config.",
    "tensorflow.disable_",
    "tensorflow.enable_",
    "tensorflow.mixed_precision.",
)
"""What may change how code is traced from then on."""
