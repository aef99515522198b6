"""What each function of TensorFlow makes of its arguments: one row a function."""

from __future__ import annotations

from collections.abc import Mapping

from tfmemlint.facts.library.traits import (
    BYTES,
    CASTS,
    DATA,
    EXACT,
    EXPANDS,
    GIVES_SHAPE,
    GROWS,
    JOINS,
    LISTED,
    MEASURES,
    MOVES_ROWS,
    OWN_DTYPE,
    PACKS,
    PARSES,
    PICKS,
    PIECES,
    RESHAPES,
    RUNS_PYTHON,
    SHAPE,
    SINGLE,
    SIZE,
    SPACED,
    STACKS,
    STATEFUL,
    STEADY,
    TENSOR_FIRST,
    Api,
    Filled,
    alike,
)

TENSORFLOW: Mapping[str, Api] = {
    "tensorflow.add": Api(EXACT | STEADY, dtype_of=0),
    "tensorflow.add_n": Api(PACKS | STEADY),
    "tensorflow.boolean_mask": Api(PICKS | SINGLE | STEADY, dtype_of=0),
    "tensorflow.cast": Api(DATA | SHAPE | CASTS | STEADY | TENSOR_FIRST, of="x", dtype_place=1),
    "tensorflow.concat": Api(JOINS | LISTED | PACKS | STEADY, of="values", dtype_of=0),
    "tensorflow.constant": Api(DATA | SHAPE | LISTED | STEADY, of="value", dtype_place=1),
    "tensorflow.convert_to_tensor": Api(
        DATA | SHAPE | LISTED | PACKS | SIZE | STEADY, of="value", dtype_place=1
    ),
    "tensorflow.einsum": Api(STEADY, dtype_of=1),
    "tensorflow.expand_dims": Api(
        DATA | RESHAPES | EXPANDS | STEADY | TENSOR_FIRST, of="input", told="axis", dtype_of=0
    ),
    "tensorflow.fill": Api(STEADY, filled=Filled(0, "dims", None)),
    "tensorflow.identity": Api(
        DATA | SHAPE | EXACT | STEADY | TENSOR_FIRST, of="input", dtype_of=0
    ),
    "tensorflow.linspace": Api(SPACED | STEADY),
    "tensorflow.log": Api(SIZE | SINGLE),
    "tensorflow.log1p": Api(SIZE),
    "tensorflow.matmul": Api(STEADY | TENSOR_FIRST, dtype_of=0),
    "tensorflow.one_hot": Api(
        DATA | OWN_DTYPE | GROWS | STEADY,
        of="indices",
        told="depth",
        dtype="float32",
        dtype_place=5,
    ),
    "tensorflow.pad": Api(RESHAPES | STEADY, dtype_of=0),
    "tensorflow.range": Api(counts=("int32", "float32")),
    "tensorflow.reshape": Api(
        DATA | PACKS | RESHAPES | STEADY | TENSOR_FIRST, of="tensor", told="shape", dtype_of=0
    ),
    "tensorflow.roll": Api(SIZE | SINGLE | STEADY | TENSOR_FIRST, dtype_of=0),
    "tensorflow.sparse_tensor_to_dense": Api(SIZE),
    "tensorflow.saturate_cast": Api(CASTS | STEADY),
    "tensorflow.shape": Api(GIVES_SHAPE | SINGLE | STEADY | TENSOR_FIRST),
    "tensorflow.split": Api(PIECES | STEADY, told="num_or_size_splits"),
    "tensorflow.squeeze": Api(
        DATA | MOVES_ROWS | RESHAPES | STEADY | TENSOR_FIRST, of="input", dtype_of=0
    ),
    "tensorflow.stack": Api(STACKS | LISTED | PACKS | STEADY, of="values", dtype_of=0),
    "tensorflow.transpose": Api(
        DATA | MOVES_ROWS | PACKS | SIZE | STEADY | TENSOR_FIRST, of="a", dtype_of=0
    ),
    "tensorflow.unstack": Api(PIECES | STEADY, told="num"),
    "tensorflow.where": Api(SIZE | STEADY, dtype_of=1),
    **alike(
        "tensorflow",
        """GradientTape IndexedSlices RaggedTensor Tensor TensorArray TensorShape
        TensorSpec acos acosh argmax argmin argsort as_string asin asinh atan
        atan2 atanh batch_to_space bfloat16 bitcast bool broadcast_dynamic_shape
        broadcast_static_shape case clip_by_global_norm complex complex128
        complex64 cond control_dependencies cosh device double dynamic_partition
        dynamic_stitch edit_distance eig eigvals fftnd float16 float32 float64
        foldl foldr function gradients greater_equal group half hessians
        histogram_fixed_width identity_n int16 int32 int64 int8 is_tensor
        less_equal map_fn matrix_square_root meshgrid name_scope newaxis no_op
        not_equal realdiv recompute_grad reduce_all reduce_any reduce_logsumexp
        reverse_sequence scalar_mul scan shape_n sinh space_to_batch
        squared_difference string switch_case tan tensor_scatter_nd_add
        tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub
        truncatediv truncatemod uint16 uint32 uint64 uint8 unique
        unique_with_counts unravel_index vectorized_map while_loop""",
        Api(STEADY),
    ),
    **alike("tensorflow", "Print Variable print timestamp", Api(STATEFUL)),
    **alike(
        "tensorflow",
        """abs clip_by_value maximum minimum multiply negative square stop_gradient
        subtract""",
        Api(EXACT | SINGLE | STEADY, dtype_of=0),
    ),
    **alike(
        "tensorflow",
        """broadcast_to cumsum gather_nd norm round slice sort tensordot""",
        Api(SINGLE | STEADY, dtype_of=0),
    ),
    **alike(
        "tensorflow",
        "clip_by_norm cos exp pow reverse sign sin sqrt",
        Api(SIZE | SINGLE | STEADY, dtype_of=0),
    ),
    **alike("tensorflow", "decode_raw parse_tensor", Api(BYTES)),
    **alike("tensorflow", "divide truediv", Api(EXACT | SINGLE | STEADY)),
    **alike("tensorflow", "ensure_shape rsqrt", Api(SIZE | STEADY)),
    **alike(
        "tensorflow",
        """equal eye floor greater less logical_and logical_not logical_or scatter_nd
        searchsorted sequence_mask strided_slice tensor_scatter_nd_update""",
        Api(SINGLE | STEADY),
    ),
    **alike("tensorflow", "gather reduce_prod", Api(STEADY, dtype_of=0)),
    **alike("tensorflow", "numpy_function py_func py_function", Api(RUNS_PYTHON | STATEFUL)),
    **alike("tensorflow", "ones zeros", Api(STEADY, filled=Filled(0, "shape", "float32", 1))),
    **alike("tensorflow", "ones_like zeros_like", Api(SIZE | STEADY | TENSOR_FIRST, dtype_of=0)),
    **alike(
        "tensorflow",
        """parse_example parse_single_example parse_single_sequence_example""",
        Api(PARSES),
    ),
    **alike("tensorflow", "rank size", Api(MEASURES | SINGLE | STEADY | TENSOR_FIRST)),
    **alike(
        "tensorflow",
        "reduce_max reduce_mean reduce_min reduce_sum",
        Api(PACKS | STEADY, dtype_of=0),
    ),
    **alike("tensorflow", "repeat tile", Api(RESHAPES | SINGLE | STEADY, dtype_of=0)),
    **alike("tensorflow", "sigmoid tanh", Api(SIZE | STEADY, dtype_of=0)),
}
