"""What is printed of an account made up for the occasion."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from tfmemlint.measure.account import Account, Failure, Growth, Holding, Host, Keeper, Line
from tfmemlint.measure.advice import Advice, advise
from tfmemlint.measure.picture import page
from tfmemlint.measure.showing import sparkline, write, write_json
from tfmemlint.measure.statements import Statement

MB = 1 << 20


def account(program: Path, failure: Failure | None = None) -> Account:
    program.write_text(PROGRAM, encoding="utf-8")
    stack = Statement(str(program), 3, 3, ""), Statement(str(program), 6, 6, "f\x1b[2J")
    held = Line(stack[1], 3 * MB, (Holding(3 * MB, 3, "Evil\x1b[2J", "[4]", "float32", stack[0]),))
    small = Line(Statement(str(program), 1, 1, ""), 100, ())
    grown = Growth(stack[0], 7, 1000)
    keepers = (
        Keeper('kept["x\x1b[2J"]', "list", None, 2 * MB, 2, grown),
        Keeper("dense", "layer", (str(program), 2), MB, 1),
        Keeper("", "work", None, 100, 1),
    )
    return Account(
        ended="raised" if failure else "finished",
        status=0,
        failure=failure,
        device="CPU:0",
        requested=3 * MB + 100,
        in_use=4 * MB,
        peak_seconds=1.5,
        stack=stack,
        held=(held, small),
        held_bytes=3 * MB + 100,
        held_by=keepers,
        most={stack[1]: 3 * MB},
        explained=0.75,
        host_before=MB,
        host_peak=5 * MB,
        host=Host(4 * MB, MB, 3 * MB, ((stack[0], 2 * MB), (stack[1], 100))),
        curve=((0.0, 1), (1.0, 3 * MB), (2.0, MB)),
        seconds=2.0,
        own_seconds=0.25,
        versions={"tensorflow": "2.0"},
        notes=("a note\x1b[2J",),
    )


PROGRAM = """\
import tensorflow as tf
files = tf.data.TextLineDataset("files")
print('files')


batches = files.batch(32).shuffle(8192)  # \x1b[2J
for batch in batches:
    print(batch)
