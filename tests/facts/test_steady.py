"""Code that does the same whenever it is traced, and loops that change nothing that it reads."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File

HEAD = """
import random
import keras
import numpy as np
import tensorflow as tf
from keras import backend as K
from tensorflow.random import normal
"""


def read(source: str) -> File:
    return File("example.py", HEAD + dedent(source))


def function(file: File, name: str = "step") -> ast.FunctionDef:
    return next(each for each in file.tf.tree.all(ast.FunctionDef) if each.name == name)


def is_steady(source: str) -> bool:
    file = read(source)
    return file.tf.steady.is_steady(function(file))


@pytest.mark.parametrize(
    "body",
    [
        "return tf.square(x) + np.sqrt(2) * RATE",
        "return model(x) * weight",
        "return model(x, training=True)",
        "optimizer.apply_gradients(zip(x, model.trainable_variables))",
        "with tf.GradientTape() as tape: return tape.gradient(x, x)",
        "return sum([helper(each) for each in tf.unstack(x)])",
        "found = []\n    for row in x: found.append(row)\n    return tf.stack(found)",
        "return x * tf.cast(tf.shape(x)[0], x.dtype)",
        "return tf.map_fn(helper, x) + kernels[0]",
        "return tf.nn.softmax(x) + options['rate'] * HALF",
        "raise ValueError('never')",
    ],
)
def test_operations_on_what_is_bound_once_do_the_same_in_every_trace(body: str) -> None:
    assert is_steady(f"""
RATE = 0.5
HALF = 2 * np.pi - RATE
SHAPES = [tf.TensorSpec([None], tf.float32)]
weight = tf.Variable(1.0)
kernels = [tf.Variable(tf.ones(size)) for size in (2, 3)]
options = {{"rate": 0.1}}
model = keras.Sequential([keras.layers.Dense(2)])
optimizer = keras.optimizers.SGD()

def helper(x):
    return x + 1

@tf.function(input_signature=SHAPES)
def step(x):
    {body}
""")


@pytest.mark.parametrize(
    "body",
    [
        "return x + tf.random.normal([2])",
        "return x + normal([2])",
        "return x + K.random_normal([2])",
        "return x + tf.compat.v1.random_normal([2])",
        "return x + initial([2])",
        "return x + keras.initializers.GlorotUniform()([2, 2])",
        "return tf.nn.nce_loss(weight, x, x, x, 5, 100)",
        "return tf.nn.fractional_max_pool(x, [1, 2, 2, 1])",
        "return tf.nn.dropout(x, 0.5)",
        "return noisy(x)",
        "return tf.map_fn(noisy, x)",
        "return x + np.random.normal()",
        "return x * random.random()",
        "return x * generator.normal()",
        "return tf.image.random_flip_left_right(x)",
    ],
)
def test_random_numbers_may_begin_anew_with_a_trace(body: str) -> None:
    assert not is_steady(f"""
weight = tf.Variable(tf.ones([100, 4]))
initial = tf.random_normal_initializer()
generator = np.random.default_rng(0)

def noisy(x):
    return x + normal([2])

@tf.function
def step(x):
    {body}
""")


@pytest.mark.parametrize(
    "body",
    [
        "print(x)\n    return x",
        "seen.append(x)\n    return x",
        "state['n'] = x\n    return x",
        "global count\n    count += 1\n    return x",
        "return counting(x)",
        "return x * rate",
        "return x * lowered",
        "return x * settings['rate']",
        "return x * Settings.rate",
        "return x * helper.rate",
        "return x * table",
        "return x * agent.epsilon",
        "return x * given.epsilon",
        "return given(x)",
        "return x * K.epsilon()",
        "return x * np.load('x.npy')",
        "return f'{locals()}' and x",
        "return keras.layers.Activation('relu')(x)",
        "return unknown(x)",
        "return tf.py_function(helper, [x], tf.float32)",
        "return loaded(x)",
    ],
)
def test_what_python_keeps_may_be_different_in_each_trace(body: str) -> None:
    assert not is_steady(f"""
seen = []
settings = {{"rate": 1.0}}
rate = 1.0
table = np.zeros(3)
loaded = keras.models.load_model("m.keras")

class Settings:
    rate = 1.0

class Agent:
    def __init__(self):
        self.epsilon = 1.0

agent = Agent()

def helper(x):
    return x + 1

def counting(x):
    seen.append(x)
    return x

def lower():
    global rate
    rate *= 0.5

@tf.function
def step(x, given):
    {body}

