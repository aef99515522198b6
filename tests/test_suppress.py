"""Which findings a comment suppresses, which it does not, and which comments suppress nothing."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import time
from collections.abc import Container

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfmemlint.fixing import repair
from tfmemlint.suppress import suppress
from tfmemlint.vocabulary import Applicability, Diagnostic, Finding, Span

CODES = {"shuffle-after-batch": "TFM101", "retracing-loop": "TFM202", "syntax-error": "TFM002"}
known = CODES | {code: code for code in CODES.values()}


def found(text: str) -> list[Finding]:
    """What a linter would find that dislikes the names `tfm101`, `tfm202` and so on."""
    return [
        Finding(match[0].upper(), "a-name", Diagnostic(Span(*match.span()), "is there"))
        for match in re.finditer(r"tfm\d+", text)
    ]


def left(text: str, ran: Container[str] | None = None) -> list[str]:
    """The codes of what a file is told in the end, with the line of each."""
    return [
        f"{finding.code}:{text.count(chr(10), 0, finding.diagnostic.span.start) + 1}"
        for finding in suppress(text, found(text), known, ran)
    ]


def complaints(text: str) -> list[str]:
    return [
        finding.diagnostic.message
        for finding in suppress(text, found(text), known)
        if finding.code == "TFM005"
    ]


def cleaned(text: str) -> str:
    """The text once every safe fix is applied."""
    repaired = repair(
        text,
        lambda text, edits: suppress(text, found(text), known),
        unsafe=False,
        fixable=lambda finding: True,
    )
    assert repaired.problem is None
    return repaired.text


@pytest.mark.parametrize(
    "text",
    [
        "tfm101  # noqa",
        "tfm101  #noqa",
        "tfm101  # NoQA",
        "tfm101  # noqa: TFM101",
        "tfm101  # noqa:TFM101",
        "tfm101  # noqa : Tfm101",
        "tfm101  # noqa: E501, TFM101",
        "tfm101  # noqa: E501,W291 TFM101 as batches must stay whole",
        "tfm101 + tfm202  # noqa: TFM101,TFM202",
        "tfm101  # batches stay whole  # noqa: TFM101",
        "tfm101  # type: ignore  # noqa",
        "tfm101  # tfmemlint: ignore[TFM101]",
        "tfm101  #tfmemlint:ignore[Tfm101]",
        "tfm101  # tfmemlint: ignore[TFM101] batches stay whole",
        "tfm101  # tfmemlint: ignore[shuffle-after-batch]",
        "tfm101 + tfm202  # tfmemlint: ignore[ retracing-loop , TFM101 ] both",
        "tfm101 + tfm202  # noqa: TFM101  # tfmemlint: ignore[TFM202]",
        "tfm101; x = tfm101  # tfmemlint: ignore[TFM101]",
        "# tfmemlint: ignore[TFM101] batches stay whole\ntfm101",
        "# tfmemlint: ignore[TFM101]\n# as batches must stay whole\ntfm101",
        "# tfmemlint: ignore[TFM101]\n# tfmemlint: ignore[TFM202]\ntfm101 + tfm202",
        "if x:\n    # tfmemlint: ignore[TFM101]\n    tfm101\n",
        "if x:\n    pass\n# tfmemlint: ignore[TFM101]\nelif tfm101:\n    pass\n",
        "x = (  # noqa: TFM101\n    1,\n    tfm101,\n    2,\n)",
        "x = (\n    1,\n    tfm101,  # noqa: TFM101\n    2,\n)",
        "x = (\n    1,\n    tfm101,\n    2,\n)  # noqa: TFM101",
        "x = (\n    1,\n    tfm101,\n    2,\n)  # tfmemlint: ignore[TFM101]",
        "x = (\n    1,\n    # tfmemlint: ignore[TFM101]\n    tfm101,\n    2,\n)",
        "# tfmemlint: ignore[TFM101]\nx = (\n    1,\n    tfm101,\n    2,\n)",
        "x = 1 + \\\n    tfm101 + \\\n    2  # noqa: TFM101",
        "x = (  # noqa: TFM101\n    1,\n) + tfm101",
        "x = '''\n# noqa: no comment\n''' + tfm101  # noqa: TFM101",
        "x = '''\n''' + tfm101 + '''\n'''  # noqa: TFM101",
        "# tfmemlint: ignore-file\ntfm101\ntfm202",
        "tfm101\n\n# tfmemlint: ignore-file[TFM101] generated\n",
        "def f():\n    tfm101\n    # tfmemlint: ignore-file[shuffle-after-batch]\n",
        "# tfmemlint: disable[TFM101]\ntfm101\ntfm101\n# tfmemlint: enable[TFM101]\n",
        "# tfmemlint: disable[TFM101, TFM202]\ntfm101\n# tfmemlint: enable[TFM101]\ntfm202",
        "# tfmemlint: disable[retracing-loop]\ntfm202\n# tfmemlint: enable[TFM202]\n",
        "x = (\n    # tfmemlint: disable[TFM101]\n    tfm101,\n    # tfmemlint: enable[TFM101]\n)",
        "tfm101  # noqa\r\ntfm101  # noqa\rtfm101  # noqa\n",
        "s = '\u2028\x0c\x85'\ntfm101  # noqa: TFM101",
        "s = 'é😀'; tfm101  # é😀 # noqa: TFM101",
        "\x0cx = 1\n\x0ctfm101  # noqa: TFM101",
        "if x:\n\ttfm101\t# noqa: TFM101",
    ],
)
def test_a_comment_suppresses(text: str) -> None:
    assert found(text)
    assert left(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "tfm101",
        "tfm101  # noqatic",
        "tfm101  # noqa-not",
        "tfm101  # no qa",
        "tfm101  # noqa: E501",
        "tfm101  # noqa: because",
        "tfm101  # noqa:",
        "tfm101  # noqa: E501, because TFM101",
        "tfm101  # noqa: TFM1011",
        "tfm101  # flake8: noqa",
        "tfm101  # ruff: noqa",
        "tfm101  # TFM101",
        "tfm101; s = '# noqa'",
        "tfm101; s = '# tfmemlint: ignore[TFM101]'",
        "x = '''\n# tfmemlint: ignore[TFM101]\n''' + tfm101",
        "s = '''\n# tfmemlint: ignore-file\n'''\ntfm101",
        "f'{1}# noqa'; tfm101",
        "tfm101\n# noqa",
        "# noqa\ntfm101",
        "# noqa: E501\ntfm101",
        "tfm101  # tfmemlint ignore[TFM101]",
        "tfm101  # tfmemlint: ignores[TFM101]",
        "tfm101  # tfmemlint: ignore-files[TFM101]",
        "tfm101  # tfmemlint: please ignore[TFM101]",
        "x = (\n    1,  # noqa: E501\n    tfm101,\n)",
        "x = (\n    tfm101\n    , 1  # noqa: E501\n    , 2\n)",
        "x = (\n    tfm101\n    , 1  # noqa\n    , 2\n)",
        "def f():  # noqa\n    tfm101",
        "if x:\n    tfm101\n# noqa",
        "tfm101  # noqa\nx = '''",
        "(tfm101  # noqa",
        "if x:\n        y\n    tfm101  # noqa",
    ],
)
def test_no_comment_suppresses(text: str) -> None:
    expected = [finding.code for finding in found(text)]

    assert expected == [finding.code for finding in suppress(text, found(text), known)]
    assert expected


@pytest.mark.parametrize("code", ["TFM001", "TFM002", "TFM003", "TFM004"])
@pytest.mark.parametrize(
    "comment",
    ["# noqa", "# noqa: {}", "# tfmemlint: ignore[{}]", "# tfmemlint: ignore-file"],
)
def test_what_keeps_a_file_from_being_checked_cannot_be_suppressed(code: str, comment: str) -> None:
    text = comment.format(code) + "\n"
    finding = Finding(code, "a-name", Diagnostic(Span(0, 0), "is so"))

    assert finding in suppress(text, [finding], known)


@pytest.mark.parametrize(
    ("text", "messages", "expected"),
    [
        ("x  # noqa: TFM101\n", ["`TFM101` suppresses nothing here"], "x\n"),
        ("x\t#noqa:Tfm101 as said", ["`Tfm101` suppresses nothing here"], "x"),
        ("x  # noqa: TFM101\r\ny\r\n", ["`TFM101` suppresses nothing here"], "x\r\ny\r\n"),
        (
            "x  # noqa: TFM101, TFM202\n",
            ["`TFM101` and `TFM202` suppress nothing here"],
            "x\n",
        ),
        ("x  # noqa: E501, TFM101\n", ["`TFM101` suppresses nothing here"], "x  # noqa: E501\n"),
        ("x  # noqa: TFM101,E501\n", ["`TFM101` suppresses nothing here"], "x  # noqa: E501\n"),
        (
            "tfm202  # noqa:TFM101 , TFM202, TFM101  why\n",
            ["`TFM101` and `TFM101` suppress nothing here"],
            "tfm202  # noqa:TFM202  why\n",
        ),
        (
            "x  # noqa: E1, TFM101, TFM202, W2, TFM101\n",
            ["`TFM101` and `TFM202` and `TFM101` suppress nothing here"],
            "x  # noqa: E1, W2\n",
        ),
        (
            "tfm101  # tfmemlint: ignore[shuffle-after-batch, retracing-loop] why\n",
            ["`retracing-loop` suppresses nothing here"],
            "tfm101  # tfmemlint: ignore[shuffle-after-batch] why\n",
        ),
        (
            "x  # why not  # tfmemlint: ignore[TFM101]\n",
            ["`TFM101` suppresses nothing here"],
            "x  # why not\n",
        ),
        (
            "x  # tfmemlint: ignore[TFM101] as of #123 and # 4  # type: ignore\n",
            ["`TFM101` suppresses nothing here"],
            "x  # type: ignore\n",
        ),
        (
            "x  # noqa: TFM101 # noqa: E501 # tfmemlint: ignore[TFM202]\n",
            ["`TFM101` suppresses nothing here", "`TFM202` suppresses nothing here"],
            "x  # noqa: E501\n",
        ),
        (
            "# noqa: TFM101\ntfm101  # noqa\n",
            ["`TFM101` suppresses nothing here"],
            "tfm101  # noqa\n",
        ),
        (
            "if x:\n    # tfmemlint: ignore[TFM101] why\n\n    tfm101  # noqa\n",
            ["`TFM101` suppresses nothing here"],
            "if x:\n\n    tfm101  # noqa\n",
        ),
        ("x\n  # tfmemlint: ignore[TFM101]", ["`TFM101` suppresses nothing here"], "x\n"),
        (
            "x = 1 \\\n# tfmemlint: ignore[TFM101]\n-1\n",
            ["`TFM101` suppresses nothing here"],
            "x = 1 \\\n# tfmemlint: ignore[TFM101]\n-1\n",
        ),
        (
            "# tfmemlint: ignore-file[TFM202] generated\ntfm101  # noqa\n",
            ["`TFM202` suppresses nothing here"],
            "tfm101  # noqa\n",
        ),
        ("# tfmemlint: ignore-file\nx\n", ["`ignore-file` suppresses nothing"], "x\n"),
        (
            "# tfmemlint: disable[TFM101]\nx\n# tfmemlint: enable[TFM101]\ntfm101  # noqa\n",
            ["`TFM101` suppresses nothing here"],
            "x\ntfm101  # noqa\n",
        ),
        (
            "x\n# tfmemlint: enable[TFM101, TFM202]\n",
            ["`TFM101` and `TFM202` are not disabled here"],
            "x\n",
        ),
        (
            "# tfmemlint: disable[TFM101]\ntfm101\n# tfmemlint: enable[TFM101, TFM202]\n",
            ["`TFM202` is not disabled here"],
            "# tfmemlint: disable[TFM101]\ntfm101\n# tfmemlint: enable[TFM101]\n",
        ),
        ("x  # noqa: TFM002\n", ["`TFM002` cannot be suppressed"], "x\n"),
        ("x  # tfmemlint: ignore[syntax-error]\n", ["`syntax-error` cannot be suppressed"], "x\n"),
    ],
)
def test_a_comment_that_suppresses_nothing_is_reported_and_removed(
    text: str, messages: list[str], expected: str
) -> None:
    assert messages == complaints(text)
    assert expected == cleaned(text)


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("x  # tfmemlint: ignore\n", ["`ignore` names no rule in brackets"]),
        ("x  # tfmemlint: ignore TFM101\n", ["`ignore` names no rule in brackets"]),
        ("x  # tfmemlint: ignore[]\n", ["`ignore` names no rule in brackets"]),
        ("x  # tfmemlint: ignore[TFM101\n", ["`ignore` names no rule in brackets"]),
        ("x  # tfmemlint: ignore[TFM1*]\n", ["`ignore` names no rule in brackets"]),
        ("# tfmemlint: disable\nx\n", ["`disable` names no rule in brackets"]),
        ("# tfmemlint: ignore-file[ ]\nx\n", ["`ignore-file` names no rule in brackets"]),
        ("x  # tfmemlint: ignore-file\n", ["`ignore-file` works only on a line of its own"]),
        ("x  # tfmemlint: disable[TFM101]\n", ["`disable` works only on a line of its own"]),
        ("x  # tfmemlint: ignore[FOO]\n", ["no rule is called `FOO`"]),
        (
            "x  # tfmemlint: ignore[TFM10l]\n",
            ["no rule is called `TFM10l`; the nearest is `TFM101`"],
        ),
        ("x  # tfmemlint: ignore[TM101]\n", ["no rule is called `TM101`; the nearest is `TFM101`"]),
        (
            "x  # tfmemlint: ignore[TFM110]\n",
            ["no rule is called `TFM110`; the nearest is `TFM101`"],
        ),
        (
            "x  # tfmemlint: ignore[TFM2022]\n",
            ["no rule is called `TFM2022`; the nearest is `TFM202`"],
        ),
        (
            "# tfmemlint: disable[shuffle_after_batch]\nx\n",
            ["no rule is called `shuffle_after_batch`; the nearest is `shuffle-after-batch`"],
        ),
        (
            "x  # tfmemlint: ignore[retracing-lop, TFM10]\n",
            [
                "no rule is called `retracing-lop`; the nearest is `retracing-loop`",
                "no rule is called `TFM10`; the nearest is `TFM101`",
            ],
        ),
        *(
            (
                f"x  # tfmemlint: ignore[{slip}]\n",
                [f"no rule is called `{slip}`; the nearest is `TFM101`"],
            )
            for slip in ("FM101", "TTFM101", "TMF101", "XFM101", "tfm10", "TFM1O1")
        ),
        (f"x  # tfmemlint: ignore[{'x' * 65}]\n", [f"no rule is called `{'x' * 65}`"]),
        ("x  # noqa: TFM2\n", ["`noqa` takes whole codes; `TFM2` suppresses nothing"]),
        ("x  # noqa: E501, tfm20\n", ["`noqa` takes whole codes; `tfm20` suppresses nothing"]),
        (
            "x  # noqa: shuffle-after-batch\n",
            ["`noqa` takes codes, not names such as `shuffle-after-batch`"],
        ),
        (
            "x  # noqa: E501, Retracing-Loop as said\n",
            ["`noqa` takes codes, not names such as `Retracing-Loop`"],
        ),
        ("x  # noqa: TFM10l\n", []),
        ("x  # noqa: TFM110\n", []),
        ("x  # noqa: E501 retracing-loop is meant, not TFM2\n", []),
        ("x = '# noqa: TFM2'\n", []),
    ],
)
def test_a_comment_that_is_wrong_is_reported_and_left_to_its_author(
    text: str, messages: list[str]
) -> None:
    assert messages == complaints(text)
    assert text == cleaned(text)


@pytest.mark.parametrize(
    "text",
    [
        "tfm101  # tfmemlint: ignore\n",
        "tfm101  # tfmemlint: ignore[TFM10l]\n",
        "tfm101  # tfmemlint: ignore[TFM101: why]\n",
        "tfm101  # tfmemlint: ignore[TFM101\n",
        "tfm101  # tfmemlint: ignore-file\n",
        "tfm101  # tfmemlint: disable[TFM101]\n",
        "# tfmemlint: disable\ntfm101\n",
    ],
)
def test_a_comment_that_is_wrong_suppresses_nothing(text: str) -> None:
    kept = [finding.code for finding in suppress(text, found(text), known)]

    assert sorted(kept) == ["TFM005", "TFM101"]


def test_the_nearest_name_is_offered_but_not_applied() -> None:
    text = "x  # tfmemlint: ignore[TFM10l]\n"
    (finding,) = suppress(text, (), known)
    fix = finding.diagnostic.fix

    assert fix is not None
    assert (fix.title, fix.applicability) == ("Write `TFM101`", Applicability.DISPLAY)
    assert fix.edits[0].text == "TFM101"
    assert text[slice(*fix.edits[0].span)] == "TFM10l"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("x  # noqa: TFM101\n", "Remove the suppression"),
        ("# tfmemlint: ignore-file\n", "Remove the suppression"),
        ("x  # noqa: TFM101, E501\n", "Shorten the suppression"),
    ],
)
def test_the_fix_of_an_unused_comment_is_safe_and_says_what_it_does(text: str, title: str) -> None:
    (finding,) = suppress(text, (), known)
    fix = finding.diagnostic.fix

    assert fix is not None
    assert (title, Applicability.SAFE) == (fix.title, fix.applicability)
    assert (finding.code, finding.name) == ("TFM005", "unused-suppression")


@pytest.mark.parametrize(
    "text",
    [
        "x  # noqa\n",
        "x  # noqa: E501\n",
        "x  # noqa: TFM999\n",
        "x  # noqa:\n",
        "s = '# noqa: TFM101'\n",
        "s = '# tfmemlint: ignore[TFM101]'\n",
        "x  # tfmemlint is a linter\n",
        "x  # see tfmemlint: ignore[TFM101]\n",
        "x  # noqa: TFM101\n(\n",
    ],
)
def test_what_others_own_or_is_no_comment_is_not_reported(text: str) -> None:
    assert complaints(text) == []
    assert text == cleaned(text)


@pytest.mark.parametrize(
    "text",
    [
        "x  # noqa: TFM101, TFM005\n",
        "x  # noqa: TFM101  # noqa\n",
        "x  # tfmemlint: ignore[TFM101, unused-suppression]\n",
        "# tfmemlint: ignore-file[TFM005]\nx  # noqa: TFM101\n",
        "# tfmemlint: ignore-file\nx  # noqa: TFM101\ntfm101\n",
        "# tfmemlint: disable[TFM005]\nx  # noqa: TFM101\n# tfmemlint: enable[TFM005]\n",
        "x  # noqa: TFM005\n",
    ],
)
def test_the_report_of_an_unused_comment_can_itself_be_suppressed(text: str) -> None:
    assert left(text) == []


@pytest.mark.parametrize("comment", ["# noqa: TFM202", "# tfmemlint: ignore[TFM202]"])
def test_what_suppresses_a_rule_that_did_not_run_is_not_called_unused(comment: str) -> None:
    text = f"tfm101  {comment}\n"

    assert left(text, ran={"TFM101"}) == ["TFM101:1"]
    assert left(text, ran={"TFM101", "TFM202"}) == ["TFM101:1", "TFM005:1"]
    assert left(text) == ["TFM101:1", "TFM005:1"]
    assert left("# tfmemlint: ignore-file\n", ran={"TFM101", "TFM202"}) == []


def test_nothing_is_called_unused_in_a_file_that_was_not_wholly_checked() -> None:
    text = "x  # noqa: TFM101\n# tfmemlint: ignore-file\n"
    failure = Finding("TFM004", "internal-error", Diagnostic(Span(0, 0), "a rule failed"))

    assert suppress(text, [failure], known) == (failure,)


def test_a_range_ends_where_it_is_enabled_and_concerns_its_codes_alone() -> None:
    text = (
        "tfm101\n"
        "# tfmemlint: disable[TFM101]\n"
        "tfm101 + tfm202\n"
        "# tfmemlint: disable[TFM101]\n"
        "tfm101\n"
        "# tfmemlint: enable[TFM101]\n"
        "tfm101\n"
    )

    assert left(text) == ["TFM101:1", "TFM202:3", "TFM101:7"]


def test_a_finding_that_spans_a_block_is_not_suppressed_from_within_it() -> None:
    text = "for x in y:\n    a\n    b  # noqa: TFM101\n"
    block = Finding("TFM101", "a-name", Diagnostic(Span(0, len(text) - 1), "is there"))

    assert [f.code for f in suppress(text, [block], known)] == ["TFM101", "TFM005"]
    assert suppress(text.replace(":\n", ":  # noqa\n"), [block], known)[0].code == "TFM005"


def test_a_finding_can_be_suppressed_on_its_last_line() -> None:
    text = "x = (\n    tfm101(\n        1\n    )  # noqa: TFM101\n    .y\n)\n"
    call = Finding(
        "TFM101", "a-name", Diagnostic(Span(text.index("tfm"), text.index(")") + 1), "is there")
    )

    assert suppress(text, [call], known) == ()


def test_a_finding_at_the_end_of_a_file_can_be_suppressed() -> None:
    text = "x\n# tfmemlint: ignore-file[TFM101]\n"
    end = Finding("TFM101", "a-name", Diagnostic(Span(len(text), len(text)), "ends here"))

    assert suppress(text, [end], known) == ()


def test_findings_stay_in_order() -> None:
    text = "x  # noqa: TFM101\ntfm202\nx  # noqa: TFM101\ntfm101\n"

    assert left(text) == ["TFM005:1", "TFM202:2", "TFM005:3", "TFM101:4"]


PIECES = [
    "x", "tfm101", "tfm202", "(", ")", "=", "'", '"""', ":", "\\", ";", "é", "\x0c", "\t",
    "# noqa", "# noqa: TFM101", "# noqa: E501, TFM202", "# tfmemlint: ignore[TFM101] why",
    "# tfmemlint: ignore[retracing-loop, TFM101]", "# tfmemlint: ignore-file[TFM101]",
    "# tfmemlint: ignore-file", "# tfmemlint: disable[TFM101]", "# tfmemlint: enable[TFM101]",
    "# tfmemlint: ignore[TFM9", "# text", "if x", "    ",
]  # fmt: skip
SPACES = ["", " ", "\n", "\n", "\n", "\r\n", "\r"]
STATEMENTS = ["x", "tfm101", "y = (\n  tfm202,{}\n  1)", "if x:{}\n  tfm101", "s = '# noqa'"]
COMMENTS = [piece for piece in PIECES if "#" in piece]

