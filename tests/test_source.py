"""What a file says of itself."""

import ast

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


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import unittest", True),
        ("from absl.testing import parameterized", True),
        ("import tensorflow as tf\nclass Case(tf.test.TestCase):\n    pass", True),
        ("import tensorflow as tf\ntf.test.is_gpu_available()", False),
        ("import testing_tools", False),
    ],
)
def test_tests_are_told_by_their_imports(source: str, expected: bool) -> None:
    assert File("train.py", source).is_test is expected


def test_any_tensorflow_will_do_unless_told_otherwise() -> None:
    assert File("train.py", "").tensorflow is None
    assert File("train.py", "", (2, 12)).tensorflow == (2, 12)


CELLS = "ds = 1\nds\nds\n"


@pytest.mark.parametrize(
    ("cells", "shown"), [((), [False, False]), ((0, 10), [True, True]), ((0, 7), [False, True])]
)
def test_what_ends_a_cell_is_shown(cells: tuple[int, ...], shown: list[bool]) -> None:
    file = File("a.ipynb", CELLS, cells=cells)

    assert shown == [file.shows(each) for each in file.tree.body[1:]]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("ds\n\n# %%\nds = 1\n", True),
        ("ds\n# In[2]:\n\nds = 1\n", True),
        ("ds\n# 100 %\nds = 1\n", False),
        ("ds\n", False),
        ("if ds:\n    ds\n# %%\nds = 1\n", False),
    ],
)
def test_a_script_may_have_cells_too(source: str, shown: bool) -> None:
    file = File("a.py", source)
    statement = next(file.tf.tree.all(ast.Expr))

    assert shown == file.shows(statement)
