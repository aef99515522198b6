"""Method calls put behind the last one of a chain."""

import ast

import pytest

from tfmemlint import File, Fix, edits
from tfmemlint.fixing import apply
from tfmemlint.vocabulary import Applicability


def chained(code: str) -> str:
    """`code` with `.batch(32)` behind its call of `shuffle`."""
    file = File("module.py", code)
    [call] = [
        each
        for each in file.tf.tree.all(ast.Call)
        if isinstance(each.func, ast.Attribute) and each.func.attr == "shuffle"
    ]
    edit = edits.chained(file, call, ".batch(32)")
    assert edit is not None
    after = apply(code, [Fix("Batch", (edit,), Applicability.UNSAFE)]).text
    ast.parse(after)
    return after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("x = a.shuffle(9)\n", "x = a.shuffle(9).batch(32)\n", id="one line"),
        pytest.param("f(a.shuffle(9), b)", "f(a.shuffle(9).batch(32), b)", id="an argument"),
        pytest.param("(a.shuffle(9)).b()", "(a.shuffle(9).batch(32)).b()", id="in parentheses"),
        pytest.param(
            "x = (\n    a\n    .shuffle(9)\n)\n",
            "x = (\n    a\n    .shuffle(9)\n    .batch(32)\n)\n",
            id="a line for each",
        ),
        pytest.param(
            "x = (a\r\n     .shuffle(9)  # all\r\n     )\r\n",
            "x = (a\r\n     .shuffle(9)  # all\r\n     .batch(32)\r\n     )\r\n",
            id="a comment stays where it is",
        ),
        pytest.param(
            "x = (a\n     .shuffle(\n         9))\n",
            "x = (a\n     .shuffle(\n         9)\n     .batch(32))\n",
            id="a bracket that closes on the line",
        ),
        pytest.param(
            "x = a \\\n    .shuffle(9)  # all\n",
            "x = a \\\n    .shuffle(9) \\\n    .batch(32)  # all\n",
            id="backslashes",
        ),
    ],
)
def test_a_call_is_added_in_the_layout_of_the_chain(before: str, after: str) -> None:
    assert chained(before) == after


def unchained(code: str) -> str | None:
    """`code` without its call of `batch`."""
    file = File("module.py", code)
    [call] = [
        each
        for each in file.tf.tree.all(ast.Call)
        if isinstance(each.func, ast.Attribute) and each.func.attr == "batch"
    ]
    edit = edits.unchained(file, call)
    if edit is None:
        return None
    after = apply(code, [Fix("Unbatch", (edit,), Applicability.UNSAFE)]).text
    ast.parse(after)
    return after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("x = a.batch(9)\n", "x = a\n", id="the last"),
        pytest.param("x = a.batch(9).map(f)\n", "x = a.map(f)\n", id="one before others"),
        pytest.param("x = (a).batch(9)\n", "x = (a)\n", id="behind parentheses"),
        pytest.param(
            "x = (\n    a  # all\n    .batch(9)\n    .map(f)\n)\n",
            "x = (\n    a  # all\n    .map(f)\n)\n",
            id="on a line of its own",
        ),
        pytest.param(
            "x = (\n    a\n    .batch(9)  # all\n)\n",
            "x = (\n    a\n      # all\n)\n",
            id="beside a comment",
        ),
        pytest.param("x = (a\n     .batch(9))\n", "x = (a\n     )\n", id="before a bracket"),
        pytest.param(
            "x = a \\\n    .batch(9) \\\n    .map(f)\n", "x = a \\\n    .map(f)\n", id="backslashes"
        ),
        pytest.param("x = a.batch(\n    9,  # all\n)\n", None, id="around a comment"),
    ],
)
def test_a_call_is_taken_out_of_the_chain(before: str, after: str | None) -> None:
    assert unchained(before) == after


def reduced(code: str, before: str = "", after: str = "") -> str | None:
    """`code` with the argument of its call of `list` in place of the call."""
    file = File("module.py", code)
    [call] = [
        each
        for each in file.tf.tree.all(ast.Call)
        if isinstance(each.func, ast.Name) and each.func.id == "list"
    ]
    edit = edits.reduced(file, call, call.args[0], before, after)
    if edit is None:
        return None
    changed = apply(code, [Fix("Reduce", (edit,), Applicability.UNSAFE)]).text
    ast.parse(changed)
    return changed


def test_a_call_is_reduced_to_its_argument() -> None:
    assert reduced("for x in list(a): pass\n") == "for x in a: pass\n"
    assert (
        reduced("x = list(a)  # all\n", "sum(1 for _ in ", ")") == "x = sum(1 for _ in a)  # all\n"
    )
    assert reduced("x = list(\n    a,\n)\n") == "x = a\n"


def test_a_call_is_not_reduced_where_a_comment_or_a_bracket_would_be_lost() -> None:
    assert reduced("x = list(\n    a,  # all\n)\n") is None
    assert reduced("for x in list(\n    a\n    .b()\n): pass\n") is None
    assert reduced("x = list(\n    a\n    .b()\n)\n", "sum(", ")") == "x = sum(a\n    .b())\n"
