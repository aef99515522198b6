"""What is made of data sets that libraries have ready."""

from __future__ import annotations

import ast

import pytest

from tfmemlint import File
from tfmemlint.facts.sizes.ready import Ready

LOADED = """\
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow import keras
from tensorflow.keras.datasets import mnist

(x, y), (x_test, y_test) = mnist.load_data()


def load(scale):
    (images, labels), _ = keras.datasets.cifar10.load_data()
    return images[..., None] / scale, labels


pictures, kinds = load(255.0)
own = np.load("own.npy")
drawn = np.random.rand(60_000, 28, 28)


"""


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        ("x", True),
        ("x.reshape(-1, 784).astype('float32') / 255.0", True),
        ("np.concatenate([x, x_test])", True),
        ("tf.one_hot(y, 10)", True),
        ("pictures[:500]", True),
        ("scaler.fit_transform(x[5000:].astype('float32').reshape(-1, 1)).reshape(-1, 784)", True),
        ("scaler.transform(own)", False),
        ("own", False),
        ("drawn", False),
        ("np.concatenate([x, own])", False),
        ("unknown", False),
    ],
)
def test_an_array_is_followed_to_where_it_comes_from(array: str, expected: bool) -> None:
    file = File("train.py", f"{LOADED}\nprint({array})\n")
    last = file.tree.body[-1]
    assert isinstance(last, ast.Expr)
    assert isinstance(last.value, ast.Call)

    assert file.tf.of(Ready).is_array(last.value.args[0]) is expected


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        ("tf.data.Dataset.from_tensor_slices((x, y)).batch(32)", True),
        ("tf.data.Dataset.from_tensor_slices((x, own)).batch(32)", False),
        ("tfds.load('mnist', split='train').shuffle(1000)", True),
        ("tfds.load('coco', split='train').shuffle(1000)", False),
        ("tf.data.TFRecordDataset('mnist.tfrecord').shuffle(1000)", False),
        ("tf.data.Dataset.range(60_000).map(tf.zeros).batch(32)", False),
    ],
)
def test_a_pipeline_is_followed_to_what_it_gives(pipeline: str, expected: bool) -> None:
    file = File("train.py", f"{LOADED}\nds = {pipeline}\n")

    assert [file.tf.of(Ready).is_chain(each) for each in file.tf.datasets.chains] == [expected]
