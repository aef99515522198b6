"""How many elements pipelines have."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]

BEFORE = """
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
from sklearn import datasets
from sklearn.datasets import load_iris
N = 40
D = tf.data.Dataset

def twenty():
    for i in range(20):
        yield i

def pairs():
    yield 0
    for i in range(3):
        for j in range(4):
            yield i, j

def endless():
    yield 0
    while True:
        yield 1

def handed_on():
    yield 0
    yield from twenty()

def as_told(n):
    for i in range(n):
        yield i

def empty():
    return []

"""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("D.range(9)", 9),
        ("D.range(2, N).batch(4)", 40),
        ("D.from_tensor_slices([1, 2, 3])", 3),
        ("D.from_tensor_slices((np.zeros((N, 3)), y)).shuffle(9).repeat()", 40),
        ("D.from_tensor_slices({'x': np.zeros(5)})", 5),
        ("D.from_tensor_slices(x[:N])", 40),
        ("D.from_tensor_slices((x[50:100], y[50:100])).batch(8)", 50),
        ("D.from_generator(lambda: iter([(1, 2), (3, 4)]), types)", 2),
        ("D.from_generator(lambda: [[1], [2], [3]], types)", 3),
        ("D.from_generator(twenty, types).map(f)", 20),
        ("D.from_generator(pairs, types)", 13),
        ("D.from_generator(endless, types)", None),
        ("D.from_generator(handed_on, types)", None),
        ("D.from_generator(as_told, types)", None),
        ("D.from_generator(empty, types)", None),
        ("D.from_tensors(x).repeat(1000)", 1),
        ("D.list_files('*').take(7)", 7),
        ("D.range(9).take(20)", 9),
        ("tfds.load('mnist', split='train').cache()", 60_000),
        ("D.zip((D.list_files('a'), D.list_files('b').take(7))).shuffle(9)", 7),
        ("D.range(3).concatenate(D.list_files('*').take(4)).batch(8)", 7),
        ("D.from_tensor_slices(load_iris().data)", 150),
        ("D.from_tensor_slices(tf.cast(datasets.load_wine().target[:-30], tf.int32))", 148),
        ("D.from_tensor_slices(load_iris().data[:9])", 9),
        ("D.from_tensor_slices(load_iris().feature_names)", None),
        ("D.from_tensor_slices(datasets.fetch_openml('mnist_784').data)", None),
        ("D.range(3).concatenate(D.list_files('*'))", None),
        ("D.range(3).concatenate(more)", None),
        ("D.list_files('*').concatenate(D.range(3))", None),
        ("D.zip((D.list_files('a'), D.list_files('b')))", None),
        ("tfds.load('imagenet2012')", None),
        ("D.from_tensor_slices(x)", None),
        ("D.from_tensor_slices(x[N:])", None),
        ("D.from_tensor_slices(x[:-N])", None),
        ("D.from_tensor_slices(x[n:N])", None),
        ("D.from_tensor_slices(x[N])", None),
        ("D.from_generator(lambda: iter(rows), types)", None),
        ("D.from_generator(lambda: iter(read, None), types)", None),
        ("D.from_generator(lambda: read([1, 2]), types)", None),
        ("D.range(n)", None),
        ("D.list_files('*')", None),
        ("D.range(9).take(-1)", 9),
        ("D.range(9).flat_map(f)", None),
        ("D.from_tensors(x).unbatch()", None),
        ("D.list_files('*').take(n)", None),
    ],
)
def test_a_pipeline_has_at_most(look: Look, expression: str, expected: int | None) -> None:
    file, seen = look(f"{BEFORE}see({expression})")
    [chain] = file.tf.datasets.of(seen[0])

    assert file.tf.lengths.at_most(chain) == expected


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ("print(files)", 2),
        ("files.append('c')", None),
        ("for path in found:\n    files.append(path)", None),
        ("files.extend(found)", None),
        ("files += found", None),
    ],
)
def test_a_list_that_grows_may_have_any_length(look: Look, then: str, expected: int | None) -> None:
    source = f"{BEFORE}files = ['a', 'b']\n{then}\nsee(D.from_tensor_slices(files))"
    file, seen = look(source)
    [chain] = file.tf.datasets.of(seen[0])

    assert file.tf.lengths.at_most(chain) == expected


def test_a_place_in_a_pipeline_may_be_asked_about(look: Look) -> None:
    file, seen = look(f"{BEFORE}see(D.range(9).take(5).batch(2).take(3))")
    [chain] = file.tf.datasets.of(seen[0])

    assert [file.tf.lengths.at_most(chain, place) for place in range(5)] == [9, 5, 5, 5, 5]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("D.range(9000).batch(32).take(10)", 320),
        ("D.range(9000).batch(SIZE).take(10)", 9000),
        ("D.range(9000).batch(8).unbatch().take(10)", 10),
        ("D.range(9000).batch(8).batch(2).take(10)", 160),
        ("tfds.load('cats_vs_dogs', split='train', batch_size=32).take(2)", 64),
        ("tf.keras.utils.image_dataset_from_directory('d').take(2)", 64),
        ("tf.keras.utils.image_dataset_from_directory('d', batch_size=None).take(2)", 2),
    ],
)
def test_batches_that_are_taken_are_so_many_examples(
    look: Look, expression: str, expected: int
) -> None:
    file, seen = look(f"{BEFORE}import tensorflow_datasets as tfds\nsee({expression})")
    [chain] = file.tf.datasets.of(seen[0])

    assert file.tf.lengths.at_most(chain) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("D.list_files('*').batch(n).take(1)", 1),
        ("D.range(9000).batch(1000).take(20)", 9),
        ("D.list_files('*').batch(n).take(1).repeat()", None),
        ("D.list_files('*').batch(n).take(1).unbatch()", None),
    ],
)
def test_elements_are_counted_though_batches_be_of_any_size(
    look: Look, expression: str, expected: int | None
) -> None:
    file, seen = look(f"{BEFORE}see({expression})")
    [chain] = file.tf.datasets.of(seen[0])

    assert file.tf.lengths.elements(chain) == expected
