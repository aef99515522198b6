"""Data sets that are known by name."""

import pytest

from tfmemlint.facts.library.known_data import CATALOGUE, KERAS_DATASETS


@pytest.mark.parametrize("name", sorted(CATALOGUE.keys() & KERAS_DATASETS.keys()))
def test_both_libraries_have_as_many_images_of_one_size(name: str) -> None:
    (train, _), (test, _) = KERAS_DATASETS[name]
    count, (height, width, _) = CATALOGUE[name]

    assert (train[0][0] or 0) + (test[0][0] or 0) == count
    assert train[0][1:3] == test[0][1:3] == (height, width)
