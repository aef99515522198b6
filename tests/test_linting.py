"""Every file gets an answer, and a broken rule is reported as itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

import pytest

from tfmemlint import Applicability, Claim, Diagnostic, Edit, File, Fix, Metric, Rule, Span
from tfmemlint.linting import ENGINE, lint
from tfmemlint.report import items
from tfmemlint.vocabulary import Finding


def rule(code: str, check: Callable[[File], Iterable[Diagnostic]]) -> Rule:
    return Rule(code, "name-" + code, Claim(Metric.HOST_PEAK, 1, "of nothing"), (), check)


def calls(file: File) -> Iterator[Diagnostic]:
    """A diagnostic for each call, the last one first."""
    for call in reversed(list(file.tf.tree.all(ast.Call))):
        yield Diagnostic(file.span(call), f"`{file.source(call)}` is a call")


def fails(file: File) -> Iterator[Diagnostic]:
    yield Diagnostic(Span(0, 1), "never heard of")
    raise LookupError("no such thing")


def place(text: str, finding: Finding) -> tuple[int, int]:
    """The row and column of a finding, counted from 1."""
    before = text[: finding.diagnostic.span.start].splitlines() or [""]
    return len(before), len(before[-1]) + 1


def test_findings_carry_the_code_and_name_of_their_rule() -> None:
    expected = (Finding("X1", "name-X1", Diagnostic(Span(4, 7), "`f()` is a call")),)

    assert expected == lint("a.py", "x = f()\n", [rule("X1", calls)])


def test_findings_are_in_the_order_of_the_text_and_then_of_codes() -> None:
    found = lint("a.py", "f()\ng()\n", [rule("X2", calls), rule("X1", calls)])
    order = [(finding.diagnostic.span.start, finding.code) for finding in found]

    assert order == [(0, "X1"), (0, "X2"), (4, "X1"), (4, "X2")]


def test_what_a_rule_says_twice_is_reported_once() -> None:
    def twice(file: File) -> list[Diagnostic]:
        return [*calls(file), *calls(file)]

    assert len(lint("a.py", "f()\n", [rule("X1", twice)])) == 1


def test_two_messages_about_one_place_are_both_reported() -> None:
    def two(file: File) -> list[Diagnostic]:
        return [Diagnostic(Span(0, 3), "one thing"), Diagnostic(Span(0, 3), "another thing")]

    assert len(lint("a.py", "f()\n", [rule("X1", two)])) == 2


def test_no_rule_is_asked_about_tests() -> None:
    tests = "import pytest\n\n\ndef test_it():\n    f()\n"

    assert lint("train.py", tests, [rule("X1", calls)]) == ()
    assert lint("test_it.py", "f()\n", [rule("X1", calls)])


def test_a_clean_file_has_no_findings() -> None:
    assert lint("a.py", "x = 1\n", [rule("X1", calls)]) == ()


def test_a_rule_that_raises_is_reported_and_stops_no_other() -> None:
    found = lint("a.py", "x = f()\n", [rule("X1", fails), rule("X2", calls)])

    assert [finding.code for finding in found] == ["TFM004", "X2"]
    assert found[0].diagnostic.span == Span(0, 0)
    assert re.fullmatch(
        r"X1 failed: LookupError: no such thing \(at .*/test_linting\.py:\d+\)",
        found[0].diagnostic.message,
    )


@pytest.mark.parametrize(
    "outside",
    [
        Diagnostic(Span(3, 99), "ends behind the file"),
        Diagnostic(Span(-1, 2), "begins before the file"),
        Diagnostic(Span(2, 1), "runs backwards"),
        Diagnostic(
            Span(0, 1),
            "mends another file",
            Fix("Mend", (Edit(Span(50, 60), ""),), Applicability.SAFE),
        ),
    ],
)
def test_a_rule_that_points_outside_the_file_is_reported_as_broken(outside: Diagnostic) -> None:
    found = lint("a.py", "x = f()\n", [rule("X1", lambda file: [outside]), rule("X2", calls)])

    assert [finding.code for finding in found] == ["TFM004", "X2"]


def test_a_rule_may_point_at_the_end_of_the_file() -> None:
    at_end = Diagnostic(Span(8, 8), "ends here")

    assert [at_end] == [
        finding.diagnostic
        for finding in lint("a.py", "x = f()\n", [rule("X1", lambda _: [at_end])])
    ]


@pytest.mark.parametrize("with_rules", [True, False])
@pytest.mark.parametrize(
    ("text", "row", "column", "message"),
    [
        ("x = (\n", 1, 5, "'(' was never closed"),
        ("x = 1\ndef f(:\n    pass\n", 2, 7, "invalid syntax"),
        ("é = '\U0001d4b3'; 😀\n", 1, 10, "invalid character '😀' (U+1F600)"),
        ("a = 1\r\né = $\r\n", 2, 5, "invalid syntax"),
        ("x = 1\r  y = 2\r", 2, 2, "unexpected indent"),
        ("'''", 1, 1, "unterminated triple-quoted string literal (detected at line 1)"),
        ("x\0", 1, 1, "source code string cannot contain null bytes"),
        ("(" * 300, 1, 201, "too many nested parentheses"),
        ("\ud800", 1, 1, "'utf-8' codec can't encode character '\\ud800' in position 0"),
    ],
)
def test_a_syntax_error_is_found_where_python_finds_it(
    text: str, row: int, column: int, message: str, with_rules: bool
) -> None:
    (finding,) = lint("a.py", text, [rule("X1", calls)] if with_rules else [])

    assert finding[:2] == ("TFM002", "syntax-error")
    assert finding.diagnostic.message.startswith(message)
    assert (row, column) == place(text, finding)


@pytest.mark.parametrize(
    "text", ["", "x", "\n\n", "return\n", "match x:\n  case _: pass\n", "\x0c"]
)
def test_what_python_parses_is_no_syntax_error(text: str) -> None:
    assert lint("a.py", text, []) == ()


def test_a_syntax_error_lies_within_the_file() -> None:
    for text in ("if x:\n", "\\", "for x in y\n", "a = '\\N{foo}'\n", "class A:\n\n\n", "\tx\n  y"):
        (finding,) = lint("a.py", text, [])

        assert 0 <= finding.diagnostic.span.start <= finding.diagnostic.span.end <= len(text)


@pytest.mark.parametrize(
    "text", ["-" * 200_000 + "1", "x" + ".b" * 100_000, "if a:\n  b\n" + "elif c:\n  d\n" * 20_000]
)
def test_a_file_that_nests_too_deeply_is_skipped_with_a_word_about_it(text: str) -> None:
    found = lint("a.py", text, [rule("X1", lambda file: ())])

    assert {("TFM003", "nests too deeply to be checked in full")} >= {
        (finding.code, finding.diagnostic.message) for finding in found
    }


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RecursionError("too deep"), "nests too deeply to be checked in full"),
        (MemoryError(), "needs more memory than there is"),
    ],
)
def test_what_is_too_much_for_two_rules_is_said_once(error: Exception, message: str) -> None:
    def gives_up(file: File) -> list[Diagnostic]:
        raise error

    found = lint("a.py", "f()", [rule("X1", gives_up), rule("X2", gives_up), rule("X3", calls)])

    assert [finding.code for finding in found] == ["TFM003", "X3"]
    assert message == found[0].diagnostic.message


def test_the_codes_of_the_engine_are_those_that_reports_know() -> None:
    assert {code: meaning.name for code, meaning in items.ENGINE.items()} == ENGINE