lowered = 1.0
step(1.0)
lowered = 2.0
settings["rate"] = 0.5
""")


@pytest.mark.parametrize(
    ("rest", "steady"),
    [
        ("globals()['rate'] = 2.0", False),
        ("exec(code)", False),
        ("vars(module)['rate'] = 2.0", False),
        ("for rate in rates:\n    for n in range(9):\n        step(n)", False),
        ("import rate", False),
        ("print(rate)", True),
    ],
)
def test_what_is_bound_out_of_sight_is_not_bound_once(rest: str, steady: bool) -> None:
    source = "rate = 1.0\n@tf.function\ndef step(x):\n    return x * rate\n"

    assert is_steady(source + rest) == steady


@pytest.mark.parametrize(
    ("made", "steady"),
    [
        ("model = keras.Sequential([keras.layers.Dense(2)])", True),
        ("model = keras.Sequential([keras.layers.Dropout(0.5)])", False),
        ("model = keras.applications.ResNet50()", False),
        ("model = keras.Sequential([keras.layers.RandomFlip()])", False),
        ("model = keras.Sequential([keras.layers.Lambda(f)])", False),
        ("model = keras.Sequential([])\nmodel.layers[0].rate = 0.5", False),
        ("class Mine(keras.Model): pass\nmodel = Mine()", False),
        ("class Mine(keras.layers.Layer): pass\nmodel = keras.Sequential([Mine()])", False),
        ("model = keras.Sequential([])\nfor _ in range(2): model = keras.Sequential([])", False),
        ("for _ in range(2): model = keras.Sequential([])", False),
    ],
)
def test_models_of_plain_layers_have_no_state_but_variables(made: str, steady: bool) -> None:
    source = f"{made}\n@tf.function\ndef step(x):\n    return model(x, training=True)\n"

    assert is_steady(source) == steady


@pytest.mark.parametrize(
    ("rest", "steady"),
    [
        ("", True),
        ("    def lower(self):\n        self.rate = 0.1\n", False),
        ("def lower(trainer):\n    trainer.rate = 0.1\n", False),
        ("def lower(trainer):\n    setattr(trainer.model, 'rate', 0.1)\n", False),
    ],
)
def test_what_an_object_is_given_when_it_is_made_stays(rest: str, steady: bool) -> None:
    source = """
class Trainer:
    def __init__(self):
        self.rate = 0.5
        self.model = keras.Sequential([keras.layers.Dense(2)])
    @tf.function
    def step(self, x):
        return self.helper(self.model(x)) * self.rate
    def helper(self, x):
        return x
"""

    assert is_steady(source + rest) == steady


@pytest.mark.parametrize(
    ("body", "alone"),
    [
        ("print(float(step(x)))", True),
        ("losses.append(step(x).numpy())", True),
        ("total += np.mean(step(x)); history[0] = total", True),
        ("note(step(x))", True),
        ("run(x); model.set_weights([w * 0.5 for w in model.get_weights()])", True),
        ("model.save_weights(path)", True),
        ("layer.rate = 0.5", False),
        ("setattr(layer, 'rate', 0.5)", False),
        ("freeze(model.layers)", False),
        ("later(model)", False),
        ("model.add(layer)", False),
        ("callback(x)", False),
        ("helpers.freeze(model)", False),
        ("K.set_epsilon(x)", False),
        ("tf.keras.mixed_precision.set_global_policy(x)", False),
        ("for each in map(freeze, [model]): pass", False),
    ],
)
def test_a_loop_leaves_alone_what_it_sets_no_attribute_of(body: str, alone: bool) -> None:
    file = read(f"""
import helpers
model = keras.Sequential([keras.layers.Dense(2)])

run = tf.function(keras.layers.Dense(2))

def note(x):
    print(x)

def freeze(layers):
    for each in layers:
        each.trainable = False

def later(model):
    freeze(model.layers)

@tf.function
def step(x):
    return model(x)

def train(callback, layer, xs, losses, history, total):
    for x in xs:
        {body}
""")
    loop = function(file, "train").body[0]

    assert file.tf.steady.leaves_alone(loop, function(file)) == alone


@pytest.mark.parametrize(
    ("makes", "steady"),
    [
        ("writer = tf.summary.create_file_writer('logs')", True),
        (
            "writers = [tf.summary.create_file_writer('a'), tf.summary.create_file_writer('b')]",
            False,
        ),
        ("writer = open('log')", False),
    ],
)
def test_the_one_writer_of_summaries_is_always_the_same(makes: str, steady: bool) -> None:
    code = "with writer.as_default(): tf.summary.scalar('x', x, step=1)"

    assert is_steady(f"{makes}\ndef step(x):\n    {code}\n") is steady
