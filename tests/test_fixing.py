"""Fixes are applied whole, in any order to the same end, and touch nothing else."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfmemlint.fixing import MAX_ROUNDS, Applied, Repaired, allowed, apply, repair
from tfmemlint.vocabulary import Applicability, Diagnostic, Edit, Finding, Fix, Span

SAFE, UNSAFE, DISPLAY = Applicability.SAFE, Applicability.UNSAFE, Applicability.DISPLAY


def fix(*edits: tuple[int, int, str], title: str = "Do it", how: Applicability = SAFE) -> Fix:
    return Fix(title, tuple(Edit(Span(start, end), text) for start, end, text in edits), how)


def replacing(
    pattern: str, replacement: str, code: str = "TFM101", how: Applicability = SAFE
) -> Callable[[str], list[Finding]]:
    """A linter that finds a pattern and would have it replaced."""

    def lint(text: str) -> list[Finding]:
        return [
            Finding(
                code,
                "found",
                Diagnostic(
                    Span(*match.span()),
                    "is there",
                    fix((*match.span(), match.expand(replacement)), how=how),
                ),
            )
            for match in re.finditer(pattern, text)
        ]

    return lint


def settle(
    text: str,
    *linters: Callable[[str], Sequence[Finding]],
    unsafe: bool = False,
    fixable: Callable[[Finding], bool] = lambda finding: True,
) -> Repaired:
    def lint(text: str, edits: Sequence[Edit]) -> list[Finding]:
        return [finding for linter in linters for finding in linter(text)]

    return repair(text, lint, unsafe=unsafe, fixable=fixable)


# apply


@pytest.mark.parametrize(
    ("text", "fixes", "expected"),
    [
        pytest.param("abcdef", [], "abcdef", id="nothing to do"),
        pytest.param("", [fix((0, 0, "x"))], "x", id="an insertion into nothing"),
        pytest.param("abcdef", [fix((1, 3, "X"))], "aXdef", id="a replacement"),
        pytest.param("abcdef", [fix((1, 3, ""))], "adef", id="a deletion"),
        pytest.param("abcdef", [fix((6, 6, "!"))], "abcdef!", id="an insertion at the end"),
        pytest.param("abcdef", [fix((0, 6, ""))], "", id="everything deleted"),
        pytest.param("ab", [fix((0, 1, "b"), (1, 2, "a"))], "ba", id="neighbours swapped"),
        pytest.param("ab", [fix((1, 2, "a"), (0, 1, "b"))], "ba", id="edits in any order"),
        pytest.param("ab", [fix((0, 1, "x")), fix((1, 2, "y"))], "xy", id="fixes side by side"),
        pytest.param(
            "abcdef",
            [fix((0, 1, "x"), (4, 5, "z")), fix((2, 4, "y"))],
            "xbyzf",
            id="one between the edits of another",
        ),
        pytest.param(
            "abc", [fix((0, 0, "("), (0, 1, "A"), (1, 1, ")"))], "(A)bc", id="wrapped by one fix"
        ),
        pytest.param("abc", [fix((1, 1, "1"), (1, 1, "2"))], "a12bc", id="inserted in turn"),
        pytest.param("é😀ß\r\n", [fix((1, 2, "x"))], "éxß\r\n", id="characters, not bytes"),
    ],
)
def test_fixes_that_do_not_meet_are_all_applied(text: str, fixes: list[Fix], expected: str) -> None:
    applied = apply(text, fixes)

    assert expected == applied.text
    assert set(fixes) == set(applied.taken)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(fix((1, 4, "X")), fix((3, 5, "Y")), id="overlap"),
        pytest.param(fix((1, 5, "X")), fix((2, 3, "Y")), id="one inside the other"),
        pytest.param(fix((1, 4, "X")), fix((1, 4, "Y")), id="the same place"),
        pytest.param(fix((1, 4, "X")), fix((2, 2, "Y")), id="an insertion inside"),
        pytest.param(fix((1, 1, "X")), fix((1, 4, "Y")), id="an insertion where the other begins"),
        pytest.param(fix((1, 4, "X")), fix((4, 4, "Y")), id="an insertion where the other ends"),
        pytest.param(fix((2, 2, "X")), fix((2, 2, "Y")), id="insertions at the same place"),
        pytest.param(
            fix((0, 1, "X"), (5, 6, "X")), fix((2, 3, "Y"), (5, 6, "Z")), id="in a later edit"
        ),
        pytest.param(
            fix((2, 2, "("), (4, 4, ")")), fix((2, 2, "("), (5, 5, ")")), id="nested parentheses"
        ),
    ],
)
def test_of_two_fixes_that_meet_the_first_is_applied_and_the_other_waits(
    first: Fix, second: Fix
) -> None:
    alone = apply("abcdef", [first])

    assert alone == apply("abcdef", [first, second])
    assert alone == apply("abcdef", [second, first])
    assert (first,) == alone.taken


def test_a_fix_is_never_applied_in_part() -> None:
    blocking, blocked = fix((4, 6, "!")), fix((7, 8, "x"), (5, 6, "x"), (9, 10, "x"))

    assert Applied("0123!6789", (blocking,)) == apply("0123456789", [blocked, blocking])


@pytest.mark.parametrize(
    ("text", "one", "other", "expected"),
    [
        pytest.param(
            "a\nb\nc\n",
            fix((0, 0, "import gc\n"), (2, 3, "B")),
            fix((0, 0, "import gc\n"), (4, 5, "C")),
            "import gc\na\nB\nC\n",
            id="an import at the top",
        ),
        pytest.param(
            "a\rb\rc",
            fix((2, 2, "x\r"), (2, 3, "B")),
            fix((2, 2, "x\r"), (4, 5, "C")),
            "a\rx\rB\rC",
            id="a line of its own further down",
        ),
        pytest.param(
            "abcdef",
            fix((0, 2, ""), (3, 4, "D")),
            fix((0, 2, ""), (5, 6, "F")),
            "cDeF",
            id="a deletion",
        ),
        pytest.param(
            "abcdef",
            fix((0, 2, "x"), title="One"),
            fix((0, 2, "x"), title="Other"),
            "xcdef",
            id="the whole fix",
        ),
        pytest.param(
            "abcdef",
            fix((0, 0, "("), (2, 2, ")"), title="One"),
            fix((0, 0, "("), (2, 2, ")"), title="Other"),
            "(ab)cdef",
            id="the whole fix, made of insertions",
        ),
    ],
)
def test_an_edit_that_two_fixes_make_is_made_once(
    text: str, one: Fix, other: Fix, expected: str
) -> None:
    applied = apply(text, [one, other])

    assert expected == applied.text
    assert {one, other} == set(applied.taken)


@pytest.mark.parametrize(
    ("inserted", "at"),
    [
        pytest.param("(", 0, id="not a whole line"),
        pytest.param("x\n", 1, id="not at the start of a line"),
    ],
)
def test_an_insertion_within_a_line_is_not_shared(inserted: str, at: int) -> None:
    one, other = fix((at, at, inserted), (3, 4, "X")), fix((at, at, inserted), (5, 6, "Y"))

    assert (one,) == apply("abcdef", [one, other]).taken


@pytest.mark.parametrize(
    "malformed",
    [
        pytest.param(fix(), id="no edits"),
        pytest.param(fix((0, 3, "x"), (2, 4, "y")), id="overlapping edits"),
        pytest.param(fix((0, 3, "x"), (1, 1, "y")), id="an insertion inside an edit"),
        pytest.param(fix((0, 3, "x"), (0, 3, "x")), id="an edit made twice"),
        pytest.param(fix((5, 7, "x")), id="beyond the end"),
        pytest.param(fix((-1, 2, "x")), id="before the start"),
        pytest.param(fix((3, 2, "x")), id="backwards"),
    ],
)
def test_a_malformed_fix_is_refused_by_its_title(malformed: Fix) -> None:
    reason = "has no edits|is malformed: its edit of .* overlaps another or lies outside the text"

    with pytest.raises(ValueError, match=f"^the fix 'Do it' ({reason})$"):
        apply("abcdef", [fix((0, 1, "fine"), title="Fine"), malformed])


# properties


@st.composite
def texts_and_apart_fixes(draw: st.DrawFn) -> tuple[str, list[Fix]]:
    """A text, and fixes of which no two edits touch, cut from it at random."""
    text = draw(st.text("ab\r\n\f\t é😀\u2028", max_size=60))
    cuts = draw(st.lists(st.integers(0, len(text)), unique=True).map(sorted))
    edits = [
        Edit(Span(start, end), draw(st.text("xy\n", max_size=3)))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    owners = [draw(st.integers(0, 3)) for _ in edits]
    fixes = [
        Fix(
            f"Fix {owner}", tuple(e for e, o in zip(edits, owners, strict=True) if o == owner), SAFE
        )
        for owner in sorted(set(owners))
    ]
    return text, fixes


@st.composite
def texts_and_any_fixes(draw: st.DrawFn) -> tuple[str, list[Fix]]:
    """A text, and well-formed fixes that may meet in every way."""
    text = draw(st.text("ab\n", min_size=1, max_size=20))
    fixes: list[Fix] = []
    for number in range(draw(st.integers(0, 6))):
        cuts = sorted(
            draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=6).filter(even))
        )
        edits = [
            Edit(Span(start, end), draw(st.sampled_from(["", "x", "x\n"])))
            for start, end in zip(cuts[::2], cuts[1::2], strict=True)
        ]
        fixes.append(Fix(f"Fix {number % 3}", tuple(edits), SAFE))
    return text, fixes


def even(values: list[int]) -> bool:
    return len(values) % 2 == 0


def by_hand(text: str, edits: list[Edit]) -> str:
    """The plainest way there is: from the last edit to the first."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


