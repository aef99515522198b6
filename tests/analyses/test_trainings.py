"""What loops make anew and train in graphs."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.trainings import Trainings

HEAD = """
import tensorflow as tf
from tensorflow import keras
from sklearn.model_selection import KFold

def build():
    return keras.Sequential([keras.layers.Dense(1)])
"""


def read(source: str) -> File:
    return File("example.py", HEAD + dedent(source))


def in_loop(body: str, header: str = "for path in paths:") -> str:
    return f"{header}\n{indent(dedent(body), '    ')}\n"


def trained(source: str) -> list[tuple[str, int | None]]:
    return [(ast.unparse(each.made), each.rounds) for each in read(source).tf.of(Trainings).all]


@pytest.mark.parametrize(
    "run",
    [
        "model.fit(x, y)",
        "model.compile()\nmodel.train_on_batch(x, y)\nmodel.evaluate(x, y)",
        "history = model.fit(x, y)\nprint(history.history)\ndel model",
        "for batch in x:\n    model.train_on_batch(batch)",
        "model.fit(x, y)\nif better:\n    best = model",
    ],
)
def test_a_model_that_is_trained_and_dropped_in_every_round_is_said_to_be(run: str) -> None:
    assert trained(in_loop(f"model = build()\n{run}")) == [("build()", None)]


@pytest.mark.parametrize(
    "run",
    [
        "model.evaluate(x, y)",
        "other.fit(x, y)",
        "model.fit(x, y)\nmodels.append(model)",
        "model.fit(x, y)\nif better:\n    best[step] = model",
        "model.fit(x, y)\nelsewhere(model)",
        "model.fit(x, y)\nbreak",
    ],
)
def test_a_model_that_is_kept_forgotten_or_not_trained_is_not(run: str) -> None:
    assert trained(in_loop(f"model = build()\n{run}")) == []


def test_a_function_that_the_loop_calls_may_make_and_train_the_model() -> None:
    code = """\
        def once(seed):
            model = build()
            train(model)
        def train(net):
            net.fit(x, y)
        for seed in range(9):
            once(seed)
        """

    assert trained(code) == [("build()", 9)]


def test_where_keras_is_told_to_forget_it_is_said() -> None:
    code = """\
        def once():
            model = build()
            model.fit(x, y)
            {}
        for seed in range(9):
            once()
        """

    def forgets(what: str) -> list[bool]:
        trainings = read(code.format(what)).tf.of(Trainings)
        return [trainings.forgets(each) for each in trainings.all]

    assert forgets("keras.backend.clear_session()") == [True]
    assert forgets("tf.keras.utils.clear_session()") == [True]
    assert forgets("gc.collect()") == [False]


@pytest.mark.parametrize(
    ("after", "found"),
    [
        ("model.save('last.keras')", True),
        ("print(model.predict(x))", True),
        ("models.append(model)", True),
    ],
)
def test_what_comes_after_the_loop_sees_the_last_model_alone(after: str, found: bool) -> None:
    code = in_loop("model = build()\nmodel.fit(x, y)")

    assert bool(trained(f"{code}{code}{after}")) == found


@pytest.mark.parametrize(
    ("rounds", "times"),
    [("top_n = 4\nfor n in range(top_n):", 4), ("n = 9\nfor a, b in KFold(n).split(x):", 9)],
)
def test_rounds_are_counted_through_names(rounds: str, times: int) -> None:
    first, header = rounds.split("\n")
    code = in_loop("model = build()\nmodel.fit(x, y)", header)

    assert trained(f"{first}\n{code}") == [("build()", times)]


STEP = """\
@tf.function
def step(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(batch))
    slopes = tape.gradient(loss, model.trainable_variables)
    {}
"""


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("optimizer.apply_gradients(zip(slopes, model.trainable_variables))", True),
        ("optimizer.minimize(lambda: loss, model.trainable_variables)", True),
        ("return slopes", False),
        (
            "optimizer.apply_gradients(zip(slopes, model.weights))\n    kept.append(model)",
            False,
        ),
    ],
)
def test_a_step_that_is_traced_trains_what_it_applies_gradients_to(step: str, found: bool) -> None:
    body = f"model = build()\n{STEP.format(step)}step(x)"

    assert bool(trained(in_loop(body))) == found
    assert trained(in_loop(body.replace("@tf.function\n", ""))) == []


def test_what_gives_back_the_model_it_is_given_makes_none() -> None:
    code = """\
        def compiled(model):
            model.compile()
            return model
        for seed in range(9):
            model = compiled(build())
            model.fit(x, y)
        """

    assert [each for each, _ in trained(code)] in ([], ["build()"])


def test_a_model_that_is_trained_is_none_that_only_predicts() -> None:
    code = in_loop("model = build()\nmodel.fit(x, y)\nmodel.predict(x)")

    assert read(code).tf.remade_models.models == ()
    assert trained(code) == [("build()", None)]


@pytest.mark.parametrize(
    ("taken", "found"),
    [
        ("pair = keras.Sequential(), 3\nmodel, _ = pair\nmodel.fit(x, y)", True),
        ("one = {'net': keras.Sequential()}\none['net'].fit(x, y)", True),
        ("one = {'net': keras.Sequential()}\none['net'].fit(x, y)\nrows.append(one)", False),
        ("nets[path] = {'net': keras.Sequential()}\nnets[path]['net'].fit(x, y)", False),
    ],
)
def test_a_model_may_be_put_away_and_taken_out_again(taken: str, found: bool) -> None:
    made = [("keras.Sequential()", None)]

    assert trained(in_loop(taken)) == (made if found else [])
