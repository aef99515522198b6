"""The `full` format: frames, carets, fixes, and what they save."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tfmemlint.vocabulary import (
    Applicability,
    Cell,
    Checked,
    Cost,
    Diagnostic,
    Edit,
    Finding,
    Fix,
    Span,
)

Render = Callable[..., str]
Found = Callable[..., Finding]

CHAIN = """\
import tensorflow as tf

ds = tf.data.Dataset.range(8)
ds = ds.batch(2)
ds = ds.shuffle(4)
print(ds)
"""


def test_a_finding_with_an_unsafe_fix_shows_frame_change_note_cost_and_measurement(
    render: Render, found: Found
) -> None:
    finding = found(
        CHAIN,
        "ds.shuffle(4)",
        "`shuffle` holds up to `4` batches of `2` examples each",
        replacements=[("ds.batch(2)", "ds.shuffle(4)"), ("ds.shuffle(4)", "ds.batch(2)")],
        applicability=Applicability.UNSAFE,
        cost=Cost("4 * 2 * 48 KB", 4 * 2 * 48 * 1024, fixed="8 * 48 KB"),
    )
    expected = """\
TFM202 `shuffle` holds up to `4` batches of `2` examples each
 --> pipe.py:5:6
  |
4 | ds = ds.batch(2)
5 | ds = ds.shuffle(4)
  |      ^^^^^^^^^^^^^
6 | print(ds)
  |
help: Shuffle before batching
  |
3 | ds = tf.data.Dataset.range(8)
4 + ds = ds.shuffle(4)
5 | ds = ds.batch(2)
  - ds = ds.shuffle(4)
6 | print(ds)
  |
note: unsafe fix, apply with --unsafe-fixes
cost: 4 * 2 * 48 KB: 384 KB; 8 * 48 KB after the fix
measured: device peak 167 MB -> 66 MB (tfmemlint rule TFM202)

"""

    assert expected == render(
        "full",
        Checked("pipe.py", CHAIN, (finding,)),
        measured={"TFM202": "device peak 167 MB -> 66 MB"},
    )


@pytest.mark.parametrize(
    ("applicability", "unsafe_fixes", "mark", "note"),
    [
        (Applicability.SAFE, False, "TFM202 [*] ", None),
        (Applicability.SAFE, True, "TFM202 [*] ", None),
        (Applicability.UNSAFE, False, "TFM202 b", "note: unsafe fix, apply with --unsafe-fixes"),
        (Applicability.UNSAFE, True, "TFM202 [*] ", "note: unsafe fix, results may differ"),
        (Applicability.DISPLAY, False, "TFM202 b", "note: a suggestion, never applied"),
        (Applicability.DISPLAY, True, "TFM202 b", "note: a suggestion, never applied"),
    ],
)
def test_the_star_says_whether_the_fix_would_be_applied_now(
    render: Render,
    found: Found,
    applicability: Applicability,
    unsafe_fixes: bool,
    mark: str,
    note: str | None,
) -> None:
    finding = found(CHAIN, "print", replacements=[("print", "len")], applicability=applicability)

    text = render("full", Checked("a.py", CHAIN, (finding,)), unsafe_fixes=unsafe_fixes)

    assert text.startswith(mark)
    assert ([note] if note else []) == re.findall("^note.*", text, re.MULTILINE)


def test_a_finding_without_a_fix_has_neither_star_nor_help(render: Render, found: Found) -> None:
    text = render("full", Checked("a.py", CHAIN, (found(CHAIN, "print"),)), unsafe_fixes=True)

    assert text.splitlines()[0] == "TFM202 buffers batches"
    assert "help" not in text


def test_advice_in_words_alone_shows_no_change(render: Render) -> None:
    fix = Fix("Keep the mean instead", (), Applicability.DISPLAY)
    finding = Finding("TFM401", "hoard", Diagnostic(Span(0, 6), "grows", fix))

    assert render("full", Checked("a.py", "import x", (finding,))).endswith(
        "  | ^^^^^^\n  |\nhelp: Keep the mean instead\nnote: a suggestion, never applied\n\n"
    )


def test_a_rule_without_a_measurement_claims_none(render: Render, found: Found) -> None:
    results = Checked("a.py", CHAIN, (found(CHAIN, "print"),))

    assert "measured" not in render("full", results, measured={"TFM101": "device peak 2 -> 1"})


def test_a_span_of_several_lines_is_bracketed(render: Render, found: Found) -> None:
    text = "x = 1\ny = stack(\n    x,\n) + 2\nz = 3\n"
    expected = """\
TFM202 buffers batches
 --> a.py:2:5
  |
1 |   x = 1
2 |   y = stack(
  |  _____^
3 | |     x,
4 | | ) + 2
  | |_____^
5 |   z = 3
  |

"""

    finding = found(text, "stack(\n    x,\n) + 2")

    assert expected == render("full", Checked("a.py", text, (finding,)))


def test_a_long_span_shows_its_two_ends(render: Render) -> None:
    text = "for i in range(9):\n" + "".join(f"    step({n})\n" for n in range(2, 40)) + "done()\n"
    loop = Finding("TFM401", "loop", Diagnostic(Span(0, text.index("\ndone")), "a loop"))
    expected = """\
