"""Functions that give back one tensor."""

import pytest

from tfmemlint.facts.library.tensor_functions import gives_tensor


@pytest.mark.parametrize(
    "name",
    ["keras.ops.relu", "tensorflow.reduce_sum", "tensorflow.abs", "tensorflow.math.l2_normalize"],
)
def test_a_function_gives_one_tensor_by_its_family_or_its_name(name: str) -> None:
    assert gives_tensor(name)


@pytest.mark.parametrize(
    "name",
    [
        "tensorflow.absolutely",
        "tensorflow.math.top_k",
        "tensorflow.split",
        "tensorflow.data.Dataset.range",
        "numpy.abs",
    ],
)
def test_what_gives_several_or_is_none_of_these_does_not(name: str) -> None:
    assert not gives_tensor(name)
