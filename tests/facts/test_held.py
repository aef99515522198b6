"""What is held, and parts of it."""

import pytest

from tfmemlint.facts.pipelines.held import (
    LOST,
    OUTSIDE,
    Held,
    Several,
    Tensor,
    each_of,
    either,
    lost,
    part_of,
    row,
    together,
)

IMAGE = Tensor("uint8", (8, 8, 3), is_image=True)
LABEL = Tensor("int64", ())
PATH = Tensor("string", is_path=True)


@pytest.mark.parametrize(
    ("held", "key", "part"),
    [
        (row((IMAGE, LABEL)), 1, LABEL),
        (Several((("image", IMAGE), ("label", LABEL))), "image", IMAGE),
        (Several((("image", IMAGE), (None, LABEL))), "other", LABEL),
        (row((IMAGE,)), 5, OUTSIDE),
        (PATH, 0, PATH),
        (IMAGE, 0, Tensor()),
    ],
)
def test_a_part_is_told_by_its_key_and_of_a_tensor_only_where_it_comes_from(
    held: Held, key: str | int, part: Held
) -> None:
    assert part_of(held, key) == part


def test_a_loop_gets_what_all_parts_have_in_common() -> None:
    assert each_of(row((LABEL, LABEL))) == LABEL
    assert each_of(row((IMAGE, LABEL))) not in (IMAGE, LABEL)


def test_a_number_takes_the_shape_of_what_it_is_combined_with() -> None:
    scalar, image = Tensor("float32", (), 0.5), Tensor("float32", (128, 32, 3), 0.0)
    assert together(scalar, image).shape == (128, 32, 3)
    assert together(image, scalar).shape == (128, 32, 3)
    assert together(scalar, Tensor(times=0.0)).shape is None
    row_of_image = Tensor("float32", (32, 3), 1.0)
    assert together(row_of_image, image).shape is None
    assert together(row_of_image, Tensor("float32", (3,), 0.0)).shape == (32, 3)


@pytest.mark.parametrize(
    ("element", "other", "shape", "times"),
    [
        ((1, 64, 1), (64, 64, 3), (64, 64, 3), 192.0),
        ((1, 64), (64,), (1, 64), 1.0),
        ((8, 8, 3), (8, 1, 1), (8, 8, 3), 1.0),
        ((8, 8, 3), None, (8, 8, 3), 1.0),
        ((8, 1), None, None, 1.0),
        ((3,), (8, 3), None, 1.0),
    ],
)
def test_an_axis_of_one_becomes_as_long_as_what_it_meets(
    element: tuple[int, ...], other: tuple[int, ...] | None, shape: object, times: float
) -> None:
    made = together(Tensor("float32", element), Tensor("float32", other, 0.0))

    assert (made.shape, made.times) == (shape, times)


def test_of_two_ways_what_is_out_of_sight_says_nothing() -> None:
    assert lost([row((IMAGE, LABEL))]) is LOST
    assert lost([OUTSIDE]) is OUTSIDE
    assert either(IMAGE, LOST) == either(LOST, IMAGE) == IMAGE
    assert either(LOST, LOST) is LOST
    small = either(IMAGE, OUTSIDE)
    assert isinstance(small, Tensor)
    assert small.times == 0.0
