"""Statements moved in front of what stands around them."""

import ast

from tfmemlint import File, edits


def lifted(source: str) -> str | None:
    file = File("example.py", source)
    loop = next(file.tf.tree.all(ast.For))
    moved = edits.lifted(file, loop.body[0], loop)
    if moved is None:
        return None
    for edit in sorted(moved, reverse=True):
        source = source[: edit.span.start] + edit.text + source[edit.span.end :]
    return source


def test_a_definition_takes_its_comment_along_and_stands_by_itself() -> None:
    source = (
        "if x:\n    # Loop.\n    for i in y:\n        # Step.\n        @d\n        def f():\n"
        '            """A\n  text."""\n\n        f()\n'
    )

    assert lifted(source) == (
        "if x:\n    # Step.\n    @d\n    def f():\n"
        '        """A\n  text."""\n\n    # Loop.\n    for i in y:\n        f()\n'
    )


def test_an_assignment_moves_alone() -> None:
    assert lifted("for i in y:\n    f = g\n    f()\n") == "f = g\nfor i in y:\n    f()\n"


def test_a_line_shared_with_other_code_does_not_move() -> None:
    assert lifted("for i in y: f = g; f()\n") is None
    assert lifted("for i in y:\n    f = g; f()\n") is None


def below(source: str) -> str | None:
    file = File("example.py", source)
    edit = edits.below(file, next(file.tf.tree.all(ast.Assign)), "b = a")
    return edit and source[: edit.span.start] + edit.text + source[edit.span.end :]


def test_a_line_goes_below_a_statement_with_its_margin() -> None:
    assert below("if x:\r\n  a = 1  # one\r\n") == "if x:\r\n  a = 1  # one\r\n  b = a\r\n"


def test_a_line_goes_below_the_last_one_of_a_file() -> None:
    assert below("a = (\n    1\n)") == "a = (\n    1\n)\nb = a"


def test_no_line_goes_between_two_statements_of_one() -> None:
    assert below("a = 1; c = 2\n") is None
