"""Where arrays go through models, by whatever names."""

from __future__ import annotations

import ast

import pytest

from tfmemlint import File

IMPORTS = """\
import keras
import numpy as np
import tensorflow as tf
net = keras.Sequential([])
x = np.load("x.npy")
"""
STEP = """\
def step(model, inputs, targets):
    inputs = tf.reshape(tf.cast(inputs, tf.float32), [-1, 4])
    with tf.GradientTape() as tape:
        loss = loss_of(model, inputs, targets)
    return loss
def loss_of(model, rows, targets):
    return keras.losses.mse(targets, model(rows, training=True))
"""


def last_call(code: str) -> tuple[File, ast.Call]:
    file = File("module.py", IMPORTS + code)
    statement = file.tree.body[-1]
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    return file, statement.value


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("net(x)", id="a model"),
        pytest.param("net(x, training=False)", id="a keyword that is no array"),
        pytest.param("net(inputs=x)", id="an array by keyword"),
        pytest.param("keras.applications.ResNet50()(x)", id="a ready-made architecture"),
        pytest.param("class Net(keras.Model): ...\nNet()(x)", id="a model of the module"),
    ],
)
def test_a_call_passes_an_array_through(code: str) -> None:
    file, call = last_call(code)
    found = file.tf.passes.of(call)

    assert found is not None
    assert (ast.unparse(found.array), found.functions) == ("x", ())


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("net([x, x])", id="a list of inputs"),
        pytest.param("net(x, x)", id="two inputs"),
        pytest.param("net.summary(x)", id="a method"),
        pytest.param("keras.layers.Dense(4)(x)", id="a layer"),
        pytest.param("class Net:\n    pass\nNet()(x)", id="a class that is no model"),
        pytest.param("unknown(x)", id="an unknown name"),
        pytest.param("net('x')", id="no array"),
    ],
)
def test_no_array_goes_through_a_model_in(code: str) -> None:
    file, call = last_call(code)

    assert file.tf.passes.of(call) is None


def test_what_a_tape_sees_called_on_one_array_is_a_model() -> None:
    code = (
        "from nets import build\n"
        "other = build()\n"
        "with tf.GradientTape() as tape:\n"
        "    other(x), print(x), build(x), loss(x, x)\n"
        "other(x)\n"
    )
    file, _ = last_call(code)
    found = [call for call in file.tf.tree.all(ast.Call) if file.tf.passes.of(call)]

    assert [(ast.unparse(each), each.lineno) for each in found] == [("other(x)", 9)]


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        ("step(net, x, x[:4])", "x"),
        ("step(targets=x[:4], inputs=x / 255, model=net)", "x / 255"),
        ("tf.function(step)(net, tf.constant(x), x[:4])", "tf.constant(x)"),
    ],
)
def test_a_pass_is_followed_from_a_call_to_its_argument(call: str, argument: str) -> None:
    file, node = last_call(STEP + call)
    (found,) = file.tf.passes.below(node)
    given = file.tf.passes.argument(found, node)

    assert [getattr(each, "name", "") for each in found.functions] == ["step", "loss_of"]
    assert given is not None
    assert ast.unparse(given) == argument


@pytest.mark.parametrize(
    ("call", "through"),
    [
        ("step(net, 'x', 1)", 0),
        ("step(print, x, x)", 0),
        ("loss_of(net, x, x)", 1),
    ],
)
def test_only_arrays_that_a_call_gives_go_through_models_below_it(call: str, through: int) -> None:
    file, node = last_call(STEP + call)

    assert len(list(file.tf.passes.below(node))) == through


@pytest.mark.parametrize(
    ("returned", "is_output"),
    [
        ("model(inputs)", True),
        ("outputs", True),
        ("0, outputs", True),
        ("forward(model, inputs)", True),
        ("tf.reduce_mean(outputs)", False),
        ("inputs", False),
    ],
)
def test_a_step_gives_back_what_the_model_made(returned: str, is_output: bool) -> None:
    code = (
        "def step(model, inputs):\n"
        "    outputs = model(inputs)\n"
        f"    return {returned}\n"
        "def forward(model, inputs):\n"
        "    return model(inputs)\n"
        "step(net, x)"
    )
    file, call = last_call(code)

    assert file.tf.passes.gives_output(call) is is_output


def test_a_model_has_predict_and_a_layer_has_not() -> None:
    code = (
        "class Block(keras.layers.Layer): ...\n"
        "class Net(keras.Model): ...\n"
        "block, other = Block(), Net()\n"
        "print(net, block, other, unknown)"
    )
    file, call = last_call(code)

    assert [file.tf.passes.is_model(each) for each in call.args] == [True, False, True, False]


@pytest.mark.parametrize(
    ("code", "may"),
    [
        ("import keras\nkeras.Sequential([])", True),
        ("from keras.applications import ResNet50\nResNet50()", True),
        ("import keras\nclass Net(keras.Model): pass", True),
        ("import keras\nclass Block(keras.layers.Layer): pass\nclass Own(Block): pass", True),
        ("import tensorflow as tf\nwith tf.GradientTape() as tape:\n    model(x)", True),
        ("import keras\nkeras.layers.Dense(1)(x)", False),
        ("import tensorflow as tf\nclass Model: pass\nModel()(tf.zeros(3))", False),
    ],
)
def test_without_models_or_tapes_nothing_goes_through_a_model(code: str, may: bool) -> None:
    assert File("module.py", code).tf.passes.may_be_any is may


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("net", True),
        ("models['best']", True),
        ("None", True),
        ("LogisticRegression()", False),
    ],
)
def test_one_way_by_a_model_will_do_where_none_is_by_something_else(
    given: str, expected: bool
) -> None:
    code = "from sklearn.linear_model import LogisticRegression\n"
    code += f"chosen = {given}\nif flag:\n    chosen = net\nchosen.predict(x)"
    file, call = last_call(code)
    assert isinstance(call.func, ast.Attribute)

    assert file.tf.passes.is_model(call.func.value) is expected
