"""What the functions given to `Dataset.map` make of an element."""

import ast
from math import inf
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint.facts.pipelines.growth import growth
from tfmemlint.facts.pipelines.held import UNKNOWN, Held, Several, Tensor, row
from tfmemlint.facts.pipelines.mapped import Mapped

IMPORTS = """
import functools, random
import keras
import numpy as np
import tensorflow as tf
from elsewhere import helper
from tensorflow.keras import layers
SIZE = 224
"""

PATH = Tensor("string", is_path=True)
RECORD = Tensor("string")
BYTES = Tensor("uint8", (32, 32, 3))
FLOATS = Tensor("float32", (32, 32, 3))
LABEL = Tensor("int64", ())


def mapped(function: str, element: Held, before: str = "") -> Mapped:
    """What a function makes of an element, in a module that begins with `before`."""
    file = File("code.py", IMPORTS + dedent(before) + f"given({dedent(function).strip()})")
    call = next(each for each in file.tf.tree.all(ast.Call) if ast.unparse(each.func) == "given")
    return file.tf.mappings.of(call.args[0], element)


def grown(function: str, element: Held, before: str = "") -> float:
    return growth(element, mapped(function, element, before).element)


@pytest.mark.parametrize(
    ("function", "element", "times"),
    [
        ("lambda p: tf.io.decode_jpeg(tf.io.read_file(p))", PATH, inf),
        ("lambda p: tf.image.resize(tf.io.decode_png(tf.io.read_file(p)), [8, 8])", PATH, inf),
        ("lambda p, y: (tf.audio.decode_wav(tf.io.read_file(p)).audio, y)", UNKNOWN, inf),
        ("lambda p: tf.io.decode_raw(tf.io.read_file('folder/' + p), tf.uint8)[:100]", PATH, inf),
        ("lambda p: tf.numpy_function(helper, [p], tf.float32)", PATH, inf),
        ("lambda r: tf.io.decode_png(tf.io.parse_single_example(r, {})['image'])", RECORD, 2),
        ("lambda r: tf.image.resize(tf.io.decode_png(r, 3), [SIZE, SIZE])", RECORD, 2),
        ("lambda x: tf.cast(x, tf.float32)", BYTES, 4),
        ("lambda x: x / 255", BYTES, 4),
        ("lambda x, y: (tf.cast(x, tf.float32) / 255.0, y)", UNKNOWN, 4),
        ("lambda x: 2.0 * tf.cast(x['image'], 'float32') / 255.0 - 1.0", UNKNOWN, 4),
        ("lambda x: tf.cast(x, tf.float32) * (1.0 / 255)", UNKNOWN, 4),
        ("lambda x: tf.image.convert_image_dtype(x, tf.float32)", UNKNOWN, 4),
        ("lambda x: tf.cast(x, tf.bfloat16) / 255.0", UNKNOWN, 2),
        ("lambda x: tf.image.resize(x, (64, 64))", BYTES, 16),
        ("lambda x: tf.image.resize_with_pad(x, target_height=64, target_width=64)", BYTES, 16),
        ("lambda x: tf.image.resize(x, (64, 64), 'nearest')", BYTES, 4),
        (
            "lambda x: tf.image.resize(x, (64, 64), method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)",
            BYTES,
            4,
        ),
        ("lambda x: keras.ops.image.resize(x, (64, 64))", BYTES, 4),
        ("lambda x: layers.Rescaling(1 / 255)(x)", BYTES, 4),
        ("lambda x: tf.image.per_image_standardization(x)", BYTES, 4),
        ("lambda x: tf.one_hot(x, 100)", Tensor("uint8", (32,)), 400),
        ("lambda i: tf.zeros([64, 64, 3])", LABEL, 6144),
        ("lambda i: tf.fill([64, 64, 3], tf.cast(i, tf.uint8))", LABEL, 1536),
        ("tf.image.per_image_standardization", BYTES, 4),
        ("layers.Rescaling(1 / 255)", BYTES, 4),
        ("lambda x: tf.cast(x[:, 8:], tf.float32)", BYTES, 3),
        ("lambda x: tf.cast(x[..., ::2, -1:], tf.float64)", BYTES, 4 / 3),
        ("lambda x: tf.stack([x[:16], x[16:], x[:16]])", BYTES, 1.5),
        ("lambda x: tf.image.random_crop(tf.stack([x, x, x]), [3, 16, 32, 3])", BYTES, 1.5),
    ],
)
def test_what_makes_an_element_larger(function: str, element: Held, times: float) -> None:
    assert grown(function, element) == times


