"""Loops that are left early, and code that runs in few of their rounds."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File
from tfmemlint.facts.flow.loops import Over

Look = Callable[[str], tuple[File, list[ast.expr]]]


@pytest.mark.parametrize(
    ("code", "trips"),
    [
        ("while True:\n    see(a)\n    break", 1),
        ("for x in xs:\n    see(x)\n    raise ValueError", 1),
        ("def f():\n    for i in range(99):\n        return see(i)", 1),
        ("for i in range(99):\n    see(i)\n    if i == 3:\n        break", 4),
        ("for i in range(99):\n    see(i)\n    if i >= 3:\n        break", 4),
        ("for i in range(99):\n    see(i)\n    if i > 3:\n        break", 5),
        ("for i in range(1, 99):\n    see(i)\n    if i == 3:\n        break", 3),
        ("for i, x in enumerate(xs):\n    if i == 3:\n        break\n    see(x)", 4),
        ("for i, x in enumerate(xs, 1):\n    see(x)\n    if i == 3:\n        break", 3),
        ("n = 0\nfor x in xs:\n    see(x)\n    n += 1\n    if n == 3:\n        break", 3),
        ("n = 1\nfor x in xs:\n    see(x)\n    n += 1\n    if n > 3:\n        break", 3),
        ("n = 0\nfor x in xs:\n    if n == 3:\n        break\n    see(x)\n    n += 1", 4),
        ("for i in range(2):\n    see(i)\n    if i == 3:\n        break", 2),
        ("for x in xs:\n    for y in x:\n        continue\n    see(x)\n    break", 1),
    ],
)
def test_an_early_end_tells_how_many_rounds_there_are(look: Look, code: str, trips: int) -> None:
    file, (seen,) = look(code)

    assert file.tf.loops.around(seen)[0].trips == trips


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("for x in xs:\n    see(x)\n    if x == 3:\n        break", id="not counted"),
        pytest.param(
            "n = 0\nfor x in xs:\n    see(x)\n    if x:\n        n += 1\n"
            "    if n == 3:\n        break",
            id="at times",
        ),
        pytest.param(
            "n = 0\nfor x in xs:\n    see(x)\n    n += 1\n    n = n * 2\n"
            "    if n == 3:\n        break",
            id="otherwise, too",
        ),
        pytest.param("for i in ids:\n    see(i)\n    if i == 3:\n        break", id="not a range"),
        pytest.param(
            "for i in range(n):\n    see(i)\n    if i < 3:\n        break", id="the other way"
        ),
        pytest.param("for i in range(n):\n    see(i)\n    if i == k:\n        break", id="when"),
        pytest.param(
            "for i in range(n):\n    see(i)\n    if i == 3:\n        print()", id="goes on"
        ),
        pytest.param(
            "for i in range(n):\n    see(i)\n    if a and i == 3:\n        break", id="perhaps"
        ),
        pytest.param(
            "for i in range(0, n, 2):\n    see(i)\n    if i == 3:\n        break", id="steps over"
        ),
        pytest.param(
            "for x in xs:\n    if x:\n        continue\n    see(x)\n    break", id="skips"
        ),
        pytest.param(
            "j = 0\nfor i in range(n):\n    see(i)\n    if j == 3:\n        break", id="another"
        ),
        pytest.param(
            "for i in range(n):\n    see(i)\n    i = f()\n    if i == 3:\n        break", id="set"
        ),
    ],
)
def test_other_ends_tell_nothing(look: Look, code: str) -> None:
    file, (seen,) = look(code)

    assert file.tf.loops.around(seen)[0].trips is None


def test_a_condition_may_speak_of_epochs(look: Look) -> None:
    file, (seen,) = look("while epoch < last:\n    see(epoch)\n    epoch += 1")

    assert file.tf.loops.around(seen)[0].over is Over.EPOCHS


@pytest.mark.parametrize(
    ("test", "seldom"), [("i % 500 == 0", True), ("i == 500", False), ("True", False)]
)
def test_a_remainder_picks_rounds(look: Look, test: str, seldom: bool) -> None:
    file, (seen,) = look(f"for i in range(n):\n    if {test}:\n        see(i)")

    assert file.tf.loops.is_seldom(seen, file.tf.loops.around(seen)[0]) is seldom