TFM401 a loop
  --> a.py:1:1
   |
 1 |   for i in range(9):
   |  _^
 2 | |     step(2)
...
38 | |     step(38)
39 | |     step(39)
   | |____________^
40 |   done()
   |

"""

    assert expected == render("full", Checked("a.py", text, (loop,)))


def test_a_span_that_takes_its_line_ending_along_stays_on_its_line(
    render: Render, found: Found
) -> None:
    text = "a = 1\r\nb = 2\r\nc = 3\r\n"

    lines = render("full", Checked("a.py", text, (found(text, "b = 2\r\n"),))).splitlines()

    assert lines[4:7] == ["2 | b = 2", "  | ^^^^^", "3 | c = 3"]


def test_context_that_is_blank_is_left_out(render: Render, found: Found) -> None:
    text = "a\n\nb\n   \nc\n"
    expected = "TFM202 buffers batches\n --> a.py:3:1\n  |\n3 | b\n  | ^\n  |\n\n"

    assert expected == render("full", Checked("a.py", text, (found(text, "b"),)))


def test_of_a_very_long_line_the_part_about_the_finding_is_shown(
    render: Render, found: Found
) -> None:
    text = f"x = [{'1, ' * 100_000}bad(y), {'2, ' * 100_000}]\n"

    lines = render("full", Checked("a.py", text, (found(text, "bad(y)"),))).splitlines()

    assert max(map(len, lines)) < 200
    assert lines[3].startswith("1 | ...")
    assert lines[3].endswith("...")
    assert (
        "".join(code for code, caret in zip(lines[3], lines[4], strict=False) if caret == "^")
        == "bad(y)"
    )


@pytest.mark.parametrize(
    ("line", "words", "frame", "carets"),
    [
        ("\ty = [\t1]", "1", "    y = [    1]", "             ^"),
        ('s = "😀", bad', "bad", 's = "😀", bad', "          ^^^"),
        ('s = "漢字", bad', "bad", 's = "漢字", bad', "            ^^^"),
        ("é𝒳 = bad", "bad", "é𝒳 = bad", "     ^^^"),
        ("e\u0301 = bad", "bad", "e\u0301 = bad", "    ^^^"),
        ('s = "😀"', "😀", 's = "😀"', "     ^^"),
    ],
)
def test_carets_stand_under_the_finding_on_a_terminal(
    render: Render, found: Found, line: str, words: str, frame: str, carets: str
) -> None:
    lines = render("full", Checked("a.py", line, (found(line, words),))).splitlines()

    assert [f"1 | {frame}", f"  | {carets}"] == lines[3:5]


def test_an_empty_span_gets_one_caret(render: Render) -> None:
    finding = Finding("TFM002", "syntax-error", Diagnostic(Span(4, 4), "invalid syntax"))

    lines = render("full", Checked("a.py", "x = \n", (finding,))).splitlines()

    assert lines[3:5] == ["1 | x =", "  |     ^"]


def test_a_syntax_error_at_the_end_of_the_file_is_shown_there(render: Render) -> None:
    finding = Finding("TFM002", "syntax-error", Diagnostic(Span(6, 6), "unexpected EOF"))
    expected = "TFM002 unexpected EOF\n --> a.py:2:1\n  |\n1 | x = (\n2 |\n  | ^\n  |\n\n"

    assert expected == render("full", Checked("a.py", "x = (\n", (finding,)))


@pytest.mark.parametrize(("files", "told"), [(3, 0), (4, 1), (9, 1)])
def test_many_files_that_are_no_python_are_told_of_together_behind_the_rest(
    render: Render, found: Found, files: int, told: int
) -> None:
    finding = Finding("TFM002", "syntax-error", Diagnostic(Span(0, 5), "no call to 'print'"))
    broken = [Checked(f"{number}.py", "print 1\n", (finding,)) for number in range(files)]
    other = Checked("other.py", CHAIN, (found(CHAIN, "ds.shuffle(4)"),))

    text = render("full", *broken, other)

    assert text.count(" files are not Python as this interpreter reads it: not checked\n") == told
    assert [f" --> {number}.py:1:1" in text for number in range(files)] == [True] * files
    assert text.count("TFM002") == (1 if told else files)
    assert (text.index("0.py") > text.index("other.py")) == bool(told)


def test_a_file_that_could_not_be_read_has_a_place_and_no_frame(render: Render) -> None:
    finding = Finding("TFM001", "unreadable", Diagnostic(Span(0, 0), "it is not UTF-8"))

    assert (
        render("full", Checked("a.py", "", (finding,)))
        == "TFM001 it is not UTF-8\n --> a.py:1:1\n\n"
    )


def test_edits_far_apart_are_shown_apart_and_numbered_as_they_will_be(
    render: Render, found: Found
) -> None:
    text = "import a\nb = 1\nc = 2\nd = 3\ne = 4\nf = 5\ng = 6\n"
    finding = found(text, "f = 5", replacements=[("import a", "import a\nimport z"), ("5", "z.y")])
    expected = """\
