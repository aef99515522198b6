"""Loops that become functions, or go over something else."""

import ast
from collections.abc import Iterable

import pytest

from tfmemlint import Edit, File, edits, loop_edits


def applied(file: File, found: Iterable[Edit | None]) -> str | None:
    whole, text = edits.whole(found), file.text
    if whole is None:
        return None
    for edit in sorted(whole, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def as_function(source: str) -> str | None:
    file = File("example.py", source)
    loop = next(file.tf.tree.all(ast.For))
    last = loop.body[-1]
    assert isinstance(last, ast.Expr)
    assert isinstance(last.value, ast.Call)
    return applied(file, loop_edits.as_function(file, loop, last.value, "load"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "a = 1\nys = []\nfor x in xs:\n    y = f(x)  # why\n    ys.append(y)\ng(ys)\n",
            "a = 1\n\n\ndef load(x):\n    y = f(x)  # why\n    return y\n\n\ng(ys)\n",
            id="two lines around it in a module",
        ),
        pytest.param(
            "def h():\n    ys = []\n    for x in xs: ys.append(x)\n    g(ys)\n",
            "def h():\n    def load(x): return x\n\n    g(ys)\n",
            id="one line below it in a function",
        ),
        pytest.param(
            "a = 1\r\n\r\n\r\nys = []  # all\r\nfor x in xs:\r\n    ys.append(x)\r\n\r\ng(ys)\r\n",
            "a = 1\r\n\r\n\r\n# all\r\ndef load(x):\r\n    return x\r\n\r\n\r\ng(ys)\r\n",
            id="a comment stays",
        ),
        pytest.param(
            "ys = []\nfor x in xs:\n    ys.append(\n        f(x)  # why\n    )\n# Now.\ng(ys)\n",
            "def load(x):\n    return (\n        f(x)  # why\n    )\n# Now.\ng(ys)\n",
            id="an append of several lines",
        ),
    ],
)
def test_a_loop_becomes_a_function(before: str, after: str) -> None:
    assert as_function(before) == after


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("a = 1; ys = []\nfor x in xs:\n    ys.append(x)\ng(ys)\n", id="a shared line"),
        pytest.param("ys = []\nfor x in (xs):\n    ys.append(x)\ng(ys)\n", id="parentheses"),
        pytest.param("ys = []\nfor x in xs:\n    ys.append(\n  x,\n  )\ng(ys)\n", id="a comma"),
    ],
)
def test_a_loop_that_would_lose_something_stays(source: str) -> None:
    assert as_function(source) is None


def over(source: str) -> str | None:
    file = File("example.py", source)
    loop = next(file.tf.tree.all(ast.For))
    return applied(file, loop_edits.over(file, loop, "batch", "ds.batch(8)", loop.body[0]))


def test_a_loop_goes_over_something_else() -> None:
    source = "for i in range(0, n, 8):  # all\n    batch = xs[i : i + 8]\n    f(batch)\n"

    assert over(source) == "for batch in ds.batch(8):  # all\n    f(batch)\n"


def test_the_comment_of_the_statement_taken_out_stays() -> None:
    source = "for i in range(9):\n    batch = xs[i]  # one\n    f(batch)\n"

    assert over(source) == "for batch in ds.batch(8):\n    # one\n    f(batch)\n"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("for i in range(9):\n    batch = xs[i]; f(batch)\n", id="a shared line"),
        pytest.param("for i in (range(9)):\n    batch = xs[i]\n    f(batch)\n", id="parentheses"),
    ],
)
def test_a_loop_that_cannot_be_rewritten_whole_stays(source: str) -> None:
    assert over(source) is None


def in_slices(source: str) -> str | None:
    file = File("example.py", source)
    call = next(file.tf.tree.all(ast.Call))
    edit = loop_edits.in_slices(file, file.tf.tree.statement(call), call.args)
    return applied(file, [edit])


def test_a_statement_is_run_for_slices_of_its_arrays() -> None:
    source = "if 1:\n    f(\n        x,  # one\n        y.z,\n    )\n"

    assert in_slices(source) == (
        "if 1:\n    for start in range(0, len(x), 32):\n        f(\n"
        "            x[start : start + 32],  # one\n            y.z[start : start + 32],\n"
        "        )\n"
    )


def test_the_name_of_the_start_of_a_slice_is_new() -> None:
    assert in_slices("f(start)\n") == (
        "for batch_start in range(0, len(start), 32):\n"
        "    f(start[batch_start : batch_start + 32])\n"
    )


@pytest.mark.parametrize("source", ["f(x); g()\n", "for a in b: f(x)\n"])
def test_a_statement_that_shares_its_line_is_not_run_for_slices(source: str) -> None:
    assert in_slices(source) is None
