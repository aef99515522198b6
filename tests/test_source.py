"""What a file says of itself."""

import pytest

from tfmemlint import File


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("test_train.py", True),
        ("pkg/layers/attention_test.py", True),
        ("pkg\\test_train.py", True),
        ("train.py", False),
        ("tests/helpers.py", False),
        ("test.py", False),
        ("latest_model.py", False),
    ],
)
def test_tests_are_told_by_their_names(path: str, expected: bool) -> None:
    assert File(path, "").is_test is expected


def test_any_tensorflow_will_do_unless_told_otherwise() -> None:
    assert File("train.py", "").tensorflow is None
    assert File("train.py", "", (2, 12)).tensorflow == (2, 12)
