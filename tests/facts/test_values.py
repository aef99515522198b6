"""Provenance: what is a whole data set, and how large."""

import ast
import time
from collections.abc import Callable

import pytest

from tfmemlint import File
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library.kinds import Extent, Kind

Look = Callable[[str], tuple[File, list[ast.expr]]]

IMPORTS = """
import glob, os
import h5py
import numpy as np
import scipy.io
import pandas as pd
import tensorflow as tf
from pathlib import Path
from sklearn.model_selection import train_test_split
"""


@pytest.mark.parametrize(
    ("source", "kind", "shape"),
    [
        ("see(np.load(f))", Kind.ARRAY, None),
        ("see(scipy.io.loadmat(f)['x'])", Kind.ARRAY, None),
        ("with h5py.File(f) as stored:\n    see(stored['x'][:])", Kind.ARRAY, None),
        ("with h5py.File(f) as stored:\n    see(stored['x'][()])", Kind.ARRAY, None),
        ("stored = h5py.File(f)\nsee(np.array(stored['x']['y']))", Kind.ARRAY, None),
        ("stored = h5py.File(f)\nsee(stored['x'])", Kind.STORED, None),
        (
            "(a, b), (c, d) = tf.keras.datasets.mnist.load_data()\nsee(a)",
            Kind.ARRAY,
            (60000, 28, 28),
        ),
        ("(a, b), _ = tf.keras.datasets.cifar10.load_data()\nsee(b)", Kind.ARRAY, (50000, 1)),
        ("import sklearn.datasets as d\nx = d.load_wine()\nsee(x.data)", Kind.ARRAY, (178, 13)),
        ("import sklearn.datasets as d\nsee(d.load_iris().target)", Kind.ARRAY, (150,)),
        (
            "train, test = tf.keras.datasets.mnist.load_data()\nx, y = test\nsee(x)",
            Kind.ARRAY,
            (10000, 28, 28),
        ),
        ("N = 1000\nsee(np.random.rand(N, 3 * 4))", Kind.ARRAY, (1000, 12)),
        ("see(np.random.default_rng(0).random((5, 6)))", Kind.ARRAY, (5, 6)),
        ("rng = np.random.default_rng(0)\nsee(rng.normal(size=(5, 6)))", Kind.ARRAY, (5, 6)),
        ("see(tf.random.normal((100, 50)))", Kind.TENSOR, (100, 50)),
        ("shape = (7, 8)\nsee(tf.zeros(shape))", Kind.TENSOR, (7, 8)),
        ("see(tf.constant(np.zeros((4, 2))))", Kind.TENSOR, (4, 2)),
        ("x = np.load(f)\nx = x.astype('float32') / 255.0\nsee(x)", Kind.ARRAY, None),
        ("x = np.load(f)\nsee(x.reshape(-1, 784))", Kind.ARRAY, (None, 784)),
        ("x = np.load(f)\nsee(x[..., None])", Kind.ARRAY, None),
        ("x = np.load(f)\nsee(x[:, 0])", Kind.ARRAY, None),
        ("see(pd.read_csv(f).drop(columns='y').to_numpy())", Kind.ARRAY, None),
        ("df = pd.read_csv(f)\nsee(df[['a', 'b']].values)", Kind.ARRAY, None),
        ("x = np.load(f)\na, b = train_test_split(x, test_size=0.2)\nsee(a)", Kind.ARRAY, None),
        ("def load():\n    return np.load(f)\nsee(load())", Kind.ARRAY, None),
        ("def load():\n    return np.load(f), np.load(g)\nx, y = load()\nsee(y)", Kind.ARRAY, None),
        ("def f(x):\n    see(x)\nf(np.load(a))", Kind.ARRAY, None),
        (
            "class T:\n    def __init__(self):\n        self.x = np.load(f)\n"
            "    def go(self):\n        see(self.x)",
            Kind.ARRAY,
            None,
        ),
        ("see(np.concatenate([np.load(a), np.load(b)]))", Kind.ARRAY, None),
        ("see(sorted(glob.glob(p)))", Kind.PATHS, None),
        ("see([os.path.join(d, f) for f in os.listdir(d)])", Kind.PATHS, None),
        ("see(list(Path(d).rglob('*.png')))", Kind.PATHS, None),
        ("see(sorted([entry.path for entry in os.scandir(d)]))", Kind.PATHS, None),
        ("see(['a.jpg', 'b.jpg'])", Kind.PATHS, (2,)),
        ("see(pd.read_csv(f))", Kind.FRAME, None),
    ],
)
def test_all_the_data_there_is(
    look: Look, source: str, kind: Kind, shape: tuple[int, ...] | None
) -> None:
    file, seen = look(IMPORTS + source)

    value = file.tf.values.of(seen[0])

    assert (value.kind, value.extent, value.shape) == (kind, Extent.WHOLE, shape)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("x = np.load(f)\nsee(x[i:i + 32])", Kind.ARRAY),
        ("with h5py.File(f) as stored:\n    see(stored['x'][i:i + 32])", Kind.ARRAY),
        ("x = np.load(f)\nsee(x[:1000])", Kind.ARRAY),
        ("x = np.load(f)\nsee(x[index])", Kind.ARRAY),
        ("for row in np.load(f):\n    see(row)", Kind.ARRAY),
        ("for x in tf.data.Dataset.range(9).batch(3):\n    see(x)", Kind.TENSOR),
        ("for i, (x, y) in enumerate(tf.data.Dataset.range(9)):\n    see(x)", Kind.TENSOR),
        ("for p in glob.glob(q):\n    see(p)", Kind.PATH),
        ("for p in sorted(os.listdir(d)):\n    see(os.path.join(d, p))", Kind.PATH),
        ("paths = glob.glob(q)\nsee(paths[:16])", Kind.PATHS),
    ],
)
def test_a_part_of_the_data(look: Look, source: str, kind: Kind) -> None:
    file, seen = look(IMPORTS + source)

    value = file.tf.values.of(seen[0])

    assert (value.kind, value.extent) == (kind, Extent.PART)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("see(x_train)", id="a name is no evidence"),
        pytest.param("def f(x_train):\n    see(x_train)", id="nor is a parameter's"),
        pytest.param("x = np.load(f)\nif a:\n    x = x[:10]\nsee(x)", id="whole or not"),
        pytest.param("def f(x):\n    see(x)\nf(np.load(a))\nf(b)", id="callers disagree"),
        pytest.param("x = f(x)\nsee(x)", id="made of itself"),
        pytest.param("def f(n):\n    return f(n)\na, b = f(1)\nsee(a)", id="a recursive function"),
        pytest.param("see(model.predict(np.load(f)))", id="unknown methods"),
    ],
)
def test_what_cannot_be_known_is_unknown(look: Look, source: str) -> None:
    file, seen = look(IMPORTS + source)

    assert file.tf.values.of(seen[0]).extent is Extent.UNKNOWN


