"""How many time steps a layer gets."""

import ast
from collections.abc import Callable
from textwrap import dedent

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]
IMPORT = "import keras\nfrom keras import layers\n"


@pytest.mark.parametrize(
    ("source", "steps"),
    [
        ("see(layers.LSTM(8, input_shape=(5, 3)))", 5),
        ("see(layers.LSTM(8, batch_input_shape=(2, 5, 3)))", 5),
        ("keras.Sequential([keras.Input([7, 3]), layers.Dense(2), see(layers.LSTM(8))])", 7),
        ("keras.Sequential([layers.RepeatVector(9), layers.Wrapper(see(layers.LSTM(8)))])", 9),
        ("m = keras.Sequential()\nm.add(keras.Input([7, 3]))\nm.add(see(layers.LSTM(8)))", 7),
        ("m = keras.Sequential([keras.Input([7, 3])])\nm.add(see(layers.LSTM(8)))", 7),
        ("x = keras.Input((7, 3))\nx = layers.Dense(4)(x)\nx = see(layers.LSTM(8))(x)", 7),
        ("x = keras.Input((None, 3))\nx = see(layers.LSTM(8))(x)", None),
        ("n = keras.Sequential([keras.Input([7, 3])])\nm.add(see(layers.LSTM(8)))", None),
        ("def f(x):\n    return see(layers.LSTM(8))(x)", None),
    ],
)
def test_the_nearest_layer_that_says_so_sets_it(look: Look, source: str, steps: int | None) -> None:
    file, seen = look(IMPORT + dedent(source))

    assert isinstance(seen[0], ast.Call)
    assert file.tf.time_steps.of(seen[0]) == steps