@pytest.mark.parametrize(
    ("function", "element"),
    [
        pytest.param("lambda p: p", PATH, id="nothing"),
        pytest.param("lambda p: tf.strings.split(p, '/')[-2] == 'cat'", PATH, id="a label"),
        pytest.param("lambda p: tf.io.read_file(p)", PATH, id="a text, perhaps"),
        pytest.param(
            "lambda p: tf.reduce_mean(tf.io.decode_png(tf.io.read_file(p)))", PATH, id="a mean"
        ),
        pytest.param("lambda p: tf.shape(tf.io.decode_png(p))", RECORD, id="a shape"),
        pytest.param("lambda p: tf.py_function(helper, [p], tf.int64)", PATH, id="a number"),
        pytest.param("lambda x: tf.cast(x, tf.float32)", FLOATS, id="a cast to what it is"),
        pytest.param("lambda x: tf.cast(x, tf.float32)", UNKNOWN, id="a cast of anything"),
        pytest.param("lambda x: x / 255.0", UNKNOWN, id="floats, or it would fail"),
        pytest.param(
            "lambda x: tf.cast(x, tf.float32) / 255.0",
            Tensor("float64", (32, 32, 3)),
            id="a narrower type",
        ),
        pytest.param("lambda x, y: (x, tf.cast(y, tf.float32))", UNKNOWN, id="a label cast"),
        pytest.param("lambda x, y: (x, tf.one_hot(y, 1000))", UNKNOWN, id="a label one-hot"),
        pytest.param("lambda x: tf.image.resize(x, (28, 28))", UNKNOWN, id="from any size"),
        pytest.param("lambda x: tf.image.resize(x, (16, 16))", BYTES, id="a smaller size"),
        pytest.param("lambda r: tf.image.resize(tf.io.decode_png(r, 3), (64, 64))", RECORD, id="s"),
        pytest.param("lambda x: tf.cast(x[:8, :8], tf.float32) / 255.0", UNKNOWN, id="a crop"),
        pytest.param(
            "lambda x: tf.cast(tf.image.random_crop(x, [8, 8, 3]), tf.float32) / 255.0",
            UNKNOWN,
            id="a crop at random",
        ),
        pytest.param("lambda r: tf.io.parse_single_example(r, {})", RECORD, id="a record parsed"),
        pytest.param("lambda x: (x, x)", BYTES, id="the same tensor twice"),
        pytest.param(
            "lambda x: helper(tf.cast(x, tf.float32) / 255.0)", UNKNOWN, id="out of sight"
        ),
        pytest.param("helper", UNKNOWN, id="a function out of sight"),
        pytest.param("lambda x: keras.Sequential([layers.Dense(9)])(x)", BYTES, id="a model"),
    ],
)
def test_what_may_not(function: str, element: Held) -> None:
    assert grown(function, element) < 2


def test_the_code_of_functions_is_run_in_order() -> None:
    steps = """
    def prepare(image, label, size=64):
        '''Scaled, and turned at random.'''
        image = tf.image.resize(image, (size, size))
        image /= 255.0
        if label > 3:
            image = tf.image.flip_left_right(image)
        else:
            label += 1
        for _ in range(2):
            image = image * 0.5
        return image, label
    """

    assert grown("prepare", row((BYTES, LABEL)), steps) == (64 * 64 * 3 * 4 + 8) / (3072 + 8)