"""


def said(made: Account, advice: Advice | None = None, encoding: str = "utf-8") -> str:
    printed = io.BytesIO()
    out = io.TextIOWrapper(printed, encoding=encoding, errors="backslashreplace")
    write(made, advice or Advice(), out, None)
    out.flush()
    return printed.getvalue().decode(encoding)


def test_the_report_names_the_line_what_it_held_and_who_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = said(account(tmp_path / "toy.py")).splitlines()
    assert lines[:14] == [
        "device peak  3.0 MB asked for, 4.0 MB in use on CPU:0, at 1.5 s",
        "explained    75% of what was in use then, by the trace",
        "  at         toy.py:6  batches = files.batch(32).shuffle(8192)  # ␛[2J",
        "  called at  toy.py:3  print('files')",
        "made by      3.0 MB were held then",
        "     3.0 MB  100%  toy.py:6  batches = files.batch(32).shuffle(8192)  # ␛[2J",
        "                        3.0 MB  3 x Evil␛[2J [4] float32, written at toy.py:3",
        "      100 B  and 1 more line",
        "held by",
        '     2.0 MB   67%  `kept["x␛[2J"]`, a list: 2 tensors',
        "                        1000 B  more each time, 7 times so far: toy.py:3  print('files')",
        "     1.0 MB   33%  the layer `dense` (made at toy.py:2): 1 tensor",
        "      100 B  and 1 more other",
        "host peak    5.0 MB (1.0 MB before the program began; the trace counts, too)",
    ]
    assert "host peak    5.0 MB (1.0 MB before the program began; the trace counts, too)" in lines
    assert "     2.0 MB  more after  toy.py:3  print('files')" in lines
    assert "  of it      at most 1.0 MB were pages of files; 3.0 MB neither" in said(
        account(tmp_path / "toy.py")
    )
    assert "measuring    about 0.2 s of the 2.0 s that the program ran" in lines


def test_nothing_that_is_printed_moves_a_cursor(tmp_path: Path) -> None:
    assert "\x1b" not in said(account(tmp_path / "toy\x1b[2J.py"))


def test_where_there_are_no_blocks_the_curve_is_drawn_with_plain_signs(tmp_path: Path) -> None:
    assert "█" in said(account(tmp_path / "toy.py"))
    assert "#" in said(account(tmp_path / "toy.py"), encoding="ascii").split("over time")[1]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_unicode_gets_the_report_all_the_same(
    tmp_path: Path, encoding: str
) -> None:
    assert "device peak" in said(account(tmp_path / "toy.py"), encoding=encoding)


def test_a_program_out_of_memory_is_told_what_it_asked_for_before_anything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = Holding(9 * MB, 1, "Pack", "[9,262144]", "float32")
    at = Statement(str(tmp_path / "toy.py"), 6, 6, "")
    failure = Failure("ResourceExhaustedError", "OOM", True, at, "Pack", None, wanted)
    lines = said(account(tmp_path / "toy.py", failure)).splitlines()
    assert lines[0].startswith("The device ran out of memory at toy.py:6  batches = files.batch")
    assert lines[1] == "  asked for  Pack [9,262144] float32: 9.0 MB"
    assert lines[2] == "made by      3.0 MB were held then"
    assert sum("held then" in line for line in lines) == 1


def test_what_check_finds_on_those_lines_is_shown_and_the_rest_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = account(tmp_path / "toy.py")
    advice = advise(made)
    codes = [each.code for file in advice.here for each in file.findings]
    assert "TFM202" in codes
    assert "TFM202 `shuffle` holds up to `8192` batches" in said(made, advice)
    elsewhere = made._replace(stack=made.stack[:1], held=())
    assert advise(elsewhere).here == ()
    assert advise(elsewhere).elsewhere == advice.elsewhere + len(codes)
    assert "on other lines; `tfmemlint check` tells" in said(elsewhere, advise(elsewhere))
    of_host = elsewhere._replace(host_peak=90 * MB, host=Host(rises=((made.stack[-1], 9 * MB),)))
    assert [each.code for file in advise(of_host).here for each in file.findings] == codes


def test_what_the_rules_own_program_measured_is_not_shown_as_if_it_were_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = account(tmp_path / "toy.py")
    assert "TFM202" in said(made, advise(made))
    assert "measured" not in said(made, advise(made))


def test_of_many_lines_and_tensors_those_left_out_are_counted_so_that_all_adds_up(
    tmp_path: Path,
) -> None:
    made = account(tmp_path / "toy.py")
    many = tuple(Holding(MB, 1, f"Op{each}", "[4]", "float32") for each in range(9))
    statements = [Statement(str(tmp_path / "toy.py"), line, line, "") for line in range(1, 10)]
    lines = tuple(Line(each, 9 * MB, many) for each in statements)
    full = said(made._replace(held=lines, held_bytes=9 * 9 * MB, held_by=()))
    assert full.count("6.0 MB  and 6 more kinds") == 8
    assert "9.0 MB  and 1 more line" in full


def test_a_trace_that_explains_too_little_is_said_to(tmp_path: Path) -> None:
    made = account(tmp_path / "toy.py")._replace(requested=None, held_by=(), explained=0.25)
    assert "explained    25% of what was in use then, by the trace, which is too little" in said(
        made
    )
    assert "explained    nothing" in said(made._replace(explained=None))


def test_json_has_everything_and_is_json_whatever_the_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = account(tmp_path / "toy.py")
    out = io.StringIO()
    write_json(made, advise(made), out, 2 * MB)
    content = json.loads(out.getvalue())
    assert (content["peak"]["requested"], content["limit"]) == (3 * MB + 100, 2 * MB)
    assert [place["line"] for place in content["peak"]["stack"]] == [3, 6]
    assert content["held"][0]["holdings"][0]["written_at"]["line"] == 3
    assert content["curve"] == [[0.0, 1], [1.0, 3 * MB], [2.0, MB]]
    assert "TFM202" in [each["code"] for each in content["findings"]]


def test_a_page_shows_the_curve_and_what_was_held_and_loads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = account(tmp_path / "toy.py")
    html = page("<toy>.py", made, advise(made))
    assert html.startswith("<!DOCTYPE html>")
    assert "<h1>The memory of &lt;toy&gt;.py</h1>" in html
    assert "<picture>" in html
    assert "at most 3.0 MB" in html
    assert "<code>toy.py:6  batches = files.batch(32).shuffle(8192)" in html
    assert "TFM202" in html
    assert "tensorflow 2.0" in html
    assert "\x1b" not in html
    assert not re.search(r'<script|<link|src="(?!data:)|href=|url\(', html)


def test_a_page_of_a_program_without_tensorflow_has_no_curve(tmp_path: Path) -> None:
    empty = account(tmp_path / "toy.py")._replace(device=None, curve=(), held=(), held_bytes=0)
    html = page("toy.py", empty, Advice())
    assert "<picture>" not in html
    assert "The program did not use TensorFlow" in html


def test_the_curve_shows_the_highest_of_every_stretch_and_carries_on_where_nothing_moved() -> None:
    assert sparkline([(0, 0), (1, 8), (1.1, 1), (3, 4)], "01234567", 4) == "0774"
    assert sparkline([], "01") == ""
    assert sparkline([(1, 0)], "01", 3) == "000"
