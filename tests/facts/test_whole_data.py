"""Where all of the data is held: in archives, scaled, on attributes, given to a constructor."""

from __future__ import annotations

import ast

import pytest

from tfmemlint import File
from tfmemlint.facts.library.kinds import Extent, Kind, Value

IMPORTS = """\
import keras
import numpy as np
import tensorflow as tf
from functools import partial
from sklearn.preprocessing import StandardScaler
"""


def value(code: str) -> Value:
    """The value of what `code` gives to `seen(...)`."""
    file = File("module.py", IMPORTS + code)
    calls = file.tf.tree.all(ast.Call)
    seen = next(
        each for each in calls if isinstance(each.func, ast.Name) and each.func.id == "seen"
    )
    return file.tf.values.of(seen.args[0])


WHOLE = {
    "an array of an archive": "data = np.load('a.npz')\nseen(data['x'])",
    "scaled data": "seen(StandardScaler().fit_transform(np.load('a.npy')))",
    "data less its mean": "x = np.load('a.npy')\nseen((x - np.mean(x, axis=0)) / np.float32(2))",
    "data through weights": "w = np.eye(4)\nseen(np.load('a.npy') @ w)",
    "random numbers by dimension": "seen(np.random.RandomState(0).randn(5000, 4))",
    "an unpacked attribute": (
        "class Trainer:\n"
        "    def __init__(self):\n"
        "        (self.x, self.y), _ = keras.datasets.mnist.load_data()\n"
        "    def run(self):\n"
        "        seen(self.x)\n"
    ),
    "what a constructor is given": (
        "class Trainer:\n"
        "    def __init__(self, x):\n"
        "        self.x = x\n"
        "    def run(self):\n"
        "        seen(self.x)\n"
        "Trainer(np.load('a.npy'))\n"
    ),
}

ARGUMENTS = {
    "the first argument": "def f(a, b): seen(a)\nf(np.load('a.npy'), 1)\n",
    "what partial leaves": "def f(b, a): seen(a)\ng = partial(f, 1)\ng(np.load('a.npy'))\n",
    "what partial binds": "def f(a, b): seen(a)\ng = partial(f, np.load('a.npy'))\ng(1)\n",
    "what a partial of a partial binds": (
        "def f(b, a, c): seen(a)\npartial(partial(f, 1), np.load('a.npy'))(1)\n"
    ),
    "what partial names": "def f(b, a): seen(a)\npartial(f, a=np.load('a.npy'))(1)\n",
    "what a traced partial binds": (
        "def f(a, b): seen(a)\ng = tf.function(partial(f, np.load('a.npy')))\ng(1)\n"
    ),
}

NOT_WHOLE = {
    "the other argument of a partial": "def f(a, b): seen(b)\npartial(f, np.load('a.npy'))(1)\n",
    "a keyword that replaces a partial's": (
        "def f(b, a): seen(a)\npartial(f, a=np.load('a.npy'))(1, a=2)\n"
    ),
    "weights through data": "seen(w @ np.load('a.npy'))",
    "a batch and noise of its size": (
        "x = np.load('a.npy')[:32]\nseen(x + np.random.normal(size=x.shape))"
    ),
    "a row by number": "data = np.load('a.npy')\nseen(data[0])",
    "one example as a batch of one": "seen(np.expand_dims(np.load('a.npy'), 0))",
    "what an unknown class scales": (
        "class Scaler:\n    pass\nseen(Scaler().transform(np.load('a.npy')))"
    ),
    "the batch of two constructors": (
        "class Trainer:\n"
        "    def __init__(self, x):\n"
        "        self.x = x\n"
        "    def run(self):\n"
        "        seen(self.x)\n"
        "Trainer(np.load('a.npy'))\n"
        "Trainer(np.load('a.npy')[:32])\n"
    ),
    "an attribute that is a batch later": (
        "class Trainer:\n"
        "    def __init__(self):\n"
        "        self.x, self.y = np.load('x.npy'), np.load('y.npy')\n"
        "    def run(self):\n"
        "        self.x, self.y = self.x[:32], self.y[:32]\n"
        "        seen(self.x)\n"
    ),
}


@pytest.mark.parametrize("code", ARGUMENTS.values(), ids=ARGUMENTS)
def test_a_parameter_is_given(code: str) -> None:
    assert value(code).extent is Extent.WHOLE


@pytest.mark.parametrize("code", WHOLE.values(), ids=WHOLE)
def test_all_of_the_data_is_seen_in(code: str) -> None:
    found = value(code)

    assert (found.kind, found.extent) == (Kind.ARRAY, Extent.WHOLE)


@pytest.mark.parametrize("code", NOT_WHOLE.values(), ids=NOT_WHOLE)
def test_no_more_than_a_part_is_seen_in(code: str) -> None:
    assert value(code).extent is not Extent.WHOLE


def test_a_row_axis_added_anywhere_else_keeps_all_of_the_data() -> None:
    assert value("seen(np.expand_dims(np.load('a.npy'), -1))").extent == Extent.WHOLE


def test_a_layer_of_the_module_is_no_model() -> None:
    file = File(
        "module.py",
        "import keras\n"
        "class Net(keras.Model): ...\n"
        "class Deeper(Net): ...\n"
        "class Block(keras.layers.Layer): ...\n",
    )
    classes = file.tf.tree.all(ast.ClassDef)

    assert [file.tf.classes.is_model(each) for each in classes] == [True, True, False]
