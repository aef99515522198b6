"""Lists of the windows of a series."""

import ast
from collections.abc import Callable
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.windows import WindowLists, Windows

Look = Callable[[str], tuple[File, list[ast.expr]]]

LOOP = """
rows = []
for i in range(0, n, 2):
    rows.append(xs[i : i + 9])
see(rows)
"""


def windows(look: Look, source: str) -> tuple[File, Windows | None]:
    """The windows that the list given to `see` holds."""
    file, (listed,) = look(dedent(source))
    return file, file.tf.of(WindowLists).of(listed)


@pytest.mark.parametrize(
    ("window", "width", "begins_at"),
    [
        ("xs[i : i + 9]", "9", True),
        ("xs[i : width + i]", "width", True),
        ("xs[i : i + (a - b), 0]", "a - b", True),
        ("xs[i - 9 : i]", "9", False),
    ],
)
def test_a_comprehension_takes_windows(
    look: Look, window: str, width: str, begins_at: bool
) -> None:
    file, found = windows(look, f"see([{window} for i in range(n)])")

    assert found is not None
    assert (file.source(found.series), file.source(found.width)) == ("xs", width)
    assert (found.begins_at, found.growth) == (begins_at, None)


def test_a_loop_takes_windows_under_a_name(look: Look) -> None:
    source = LOOP.replace("    rows", "    row = xs[i : i + 9, 0, :]\n    rows").replace(
        "append(xs[i : i + 9])", "append(row)"
    )
    file, found = windows(look, source)

    assert found is not None
    assert found.growth is not None
    assert [file.source(each) for each in found.other_axes] == ["0", ":"]
    assert [file.source(each) for each in found.bounds] == ["0", "n", "2"]


def test_a_list_may_have_two_names(look: Look) -> None:
    assert windows(look, "a = [xs[i : i + 9] for i in range(n)]\nb = a\nsee(b)")[1] is not None


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("see([xs[i : i + 9] for i in range(n) if i])", id="some of them"),
        pytest.param("see([xs[i : i + 9] for i in order])", id="no range"),
        pytest.param("see([xs[i : i + 9 : 2] for i in range(n)])", id="every other step"),
        pytest.param("see([xs[i : i + i] for i in range(n)])", id="a width that grows"),
        pytest.param("see([xs[0:i] for i in range(n)])", id="all before"),
        pytest.param("see([xs[j : i + 9] for i in range(n)])", id="another start"),
        pytest.param("see([xs[i] for i in range(n)])", id="single rows"),
        pytest.param(
            "see([xs[i : i + 9].mean() for i in range(n)])", id="what is computed of them"
        ),
        pytest.param("see([xs[i][i : i + 9] for i in range(n)])", id="another series each time"),
        pytest.param("see([xs[i : i + 9] for i in range(n) for j in k])", id="two loops"),
        pytest.param(LOOP.replace("see", "    rows.append(1)\nsee"), id="something else besides"),
        pytest.param(
            LOOP.replace("    rows", "    xs = xs + 1\n    rows"), id="a series that changes"
        ),
        pytest.param(LOOP.replace("append", "extend"), id="no element"),
        pytest.param("def f(rows):\n    see(rows)", id="a list out of sight"),
    ],
)
def test_no_list_of_windows(look: Look, source: str) -> None:
    assert windows(look, source)[1] is None


@pytest.mark.parametrize(
    ("source", "steps"),
    [
        ("see([xs[i : i + 9] for i in range(n)])", 9),
        ("WIDTH = 20\nsee([xs[i : i + WIDTH] for i in range(n)])", 20),
        ("def f(xs, w=7):\n    see([xs[i : i + w] for i in range(n)])", 7),
        ("def f(xs, w):\n    see([xs[i : i + w] for i in range(n)])", None),
        ("see([xs[i : i + w] for i in range(n)])", None),
    ],
)
def test_windows_have_so_many_steps(look: Look, source: str, steps: int | None) -> None:
    file, found = windows(look, source)

    assert found is not None
    assert file.tf.of(WindowLists).steps(found) == steps


def fillers(look: Look, source: str) -> list[str] | None:
    """The first lines of the statements that only fill the list given to `see`."""
    file, (listed,) = look(dedent(source))
    found = file.tf.of(WindowLists).of(listed)
    assert found is not None
    statements = file.tf.of(WindowLists).fillers(found, listed)
    if statements is None:
        return None
    return [file.source(each).partition("\n")[0] for each in statements]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("see([xs[i : i + 9] for i in range(n)])", [], id="a comprehension"),
        pytest.param(LOOP, ["for i in range(0, n, 2):", "rows = []"], id="a loop"),
        pytest.param(
            LOOP.replace("    rows", "    print(i)\n    rows"),
            ["rows.append(xs[i : i + 9])", "rows = []"],
            id="a loop that does something else",
        ),
        pytest.param(
            LOOP.replace("rows = []", "rows, others = [], []"),
            ["for i in range(0, n, 2):"],
            id="a list begun with another",
        ),
    ],
)
def test_statements_only_fill_the_list(look: Look, source: str, expected: list[str]) -> None:
    assert fillers(look, source) == expected


@pytest.mark.parametrize(
    ("part", "instead"),
    [
        pytest.param("see(rows)", "see(rows)\nprint(rows)", id="another reader"),
        pytest.param("see(rows)", "see(rows)\nprint(i)", id="a name left behind"),
        pytest.param("see(", "xs = f(xs)\nsee(", id="another series by then"),
        pytest.param("see(", "else:\n    print(1)\nsee(", id="an else"),
        pytest.param("    rows", "    if i: rows", id="a choice"),
        pytest.param("see(rows)", "if n:\n    see(rows)", id="another block"),
        pytest.param(
            "    rows.append(xs[i : i + 9])",
            "    row = xs[i : i + 9]\n    rows.append(row)",
            id="a window with a name",
        ),
        pytest.param("append(xs[i : i + 9])", "extend([xs[i : i + 9]])", id="no append"),
    ],
)
def test_something_else_needs_what_fills_the_list(look: Look, part: str, instead: str) -> None:
    assert LOOP.count(part) == 1

    assert fillers(look, LOOP.replace(part, instead)) is None


def test_a_comprehension_with_a_name_may_be_needed(look: Look) -> None:
    assert fillers(look, "rows = [xs[i : i + 9] for i in range(n)]\nsee(rows)") is None
