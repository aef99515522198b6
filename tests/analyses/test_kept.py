"""Lists that keep tensors of eager loops."""

from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.kept import Kept, KeptTensors, Sort

BEGINNING = """
import numpy as np
import tensorflow as tf
weights = tf.Variable(tf.ones([4, 1]))
dense = tf.keras.Sequential([tf.keras.layers.Dense(1)])
measure = tf.keras.losses.MeanSquaredError()
data = tf.data.Dataset.range(100).batch(4)
def step(x):
    with tf.GradientTape() as tape:
        scores = tf.matmul(x, weights)
        loss = compared(scores)
    return loss, scores, tape.gradient(loss, weights)
@tf.function
def traced(x):
    return tf.reduce_sum(x)
xs = []
"""


def kept(code: str) -> list[Kept]:
    return list(File("code.py", BEGINNING + dedent(code)).tf.of(KeptTensors).all)


def sort(made: str) -> Sort:
    found = kept(f"for x in data:\n    xs.append({made})")
    return found[0].sort if found else Sort.UNKNOWN


@pytest.mark.parametrize(
    "made",
    [
        "traced(x)",
        "traced(x) / 100",
        "100 - traced(x)",
        "-traced(x)",
        "tf.reduce_mean(x)",
        "tf.reduce_mean(x) * traced(x)",
        "traced(x) if x else tf.reduce_max(x)",
        "[traced(x), 1]",
        "tf.exp(tf.reduce_mean(tf.nn.softmax(dense(x))))",
        "tf.reduce_mean(x, axis=0)",
    ],
)
def test_a_number_is_told(made: str) -> None:
    assert sort(made) is Sort.NUMBER


@pytest.mark.parametrize(
    "made",
    [
        "dense(x)",
        "dense(x) * tf.reduce_sum(x)",
        "tf.reduce_mean(weights * 2, axis=0)",
        "measure(x, x)",
        "tf.keras.losses.mse(x, x)",
        "tf.nn.softmax(x)",
        "tf.nn.softmax(x)[0]",
        "traced(x) if x else dense(x)",
    ],
)
def test_a_tensor_of_any_size_is_told(made: str) -> None:
    assert sort(made) is Sort.TENSOR


@pytest.mark.parametrize(
    "made",
    [
        "x",
        "float(traced(x))",
        "traced(x).numpy()",
        "np.mean(x)",
        "step(x)",
        "'%.3f' % traced(x)",
        "not traced(x)",
        "unknown(x)",
        "dense.predict(x)",
        "{'loss': traced(x)}",
        "[traced(x).numpy()]",
        "traced(x) if x else 0",
        "tf.keras.losses.MeanSquaredError()",
        "tf.keras.utils.to_categorical(x, 10)",
        "tf.Variable(x)",
    ],
)
def test_what_may_be_no_tensor_is_none(made: str) -> None:
    assert sort(made) is Sort.UNKNOWN


def test_what_a_tape_was_asked_the_gradient_of_is_a_number_wherever_it_goes() -> None:
    found = kept("""
        scored, slopes = [], []
        for x in data:
            loss, scores, slope = step(x)
            xs.append(loss)
            scored.append(scores)
            slopes.append(slope)
    """)

    assert [(each.growth.name, each.sort) for each in found] == [
        ("xs", Sort.NUMBER),
        ("scored", Sort.TENSOR),
        ("slopes", Sort.TENSOR),
    ]


@pytest.mark.parametrize(
    "code",
    [
        "xs.clear()",
        "xs.pop(0)",
        "del xs[0]",
        "xs[0] = None",
        "with tf.GradientTape() as tape:\n    total = tf.add_n(xs)",
    ],
)
def test_a_list_that_loses_elements_or_is_read_by_a_tape_keeps_none(code: str) -> None:
    grows = "for x in data:\n    xs.append(traced(x))\n"

    assert len(kept(grows)) == 1
    assert kept(grows + code) == []


@pytest.mark.parametrize(
    "code",
    [
        "with tf.GradientTape() as tape:\n    for x in data:\n        xs.append(traced(x))",
        "@tf.function\ndef run():\n    ys = []\n    for x in data:\n        ys.append(traced(x))",
        "def run():\n    ys = []\n    for x in data:\n        ys.append(traced(x))\n"
        "with tf.GradientTape() as tape:\n    run()",
    ],
)
def test_under_tapes_and_in_graphs_nothing_is_told(code: str) -> None:
    assert kept(code) == []


def test_the_reads_of_a_list_are_its_uses_but_those_that_add_to_it() -> None:
    code = """
        for x in data:
            xs.append(traced(x))
        print(np.mean(xs), len(xs))
    """
    file = File("code.py", BEGINNING + dedent(code))
    (found,) = file.tf.of(KeptTensors).all

    assert [file.tf.of(KeptTensors).by_numpy(each) for each in found.reads] == [True, False]


