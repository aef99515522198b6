"""Pipelines of single examples, and training that takes what they give as it comes."""

from __future__ import annotations

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.examples import Examples

IMPORTS = """
import keras
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
D = tf.data.Dataset
x_train = np.load("x_train.npy")
(x_test, y_test), _ = keras.datasets.mnist.load_data()
model = keras.Sequential([keras.layers.Dense(1)])

def decode(path):
    return tf.io.decode_jpeg(tf.io.read_file(path))

def as_batch(path):
    return tf.expand_dims(decode(path), 0)

def step(x):
    with tf.GradientTape() as tape:
        model(x)
"""


def are_single(pipeline: str) -> bool:
    file = File("code.py", f"{IMPORTS}\nds = {pipeline}\nmodel.fit(ds)\n")
    (end,) = file.tf.consumers.ends
    return all(map(file.tf.of(Examples).are_single, end.chains))


def trains(code: str) -> bool:
    file = File("code.py", f"{IMPORTS}\nds = D.range(9)\n{code}\n")
    (end,) = file.tf.consumers.ends
    return file.tf.of(Examples).trains_as_they_come(end)


@pytest.mark.parametrize(
    "pipeline",
    [
        "D.from_tensor_slices(x_train)",
        "D.from_tensor_slices((x_test, y_test)).shuffle(9).repeat()",
        "D.from_tensor_slices(x_test.reshape(-1, 784))",
        "D.from_tensor_slices(x_test.reshape(-1, 784).astype('float32'))",
        "D.from_tensor_slices(x_train.reshape(len(x_train), -1))",
        "D.from_tensor_slices(np.reshape(x_train, (x_train.shape[0], 28, 28, 1)))",
        "D.list_files('*.jpg').map(decode).prefetch(1)",
        "tf.data.TFRecordDataset('a').map(lambda each: tf.io.decode_raw(each, tf.uint8))",
        "tfds.load('mnist', split='train')",
    ],
)
def test_slices_parsed_files_and_ready_made_data_are_single_examples(pipeline: str) -> None:
    assert are_single(pipeline)


@pytest.mark.parametrize(
    "pipeline",
    [
        pytest.param("D.from_tensor_slices(x_train).batch(8)", id="batched"),
        pytest.param("D.from_tensor_slices(x_train).window(8)", id="windows"),
        pytest.param("D.from_tensor_slices(folds())", id="out of sight"),
        pytest.param("D.from_tensor_slices(x_test.reshape(-1, 32, 784))", id="grouped"),
        pytest.param("D.from_tensor_slices(x_train.reshape(-1, 32, 28, 28))", id="perhaps"),
        pytest.param("D.from_tensor_slices(x_test.reshape(-1, 32, 784).copy())", id="copied"),
        pytest.param("D.from_tensor_slices(np.reshape(x_test, (-1, 8, 784)))", id="by NumPy"),
        pytest.param("D.list_files('*.jpg').map(as_batch)", id="a batch of one"),
        pytest.param("D.list_files('*.jpg').map(lambda p: decode(p)[None])", id="an axis"),
        pytest.param("D.list_files('*.jpg').map(elsewhere)", id="a function out of sight"),
        pytest.param("tf.data.TFRecordDataset('a')", id="serialized"),
        pytest.param("tfds.load('mnist', split='train', batch_size=8)", id="batched by itself"),
        pytest.param("tfds.load('mnist', **options)", id="options out of sight"),
        pytest.param("D.from_generator(decode, tf.float32)", id="a generator"),
    ],
)
def test_what_may_be_a_batch_is_no_single_example(pipeline: str) -> None:
    assert not are_single(pipeline)


@pytest.mark.parametrize("code", ["model.fit(ds)", "for x in ds:\n    step(x)"])
def test_training_takes_elements_as_they_come(code: str) -> None:
    assert trains(code)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("elsewhere.fit(ds)", id="a model out of sight"),
        pytest.param("model.predict(ds)", id="no training"),
        pytest.param("for x in ds:\n    print(x)", id="no gradients"),
        pytest.param("for x in ds:\n    step(x[tf.newaxis])", id="an axis"),
        pytest.param("for x in ds:\n    step(tf.stack([x]))", id="batched in the loop"),
    ],
)
def test_what_does_not_train_or_makes_batches_itself_does_not(code: str) -> None:
    assert not trains(code)
