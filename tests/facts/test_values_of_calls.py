"""What calls of TensorFlow give: one tensor or several, and of which dtype."""

from __future__ import annotations

import ast

import pytest

from tfmemlint import File
from tfmemlint.facts.library.kinds import Extent, Kind, Value

SETUP = """\
import keras
import numpy as np
import tensorflow as tf
x = 0
pixels = np.zeros((6, 8, 4), np.uint8)
floats = np.zeros((6, 8), np.float32)
rng = np.random.default_rng(0)
"""


def value(expression: str) -> Value:
    file = File("code.py", f"{SETUP}seen = {expression}\n")
    statement = file.tree.body[-1]
    assert isinstance(statement, ast.Assign)
    return file.tf.values.of(statement.value)


@pytest.mark.parametrize(
    "expression",
    [
        "tf.io.decode_csv(line, defaults)",
        "tf.io.parse_single_example(record, features)",
        "tf.nn.moments(x, axes=[0])",
        "tf.linalg.svd(x)",
        "tf.experimental.dtensor.layout(x)",
    ],
)
def test_several_tensors_are_not_one(expression: str) -> None:
    assert value(expression).kind is Kind.UNKNOWN


@pytest.mark.parametrize(
    "expression", ["tf.io.decode_jpeg(x)", "tf.linalg.inv(x)", "tf.exp(x)", "tf.shape(x)"]
)
def test_one_tensor_is_one(expression: str) -> None:
    assert value(expression).kind is Kind.TENSOR


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        ("tf.zeros([2, 3])", "float32"),
        ("tf.zeros([2, 3], tf.int64)", "int64"),
        ("tf.zeros([2, 3], dtype=x.dtype)", None),
        ("tf.random.normal([2], 0.0, 1.0, x.dtype)", None),
        ("tf.cast(pixels, x.dtype)", None),
        ("np.array(pixels, dtype=x.dtype)", None),
        ("pixels.astype(x.dtype)", None),
    ],
)
def test_a_dtype_that_is_given_counts_even_if_it_is_unknown(
    expression: str, dtype: str | None
) -> None:
    assert value(expression).dtype == dtype


def test_what_is_unpacked_from_the_result_of_a_function_is_known_by_its_place() -> None:
    text = """\
import tensorflow as tf

def start():
    return tf.zeros([2]), [1, 2]

state, rest = start()
"""
    file = File("code.py", text)
    module = file.tf.tree.module
    kinds = [
        file.tf.values.bound(file.tf.bindings.of(module, name)[0]).kind
        for name in ("state", "rest", "tf")
    ]
    assert kinds == [Kind.TENSOR, Kind.LIST, Kind.UNKNOWN]


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        ("tf.one_hot(pixels, 10)", "float32"),
        ("tf.one_hot(pixels, 10, dtype=tf.uint8)", "uint8"),
        ("tf.one_hot(pixels, 10, on_value=1, off_value=0)", None),
        ("tf.image.resize(pixels, [2, 2])", "float32"),
        ("tf.image.resize(pixels, [2, 2], 'bilinear')", "float32"),
        ("tf.image.resize(pixels, [2, 2], method='nearest')", "uint8"),
        ("tf.image.resize(pixels, [2, 2], tf.image.ResizeMethod.NEAREST_NEIGHBOR)", "uint8"),
        ("tf.image.resize(pixels, [2, 2], method=x)", None),
        ("tf.fill([2], 1)", "int32"),
        ("tf.fill([2], 1.0)", "float32"),
        ("tf.fill([2], False)", "bool"),
        ("tf.fill([2], 'a')", None),
        ("tf.fill([2], unknown)", None),
        ("np.full(2, 1)", "int64"),
        ("np.full(2, -1.0)", "float64"),
        ("np.full(2, 255, np.uint8)", "uint8"),
        ("np.full(2, unknown)", None),
        ("np.random.choice(10, 3)", "int64"),
        ("np.random.choice(floats[0], 3)", "float32"),
        ("np.random.choice(unknown, 3)", None),
        ("rng.integers(10, size=3)", "int64"),
        ("rng.integers(0, 256, 3, np.uint8)", "uint8"),
        ("rng.integers(0, 256, 3, dtype=x.dtype)", None),
        ("rng.random(3)", "float64"),
        ("rng.standard_normal(3, dtype=np.float32)", "float32"),
        ("rng.choice(floats[0], 3)", "float32"),
        ("np.float32(pixels)", "float32"),
        ("np.log1p(floats)", "float32"),
        ("np.log1p(pixels)", None),
        ("np.sin(floats)", "float32"),
        ("np.arange(3)", "int64"),
        ("np.arange(0, 3, 0.5)", "float64"),
        ("np.arange(3, dtype=np.float32)", "float32"),
        ("np.arange(unknown)", None),
        ("np.linspace(0, 1)", "float64"),
        ("tf.range(3)", "int32"),
        ("tf.range(3.0)", "float32"),
        ("tf.linspace(0.0, 1.0, 3)", None),
        ("keras.utils.pad_sequences(floats)", "int32"),
        ("keras.utils.to_categorical(pixels)", None),
        ("keras.applications.vgg16.preprocess_input(pixels)", None),
        ("pixels * 0.5", "float64"),
        ("pixels * 2", "uint8"),
        ("pixels - unknown", None),
        ("floats - unknown", "float32"),
        ("floats / 255.0", "float32"),
    ],
)
def test_what_an_array_is_made_from_tells_its_dtype(expression: str, dtype: str | None) -> None:
    assert value(expression).dtype == dtype


