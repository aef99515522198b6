"""What is sliced into pipelines: arrays and lists, by any name, and what is known of their rows."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint.facts.library.kinds import Extent
from tfmemlint.facts.pipelines.held import Held, Several, Tensor, row
from tfmemlint.facts.sizes.arrays import bytes_of

IMPORTS = """
import cv2
import keras
import librosa
import math
import numpy as np
import tensorflow as tf
from elsewhere import found, paths
"""
PICTURE = Tensor("uint8", (64, 64, 3), is_view=True)


def sliced(source: str) -> tuple[Held, str]:
    """What is sliced, and how many of it there are, as it is said."""
    file = File("code.py", IMPORTS + dedent(source))
    (chain,) = file.tf.datasets.chains
    return file.tf.elements.entering(chain, 0), file.tf.streams.count(chain, 0).text


@pytest.mark.parametrize(
    ("source", "element", "count"),
    [
        pytest.param(
            """
            pictures, kinds = [], []
            for path in paths:
                pictures.append(cv2.resize(cv2.imread(path), (64, 64)))
                kinds.append(path.split("/")[-2])
            data = (pictures, kinds)
            tf.data.Dataset.from_tensor_slices(data).batch(8)
            """,
            row((PICTURE, Tensor())),
            "`len(paths)`",
            id="lists that a loop fills, in a tuple with a name",
        ),
        pytest.param(
            """
            pictures = [np.zeros((32, 32), np.float32) for _ in range(100)]
            tf.data.Dataset.from_tensor_slices({"x": pictures}).batch(8)
            """,
            Several((("x", Tensor("float32", (32, 32), is_view=True)),)),
            "100",
            id="a comprehension",
        ),
        pytest.param(
            """
            data = dict(x=np.zeros((100, 8)), y=np.zeros(100, np.int32))
            tf.data.Dataset.from_tensor_slices(data).batch(8)
            """,
            Several((("x", Tensor("float64", (8,), is_view=True)), ("y", Tensor("int32", ())))),
            "100",
            id="a dictionary of arrays",
        ),
        pytest.param(
            """
            def told(path):
                sound, rate = librosa.load(path)
                return np.mean(librosa.feature.mfcc(y=sound, sr=rate, n_mfcc=40).T, axis=0)
            data = {"mfcc": []}
            for path in paths:
                data["mfcc"].append(told(path).tolist())
            rows = np.array(data["mfcc"])
            tf.data.Dataset.from_tensor_slices(rows).batch(8)
            """,
            Tensor("float64", (40,), is_view=True),
            "`len(rows)`",
            id="what a loop computes of sounds, as lists of numbers",
        ),
        pytest.param(
            "tf.data.Dataset.from_tensor_slices(np.ones((10, 20)).tolist()).batch(8)",
            Tensor("float32", (20,)),
            "10",
            id="Python's floats become float32",
        ),
        pytest.param(
            """
            rows = keras.utils.pad_sequences(found, maxlen=100)
            tf.data.Dataset.from_tensor_slices(rows).batch(8)
            """,
            Tensor("int32", (100,)),
            "`len(rows)`",
            id="rows that are padded",
        ),
        pytest.param(
            """
            pictures = []
            for path in paths:
                pictures.append(cv2.imread(path))
            tf.data.Dataset.from_tensor_slices(np.array(pictures)).batch(8)
            """,
            Tensor("uint8", (None, None, 3)),
            "`len(paths)`",
            id="pictures of any size",
        ),
        pytest.param(
            """
            data = found or (np.zeros(100), np.zeros(100))
            tf.data.Dataset.from_tensor_slices(data).batch(8)
            """,
            Tensor(),
            "`len(data)`",
            id="not surely a tuple",
        ),
        pytest.param(
            """
            data = {"x": [], "y": []}
            for number in range(100):
                data["x"].append(np.zeros(16, np.float32))
                data["y"].append(found(number))
            tf.data.Dataset.from_tensor_slices(data).batch(8)
            """,
            Several((("x", Tensor("float32", (16,), is_view=True)), ("y", Tensor()))),
            "100",
            id="lists in a dictionary that a loop fills",
        ),
        pytest.param(
            """
            data = {"x": np.zeros((100, 4)), "y": np.zeros(100)}
            data["x"] = found
            tf.data.Dataset.from_tensor_slices(data).batch(8)
            """,
            Tensor(),
            "the elements",
            id="a dictionary into which something else is put",
        ),
        pytest.param(
            """
            rows = []
            for _ in range(3):
                for row in tf.data.Dataset.from_tensor_slices(rows).batch(8):
                    rows.append(row)
            """,
            Tensor(),
            "3",
            id="made of itself",
        ),
    ],
)
def test_slices(source: str, element: Held, count: str) -> None:
    held, said = sliced(source)

    assert (held, said) == (element, count)


SIGNED = """
import tensorflow as tf
SIGNATURE = [tf.TensorSpec([None, 224, 3]), tf.TensorSpec([None], tf.int32)]

