"""Assignments that move down, and calls whose result is kept."""

import ast

import pytest

from tfmemlint import Edit, File, edits


def applied(source: str, changes: tuple[Edit, ...] | None) -> str | None:
    if changes is None:
        return None
    for edit in sorted(changes, reverse=True):
        source = source[: edit.span.start] + edit.text + source[edit.span.end :]
    return source


def postponed(source: str) -> str | None:
    file = File("example.py", source)
    statement, anchor = next(file.tf.tree.all(ast.Assign)), next(file.tf.tree.all(ast.For))
    return applied(source, edits.postponed(file, statement, "{}", anchor))


def given_back(source: str) -> str | None:
    file = File("example.py", source)
    call = next(file.tf.tree.all(ast.Call))
    return applied(source, edits.given_back(file, call, "write", "i"))


def test_an_assignment_moves_down_with_its_comment_and_another_value() -> None:
    source = "xs = []  # all\ny = 1\nwith a:\n    # Loop.\n    for z in y:\n        pass\n"

    assert postponed(source) == (
        "y = 1\nwith a:\n    xs = {}  # all\n    # Loop.\n    for z in y:\n        pass\n"
    )


def test_an_assignment_that_shares_its_line_stays() -> None:
    assert postponed("xs = []; y = 1\nfor z in y:\n    pass\n") is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("xs.append(x)\n", "xs = xs.write(i, x)\n", id="a name"),
        pytest.param("a.b . append ( x )\n", "a.b = a.b . write ( i, x )\n", id="an attribute"),
        pytest.param(
            "xs.append(\n    x,  # one\n)\n", "xs = xs.write(\n    i, x,  # one\n)\n", id="lines"
        ),
    ],
)
def test_the_result_of_another_method_is_kept(before: str, after: str) -> None:
    assert given_back(before) == after


def test_a_function_has_no_object_to_keep_its_result() -> None:
    assert given_back("append(x)\n") is None