@pytest.mark.parametrize(
    ("expression", "shape"),
    [
        ("np.arange(7)", (7,)),
        ("np.arange(2, 7)", (5,)),
        ("np.arange(0, 1, 0.25)", (4,)),
        ("np.arange(7, 0, -2)", (4,)),
        ("np.arange(7, 9, -2)", (0,)),
        ("np.arange(unknown)", (None,)),
        ("np.arange(1, 2, 0)", (None,)),
        ("tf.range(7)", (7,)),
        ("np.linspace(0, 1)", (50,)),
        ("np.linspace(0, 1, 9)", (9,)),
        ("np.linspace(0, 1, num=unknown)", (None,)),
        ("tf.linspace(0.0, 1.0, 9)", (9,)),
        ("np.sin(np.linspace(0, 1, 9))", (9,)),
        ("np.sin(floats) + np.cos(floats)", (6, 8)),
        ("tf.one_hot(pixels, 10)", (6, 8, 4, 10)),
        ("tf.one_hot(pixels, 10, axis=1)", None),
        ("tf.image.resize(pixels, [3, 2])", (3, 2, 4)),
        ("tf.image.resize(np.zeros((5, 6, 8, 4)), (3, 2))", (5, 3, 2, 4)),
        ("tf.image.resize(pixels, unknown)", None),
        ("tf.image.resize(pixels, [3, 2], preserve_aspect_ratio=True)", None),
        ("floats.reshape(4, 12)", (4, 12)),
        ("floats.reshape((4, -1))", (4, 12)),
        ("floats.reshape(-1)", (48,)),
        ("np.reshape(floats, [-1, 4])", (12, 4)),
        ("tf.reshape(floats, [unknown, 4])", (None, 4)),
        ("np.load(unknown).reshape(-1, 784)", (None, 784)),
        ("floats.reshape(unknown)", None),
        ("floats.reshape(*unknown)", None),
        ("floats.reshape(-1, 7)", None),
        ("np.expand_dims(floats, -1)", (6, 8, 1)),
        ("tf.expand_dims(floats, axis=1)", (6, 1, 8)),
        ("np.expand_dims(floats, unknown)", None),
        ("floats[..., np.newaxis]", (6, 8, 1)),
        ("floats[..., None]", (6, 8, 1)),
        ("floats[:, None]", (6, 1, 8)),
        ("floats[:, None, :]", (6, 1, 8)),
        ("floats[:, 0]", (6, None)),
    ],
)
def test_shapes_follow_through_what_changes_them(
    expression: str, shape: tuple[int | None, ...] | None
) -> None:
    assert value(expression).shape == shape


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("floats or pixels", Kind.ARRAY),
        ("[] or ['a.png']", Kind.UNKNOWN),
        ("floats or unknown", Kind.UNKNOWN),
        ("floats and pixels", Kind.UNKNOWN),
        ("tf.data.Dataset.range(3) or tf.data.Dataset.range(4)", Kind.DATASET),
    ],
)
def test_one_or_another_is_what_they_have_in_common(expression: str, kind: Kind) -> None:
    assert value(expression).kind is kind


@pytest.mark.parametrize("expression", ["np.arange(9)", "np.linspace(0, 1, 9)", "tf.range(9)"])
def test_counted_numbers_are_not_the_data(expression: str) -> None:
    assert value(expression).extent is Extent.UNKNOWN


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        ("tf.squeeze(y)", (50_000,)),
        ("tf.squeeze(y, axis=1)", (50_000,)),
        ("np.squeeze(y, -1)", (50_000,)),
        ("tf.squeeze(y, axis=axis)", None),
        ("tf.one_hot(tf.squeeze(y), 10)", (50_000, 10)),
    ],
)
def test_axes_of_size_one_are_squeezed_out(call: str, shape: tuple[int, ...] | None) -> None:
    source = f"""\
import numpy as np
import tensorflow as tf

(x, y), _ = tf.keras.datasets.cifar10.load_data()
found = {call}
"""
    file = File("module.py", source)
    last = file.tree.body[-1]
    assert isinstance(last, ast.Assign)

    assert file.tf.values.of(last.value).shape == shape