@tf.function(input_signature=SIGNATURE)
def step(x, y):
    return tf.nn.relu(x), tf.one_hot(y, 10)

class Exported(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec(shape=(8, 16), dtype=tf.float16)])
    def __call__(self, x):
        return tf.abs(x)

@tf.function
def unsigned(x):
    return tf.exp(x)
"""


@pytest.mark.parametrize(
    ("called", "text"),
    [
        ("tf.nn.relu", "`x.shape[0]` \N{MULTIPLICATION SIGN} 2.6 KB"),
        ("tf.one_hot", "`y.shape[0]` \N{MULTIPLICATION SIGN} 40 B"),
        ("tf.abs", "8 \N{MULTIPLICATION SIGN} 32 B"),
        ("tf.exp", None),
    ],
)
def test_signatures_tell_the_sizes_of_parameters(called: str, text: str | None) -> None:
    file = File("code.py", SIGNED)
    calls = (each for each in ast.walk(file.tree) if isinstance(each, ast.Call))
    (call,) = (each for each in calls if ast.unparse(each.func) == called)
    sized = file.tf.arrays.of(call)

    assert (None if sized is None else bytes_of(sized).text) == text


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ("2.0 * np.pi * tf.exp(tf.linspace(0.0, tf.math.log(1000.0), 32 // 2))", "64 B"),
        ("np.linspace(0, 1)", "400 B"),
        ("2 * math.pi * np.zeros((2, 4, 8))[0][0]", "64 B"),
    ],
)
def test_numbers_with_names_and_at_even_distances(made: str, text: str) -> None:
    file = File("code.py", IMPORTS + f"made = {made}\n")
    (assigned,) = (each for each in ast.walk(file.tree) if isinstance(each, ast.Assign))
    sized = file.tf.arrays.of(assigned.value)

    assert sized is not None
    assert bytes_of(sized).text == text


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ("np.eye(100)", "100 \N{MULTIPLICATION SIGN} 800 B"),
        ("np.identity(100, np.float32)", "100 \N{MULTIPLICATION SIGN} 400 B"),
        ("tf.eye(100, 50)", "100 \N{MULTIPLICATION SIGN} 200 B"),
        ("np.eye(100)[np.arange(400_000) % 100]", "400,000 \N{MULTIPLICATION SIGN} 800 B"),
        (
            "np.ones((9, 4), np.float32)[np.zeros((5, 2), np.int32)]",
            "5 \N{MULTIPLICATION SIGN} 32 B",
        ),
        ("np.ones((9, 4))[np.random.permutation(9)]", "9 \N{MULTIPLICATION SIGN} 32 B"),
        ("np.ones((9, 4))[np.ones(9) > 0]", None),
        ("tf.eye(100, batch_shape=shape)", None),
        ("np.eye(classes)[labels]", None),
    ],
)
def test_rows_that_are_picked_are_as_many_as_their_numbers(made: str, text: str | None) -> None:
    file = File("code.py", IMPORTS + f"made = {made}\n")
    (assigned,) = (each for each in ast.walk(file.tree) if isinstance(each, ast.Assign))
    sized = file.tf.arrays.of(assigned.value)
    told = None if sized is None or sized.dims is None else bytes_of(sized)

    assert (told.text if told else None) == text


@pytest.mark.parametrize(
    ("made", "whole"),
    [
        ("rows[1:]", True),
        ("rows[:-1]", True),
        ("rows[:split]", True),
        ("rows[split:]", True),
        ("rows[: rows.shape[0] // 2]", True),
        ("rows[np.random.permutation(len(rows))]", True),
        ("rows[-1:]", False),
        ("rows[:32]", False),
        ("rows[start : start + 32]", False),
        ("rows[: len(other)]", False),
        ("rows[: min(32, len(rows))]", False),
        ("rows[first : first + 32]", False),
        ("rows[::2]", False),
        ("rows[np.random.permutation(len(rows))[:32]]", False),
    ],
)
def test_what_leaves_out_but_an_end_is_still_all_of_it(made: str, whole: bool) -> None:
    text = (
        "rows = np.load('rows.npy')\nsplit = int(len(rows) * 0.8)\n"
        "first = np.random.randint(0, len(rows) - 32)\n"
        f"for start in range(0, len(rows), 32):\n    made = {made}\n"
    )
    file = File("code.py", IMPORTS + text)
    *_, assigned = (each for each in ast.walk(file.tree) if isinstance(each, ast.Assign))

    assert (file.tf.values.of(assigned.value).extent is Extent.WHOLE) is whole
