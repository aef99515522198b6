"""Statements moved in front of what stands around them, put below one, or taken out."""

import ast

import pytest

from tfmemlint import Applicability, Edit, File, Fix, Span, edits
from tfmemlint.fixing import apply


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


def test_what_begins_a_cell_stays_above_the_statement_that_is_moved_there() -> None:
    assert lifted("# %%\n# Loop.\nfor i in y:\n    f = g\n    f()\n") == (
        "# %%\nf = g\n# Loop.\nfor i in y:\n    f()\n"
    )


def test_a_line_shared_with_other_code_does_not_move() -> None:
    assert lifted("for i in y: f = g; f()\n") is None
    assert lifted("for i in y:\n    f = g; f()\n") is None


def test_what_the_loop_deletes_stays_in_it() -> None:
    assert lifted("for i in y:\n    f = g\n    f()\n    del f\n") is None
    assert lifted("for i in y:\n    @d\n    def f():\n        pass\n    del (a, f)\n") is None
    assert lifted("for i in y:\n    f = g\n    del f[0], x\n") is not None


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


def test_a_statement_goes_with_its_line_and_comment() -> None:
    file = File("example.py", "a()\nb()  # why\nc()\n")

    assert edits.without_statement(file, file.tree.body[1]) == Edit(Span(4, 15), "")


@pytest.mark.parametrize("source", ["if x:\n    b()\n", "a(); b()\n"])
def test_a_statement_stays_where_it_is_alone_in_its_block_or_shares_its_line(source: str) -> None:
    file = File("example.py", source)
    call = next(each for each in file.tf.tree.all(ast.Call) if ast.unparse(each) == "b()")

    assert edits.without_statement(file, file.tf.tree.statement(call)) is None


@pytest.mark.parametrize(
    "source",
    [
        "for i in y:\n    a()\n    b()\n",
        "for i in y:\n    c()\n    a()\n    b()\n",
        "for i in y:\r\n    a()\r\n\r\n    # b\r\n    b()\r\n",
        "for i in y:\n    a()  # a\n    b()",
    ],
)
@pytest.mark.parametrize("is_lifted", [True, False])
def test_a_block_is_not_left_empty_by_two_who_each_take_out_what_the_other_leaves(
    source: str, is_lifted: bool
) -> None:
    file = File("example.py", source)
    (loop,) = file.tree.body
    assert isinstance(loop, ast.For)
    fixes: list[Fix] = []
    for statement in loop.body:
        moved = edits.lifted(file, statement, loop) if is_lifted else None
        removed = edits.without_statement(file, statement)
        assert removed is not None
        fixes.append(Fix("Out", moved or (removed,), Applicability.SAFE))
        if is_lifted:
            fixes.append(Fix("Away", (removed,), Applicability.SAFE))

    applied = apply(source, fixes)

    assert applied.taken
    assert isinstance(ast.parse(applied.text).body[-1], ast.For)


def test_the_last_statement_of_a_block_goes_with_its_line_alone() -> None:
    source = "if x:\n    a()  # one\n\n    # Two.\n    b()\nc()\n"
    file = File("example.py", source)
    (block, _) = file.tree.body
    assert isinstance(block, ast.If)
    removed = edits.without_statement(file, block.body[-1])

    assert removed is not None
    fixed = source[: removed.span.start] + removed.text + source[removed.span.end :]
    assert fixed == "if x:\n    a()  # one\n\n    # Two.\nc()\n"