@settings(deadline=None, database=None)
@given(texts_and_apart_fixes(), st.randoms(use_true_random=False))
def test_edits_that_do_not_touch_are_all_made_in_any_order(
    case: tuple[str, list[Fix]], chance: random.Random
) -> None:
    text, fixes = case
    expected = by_hand(text, [edit for fix in fixes for edit in fix.edits])
    shuffled = chance.sample(fixes, len(fixes))

    assert expected == apply(text, fixes).text
    assert apply(text, fixes) == apply(text, shuffled)


@settings(deadline=None, database=None)
@given(texts_and_apart_fixes())
def test_text_outside_the_edits_is_unchanged(case: tuple[str, list[Fix]]) -> None:
    text, fixes = case
    edits = sorted(edit for fix in fixes for edit in fix.edits)
    bounds = [0, *(bound for edit in edits for bound in edit.span), len(text)]
    outside = [text[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)]
    marking = [
        fix._replace(edits=tuple(edit._replace(text="\0") for edit in fix.edits)) for fix in fixes
    ]

    assert outside == apply(text, marking).text.split("\0")


@settings(deadline=None, database=None, max_examples=400)
@given(texts_and_any_fixes(), st.randoms(use_true_random=False))
def test_fixes_that_meet_come_out_the_same_in_any_order(
    case: tuple[str, list[Fix]], chance: random.Random
) -> None:
    text, fixes = case

    assert apply(text, fixes) == apply(text, chance.sample(fixes, len(fixes)))


