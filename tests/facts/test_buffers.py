"""Which maps make what buffers keep larger."""

from __future__ import annotations

import pytest

from tfmemlint import File

SETUP = """\
import tensorflow as tf

def decode(path):
    return tf.io.decode_jpeg(tf.io.read_file(path), channels=3)

def scale(image):
    return tf.cast(image, tf.float32) / 255.0

def flip(image):
    return tf.image.random_flip_left_right(image)

paths = tf.data.Dataset.list_files("*.jpg")
pixels = tf.data.Dataset.from_tensor_slices(tf.zeros([9, 8], tf.uint8))
"""


def found(pipeline: str) -> tuple[list[list[str]], list[list[str]]]:
    """Of each cache, the methods from the map on: casts, and what else makes elements larger."""
    buffers = File("code.py", f"{SETUP}ds = {pipeline}\n").tf.buffers
    casts, expansions = (
        [
            ".".join(each.chain.methods[each.map : each.buffer + 1])
            for cached in by_call.values()
            for each in cached
        ]
        for by_call in (buffers.casts, buffers.expansions)
    )
    return [each.split(".") for each in casts], [each.split(".") for each in expansions]


@pytest.mark.parametrize(
    ("pipeline", "steps"),
    [
        ("pixels.map(scale).cache()", ["map", "cache"]),
        ("pixels.map(scale).batch(3).cache()", ["map", "batch", "cache"]),
        ("pixels.map(flip).map(scale).shuffle(9).cache()", ["map", "shuffle", "cache"]),
    ],
)
def test_casts_are_found_behind_what_leaves_elements_alone(pipeline: str, steps: list[str]) -> None:
    assert found(pipeline) == ([steps], [])


@pytest.mark.parametrize(
    ("pipeline", "steps"),
    [
        ("paths.map(decode).cache()", ["map", "cache"]),
        ("paths.map(decode).filter(check).cache()", ["map", "filter", "cache"]),
        ("paths.map(decode).padded_batch(4).cache()", ["map", "padded_batch", "cache"]),
    ],
)
def test_what_else_makes_elements_larger_is_no_cast(pipeline: str, steps: list[str]) -> None:
    assert found(pipeline) == ([], [steps])


def test_what_is_decoded_and_cast_is_both() -> None:
    assert found("paths.map(decode).map(scale).cache()") == (
        [["map", "cache"]],
        [["map", "map", "cache"]],
    )


@pytest.mark.parametrize(
    "pipeline",
    [
        "pixels.cache().map(scale)",
        "pixels.map(scale).cache('/tmp/pixels')",
        "pixels.map(flip).cache()",
        "pixels.map(lambda image: image[:4]).cache()",
        "pixels.map(scale).flat_map(helper).cache()",
        "paths.cache().map(decode)",
    ],
)
def test_nothing_is_found_where_nothing_larger_is_kept(pipeline: str) -> None:
    assert found(pipeline) == ([], [])


def test_a_cache_in_a_helper_is_found_once_with_every_chain_through_it() -> None:
    text = f"""{SETUP}
def kept(ds):
    return ds.map(scale).cache()

one, other = kept(pixels), kept(pixels.shuffle(9))
"""
    ((call, cached),) = File("code.py", text).tf.buffers.casts.items()

    assert call.lineno == text.count("\n", 0, text.index(".cache()")) + 1
    assert [each.map for each in cached] == [0, 1]
