"""What each function in the modules of TensorFlow makes of its arguments: one row a function."""

from __future__ import annotations

from collections.abc import Mapping

from tfmemlint.facts.library.traits import (
    BYTES,
    CASTS,
    DATA,
    DECODES,
    EXACT,
    FEWER,
    GROWS,
    IMAGES,
    INTERPOLATES,
    JOINS,
    JOINS_TWO,
    MEASURES,
    OPENS,
    PACKS,
    PARSES,
    PATHS,
    PIXELS,
    SEVERAL,
    SIZE,
    STATEFUL,
    Api,
    Filled,
    alike,
)

MODULES: Mapping[str, Api] = {
    "tensorflow.audio.decode_wav": Api(DECODES),
    "tensorflow.autograph.experimental.set_loop_options": Api(MEASURES),
    "tensorflow.dtypes.saturate_cast": Api(CASTS),
    "tensorflow.experimental.numpy.append": Api(JOINS_TWO),
    "tensorflow.experimental.numpy.concatenate": Api(JOINS, of="arys"),
    **alike("tensorflow.experimental.numpy", "hstack vstack", Api(JOINS, of="tup")),
    **alike("tensorflow.gfile", "FastGFile GFile Open", Api(OPENS)),
    **alike("tensorflow.gfile", "Glob ListDirectory", Api(PATHS)),
    "tensorflow.image.central_crop": Api(sizes=()),
    "tensorflow.image.grayscale_to_rgb": Api(DATA | GROWS, of="images"),
    "tensorflow.image.resize": Api(
        DATA | GROWS | INTERPOLATES | IMAGES, of="images", told="size", sizes=(1,)
    ),
    **alike(
        "tensorflow.image",
        "resize_area resize_bicubic resize_bilinear resize_images",
        Api(INTERPOLATES, sizes=(1,)),
    ),
    "tensorflow.image.resize_nearest_neighbor": Api(sizes=(1,)),
    "tensorflow.image.resize_with_crop_or_pad": Api(sizes=(1, 2)),
    "tensorflow.image.resize_with_pad": Api(INTERPOLATES, sizes=(1, 2)),
    **alike(
        "tensorflow.image",
        """adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_jpeg_quality
        adjust_saturation flip_left_right flip_up_down hsv_to_rgb rgb_to_hsv
        rgb_to_yuv rot90 transpose""",
        Api(SIZE),
    ),
    **alike(
        "tensorflow.image",
        """combined_non_max_suppression non_max_suppression_with_scores""",
        Api(SEVERAL),
    ),
    **alike("tensorflow.image", "crop_to_bounding_box pad_to_bounding_box", Api(sizes=(3, 4))),
    **alike(
        "tensorflow.image",
        """decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png""",
        Api(DECODES | PIXELS),
    ),
    **alike("tensorflow.image", "psnr ssim total_variation", Api(FEWER)),
    **alike("tensorflow.image", "random_crop stateless_random_crop", Api(sizes=(1,))),
    "tensorflow.io.decode_csv": Api(SEVERAL),
    "tensorflow.io.matching_files": Api(PATHS),
    "tensorflow.io.read_file": Api(OPENS),
    "tensorflow.io.write_file": Api(STATEFUL),
    **alike(
        "tensorflow.io",
        """decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png""",
        Api(DECODES | PIXELS),
    ),
    **alike("tensorflow.io", "decode_raw parse_tensor", Api(DECODES | BYTES)),
    **alike(
        "tensorflow.io",
        """parse_example parse_sequence_example parse_single_example
        parse_single_sequence_example""",
        Api(PARSES | SEVERAL),
    ),
    "tensorflow.io.gfile.GFile": Api(OPENS),
    **alike("tensorflow.io.gfile", "glob listdir", Api(PATHS)),
    **alike(
        "tensorflow.linalg",
        """band_part diag_part inv l2_normalize matmul matvec norm trace""",
        Api(dtype_of=0),
    ),
    **alike("tensorflow.linalg", "eig eigh lu qr slogdet svd", Api(SEVERAL)),
    **alike(
        "tensorflow.math",
        "abs add maximum minimum multiply negative square subtract",
        Api(EXACT, dtype_of=0),
    ),
    **alike("tensorflow.math", "add_n reduce_variance", Api(PACKS)),
    **alike("tensorflow.math", "approx_max_k top_k", Api(SEVERAL)),
    **alike("tensorflow.math", "cos sign sin softmax", Api(SIZE)),
    **alike("tensorflow.math", "cumsum reduce_logsumexp reduce_prod softplus", Api(dtype_of=0)),
    **alike("tensorflow.math", "divide truediv", Api(EXACT)),
    **alike(
        "tensorflow.math",
        "exp l2_normalize log log1p pow rsqrt sigmoid sqrt tanh",
        Api(SIZE, dtype_of=0),
    ),
    **alike(
        "tensorflow.math",
        "reduce_max reduce_mean reduce_min reduce_std reduce_sum",
        Api(PACKS, dtype_of=0),
    ),
    **alike(
        "tensorflow.nn",
        """bias_add dropout elu gelu leaky_relu log_softmax relu6 selu silu softplus swish""",
        Api(dtype_of=0),
    ),
    **alike(
        "tensorflow.nn",
        """ctc_beam_search_decoder ctc_greedy_decoder moments top_k weighted_moments""",
        Api(SEVERAL),
    ),
    **alike("tensorflow.nn", "l2_normalize relu sigmoid softmax tanh", Api(SIZE, dtype_of=0)),
    **alike("tensorflow.random", "Generator get_global_generator", Api(STATEFUL)),
    **alike(
        "tensorflow.random",
        "normal truncated_normal uniform",
        Api(filled=Filled(0, "shape", "float32", 3)),
    ),
    **alike(
        "tensorflow.random",
        "stateless_normal stateless_uniform",
        Api(filled=Filled(0, "shape", "float32", 4)),
    ),
    "tensorflow.sparse.to_dense": Api(SIZE),
}