@settings(deadline=None, database=None, max_examples=400)
@given(texts_and_any_fixes())
def test_what_is_applied_is_made_of_whole_fixes_and_at_least_one(
    case: tuple[str, list[Fix]],
) -> None:
    text, fixes = case
    applied = apply(text, fixes)
    spans = sorted({edit for fix in applied.taken for edit in fix.edits})

    assert set(applied.taken) <= set(fixes)
    assert bool(fixes) == bool(applied.taken)
    assert all(one.span.end <= other.span.start for one, other in pairwise(spans))
    assert applied == apply(text, applied.taken)


# allowed


@pytest.mark.parametrize(
    ("how", "unsafe", "expected"),
    [
        (SAFE, False, True),
        (SAFE, True, True),
        (UNSAFE, False, False),
        (UNSAFE, True, True),
        (DISPLAY, False, False),
        (DISPLAY, True, False),
    ],
)
def test_only_safe_fixes_are_applied_unless_unsafe_ones_are_asked_for(
    how: Applicability, unsafe: bool, expected: bool
) -> None:
    assert expected == allowed(fix((0, 0, "x"), how=how), unsafe)


# repair


def test_a_text_is_repaired_until_nothing_applies() -> None:
    repaired = settle("keep = aaa\n", replacing("a+", "b"), replacing("b", "c", code="TFM202"))

    assert repaired.text == "keep = c\n"
    assert repaired.converged
    assert repaired.remaining == ()
    assert repaired.counts == {"TFM101": 1, "TFM202": 1}
    assert [finding.code for finding in repaired.fixed] == ["TFM101", "TFM202"]


