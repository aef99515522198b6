"""Data sets that are known by name."""

import pytest

from tfmemlint import File
from tfmemlint.facts.library.known_data import CATALOGUE, KERAS_DATASETS


@pytest.mark.parametrize("name", sorted(CATALOGUE.keys() & KERAS_DATASETS.keys()))
def test_both_libraries_have_as_many_images_of_one_size(name: str) -> None:
    (train, _), (test, _) = KERAS_DATASETS[name]
    counts, (height, width, _) = CATALOGUE[name]

    assert {"train": train[0][0], "test": test[0][0]} == counts
    assert train[0][1:3] == test[0][1:3] == (height, width)


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ("", 60_000),
        (", split='train'", 50_000),
        (", 'test'", 10_000),
        (", split='train+test'", 60_000),
        (", split='train[:10%]'", 5_000),
        (", split='train[10%:]+test[:50%]'", 50_000),
        (", split='train[:1000]'", 1_000),
        (", split='train[-1000:]'", 1_000),
        (", split='train[:-1000]'", 49_000),
        (", split=['train', 'test']", 60_000),
        (", split=part", 60_000),
        (", split='train[here:]'", 50_000),
    ],
)
def test_a_split_has_its_part(given: str, count: int) -> None:
    text = (
        f"import tensorflow_datasets as tfds\nfor each in tfds.load('cifar10'{given}):\n    pass\n"
    )
    file = File("code.py", text)
    (call,) = (made for made, _ in file.tf.names.calls(frozenset({"tensorflow_datasets.load"})))
    (chain,) = file.tf.datasets.of(call)

    assert file.tf.lengths.at_most(chain) == count
