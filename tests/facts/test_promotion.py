"""What types numbers become together, as NumPy and TensorFlow have it."""

from __future__ import annotations

import ast
from itertools import product

import pytest

from tfmemlint import File
from tfmemlint.facts.library.promotion import of_arrays, quotient
from tfmemlint.facts.sizes.arrays import Arrays

NAMES = """bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64
complex128""".split()  # noqa: SIM905
MADE = """\
import numpy as np
import tensorflow as tf

tensor = tf.ones([3, 4])
pixels = tf.zeros([3, 4], tf.uint8)
double, single = np.ones((3, 4)), np.ones((3, 4), np.float32)
bytes_, words = np.ones((3, 4), np.uint8), np.ones((3, 4), np.int32)
"""


def test_numpy_says_so_of_all_pairs() -> None:
    numpy = pytest.importorskip("numpy", "2")

    for one, other in product(NAMES, NAMES):
        assert of_arrays(one, other) == numpy.result_type(one, other).name, (one, other)
    for each in NAMES:
        made = numpy.ones(1, each) / numpy.ones(1, each)
        assert quotient(each) == made.dtype.name


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        ("tensor * double", "float32"),  # the array becomes a tensor of the other's type
        ("double - tensor", "float32"),
        ("tf.add(tensor, double)", "float32"),
        ("single * double", "float64"),
        ("np.add(tensor, double)", "float64"),
        ("bytes_ * single", "float32"),
        ("words * single", "float64"),
        ("words + bytes_", "int32"),
        ("bytes_ / 255", "float64"),
        ("bytes_ * 0.5", "float64"),
        ("single * 0.5", "float32"),
        ("bytes_ + 1", "uint8"),
        ("pixels / 255", "float32"),
    ],
)
def test_what_arithmetic_makes(expression: str, dtype: str) -> None:
    file = File("program.py", f"{MADE}made = {expression}\n")
    assigned = file.tree.body[-1]
    assert isinstance(assigned, ast.Assign)

    sized = file.tf.of(Arrays).of(assigned.value)

    assert sized is not None
    assert sized.dims is not None
    assert ([each.value for each in sized.dims], sized.dtype) == ([3, 4], dtype)