def test_fixes_that_wait_are_applied_in_later_rounds() -> None:
    repaired = settle("f(f(f(x)))\n", replacing(r"f\((.*)\)", r"\1"))

    assert (repaired.text, repaired.counts) == ("x\n", {"TFM101": 3})


def test_a_repaired_text_is_not_repaired_again() -> None:
    linters = replacing("a+", "b"), replacing("b", "c", code="TFM202")
    once = settle("aaa = 1\naa = 2\n", *linters)

    assert Repaired(once.text, (), ()) == settle(once.text, *linters)


def test_findings_without_an_applicable_fix_remain() -> None:
    def advice(text: str) -> list[Finding]:
        return [Finding("TFM303", "advice", Diagnostic(Span(0, 1), "is so"))]

    repaired = settle(
        "a = b = c = d\n",
        replacing("a", "x"),
        replacing("b", "y", code="TFM102", how=UNSAFE),
        replacing("c", "z", code="TFM103", how=DISPLAY),
        replacing("d", "w", code="TFM104"),
        advice,
        fixable=lambda finding: finding.code != "TFM104",
    )

    assert repaired.text == "x = b = c = d\n"
    assert repaired.counts == {"TFM101": 1}
    assert [f.code for f in repaired.remaining] == ["TFM102", "TFM103", "TFM104", "TFM303"]


def test_unsafe_fixes_are_applied_when_asked_for() -> None:
    repaired = settle("b = 1\n", replacing("b", "y", how=UNSAFE), unsafe=True)

    assert (repaired.text, repaired.counts) == ("y = 1\n", {"TFM101": 1})


def test_two_findings_with_one_fix_are_both_fixed() -> None:
    repaired = settle("a = 1\n", replacing("a", "b"), replacing("a", "b", code="TFM202"))

    assert (repaired.text, repaired.counts) == ("b = 1\n", {"TFM101": 1, "TFM202": 1})


def test_each_round_is_told_the_edits_that_led_to_it() -> None:
    told: list[tuple[str, Sequence[Edit]]] = []
    find = replacing("a", "bb")

    def lint(text: str, edits: Sequence[Edit]) -> list[Finding]:
        told.append((text, edits))
        return [*find(text), *replacing("bb", "c")(text)]

    repair("a = a\n", lint, unsafe=False, fixable=lambda finding: True)

    assert told == [
        ("a = a\n", []),
        ("bb = bb\n", [Edit(Span(0, 1), "bb"), Edit(Span(4, 5), "bb")]),
        ("c = c\n", [Edit(Span(0, 2), "c"), Edit(Span(5, 7), "c")]),
    ]


