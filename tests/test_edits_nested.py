"""Statements one level deeper, under a line of their own."""

import ast

import pytest

from tfmemlint import Edit, File, Fix, Span, edits
from tfmemlint.fixing import apply
from tfmemlint.vocabulary import Applicability


def nested(code: str, inside: str = "") -> str:
    """`code` with its last statement under `if 1:`, and `[0]` behind the text `inside` of it."""
    file = File("module.py", code)
    statement = max(file.tf.tree.all(ast.Expr), key=lambda each: each.lineno)
    lines = edits.whole_lines(file, statement)
    assert lines is not None
    end = code.rindex(inside) + len(inside)
    cuts = [Edit(Span(end, end), "[0]")] if inside else []
    edit = edits.nested(file, lines, "if 1:", cuts)
    return apply(code, [Fix("Nest", (edit,), Applicability.UNSAFE)]).text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("f(x)\n", "if 1:\n    f(x)\n", id="one line"),
        pytest.param("f(x)  # why", "if 1:\n    f(x)  # why", id="no line ending"),
        pytest.param(
            "for a in b:\n\tf(\n\t\tx,\n\t)\n",
            "for a in b:\n\tif 1:\n\t\tf(\n\t\t\tx,\n\t\t)\n",
            id="tabs",
        ),
        pytest.param(
            "f(\r\n\r\n    x)\r\n", "if 1:\r\n    f(\r\n\r\n        x)\r\n", id="a blank line"
        ),
        pytest.param(
            'f(x, """\n  text\n""", 1)\n', 'if 1:\n    f(x, """\n  text\n""", 1)\n', id="a string"
        ),
        pytest.param("f(x, \\\n1)\n", "if 1:\n    f(x, \\\n    1)\n", id="a backslash"),
    ],
)
def test_every_line_but_those_of_strings_moves(before: str, after: str) -> None:
    assert nested(before) == after


def test_edits_inside_the_lines_are_made() -> None:
    assert nested("f(\n    x,\n)\n", "x") == "if 1:\n    f(\n        x[0],\n    )\n"
