"""What edits leave alone, and what they change beside themselves."""

from __future__ import annotations

import pytest

from tfmemlint.comparing import compiles, difference
from tfmemlint.fixing import repair
from tfmemlint.vocabulary import Applicability, Diagnostic, Edit, Finding, Fix, Span


def changed(before: str, *edits: tuple[int, int, str]) -> str | None:
    """What these edits change that does not stand in their places."""
    made = [Edit(Span(start, end), text) for start, end, text in edits]
    pieces, reached = list[str](), 0
    for (start, end), text in made:
        pieces += before[reached:start], text
        reached = end
    return difference(before, "".join([*pieces, before[reached:]]), made)


@pytest.mark.parametrize(
    ("before", "edits"),
    [
        ("x = f(a)\ny = 2\n", [(4, 5, "other")]),
        ("x = f(a)\ny = 2\n", [(4, 6, ""), (7, 8, "")]),
        ("losses.append(loss)\nmore = [loss]\n", [(18, 18, ".numpy()")]),
        ("for x in y:\n    z(x)\nlast(z)\n", [(21, 21, "added(x)\n")]),
        ("def f():\n    a = 1\n", [(19, 19, "    b = a\n")]),
        ("é = 'é'\nx = g(é)\n", [(12, 13, "häß")]),
        ("a = f'{x}'\nb = 1\n", [(15, 16, "2")]),
        ("if a:\n    b\n", [(0, 0, "c = 1\n")]),
    ],
)
def test_edits_leave_alone_what_stands_beside_them(
    before: str, edits: list[tuple[int, int, str]]
) -> None:
    assert changed(before, *edits) is None


@pytest.mark.parametrize(
    ("before", "edits"),
    [
        ("a = [1]\nb = 4\nc = 5\n", [(4, 4, "'''"), (14, 14, "'''\n")]),
    ],
)
def test_what_edits_swallow_is_told(before: str, edits: list[tuple[int, int, str]]) -> None:
    assert changed(before, *edits) is not None


def test_names_that_may_not_stand_where_they_do_are_no_program() -> None:
    assert compiles("n = sum(1 for _ in (d := ds))") is not None
    assert compiles("n = sum(1 for _ in ds)") is None
    assert compiles("await ds") is None


@pytest.mark.parametrize(
    ("text", "edit", "said"),
    [
        (
            "n = len(list(d := ds))\n",
            Edit(Span(4, 22), "sum(1 for _ in (d := ds))"),
            "not leave Python",
        ),
        ("a = b\nc = a\nd = a\n", Edit(Span(4, 5), "'''b\nc = 1\n'''; '''"), "not leave Python"),
        ("a = b\nc = a\n", Edit(Span(2, 6), "= 1 #"), "change more than they say"),
    ],
)
def test_a_fix_that_breaks_code_is_rolled_back_and_reported(
    text: str, edit: Edit, said: str
) -> None:
    fix = Fix("Break it", (edit,), Applicability.SAFE)
    finding = Finding("TFM999", "broken", Diagnostic(Span(0, 1), "here", fix))

    repaired = repair(text, lambda *_: [finding], unsafe=False, fixable=lambda _: True)

    assert repaired.text == text
    assert repaired.problem is not None
    assert said in repaired.problem
