"""Loops that leave nothing behind for the next trip or for other code."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File


def is_closed(source: str) -> bool:
    file = File("code.py", dedent(source))
    loop = next(file.tf.tree.all(ast.For))
    return file.tf.loops.is_closed(file.tf.loops.loop(loop))


@pytest.mark.parametrize(
    "source",
    [
        "for x in xs:\n    y = x\n    print(y)",
        "y = 1\nfor x in xs:\n    y = x\n    print(y)",
        "for x in xs:\n    y = x\n    y += 1\n    print(y)\ny = 2\nprint(y)",
        "z = 1\nfor x in xs:\n    print(x, z)",
    ],
)
def test_a_loop_whose_names_stay_inside_is_closed(source: str) -> None:
    assert is_closed(source)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("for x in xs:\n    pass\nprint(x)", id="the variable is read behind it"),
        pytest.param("for x in xs:\n    y = x\nprint(y)", id="a name is read behind it"),
        pytest.param("y = 0\nfor x in xs:\n    y += x", id="a sum"),
        pytest.param("y = 0\nfor x in xs:\n    z = y\n    y = x", id="the trip before is read"),
        pytest.param("for x in xs:\n    y = x\ndef f():\n    return y", id="a function reads it"),
        pytest.param("def f():\n    global y\n    for x in xs:\n        y = x", id="a global"),
    ],
)
def test_a_loop_that_leaves_names_behind_is_not(source: str) -> None:
    assert not is_closed(source)