@pytest.mark.parametrize(
    ("text", "linters"),
    [
        pytest.param("a = 1\n", [replacing("a", "b"), replacing("b", "a")], id="to and fro"),
        pytest.param("a = 1\n", [replacing("a", "a")], id="nothing changed"),
        pytest.param("a = 1\n", [replacing("^", "a")], id="ever more"),
    ],
)
def test_fixes_that_never_settle_are_rolled_back(
    text: str, linters: list[Callable[[str], list[Finding]]]
) -> None:
    repaired = settle(text, *linters)

    assert (
        Repaired(
            text,
            (),
            tuple(finding for linter in linters for finding in linter(text)),
            "the fixes of TFM101 do not come to an end in 10 rounds",
        )
        == repaired
    )
    assert not repaired.converged


def test_all_rules_that_do_not_settle_are_named() -> None:
    repaired = settle("a = b\n", replacing("b", "b", code="TFM202"), replacing("a", "a"))

    assert repaired.problem == "the fixes of TFM101, TFM202 do not come to an end in 10 rounds"


def test_as_many_rounds_as_are_allowed_are_enough() -> None:
    repaired = settle("a" * MAX_ROUNDS + "\n", replacing("^a", ""))

    assert (repaired.text, repaired.counts) == ("\n", {"TFM101": MAX_ROUNDS})


def test_no_more_rounds_are_made_than_are_allowed() -> None:
    texts: list[str] = []

    def lint(text: str) -> list[Finding]:
        texts.append(text)
        return replacing("^a", "")(text)

    assert not settle("a" * (MAX_ROUNDS + 1) + "\n", lint).converged
    assert len(texts) == MAX_ROUNDS + 1


@pytest.mark.parametrize(
    ("text", "replacement", "reason"),
    [
        pytest.param("x = a\n", "(", "'(' was never closed (line 1)", id="syntax"),
        pytest.param("if x:\n  a\n", "", " (line 2)", id="indentation"),
        pytest.param("x = a\n", "\ud800", "surrogates not allowed", id="no text"),
        pytest.param("x = a\n", "(" * 300 + ")" * 300, "(line 1)", id="too deep"),
    ],
)
def test_fixes_that_do_not_leave_python_are_rolled_back(
    text: str, replacement: str, reason: str
) -> None:
    repaired = settle(text, replacing("a", replacement, code="TFM909"))

    assert repaired.problem is not None
    assert repaired.problem.startswith("the fixes of TFM909 do not leave Python: ")
    assert repaired.problem.endswith(reason)
    assert (
        Repaired(
            text, (), tuple(replacing("a", replacement, code="TFM909")(text)), repaired.problem
        )
        == repaired
    )


def test_a_later_round_that_does_not_leave_python_undoes_the_earlier_ones() -> None:
    repaired = settle("a = 1\n", replacing("a", "b"), replacing("b", "(", code="TFM909"))

    assert repaired.text == "a = 1\n"
    assert [finding.code for finding in repaired.remaining] == ["TFM101"]
    assert repaired.counts == {}


def test_warnings_of_the_compiler_are_nobody_s_business() -> None:
    repaired = settle("a = '\\d' is 1\n", replacing("a", "b"))

    assert (repaired.text, repaired.problem) == ("b = '\\d' is 1\n", None)


def test_a_malformed_fix_is_a_problem_of_the_file_and_no_crash() -> None:
    def lint(text: str) -> list[Finding]:
        return [Finding("TFM909", "bad", Diagnostic(Span(0, 1), "is", fix((0, 99, ""))))]

    repaired = settle("a = 1\n", lint)

    assert ("a = 1\n", tuple(lint(""))) == (repaired.text, repaired.remaining)
    assert (repaired.problem or "").startswith("the fix 'Do it' is malformed")


@settings(deadline=None, database=None)
@given(st.lists(st.sampled_from(["a", "b", "(", ")", " + ", "\n", "é"]), max_size=12).map("".join))
def test_a_repaired_text_parses_if_the_text_did(text: str) -> None:
    repaired = settle(text, replacing("a", "(b"), replacing("é", "b)", code="TFM202"))

    if parses(text):
        assert parses(repaired.text)
    assert repaired.converged or text == repaired.text


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