help: Shuffle before batching
  |
1 | import a
2 + import z
3 | b = 1
...
6 | e = 4
  - f = 5
7 + f = z.y
8 | g = 6
  |
"""

    assert expected in render("full", Checked("a.py", text, (finding,)))


def test_edits_near_each_other_are_one_change(render: Render, found: Found) -> None:
    text = "a = 1\nb = 2\nc = 3\nd = 4\n"
    finding = found(text, "a", replacements=[("1", "10"), ("3", "30")])
    expected = """\
  |
  - a = 1
1 + a = 10
2 | b = 2
  - c = 3
3 + c = 30
4 | d = 4
  |
"""

    assert expected in render("full", Checked("a.py", text, (finding,)))


def test_a_removed_line_has_no_number(render: Render, found: Found) -> None:
    text = "a = 1\nb = 2\nc = 3\n"
    finding = found(text, "b", replacements=[("b = 2\n", "")])

    assert "1 | a = 1\n  - b = 2\n2 | c = 3\n  |\n" in render(
        "full", Checked("a.py", text, (finding,))
    )


def test_rows_in_a_notebook_count_in_the_cell_and_context_ends_with_it(render: Render) -> None:
    text = "import os\nx = 1\ny = os.path\nz = 2\n"
    cells = (Cell(0, 2), Cell(16, 5), Cell(28, 7))
    fix = Fix(
        "Import less",
        (Edit(Span(0, 9), "from os import path"), Edit(Span(20, 27), "path")),
        Applicability.SAFE,
    )
    finding = Finding("TFM202", "name", Diagnostic(Span(20, 27), "too much", fix))
    expected = """\
TFM202 [*] too much
 --> n.ipynb:cell 5:1:5
  |
1 | y = os.path
  |     ^^^^^^^
  |
help: Import less
 ::: cell 2
  |
  - import os
1 + from os import path
2 | x = 1
 ::: cell 5
  |
  - y = os.path
1 + y = path
  |

"""

    assert expected == render("full", Checked("n.ipynb", text, (finding,), cells))


def test_findings_come_from_top_to_bottom_whatever_their_order(
    render: Render, found: Found
) -> None:
    low, high = found(CHAIN, "print", "low"), found(CHAIN, "import", "high")

    text = render("full", Checked("a.py", CHAIN, (low, high)))

    assert text == render("full", Checked("a.py", CHAIN, (high, low)))
    assert text.index("high") < text.index("low")


def test_colour_adds_escape_sequences_and_nothing_else(render: Render, found: Found) -> None:
    finding = found(CHAIN, "ds.shuffle(4)", replacements=[("ds.shuffle(4)", "ds")])
    results = Checked("a.py", CHAIN, (finding,))

    colored = render("full", results, color=True)

    assert "\x1b[" in colored
    assert render("full", results) == re.sub("\x1b\\[[0-9;]*m", "", colored)


LONG = "opts = [" + ", ".join(f"'{number:03}'" for number in range(60)) + "]\n"


@pytest.mark.parametrize("width", [None, 40, 80, 200])
@pytest.mark.parametrize("words", ["'000'", "'007'", "'031'", "'059'"])
def test_of_a_long_line_what_the_fix_changes_is_shown_and_no_terminal_is_too_narrow(
    render: Render, found: Found, words: str, width: int | None
) -> None:
    finding = found(LONG, words, replacements=[(words, "NEW")])
    text = render("full", Checked("a.py", LONG, (finding,)), width=width, color=False)
    lines = text.splitlines()
    gone, come = (next(line for line in lines if line[2:4] == mark) for mark in ("- ", "+ "))

    assert words in gone
    assert "NEW" in come
    assert all(words in line for line in lines if line.startswith("1 | "))
    assert max(len(line) for line in lines[2:]) <= min(width or 170, 170)
    assert any(line.strip(" |") == "^" * 5 for line in lines)


def test_of_two_long_lines_each_is_shown_about_its_own_change(render: Render, found: Found) -> None:
    text = "".join(f"{name} = {LONG}" for name in "ab")
    new = text.replace("'050'", "NEW")
    finding = found(text, "a =", replacements=[(text, "import c\n" + new)])
    shown = render("full", Checked("a.py", text, (finding,))).splitlines()
    changed = [line for line in shown if line[2:4] in ("- ", "+ ")]

    assert [("'050'" in line, "NEW" in line) for line in changed if "import" not in line] == [
        (True, False),
        (True, False),
        (False, True),
        (False, True),
    ]


def test_wide_letters_take_their_room(render: Render, found: Found) -> None:
    text = f"x = '{'漢' * 60}' + y\n"
    finding = found(text, "y", replacements=[("+ y", "- y")])
    shown = render("full", Checked("a.py", text, (finding,)), width=60).splitlines()

    assert all(len(line) + line.count("漢") <= 60 for line in shown)
    assert {line[2:4] for line in shown if "y" in line.split("...")[-1]} >= {"- ", "+ "}
