"""What pipelines give when they are read again."""

from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint.facts.pipelines.epochs import Again

BEFORE = """
import numpy as np
import tensorflow as tf
from elsewhere import names, prepared

def decode(path):
    return tf.io.decode_png(tf.io.read_file(path), channels=3)

def flipped(image):
    return tf.image.random_flip_up_down(image)

def noise():
    yield np.random.normal(size=8)

"""
FILES = "tf.data.Dataset.list_files('*.png', shuffle=False)"


def pipeline(code: str) -> File:
    return File("example.py", dedent(BEFORE) + code + "\n")


def again(code: str) -> Again:
    file = pipeline(code)
    (chain,) = file.tf.datasets.chains
    return file.tf.epochs.again(chain, len(chain.steps))


@pytest.mark.parametrize(
    "code",
    [
        "tf.data.Dataset.range(9).map(lambda x: x + 1).batch(3)",
        "tf.data.Dataset.from_tensor_slices(np.ones([9, 2])).skip(1).enumerate().cache()",
        "tf.data.Dataset.from_tensors(np.ones(9)).repeat(3).unbatch()",
        "tf.data.TextLineDataset('a.txt').filter(lambda line: line != '')",
        "tf.data.TFRecordDataset(['a', 'b']).take(5).prefetch(1)",
        f"{FILES}.map(decode, num_parallel_calls=4)",
    ],
)
def test_what_is_computed_from_the_same_is_the_same_in_the_same_order(code: str) -> None:
    assert again(code) is Again.SAME


@pytest.mark.parametrize(
    "code",
    [
        "tf.data.Dataset.range(9).shuffle(9)",
        "tf.data.Dataset.list_files('*.png').map(decode)",
        "tf.data.Dataset.list_files('*.png', shuffle=names).map(decode)",
        f"{FILES}.map(decode, deterministic=False)",
        f"{FILES}.with_options(names).batch(2)",
        "tf.data.TFRecordDataset(names).batch(2)",
        "tf.data.TFRecordDataset(tf.data.Dataset.list_files('*.tfrecord')).batch(2)",
    ],
)
def test_the_same_elements_may_come_in_another_order(code: str) -> None:
    assert again(code) is Again.REORDERED


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(f"{FILES}.map(decode).map(flipped)", id="random"),
        pytest.param(f"{FILES}.map(names)", id="a function out of sight"),
        pytest.param("tf.data.Dataset.from_generator(noise, 'f4').batch(2)", id="a generator"),
        pytest.param("tf.data.Dataset.random().batch(2)", id="random numbers"),
        pytest.param("prepared.prefetch(1)", id="a dataset out of sight"),
        pytest.param("tf.data.Dataset.range(9).interleave(names)", id="datasets out of sight"),
        pytest.param("tf.data.Dataset.range(9).filter(lambda x: flipped(x) > 0)", id="a choice"),
    ],
)
def test_other_elements_may_come(code: str) -> None:
    assert again(code) is Again.UNKNOWN


def test_only_the_first_steps_are_asked_about() -> None:
    file = pipeline(f"{FILES}.map(decode).map(flipped)")
    (chain,) = file.tf.datasets.chains

    assert file.tf.epochs.again(chain, 1) is Again.SAME
    assert file.tf.epochs.again(chain, 2) is Again.UNKNOWN


def test_steps_draw_where_they_are_seen_to_be_random() -> None:
    file = pipeline(f"{FILES}.map(names).shuffle(9).map(flipped).map(decode).batch(2)")
    (chain,) = file.tf.datasets.chains

    drawn = [file.tf.epochs.draws(chain, place) for place in range(len(chain.steps))]

    assert drawn == [False, True, True, False, False]


def test_the_function_of_a_step_is_run_on_what_the_steps_before_it_make() -> None:
    file = pipeline(f"{FILES}.map(decode).batch(2)")
    (chain,) = file.tf.datasets.chains
    mapped = file.tf.epochs.mapped(chain, 0)

    assert mapped is not None
    assert mapped.is_pure
    assert file.tf.epochs.mapped(chain, 1) is None
