"""How many rows arrays surely have, by what makes them."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.batches import Batches, Rows

Look = Callable[[str], tuple[File, list[ast.expr]]]

HEAD = """\
import keras
import numpy as np
import tensorflow as tf
x = np.load("x.npy")
net = keras.Sequential([])
"""


def rows(look: Look, code: str) -> Rows | None:
    file, [seen] = look(HEAD + code)
    return file.tf.of(Batches).of_inputs(seen)


@pytest.mark.parametrize(
    "expression",
    [
        "x[np.newaxis]",
        "x[0][None, :]",
        "x[3:4]",
        "x[i : i + 1]",
        "x[i : 1 + i, ..., None]",
        "x[None][..., None]",
        "x[0, None]",
        "x[-1, None, :8]",
        "np.expand_dims(x[0], 0)",
        "tf.expand_dims(np.expand_dims(x[0], axis=0), -1)",
        "np.array([1, 2, 3]).reshape(1, -1)",
        "x[0].reshape((1, 4))",
        "np.reshape(x[0], [1, 4]) / 255",
        "tf.constant([x[0]])",
        "np.zeros((1, 100))",
        "np.random.normal(size=(1, 100)).astype('float32')",
        "keras.utils.pad_sequences([x[0]], maxlen=10)",
        "keras.applications.vgg16.preprocess_input(x[:1])",
        "np.concatenate([x[None], x[None]], axis=1)",
        "np.append(x[None], more, axis=1)",
        "np.hstack([x[None][:, 1:], more])",
        "[x[None], np.load('y.npy')]",
        "(np.load('y.npy'), x[None])",
        "{'image': x[None]}",
        "[x[None]] + states",
        "list(np.expand_dims([x[0], x[1]], axis=1))",
        "net.predict(x[None])",
        "net(x[None])",
    ],
)
def test_code_that_makes_one_row_says_so(look: Look, expression: str) -> None:
    assert rows(look, f"see({expression})") is Rows.ONE


@pytest.mark.parametrize(
    "expression",
    ["x[:8]", "x[i : i + 32]", "np.zeros((16, 4))", "np.array([x[0], x[1]])"],
)
def test_up_to_32_rows_are_few(look: Look, expression: str) -> None:
    assert rows(look, f"see({expression})") is Rows.FEW


@pytest.mark.parametrize(
    "expression",
    [
        "x",
        "x[0]",
        "x[i]",
        "x[8:]",
        "x[:n]",
        "x[:1000]",
        "x[i : i + n]",
        "x[::2]",
        "x[:, None]",
        "x[0, :]",
        "x[0, 1]",
        "x[i, None]",
        "np.hstack([x, x])",
        "np.expand_dims(x, -1)",
        "np.zeros((n, 4))",
        "np.zeros(4)",
        "x.reshape(-1, 1)",
        "x.reshape(shape)",
        "np.array([*x])",
        "np.concatenate([x[None], x[None]], axis=0)",
        "np.concatenate([x[None], x[None]])",
        "np.append(x[None], more, axis=0)",
        "np.append(x[None], more)",
        "np.repeat(x[None], 1000, axis=0)",
        "np.squeeze(x[None])",
        "[x, x]",
        "net.predict(x)",
        "unknown(x[None])",
    ],
)
def test_of_other_arrays_nothing_is_known(look: Look, expression: str) -> None:
    assert rows(look, f"see({expression})") is None


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("for each in tf.data.Dataset.range(9).batch(8):\n    see(each)", Rows.FEW),
        ("for each in tf.data.Dataset.range(9).batch(64):\n    see(each)", Rows.BATCH),
        ("for i, (each, y) in enumerate(tf.data.TFRecordDataset('f')):\n    see(each)", Rows.BATCH),
        ("[see(each) for each in tf.data.Dataset.range(9).batch(8)]", Rows.FEW),
        ("for each in tf.data.Dataset.range(9).batch(4096):\n    see(each)", None),
        ("for each in PIPED:\n    see(tf.squeeze(each, axis=0))", Rows.FEW),
        ("for each in PIPED:\n    see(tf.squeeze(each))", None),
        (
            "def joined(t):\n    s = t.shape\n    return tf.reshape(t, (s[0] * s[1], *s[2:]))\n"
            "for each in PIPED:\n    see(joined(each))",
            Rows.BATCH,
        ),
        ("for each in PIPED:\n    see(tf.reshape(each, (n * m, 3)))", None),
        ("for each in x:\n    see(tf.reshape(each, (each.shape[0] * each.shape[1], 3)))", None),
        ("for each in x:\n    see(each)", None),
        ("for each in x:\n    see(each[None])", Rows.ONE),
        ("it = iter(tf.data.Dataset.range(9).batch(1))\nx, y = next(it)\nsee(x)", Rows.ONE),
        (
            "for _ in w:\n    x = next(iter(tf.data.Dataset.range(9).batch(8)))[0]\n    see(x)",
            Rows.FEW,
        ),
        ("it = iter(tf.data.Dataset.range(9).batch(64))\nx, y = next(it)\nsee(x)", None),
        ("it = iter(paths)\nx, y = next(it)\nsee(x)", None),
    ],
)
def test_elements_of_pipelines_are_batches_unless_they_are_large(
    look: Look, code: str, expected: Rows | None
) -> None:
    piped = "tf.data.Dataset.range(90).batch(8).batch(1)"
    assert rows(look, code.replace("PIPED", piped)) is expected


def test_rows_are_followed_through_names_and_functions(look: Look) -> None:
    code = """\