def test_the_last_binding_counts() -> None:
    smaller = "def f(x):\n    y = tf.cast(x, tf.float32)\n    y = x[0]\n    return y\n"
    larger = "def f(x):\n    y = x[0]\n    y = tf.cast(x, tf.float32)\n    return y\n"

    assert grown("f", BYTES, smaller) < 1
    assert grown("f", BYTES, larger) == 4


def test_of_several_ways_the_smallest_counts() -> None:
    branches = """
    def f(x):
        if training:
            return tf.cast(x, tf.float32)
        return x[0]
    """

    assert grown("f", BYTES, branches) < 1


@pytest.mark.parametrize(
    ("function", "times"),
    [
        ("f", 4),
        ("lambda x: f(x, False)", 1),
        ("functools.partial(f, training=False)", 1),
        ("lambda x: f(x, training)", 0),
        ("lambda x: g(x, training=1)", 1),
        ("lambda x: g(x, 0)", 4),
    ],
)
def test_a_flag_that_is_given_decides(function: str, times: int) -> None:
    branches = """
    def f(x, training=True):
        if not training:
            return x
        return tf.cast(x, tf.float32)
    def g(x, training):
        return x if training else tf.cast(x, tf.float32)
    """

    assert grown(function, BYTES, branches) == times


@pytest.mark.parametrize(
    ("function", "before"),
    [
        ("functools.partial(load, size=64)", "def load(x, size): return tf.cast(x, tf.float32)"),
        ("Loader().load", "class Loader:\n    def load(self, x): return tf.cast(x, tf.float32)"),
        ("lambda *given: load(given[0])", "def load(x): return tf.cast(x, tf.float32)"),
        ("tf.function(load)", "def load(x): return tf.cast(x, tf.float32)"),
        (
            "outer",
            "def outer(x):\n"
            "    def inner():\n        return tf.cast(x, tf.float32)\n    return inner()",
        ),
        ("lambda x: tf.cond(x[0] > 1, lambda: x / 2, lambda: x / 4)", ""),
    ],
)
def test_functions_are_found_behind_other_things(function: str, before: str) -> None:
    assert grown(function, BYTES, before + "\n") == 4


def test_functions_that_call_themselves_are_unknown() -> None:
    assert not mapped("f", BYTES, "def f(x):\n    return f(x)\n").is_known


def test_dictionaries_keep_their_keys() -> None:
    element = Several((("image", BYTES), ("label", LABEL)))
    function = "def f(e):\n    e['image'] = tf.cast(e['image'], tf.float32)\n    return e\n"
    dropped = "lambda e: tf.cast(e['label'], tf.float32)"
    each = "lambda e: {k: tf.cast(v, tf.float32) for k, v in e.items()}"

    assert grown("f", element, function) == (4 * 3072 + 8) / (3072 + 8)
    assert grown(dropped, element) < 1
    assert mapped(each, element).is_pure


@pytest.mark.parametrize(
    "function",
    [
        "lambda x: tf.image.random_flip_left_right(x)",
        "lambda x: x + tf.random.normal([8, 8])",
        "lambda x: tf.nn.dropout(x, 0.5)",
        "lambda x: x * random.random()",
        "lambda x: x * np.random.rand()",
        "lambda x: layers.RandomFlip('horizontal')(x, training=True)",
        "lambda x: keras.Sequential([layers.Rescaling(2), layers.RandomRotation(0.1)])(x)",
        "lambda x: x if tf.random.uniform(()) > 0.5 else -x",
        "lambda x: tf.nn.fractional_max_pool(x[None], [1.0, 1.5, 1.5, 1.0])[0]",
        "lambda x: tf.nn.experimental.general_dropout(x, 0.5, noise)",
        "lambda x: tf.nn.sampled_softmax_loss(w, b, x, x, 10, 100)",
        "lambda x: tf.image.extract_glimpse(x, (64, 64), (0.0, 0.0))",
    ],
)
def test_what_is_random(function: str) -> None:
    found = mapped(function, FLOATS)

    assert (found.is_random, found.is_pure) == (True, False)


