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