@pytest.mark.parametrize(
    ("code", "of_data", "of_part"),
    [
        ("for x in data:\n    xs.append(traced(x))", True, True),
        ("for x in others:\n    step(x)\n    xs.append(tf.reduce_sum(dense(x)))", True, False),
        ("for x in others:\n    xs.append(traced(x))", False, True),
        ("for x in others:\n    xs.append(tf.reduce_sum(x))", False, False),
        ("for i in range(9, n, 3):\n    xs.append(dense(y[i : i + 3]))", False, True),
        ("for i in range(100):\n    xs.append(dense(y[i]))", False, True),
        ("for i in range(n):\n    xs.append(dense(y[i]))", False, False),
        ("for layer in layers:\n    xs.append(tf.nn.relu(layer(y)))", False, False),
    ],
)
def test_loops_over_data_are_told_from_others(code: str, of_data: bool, of_part: bool) -> None:
    file = File("code.py", BEGINNING + code)
    (found,) = file.tf.of(KeptTensors).all

    assert file.tf.of(KeptTensors).is_of_data(found) == of_data
    assert file.tf.of(KeptTensors).is_of_part(found) == of_part


@pytest.mark.parametrize(
    ("code", "is_of_data"),
    [
        ("for x in data:\n    xs.append(train(x))", True),
        ("for i in range(n):\n    xs.append(train(rows[i]))", True),
        ("for i in range(n):\n    x = sampler.draw()\n    xs.append(train(x))", True),
        ("for i in range(n):\n    xs.append(train(next(batches)))", True),
        ("for i in range(n):\n    xs.append(train(batch))", False),
        ("for i in range(n):\n    xs.append(traced(batch))", False),
        (
            "for x in data:\n    ys = []\n    for i in range(n):\n"
            "        ys.append(train(next(batches)))",
            False,
        ),
        ("for net in nets:\n    step(net.variables)\n    xs.append(traced(x))", False),
        ("for net in nets:\n    step(net(x))\n    xs.append(traced(x))", False),
    ],
)
def test_steps_take_other_data_each_time(code: str, is_of_data: bool) -> None:
    train = "def train(x):\n    loss, _, _ = step(x)\n    return loss\n"
    file = File("code.py", BEGINNING + train + code)
    (found,) = file.tf.of(KeptTensors).all

    assert file.tf.of(KeptTensors).is_of_data(found) is is_of_data


def test_what_a_decorator_makes_of_a_tensor_is_not_known() -> None:
    code = "@{}\ndef mean(x):\n    return tf.reduce_mean(x)\nfor x in data:\n    xs.append(mean(x))"

    assert len(kept(code.format("tf.function(jit_compile=True)"))) == 1
    assert kept(code.format("timed")) == []


def test_what_an_heir_returns_instead_is_not_known() -> None:
    code = (
        "class Trainer:\n    def step(self, x):\n        return tf.reduce_mean(x)\n"
        "    def run(self):\n        for x in data:\n            xs.append(self.step(x))\n"
        "class Quiet(Trainer):\n    def {}(self, x):\n        return 0.0\n"
    )

    assert len(kept(code.format("stop"))) == 1
    assert kept(code.format("step")) == []


def test_a_function_that_empties_the_list_keeps_none() -> None:
    code = "def tell(ys):\n    {}\nfor x in data:\n    xs.append(traced(x))\n    tell(xs)"

    assert len(kept(code.format("print(ys[0])"))) == 1
    assert kept(code.format("ys.clear()")) == kept(code.format("del ys[:]")) == []


@pytest.mark.parametrize(
    ("made", "known"),
    [
        ("total(x, dense(x))", True),
        ("dense.losses", False),
        ("parts(x)", False),
        ("[measure(x, x), measure(x, x)]", False),
    ],
)
def test_what_a_tape_is_asked_for_may_be_several(made: str, known: bool) -> None:
    found = kept(f"""
        def parts(x):
            return {{"a": measure(x, x)}}
        for x in data:
            with tf.GradientTape() as tape:
                loss = {made}
            tape.gradient(loss, weights)
            xs.append(loss)
    """)

    assert bool(found) is known


def test_where_keras_computes_with_another_library_no_tensors_are_kept() -> None:
    code = 'import os\nos.environ["KERAS_BACKEND"] = "{}"\nfor x in data:\n    xs.append(dense(x))'

    assert len(kept(code.format("tensorflow"))) == 1
    assert kept(code.format("jax")) == []


def test_what_is_nothing_at_times_is_not_known() -> None:
    code = "def f(x):\n    if x:\n        return{}\n    return tf.reduce_mean(x)\n"
    code += "for x in data:\n    xs.append(f(x))"

    assert len(kept(code.format(" traced(x)"))) == 1
    assert kept(code.format("")) == kept(code.format(" None")) == []


@pytest.mark.parametrize(
    ("made", "single"),
    [
        ("traced(x)", True),
        ("tf.reduce_mean(dense(x))", True),
        ("measure(x, x)", True),
        ("total(x) / 8", True),
        ("total(x)", False),
        ("self.loss(x)", False),
    ],
)
def test_what_a_tape_is_asked_for_is_one_tensor_if_its_maker_is_in_sight(
    made: str, single: bool
) -> None:
    code = f"""
        for x in data:
            with tf.GradientTape() as tape:
                loss = {made}
            tape.gradient(loss, weights)
    """
    known = BEGINNING.replace("compared(scores)", "tf.reduce_sum(scores)")

    assert File("code.py", known + dedent(code)).tf.of(KeptTensors).are_single is single