@pytest.mark.parametrize(
    "function",
    [
        "lambda x: tf.py_function(helper, [x], tf.float32)",
        "lambda x: tf.numpy_function(helper, [x], tf.float32)",
        "def f(x):\n    print(x)\n    return x",
        "def f(x):\n    tf.print(x)\n    return x",
        "def f(x):\n    state.count = x\n    return x",
        "def f(x):\n    seen[0] = x\n    return x",
        "lambda x: x * strength",
    ],
)
def test_what_is_stateful(function: str) -> None:
    is_lambda = function.startswith("lambda")
    before = "strength = tf.Variable(1.0)\n" if is_lambda else function + "\n"
    found = mapped(function if is_lambda else "f", FLOATS, before)

    assert (found.is_stateful, found.is_pure) == (True, False)


@pytest.mark.parametrize(
    "function",
    [
        "lambda x: helper(x)",
        "lambda x: self.helper(x)",
        "lambda x: x.numpy()",
        "lambda x: counter.assign_add(1) * x",
        "lambda x: table.lookup(x)",
        "lambda x: np.flip(x)",
        "lambda x: (yield x)",
        "lambda x: tf.map_fn(helper, x)",
        "lambda x: keras.ops.map(helper, x)",
        "lambda x: keras.ops.core.scan(helper, x)",
        "lambda x: tf.nn.static_rnn(cell, x)",
        "lambda x: x * tf.raw_ops.RandomUniform(shape=[8], dtype=tf.float32)",
        "lambda x: tf.compat.v1.scatter_nd_update(seen, [[0]], x)",
    ],
)
def test_what_is_not_known(function: str) -> None:
    found = mapped(function, FLOATS)

    assert (found.is_known, found.is_pure) == (False, False)


@pytest.mark.parametrize(
    "function",
    [
        "lambda p: tf.image.resize(tf.io.decode_png(tf.io.read_file(p), channels=3), [8, 8])",
        "lambda x: tf.image.stateless_random_flip_left_right(x, (1, 2))",
        "lambda x: tf.random.stateless_uniform([8, 8], (x, 0))",
        "lambda x: keras.applications.resnet50.preprocess_input(x)",
        "lambda x: tf.ensure_shape(x, np.array([8, 8]))",
        "lambda x: tf.reshape(x, [len(SIZES), -1])",
        "lambda x: tf.math.log(tf.maximum(x, 1e-6))",
        "lambda x: tf.nn.max_pool(x, 2, 2, 'SAME')",
        "lambda x: tf.scatter_nd([[0]], x, [8])",
        "lambda x: keras.ops.matmul(x, x)",
        "lambda r: tf.io.parse_single_example(r, {'x': tf.io.FixedLenFeature([], tf.string)})",
        "def f(x):\n    x.set_shape([8, 8])\n    assert x.shape == 2\n    return x",
        "def f(x):\n    with tf.name_scope('scale'):\n        y = x * 2\n    return y",
    ],
)
def test_what_gives_the_same_for_the_same(function: str) -> None:
    is_lambda = function.startswith("lambda")
    found = mapped(function, UNKNOWN) if is_lambda else mapped("f", UNKNOWN, function + "\n")

    assert found.is_pure


@pytest.mark.parametrize(
    "function",
    [
        "lambda x, y: (tf.cast(x, tf.float32) / 255.0, y)",
        "lambda x: (tf.cast(x, tf.float32) - 127.5) / 127.5",
        "lambda x: layers.Rescaling(1 / 127.5, offset=-1)(x)",
        "lambda x, y: {'image': tf.cast(x, tf.float32), 'label': tf.cast(y, tf.int32)}",
        "lambda x: tf.clip_by_value(x * SIZE, 0.0, 1.0)",
        "lambda x: tf.image.convert_image_dtype(x[..., tf.newaxis], tf.float32)",
        "lambda x, y: (tf.expand_dims(x, axis=-1), tf.one_hot(y, 10))",
        "def f(x):\n    x = tf.cast(x, tf.float32)\n    x /= 255.0\n    return x, x",
    ],
)
def test_what_is_the_same_for_examples_and_batches(function: str) -> None:
    is_lambda = function.startswith("lambda")
    found = mapped(function, UNKNOWN) if is_lambda else mapped("f", UNKNOWN, function + "\n")

    assert found.is_exact


