"""Numbers that have another value in each of many rounds."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]


@pytest.mark.parametrize(
    ("code", "whole"),
    [
        ("for i in range(99):\n    see(i)", True),
        ("for i in range(99):\n    see(-2 * i)", True),
        ("for i in range(99):\n    see(i / 2)", False),
        ("for i in range(99):\n    k = i + 1\n    see(k)", True),
        ("for i, x in enumerate(xs):\n    see(i)", True),
        ("n = 0\nwhile True:\n    n += 1\n    see(n)", True),
        ("n = 0\nfor x in xs:\n    if counts:\n        n += 1\n    see(n)", True),
        (
            "n, on = 0, False\nfor x in xs:\n    if x:\n        on = True\n    if on:\n"
            "        n += 1\n    see(n)",
            True,
        ),
        ("n = 0\nwhile True:\n    n += 1\n    r = 2 * (1 - (n - 1) / 9)\n    see(3 * r)", False),
        ("for x in xs:\n    see(float(x))", False),
        ("for i in range(99):\n    see(float(i / 40))", False),
        ("for x in xs:\n    see(int(x))", True),
        ("def f(n):\n    see(n)\nfor i in range(99):\n    f(i)", True),
    ],
)
def test_a_loop_of_many_rounds_changes(look: Look, code: str, whole: bool) -> None:
    file, (seen,) = look(code)
    change = file.tf.changing_numbers.of(seen, seen)

    assert change is not None
    assert change.loop.node in {*file.tf.tree.all(ast.For, ast.While)}
    assert change.whole is whole


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("for i in range(3):\n    see(i)", id="few rounds"),
        pytest.param("for i in range(99):\n    pass\nsee(i)", id="behind the loop"),
        pytest.param("for i in range(99):\n    see(i % 2)", id="few values"),
        pytest.param("for i in range(99):\n    see(n)", id="another number"),
        pytest.param("for x in xs:\n    see(x)", id="not known to be a number"),
        pytest.param(
            "n = 0\nfor i in range(99):\n    if i % 10 == 0:\n        n += 1\n    see(n)",
            id="seldom",
        ),
        pytest.param(
            "n = 0\nfor x in xs:\n    if x < 0.1:\n        n += 1\n    see(n)", id="now and then"
        ),
        pytest.param(
            "n = 0\nfor x in xs:\n    on = x > 0\n    if on:\n        n += 1\n    see(n)",
            id="decided anew",
        ),
        pytest.param(
            "n, on = 0, False\nfor x in xs:\n    if x:\n        on = True\n    if on:\n"
            "        n += 1\n    on = False\n    see(n)",
            id="switched off again",
        ),
        pytest.param("for i in range(99):\n    see(int(i > 5))", id="a flag"),
        pytest.param("for x in xs:\n    see(float(not x))", id="its opposite"),
        pytest.param("for i in range(99):\n    see(int(i / 40))", id="quotients"),
    ],
)
def test_few_values_or_none_that_change_are_no_change(look: Look, code: str) -> None:
    file, (seen,) = look(code)

    assert file.tf.changing_numbers.of(seen, seen) is None
