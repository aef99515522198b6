"""How many elements pipelines have."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]

BEFORE = "import numpy as np\nimport tensorflow as tf\nN = 40\nD = tf.data.Dataset\n"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("D.range(9)", 9),
        ("D.range(2, N).batch(4)", 40),
        ("D.from_tensor_slices([1, 2, 3])", 3),
        ("D.from_tensor_slices((np.zeros((N, 3)), y)).shuffle(9).repeat()", 40),
        ("D.from_tensor_slices({'x': np.zeros(5)})", 5),
        ("D.from_tensors(x).repeat(1000)", 1),
        ("D.list_files('*').take(7)", 7),
        ("D.range(9).take(20)", 9),
        ("D.from_tensor_slices(x)", None),
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