def shaped(state):
    return np.reshape(state, [1, 4])
def act(state):
    return see(state)
state = shaped(reset())
while True:
    act(state)
    state = shaped(step())
"""

    assert rows(look, code) is Rows.ONE


@pytest.mark.parametrize(
    ("joined", "expected"),
    [("np.concatenate([one, x[None]], axis=1)", Rows.ONE), ("np.vstack([one, x[None]])", None)],
)
def test_an_array_may_be_made_of_itself(look: Look, joined: str, expected: Rows | None) -> None:
    code = f"one = np.zeros((1, 4))\nfor _ in range(9):\n    see(one)\n    one = {joined}\n"

    assert rows(look, code) is expected


def test_where_branches_differ_the_larger_counts(look: Look) -> None:
    assert rows(look, "see(x[:1] if i else x[:8])") is Rows.FEW
    assert rows(look, "see(x[:1] if i else x)") is None


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(
            "y = np.zeros((1, 3))\nfor _ in z:\n    y, s = net.predict([y, s])\n    see(y)",
            Rows.ONE,
            id="what is predicted from itself",
        ),
        pytest.param("a, b = net.predict(x[None])\nsee(b)", Rows.ONE, id="an output of several"),
        pytest.param("a, b = net.predict(x)\nsee(b)", None, id="an output for all"),
        pytest.param(
            "y = x\nfor _ in z:\n    y, s = net.predict([y, s])\n    see(y)",
            None,
            id="all, and what is predicted from that",
        ),
        pytest.param("a, b = np.split(x[None], 2)\nsee(b)", None, id="of something else"),
    ],
)
def test_outputs_have_the_rows_of_inputs(look: Look, code: str, expected: Rows | None) -> None:
    assert rows(look, code) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("for batch in ds:\n    (a, b), y = batch\n    see(b)", Rows.FEW),
        ("for batch in ds:\n    see(batch[0])", Rows.FEW),
        ("for batch in ds:\n    see(batch['image'])", Rows.FEW),
        ("for part in parts:\n    a, b = part\n    see(b)", None),
        ("for part in parts:\n    see(part[0])", None),
        ("see(x[0])", None),
    ],
)
def test_parts_of_a_batch_are_batches(look: Look, code: str, expected: Rows | None) -> None:
    made = "ds = tf.data.Dataset.from_tensor_slices((x, x)).batch(32)\n"
    assert rows(look, made + code) is expected
