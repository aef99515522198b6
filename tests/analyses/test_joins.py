"""Arrays that grow in loops by being joined to more."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.joins import Joined, Joins

IMPORTS = "import keras\nimport numpy as np\nimport tensorflow as tf\n"


def code(text: str) -> File:
    return File("code.py", IMPORTS + dedent(text))


def joins(text: str) -> tuple[Joined, ...]:
    return code(text).tf.of(Joins).all


def grown(text: str) -> list[tuple[str, list[str]]]:
    return [
        (ast.unparse(each.target), [ast.unparse(one) for one in each.added]) for each in joins(text)
    ]


@pytest.mark.parametrize(
    ("statement", "added"),
    [
        pytest.param("out = tf.concat([out, y], 0)", ["y"], id="a list"),
        pytest.param("out = tf.concat(values=(out, y, z), axis=0)", ["y", "z"], id="a tuple"),
        pytest.param("out = tf.concat([y, out], 0)", ["y"], id="what is new comes first"),
        pytest.param("out = np.append(out, values=y)", ["y"], id="two arguments"),
        pytest.param("out = keras.ops.concatenate([out, y])", ["y"], id="Keras"),
        pytest.param("out = y if out is None else np.vstack((out, y))", ["y"], id="a condition"),
    ],
)
def test_an_array_grows_by(statement: str, added: list[str]) -> None:
    assert grown(f"out = None\nfor y in ys:\n    {statement}\n") == [("out", added)]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("out = tf.concat([other, y], 0)", id="joining others"),
        pytest.param("out = tf.concat([out[1:], y], 0)", id="a part of it"),
        pytest.param("out = tf.concat([out, out], 0)", id="itself alone"),
        pytest.param("out = tf.concat(out, 0)", id="a list of it"),
        pytest.param("out = tf.stack([out, y])", id="another dimension"),
        pytest.param("more = tf.concat([out, y], 0)", id="another name"),
        pytest.param("out = tf.concat([out, f(out)], 0)", id="what is made of it"),
        pytest.param("out = tf.concat([out, y], 0); print(out)", id="reading it"),
        pytest.param("out = tf.concat([out, y], 0); out = out[-9:]", id="a window"),
        pytest.param("out = g(y); out = tf.concat([out, y], 0)", id="making it anew"),
        pytest.param("out = tf.concat([out, y], 0); read(lambda: out)", id="a function that reads"),
        pytest.param("for out in y: out = tf.concat([out, y], 0)", id="going over it"),
    ],
)
def test_an_array_does_not_grow_by(body: str) -> None:
    assert grown(f"for y in ys:\n    {body}\n") == []


@pytest.mark.parametrize(
    "asked",
    ["len(out)", "out.shape[0]", "tf.shape(out)[0]", "out is None"],
)
def test_asking_for_the_size_is_no_reading(asked: str) -> None:
    assert grown(f"for y in ys:\n    out = tf.concat([out, y], 0)\n    if {asked}: break\n")


@pytest.mark.parametrize(
    ("test", "begins_once"),
    [
        ("out is None", True),
        ("not len(out)", True),
        ("len(out) == 0", True),
        ("'out' not in locals()", True),
        ("not 'out' in globals()", True),
        ("i == 0", True),
        ("i % 10 == 0", False),
        ("done", False),
        ("y is None", False),
    ],
)
def test_a_first_round_that_makes_the_array(test: str, begins_once: bool) -> None:
    text = f"""\
        for i, y in enumerate(ys):
            if {test}:
                out = y
            else:
                out = tf.concat([out, y], 0)
        """
    assert bool(grown(text)) == begins_once


def test_a_counter_that_begins_again_makes_the_array_begin_again() -> None:
    text = """\
        for a in b:
            for i, y in enumerate(a):
                if i == 0:
                    out = y
                else:
                    out = tf.concat([out, y], 0)
        """
    (joined,) = joins(text)

    assert [ast.unparse(each.node.iter) for each in joined.loops if isinstance(each.node, ast.For)]
    assert len(joined.loops) == 1


def test_an_array_made_anew_by_a_loop_grows_in_the_inner_loops_only() -> None:
    text = """\
        for a in b:
            out = tf.zeros([0])
            for c in a:
                for y in c:
                    out = tf.concat([out, y], 0)
        """
    (joined,) = joins(text)

    assert len(joined.loops) == 2


ATTRIBUTE = """\
    class Keeper:
        def fill(self, ys):
            for y in ys:
                self.out = tf.concat([self.out, y], 0)
                self.look()

        def look(self):
            {look}
    """


def test_an_attribute_grows_unless_a_method_reads_it() -> None:
    assert grown(ATTRIBUTE.format(look="print(self.other)")) == [("self.out", ["y"])]
    assert grown(ATTRIBUTE.format(look="print(self.out)")) == []


@pytest.mark.parametrize(
    ("look", "read"),
    [
        ("return out", True),
        ("return show()", True),
        ("return len(out)", False),
        ("out = 1; return out", False),
        ("return other", False),
    ],
)
def test_a_function_that_the_loop_calls_may_read_it(look: str, read: bool) -> None:
    text = f"""\
        def show(): print(out)
        def look(): {look}
        for y in ys:
            out = tf.concat([out, y], 0)
            look()
        """
    assert bool(grown(text)) == (not read)


def test_a_function_that_calls_itself_has_another_array_each_time() -> None:
    text = """\
        def walk(ys):
            out = tf.zeros([0])
            for y in ys:
                out = tf.concat([out, walk(y)], 0)
            return out
        """
    assert grown(text) == [("out", ["walk(y)"])]


def test_a_function_of_the_module_may_do_the_joining() -> None:
    text = """\
        def joined(more, found):
            return tf.concat([found, more[None]], 0)
        for y in ys:
            out = joined(y, found=out)
        """
    assert grown(text) == [("out", ["y"])]
    assert grown(text.replace("[found, more[None]]", "[more, more]")) == []


@pytest.mark.parametrize(
    ("text", "recorded"),
    [
        ("with tf.GradientTape() as t:\n    {loop}", True),
        ("def f():\n    {loop}\nwith tf.GradientTape() as t:\n    f()", True),
        ("def f():\n    {loop}\nwith tf.GradientTape() as t:\n    pass\nf()", False),
        ("for y in ys:\n    with tf.GradientTape() as t: out = tf.concat([out, y], 0)", False),
    ],
)
def test_a_tape_records_all_rounds_or_none(text: str, recorded: bool) -> None:
    file = code(text.format(loop="for y in ys: out = tf.concat([out, y], 0)"))

    assert (file.tf.of(Joins).tape(file.tf.of(Joins).all[0]) is not None) == recorded
