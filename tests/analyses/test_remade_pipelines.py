"""Pipelines that loops make anew or longer."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.remade_pipelines import RemadePipelines

BEFORE = """
    import tensorflow as tf
    ds = tf.data.Dataset.from_tensor_slices(x)
"""


def rebuilds(source: str) -> list[tuple[str, bool, bool]]:
    file = File("example.py", dedent(BEFORE) + dedent(source))
    facts = file.tf.of(RemadePipelines)
    return [
        (ast.unparse(each.assignment), each.is_lengthened, facts.can_be_lifted(each))
        for each in facts.all
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            "for epoch in range(9):\n    ds = ds.shuffle(9)\n    for a in ds: pass",
            [("ds = ds.shuffle(9)", True, True)],
            id="lengthened",
        ),
        pytest.param(
            "while True:\n    ds = ds.shuffle(9).prefetch(1)\n    model.fit(ds)",
            [("ds = ds.shuffle(9).prefetch(1)", True, True)],
            id="lengthened by several steps",
        ),
        pytest.param(
            "def run(data):\n    for a in data: pass\n"
            "for epoch in range(9):\n    ds = ds.shuffle(9)\n    run(ds)",
            [("ds = ds.shuffle(9)", True, True)],
            id="handed to a function",
        ),
        pytest.param(
            "for epoch in range(9):\n    if epoch:\n        ds = ds.shuffle(9)\n    model.fit(ds)",
            [("ds = ds.shuffle(9)", True, False)],
            id="lengthened at times",
        ),
        pytest.param(
            "for epoch in range(9):\n    a = tf.data.Dataset.from_tensor_slices(x).batch(2)\n"
            "    model.fit(a)",
            [("a = tf.data.Dataset.from_tensor_slices(x).batch(2)", False, True)],
            id="made anew",
        ),
        pytest.param(
            "for epoch in range(9):\n    def f(v): return v\n"
            "    a = tf.data.Dataset.from_tensor_slices(x).map(f)\n    model.fit(a)",
            [("a = tf.data.Dataset.from_tensor_slices(x).map(f)", False, False)],
            id="with a function that the loop defines",
        ),
        pytest.param(
            "def f(v): return v\nfor epoch in range(9):\n"
            "    a = tf.data.Dataset.from_tensor_slices(x).map(lambda v: f(v))\n    model.fit(a)",
            [("a = tf.data.Dataset.from_tensor_slices(x).map(lambda v: f(v))", False, True)],
            id="with a function that is defined before",
        ),
        pytest.param(
            "for epoch in range(9):\n    a = tf.data.Dataset.from_tensor_slices(x)\n"
            "    a = a.batch(2)\n    model.fit(a)",
            [("a = tf.data.Dataset.from_tensor_slices(x)", False, False)],
            id="made anew in two statements",
        ),
    ],
)
def test_a_loop_rebuilds(source: str, expected: list[tuple[str, bool, bool]]) -> None:
    assert rebuilds(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            "for f in (g, h):\n    ds = ds.map(f)\n    model.fit(ds)", id="with its target"
        ),
        pytest.param(
            "for epoch in range(9):\n    ds = ds.shuffle(epoch)\n    model.fit(ds)", id="by epoch"
        ),
        pytest.param(
            "for epoch in range(9):\n    other = ds.shuffle(9)\n    model.fit(other)",
            id="under another name",
        ),
        pytest.param(
            "for epoch in range(9):\n    ds = ds.shuffle(9)\nmodel.fit(ds)", id="for later use"
        ),
        pytest.param(
            "for epoch in range(9):\n    ds = load()\n    ds = ds.shuffle(9)\n    model.fit(ds)",
            id="of what is loaded there",
        ),
        pytest.param(
            "for epoch in range(9):\n    ds = ds.skip(9)\n    model.fit(ds)", id="what is left"
        ),
        pytest.param(
            "for epoch in range(9):\n    ds = ds.concatenate(ds)\n    model.fit(ds)",
            id="more of it",
        ),
        pytest.param(
            "for epoch in range(9):\n    shuffle(x)\n"
            "    a = tf.data.Dataset.from_tensor_slices(x)\n    model.fit(a)",
            id="of an array the loop may change",
        ),
        pytest.param(
            "for x in folds:\n    a = tf.data.Dataset.from_tensor_slices(x)\n    model.fit(a)",
            id="of an array of the round",
        ),
        pytest.param(
            "for epoch in range(9):\n    a = tf.data.Dataset.from_tensor_slices(read())\n"
            "    model.fit(a)",
            id="of what a call gives",
        ),
        pytest.param(
            "for epoch in range(9):\n    a = tf.data.Dataset.from_tensor_slices(self.x)\n"
            "    model.fit(a)",
            id="of an attribute",
        ),
        pytest.param("ds = ds.shuffle(9)\nmodel.fit(ds)", id="outside of loops"),
    ],
)
def test_a_loop_does_not_rebuild(source: str) -> None:
    assert rebuilds(source) == []


@pytest.mark.parametrize(
    ("before", "once"), [("", True), ("a = None\n", False), ("def f():\n    a = 1\n", True)]
)
def test_a_name_may_hold_something_else_before_the_loop(before: str, once: bool) -> None:
    loop = "for e in range(9):\n    a = tf.data.Dataset.from_tensor_slices(x)\n    model.fit(a)\n"
    file = File("example.py", dedent(BEFORE) + before + loop)

    (rebuilt,) = file.tf.of(RemadePipelines).all

    assert file.tf.of(RemadePipelines).is_bound_once(rebuilt) == once
