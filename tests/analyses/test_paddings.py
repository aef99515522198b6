"""Batches that are as long as the longest of their examples."""

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.paddings import Paddings

IMPORTS = """
import tensorflow as tf
D = tf.data.Dataset
texts = D.from_tensor_slices(names).map(tokens)
"""


def is_padded(pipeline: str, path: tuple[int, ...] = (), function: str = "") -> bool:
    file = File("code.py", f"{IMPORTS}{function}\nds = {pipeline}\nfor x in ds:\n    pass\n")
    (end,) = file.tf.consumers.ends
    (chain,) = end.chains
    return file.tf.of(Paddings).is_padded(chain, path)


@pytest.mark.parametrize(
    ("pipeline", "path"),
    [
        ("texts.padded_batch(8)", ()),
        ("texts.padded_batch(8, padded_shapes=[None])", ()),
        ("texts.padded_batch(8, ([None], [4])).prefetch(1)", (0,)),
        ("texts.padded_batch(8, [-1]).take(1000)", ()),
        ("D.from_generator(g, tf.int64).padded_batch(8)", ()),
        ("D.from_generator(g, output_shapes=[None]).padded_batch(8)", ()),
    ],
)
def test_batches_are_padded_as_far_as_needed(pipeline: str, path: tuple[int, ...]) -> None:
    assert is_padded(pipeline, path)


@pytest.mark.parametrize(
    ("pipeline", "path"),
    [
        pytest.param("texts.batch(8)", (), id="not padded"),
        pytest.param("texts.padded_batch(8, padded_shapes=[64])", (), id="all to one size"),
        pytest.param("texts.padded_batch(8, ([None], [4]))", (1,), id="the other part"),
        pytest.param("texts.padded_batch(8).map(cut)", (), id="changed afterwards"),
        pytest.param("texts.padded_batch(8).take(1)", (), id="one batch"),
        pytest.param("D.from_tensor_slices(rows).padded_batch(8)", (), id="rows of an array"),
        pytest.param(
            "D.from_generator(g, output_shapes=[64]).padded_batch(8)", (), id="a signature"
        ),
    ],
)
def test_batches_of_one_size_are_not(pipeline: str, path: tuple[int, ...]) -> None:
    assert not is_padded(pipeline, path)


@pytest.mark.parametrize(
    ("body", "padded"),
    [
        ("return tf.image.resize(x, [64, 64])", False),
        ("x.set_shape([64]); return x", False),
        ("return tf.io.parse_tensor(tf.image.resize(x, [8, 8]), tf.int64)", True),
        ("return x + 1", True),
    ],
)
def test_a_function_may_give_all_examples_one_size(body: str, padded: bool) -> None:
    function = f"def sized(x):\n    {body}\n"

    assert is_padded("D.list_files('*').map(sized).padded_batch(8)", (), function) is padded