@pytest.mark.parametrize(
    ("source", "nbytes"),
    [
        ("see(np.zeros((1000, 1000)))", 8_000_000),
        ("see(np.zeros((1000, 1000), np.float32))", 4_000_000),
        ("see(np.zeros((1000, 1000), dtype='uint8'))", 1_000_000),
        ("see(np.random.rand(1000, 1000).astype(np.float32))", 4_000_000),
        ("x, _ = tf.keras.datasets.mnist.load_data()\nsee(x[0])", 47_040_000),
        ("x, _ = tf.keras.datasets.mnist.load_data()\nsee(x[0] / 255.0)", 376_320_000),
        ("see(np.zeros((n, 1000)))", None),
        ("see(np.memmap(f, np.float32, 'r', shape=(1000, 10)))", 40_000),
        ("see(np.memmap(f, mode='r', shape=(1000, 10)))", 10_000),
        ("see(np.memmap(f, np.float32, 'r'))", None),
    ],
)
def test_sizes_follow_from_literals(look: Look, source: str, nbytes: int | None) -> None:
    file, seen = look(IMPORTS + source)

    assert file.tf.values.of(seen[0]).nbytes == nbytes


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("see(3)", 3),
        ("N = 4 * 8\nsee(N // 2 - 1)", 15),
        ("x = np.zeros((7, 2))\nsee(len(x))", 7),
        ("x = np.zeros((7, 2))\nsee(x.shape[0])", 7),
        ("x = np.zeros((7, 2))\nn = x.shape[0]\nsee(n)", 7),
        ("x = np.zeros((7, 2))\nsee(x.shape[1] * 3)", 6),
        ("x = np.zeros((7, 2))\nsee(x[5:].shape[0])", 2),
        ("x = np.zeros((7, 2))\nsee(x.reshape(x.shape + (1,)).shape[1])", 2),
        ("x = np.zeros((7, 2))\nsee(np.zeros((3,) + x.shape).shape[2])", 2),
        ("x = np.zeros((7, 2))\nsee(np.ones(x.shape).shape[0])", 7),
        ("x = np.zeros(3 + 4)\nsee(x.shape[0])", 7),
        ("see(np.zeros(k + (1,)).shape[1])", None),
        ("x = np.zeros((7, 2))\nsee(x[:9].shape[0])", 7),
        ("x = np.zeros((7, 2))\nsee(x[1:-1:2].shape[0])", 3),
        ("x = np.zeros((7, 2))\nsee(x[k:].shape[0])", None),
        ("x = np.load('x.npy')\nsee(x[5:].shape[0])", None),
        ("x = np.zeros((7, 2))\nn = np.shape(x)[-1]\nsee(n)", 2),
        ("x = np.zeros((7, 2))\nsee(x.shape[2])", None),
        ("x = np.zeros((7, 2))\nsee(x.shape[k])", None),
        ("x = np.zeros((7, 2, 3))\nn, h, w = x.shape\nsee(h * w)", 6),
        ("x = np.zeros((7, 2, 3))\nn, *_ = np.shape(x)\nsee(n)", 7),
        ("x = np.zeros((7, 2, 3))\nn, h = x.shape[:2]\nsee(h)", 2),
        ("x = np.zeros((7, 2, 3))\nh, w = x.shape[1:]\nsee(h)", 2),
        ("x = np.zeros((7, 2, 3))\n*_, w = x.shape\nsee(w)", 3),
        ("x = np.zeros((7, 2, 3))\n*_, w = x.shape[1:]\nsee(w)", None),
        ("x = np.zeros((7, 2, 3))\nsee(np.prod(x.shape[1:]))", 6),
        ("x = np.zeros((7, 2, k))\nsee(np.prod(x.shape[1:]))", None),
        ("x = np.zeros((7, 2, 3))\nsee(x.shape[1:][1])", 3),
        ("x = np.zeros((7, 2))\nsee(np.concatenate((x, x)).shape[0])", 14),
        ("x = np.zeros((7, 2))\nsee(np.concatenate((x, np.load(f))).shape[0])", None),
        ("x = np.zeros((7, 2))\nsee(np.concatenate([x, np.zeros((1, k))], axis=0).shape[0])", 8),
        ("x = np.zeros((7, 2))\nsee(np.concatenate([x, np.zeros((1, k))], axis=0).shape[1])", None),
        ("x = np.zeros((7, 2))\nsee(np.concatenate([x, x], axis=-1).shape[1])", 4),
        ("x = np.zeros((7, 2))\nsee(np.concatenate([x, x], axis=k).shape[1])", None),
        ("x = np.zeros((7, 2))\nsee(np.hstack([x, x]).shape[1])", 4),
        ("x = np.zeros((7, 2))\nsee(np.vstack([x, x[:3]]).shape[0])", 10),
        ("x = np.zeros(7)\nsee(np.vstack([x, x]).shape[0])", None),
        ("x = np.zeros(7)\nsee(np.concatenate([x, x]).shape[0])", 14),
        ("x = np.zeros((7, 2, 3))\nfor n, h, w in x.shape: see(n)", None),
        ("x = np.zeros((7, 2))\nsee(x.sizes[1])", None),
        ("def f(n=5):\n    see(n)\nf()", 5),
        ("if a:\n    n = 1\nelse:\n    n = 2\nsee(n)", None),
        ("for n in range(3):\n    see(n)", None),
        ("see(1 // 0)", None),
        ("n = int(n)\nsee(n)", None),
        ("n = int(3e5)\nsee(n)", 300_000),
        ("import math\nsee(math.ceil(10 / 4))", 3),
        ("see(round(float(7) / 2) + 1)", 5),
        ("see(int(text))", None),
        ("see(int('1f', 16))", None),
        ("see(int(1e400))", None),
    ],
)
def test_numbers_follow_from_literals(look: Look, source: str, number: int | None) -> None:
    file, seen = look(IMPORTS + source)

    assert file.tf.values.number(seen[0]) == number