any_text = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(SPACES))).map(
    lambda pairs: "".join(piece + space for piece, space in pairs)
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Statements that parse, with comments in all the places where comments go."""
    comment = st.sampled_from(["", *COMMENTS])
    text = ""
    for statement in draw(st.lists(st.sampled_from(STATEMENTS), max_size=8)):
        text += f"{draw(comment)}\n" + statement.replace("{}", draw(comment)) + draw(comment) + "\n"
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))


@settings(deadline=None, database=None, max_examples=300)
@given(any_text)
def test_any_text_is_survived_and_nothing_but_complaints_is_added(text: str) -> None:
    findings = found(text)
    kept = suppress(text, findings, known)

    assert {finding for finding in kept if finding.code != "TFM005"} <= set(findings)


@settings(deadline=None, database=None, max_examples=300)
@given(programs())
def test_removing_unused_comments_changes_no_code_and_no_finding(text: str) -> None:
    once = cleaned(text)
    codes = [f.code for f in suppress(text, found(text), known) if f.code != "TFM005"]

    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(once))
    assert codes == [f.code for f in suppress(once, found(once), known) if f.code != "TFM005"]
    assert once == cleaned(once)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = 1  # noqa:" + " " * 1_000_000, id="spaces"),
        pytest.param("x = 1  # noqa:" + "," * 1_000_000, id="commas"),
        pytest.param("x = 1  # noqa:" + "a" * 1_000_000, id="letters"),
        pytest.param("x = 1  " + "#" * 1_000_000 + "noqa: TFM101", id="hashes"),
        pytest.param("x = 1  " + "# " * 500_000 + "noqa: TFM101", id="hashes apart"),
        pytest.param("x = 1  #" + " noqa: TFM101" * 70_000, id="words"),
        pytest.param("x = 1  " + "# noqa: TFM101 " * 50_000, id="marks in one comment"),
        pytest.param("x = 1  # noqa: " + "TFM101," * 100_000 + "E501", id="codes"),
        pytest.param("x = 1  # tfmemlint: ignore[" + "TFM10l," * 100_000 + "]", id="unknown codes"),
        pytest.param("# tfmemlint: ignore[TFM101]\n" * 30_000, id="comments in a row"),
        pytest.param("# tfmemlint: disable[TFM101]\n" * 30_000 + "tfm101\n" * 100, id="ranges"),
        pytest.param("tfm101  # noqa: TFM202\n" * 20_000, id="lines"),
    ],
)
def test_hostile_comments_take_no_more_than_seconds(text: str) -> None:
    start = time.process_time()
    suppress(text, found(text), known)

    assert time.process_time() - start < 30  # it takes one to three


def test_a_file_without_suppressions_pays_for_no_tokenizer() -> None:
    program = (
        "import sys; from tfmemlint.suppress import suppress; before = 'tokenize' in sys.modules;"
        "assert suppress('x  # noqa: E501', (), {}) == ();"
        "assert suppress('x  # why', (), {}) == ();"
        "assert before or 'tokenize' not in sys.modules;"
        "suppress('x  # tfmemlint: ignore[A]', (), {});"
        "assert 'tokenize' in sys.modules"
    )

    subprocess.run([sys.executable, "-c", program], check=True)