@pytest.mark.parametrize(
    "function",
    [
        pytest.param("lambda x: x - MEAN", id="an array, which might be as long as a batch"),
        pytest.param(
            "lambda x: x['image'] / x['peak']", id="a number, or an image, of each example"
        ),
        pytest.param("lambda x: x - tf.reduce_mean(x)", id="a mean, of an example or a batch"),
        pytest.param("lambda x: tf.exp(x)", id="another last bit at the end of a vector"),
        pytest.param("lambda x: x ** 2", id="a power"),
        pytest.param("lambda x: tf.image.flip_left_right(x)", id="by place"),
        pytest.param("lambda x: tf.reshape(x, [-1])", id="a shape"),
        pytest.param("lambda x: x[0]", id="the first number, or the first example"),
        pytest.param("lambda x: x[tf.newaxis, ...]", id="a dimension in front"),
        pytest.param("lambda x: tf.expand_dims(x, 0)", id="a dimension in front, by name"),
        pytest.param("lambda x: (x, 1)", id="one number for each example"),
        pytest.param("lambda x: tf.one_hot(x, 9, axis=0)", id="one-hot along the first axis"),
        pytest.param("lambda x: helper(x)", id="whatever it is"),
        pytest.param("lambda x: x * len(x)", id="a length"),
        pytest.param("lambda x: x @ x", id="a product of matrices"),
        pytest.param("lambda x: tf.image.resize(x, (8, 8))", id="resized"),
    ],
)
def test_what_is_not(function: str) -> None:
    assert not mapped(function, UNKNOWN, "MEAN = np.load('mean.npy')\n").is_exact


@pytest.mark.parametrize(("other", "exact"), [(FLOATS, True), (LABEL, False), (UNKNOWN, False)])
def test_two_of_each_example_are_combined_alike_if_they_have_as_many_dimensions(
    other: Tensor, exact: bool
) -> None:
    function = "lambda x, y: tf.cast(x, tf.float32) / tf.cast(y, tf.float32)"

    assert mapped(function, row((FLOATS, other))).is_exact is exact


@pytest.mark.parametrize(
    ("function", "is_read"),
    [
        ("read", True),
        ("lambda p: read(p)", True),
        ("lambda p, label=None: read(p, label=label)", True),
        ("lambda p: read(p, 1)", False),
        ("lambda p: name(p, None)", False),
        ("lambda p: name(p, p)", True),
    ],
)
def test_what_is_none_by_default_decides_what_is_returned(function: str, is_read: bool) -> None:
    before = """
    def read(path, label=None):
        image = tf.io.decode_png(tf.io.read_file(path))
        if label is None:
            return image
        return label
    def name(path, reads=None):
        if reads is not None:
            path = tf.io.decode_png(tf.io.read_file(path))
        return path
    """

    assert (grown(function, PATH, before) == inf) is is_read


@pytest.mark.parametrize(("calls", "times"), [("piped(a)", 4), ("piped(a, helper)", 0)])
def test_what_others_may_give_is_not_surely_none(calls: str, times: int) -> None:
    before = f"""
    def piped(data, change=None):
        def scale(image):
            if change is not None:
                image = change(image)
            return tf.cast(image, tf.float32)
        return given(scale)
    {calls}
    """
    file = File("code.py", IMPORTS + dedent(before))
    call = next(each for each in file.tf.tree.all(ast.Call) if ast.unparse(each.func) == "given")
    found = file.tf.mappings.of(call.args[0], BYTES)

    assert not found.is_pure
    assert growth(BYTES, found.element) == times
