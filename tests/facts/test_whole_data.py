"""Where all of the data is held: in archives, scaled, on attributes, given to a constructor."""

from __future__ import annotations

import ast

import pytest

from tfmemlint import File
from tfmemlint.facts import Extent, Kind, Value

IMPORTS = """\
import keras
import numpy as np
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

NOT_WHOLE = {
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

    assert [file.tf.functions.is_model(each) for each in classes] == [True, True, False]
