"""How often arrays are joined to more, and what that copies."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.growing_rounds import GrowingRounds
from tfmemlint_rules._analyses.joins import Joins

IMPORTS = "import keras\nimport numpy as np\nimport tensorflow as tf\n"


def code(text: str) -> File:
    return File("code.py", IMPORTS + dedent(text))


def test_what_is_added_is_followed_to_what_makes_it() -> None:
    file = code("for y in ys:\n    p = model(y)\n    p = g(p)\n    out = np.append(out, p)\n")
    made = file.tf.of(GrowingRounds).made_of(file.tf.of(Joins).all[0])

    assert {ast.unparse(each) for each in made if isinstance(each, ast.Call)} == {
        "g(p)",
        "model(y)",
    }


@pytest.mark.parametrize(
    ("loop", "many"),
    [
        ("for y in range(17)", True),
        ("for y in range(16)", False),
        ("for y in range(m)", False),
        ("for y in ys", False),
        ("for y in tf.data.Dataset.range(100)", True),
        ("for y in tf.data.Dataset.range(100).take(4)", False),
        ("for y in rows", True),
        ("for y in rows[:16]", False),
        ("for i in range(len(rows))", True),
        ("for y in iter(ys)", True),
        ("while ys", False),
        ("for y in tf.constant(rows)", True),
        ("for y in tf.cumsum([len(y) for y in rows])", True),
        ("for y in tf.cumsum([len(y) for y in ys])", False),
        ("for y in tf.constant([1, 2, 3])", False),
        (f"for y in tf.constant({[*range(17)]})", True),
    ],
)
def test_rounds_are_many_by_their_number_or_as_there_is_data(loop: str, many: bool) -> None:
    file = code(f"rows = tf.ones([n, 2])\n{loop}:\n    out = tf.concat([out, y], 0)\n")
    (joined,) = file.tf.of(Joins).all

    assert file.tf.of(GrowingRounds).are_many(joined, few=16) == many


@pytest.mark.parametrize(
    ("body", "many"),
    [
        ("y = model(x[i * n : (i + 1) * n])", True),
        ("part = x[i : i + n]; y = model(part)", True),
        ("y = model(x[i])", False),
        ("y = model(x[:, i : i + 1])", False),
        ("y = model(x[:n])", False),
    ],
)
def test_rounds_are_many_where_each_picks_rows(body: str, many: bool) -> None:
    file = code(f"for i in range(m):\n    {body}; out = tf.concat([out, y], 0)\n")
    (joined,) = file.tf.of(Joins).all

    assert file.tf.of(GrowingRounds).are_many(joined, few=16) == many


@pytest.mark.parametrize(
    ("join", "copied"),
    [
        ("out = tf.concat([out, y], 0)", True),
        ("out = np.append(out, model.predict(y))", True),
        ("p = y.numpy(); out = np.append(out, p)", True),
        ("out = np.append(out, y)", False),
        ("out = np.append(out, np.load(y))", True),
        ("out = np.append(out, np.load(y), axis=1)", False),
    ],
)
def test_tensors_are_copied_or_what_a_model_gives(join: str, copied: bool) -> None:
    file = code(f"for y in ys:\n    {join}\n")
    (joined,) = file.tf.of(Joins).all

    assert file.tf.of(GrowingRounds).copy_tensors(joined) == copied


@pytest.mark.parametrize(
    ("loop", "copied"), [("for i in tf.range(n)", True), ("for i in range(400)", False)]
)
def test_a_loop_that_tracing_writes_out_copies_nothing_as_it_runs(loop: str, copied: bool) -> None:
    file = code(
        f"""\
        @tf.function
        def f(y, n: tf.Tensor):
            out = tf.zeros([0])
            {loop}:
                out = tf.concat([out, y], 0)
            return out

        with tf.GradientTape() as tape:
            f(y, n)
        """
    )
    (joined,) = file.tf.of(Joins).all

    assert file.tf.of(GrowingRounds).copy_tensors(joined) == copied


def test_a_graph_of_which_nobody_takes_a_gradient_keeps_no_copies() -> None:
    file = code(
        """\
        @tf.function
        def f(y, n: tf.Tensor):
            out = tf.zeros([0])
            for i in tf.range(n):
                out = tf.concat([out, y], 0)
            return out
        """
    )
    (joined,) = file.tf.of(Joins).all

    assert not file.tf.of(GrowingRounds).copy_tensors(joined)


def test_a_graph_made_by_hand_copies_nothing_as_it_is_made() -> None:
    file = code(
        """\
        y = tf.compat.v1.placeholder(tf.float32)
        for i in range(400):
            out = tf.concat([out, y], 0)
        """
    )
    (joined,) = file.tf.of(Joins).all

    assert not file.tf.of(GrowingRounds).copy_tensors(joined)


@pytest.mark.parametrize(
    ("start", "added", "copied"),
    [
        ("tf.zeros([0])", "y", True),
        ("start", "y", True),
        ("tf.zeros([0])", "tf.cast(y, tf.float32)", True),
        ("tf.zeros([0], tf.int64)", "y", False),
        ("start", "tf.cast(y, tf.int64)", False),
        ("start", "tf.argmax(y, axis=1)", False),
        ("start", "tf.cast(y, tf.bool)", False),
    ],
)
def test_a_gradient_keeps_no_copies_of_whole_numbers(start: str, added: str, copied: bool) -> None:
    file = code(
        f"""\
        @tf.function
        def f(y, n: tf.Tensor, start):
            out = {start}
            for i in tf.range(n):
                out = tf.concat([out, {added}], 0)
            return out

        with tf.GradientTape() as tape:
            f(y, n, start)
        """
    )
    (joined,) = file.tf.of(Joins).all

    assert file.tf.of(GrowingRounds).may_have_gradient(joined) == copied
    assert file.tf.of(GrowingRounds).copy_tensors(joined) == copied


def test_a_tape_keeps_no_copies_of_whole_numbers() -> None:
    file = code(
        """\
        def f(ys):
            with tf.GradientTape() as tape:
                for y in range(400):
                    out = tf.concat([out, y], 0)
                    ids = tf.concat([ids, tf.cast(y, tf.int32)], 0)
        """
    )

    assert list(map(file.tf.of(GrowingRounds).copy_tensors, file.tf.of(Joins).all)) == [True, False]