def test_rows_are_those_of_the_array_that_one_call_passes(look: Look) -> None:
    file, _ = look(
        """
        import numpy as np
        def f(x):
            n = len(x)
            return g(n)
        def g(count):
            return count
        small = f(np.zeros((3, 2)))
        large = f(np.zeros((400, 2)))
        """
    )
    values = file.tf.values
    f = next(each for each in file.tf.tree.all(ast.FunctionDef) if each.name == "f")
    (inner,) = file.tf.bodies.returns(f)
    assert isinstance(inner, ast.Call)
    calls = file.tf.callers.calls_of(f)

    assert [values.number(inner.args[0], Frame(f, each, None)) for each in calls] == [3, 400]
    assert values.number(inner.args[0]) is None
    assert [
        ast.unparse(rows)
        for each in calls
        if (rows := values.rows(inner.args[0], Frame(f, each, None)))
    ] == ["x", "x"]


def test_a_tree_of_tuples_has_an_end(look: Look) -> None:
    file, (asked,) = look(
        """
        def build(x, y):
            if len(y) < 2:
                return y
            left, right = build(x[:9], y[:9]), build(x[9:], y[9:])
            return (1, 2, left, right)

        def leaf(x, y):
            node = build(x, y)
            while isinstance(node, tuple):
                feature, threshold, left, right = node
                if x[feature] < threshold:
                    node = left
                else:
                    node = right
            see(node)
        """
    )
    started = time.process_time()
    assert not file.tf.values.of(asked).is_array
    assert time.process_time() - started < 5
