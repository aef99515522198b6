"""Models, and traced functions, that loops make anew and drop again."""

import ast
from textwrap import dedent, indent

import pytest

from tfmemlint import File

HEAD = """
import tensorflow as tf
from tensorflow import keras
from sklearn.model_selection import KFold, StratifiedKFold

splits = StratifiedKFold(shuffle=True, n_splits=4)

def build():
    return keras.Sequential([keras.layers.Dense(1)])
"""


def read(source: str) -> File:
    return File("example.py", HEAD + dedent(source))


def models(source: str) -> list[str]:
    return [ast.unparse(each.made) for each in read(source).tf.remade_models.models]


def in_loop(body: str, header: str = "for path in paths:") -> str:
    return f"{header}\n{indent(dedent(body), '    ')}\n"


@pytest.mark.parametrize(
    "run",
    [
        "model.predict(x)",
        "model.evaluate(x, y)",
        "tf.function(model)(x)",
        "traced = tf.function(model)\ntraced(x)",
        "model.load_weights(path)\nprint(model.predict_on_batch(x))",
        "same = model\nsame.predict(x)",
    ],
)
def test_a_model_that_is_traced_and_dropped_in_every_round_is_made_anew(run: str) -> None:
    assert models(in_loop(f"model = build()\n{run}")) == ["build()"]


@pytest.mark.parametrize(
    "run",
    [
        "model(x)",
        "print(model)",
        "model.predict(x)\nmodels.append(model)",
        "model.predict(x)\nself.model = model",
        "model.predict(x)\nother = keras.Model(model.input, model.layers[0].output)",
        "model.fit(x, y)\nmodel.predict(x)",
        "model.predict(x)\noptimizer.apply_gradients(pairs)",
        "model.predict(x)\nbreak",
        "try:\n    model.predict(x)\n    break\nexcept ValueError:\n    pass",
        "try:\n    model.predict(x)\nexcept ValueError:\n    pass\nelse:\n    break",
        "with strategy.scope():\n    model.predict(x)\n    break",
        "tf.function(model)",
        "step = tf.function(model)\nsteps.append(step)\nstep(x)",
        "elsewhere(model)\nmodel.predict(x)",
    ],
)
def test_what_is_kept_trained_or_never_traced_is_not(run: str) -> None:
    assert models(in_loop(f"model = build()\n{run}")) == []


@pytest.mark.parametrize(
    ("header", "rounds"),
    [
        ("for path in paths:", [None]),
        ("while True:", [None]),
        ("for n in range(5):", [5]),
        ("for n in (1, 2, 3):", [3]),
        ("for a, b in KFold(3).split(x):", [3]),
        ("for n, (a, b) in enumerate(splits.split(x, y)):", [4]),
        ("for a, b in KFold(n_splits=folds).split(x):", [None]),
        ("for a in text.split(x):", [None]),
        ("for n in range(2):", []),
        ("if path:", []),
        ("with tf.device(path):", []),
    ],
)
def test_rounds_are_counted(header: str, rounds: list[int | None]) -> None:
    source = in_loop("model = build()\nmodel.predict(x)", header)

    assert [each.rounds for each in read(source).tf.remade_models.models] == rounds


def test_a_test_in_between_keeps_the_model_that_there_is() -> None:
    assert models(in_loop("if path:\n    model = build()\n    model.predict(x)")) == []


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("def one(p):\n    m = build()\n    m.predict(p)\nfor p in ps:\n    one(p)", ["build()"]),
        ("def one(p):\n    m = build()\n    m.predict(p)\none(1)", []),
        (
            "@cache\ndef one():\n    return build()\nfor p in ps:\n    m = one()\n    m.predict(p)",
            [],
        ),
        (
            "def one(p):\n    m = build()\n    m.predict(p)\n    return m\n"
            "for p in ps:\n    kept.append(one(p))",
            [],
        ),
        ("def rate(m):\n    m.predict(1)\nfor p in ps:\n    m = build()\n    rate(m)", ["build()"]),
        (
            "def rate(m):\n    kept.append(m)\n    m.predict(1)\n"
            "for p in ps:\n    m = build()\n    rate(m)",
            [],
        ),
        (
            "def rate(m):\n    m.predict(1)\n    m.fit(1)\n"
            "for p in ps:\n    m = build()\n    rate(m)",
            [],
        ),
    ],
)
def test_models_are_followed_into_the_functions_of_the_module(source: str, made: list[str]) -> None:
    assert models(source) == made


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ("model.load_weights(path)\nmodel.predict(x)", True),
        ("model.summary()\nmodel.set_weights(w)\nmodel.predict(x)", True),
        ("model.predict(x)\nmodel.load_weights(path)", False),
        ("if path:\n    model.load_weights(path)\nmodel.predict(x)", False),
        ("model.load_weights(path, by_name=True)\nmodel.predict(x)", False),
        ("model.predict(x)", False),
    ],
)
def test_weights_are_set_first_where_nothing_is_done_before(body: str, first: bool) -> None:
    facts = read(in_loop(f"model = build()\n{body}")).tf.remade_models
    (found,) = facts.models

    assert facts.set_first(found) == first


@pytest.mark.parametrize(
    ("source", "same"),
    [
        (in_loop("model = build()\nmodel.predict(x)"), True),
        (in_loop("model = build()\nmodel.predict(x)\ndel model"), False),
        (in_loop("model = build()\nmodel.predict(x)\nkeras.backend.clear_session()"), False),
        (in_loop("model = build()\nmodel.compile()\nmodel.predict(x)"), False),
        (in_loop("model = keras.models.load_model(path)\nmodel.predict(x)"), False),
        (
            "def sized():\n    return keras.Sequential([keras.layers.Dense(width)])\n"
            + in_loop("width = path\nmodel = sized()\nmodel.predict(x)"),
            False,
        ),
        (
            "width = 3\ndef sized():\n    return keras.Sequential([keras.layers.Dense(width)])\n"
            + in_loop("model = sized()\nmodel.predict(x)"),
            True,
        ),
    ],
)
def test_a_model_made_before_the_loop_is_the_same_if_nothing_in_it_matters(
    source: str, same: bool
) -> None:
    facts = read(source).tf.remade_models
    (found,) = facts.models

    assert facts.same_before(found) == same


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("@tf.function\ndef step(x):\n    return x\nstep(1)", True),
        ("step = tf.function(lambda x: x)\nstep(1)", True),
        ("@tf.function\ndef step(x):\n    return x\nstep(1)\nsteps.append(step)", False),
        ("@tf.function\ndef step(x):\n    return x", False),
        ("@tf.function\ndef step(x):\n    o.apply_gradients(x)\nstep(1)", False),
        ("def step(x):\n    return x\nstep(1)", False),
    ],
)
def test_traced_functions_are_made_anew_where_they_are_only_called(body: str, found: bool) -> None:
    assert bool(read(in_loop(body)).tf.remade_models.functions) == found
