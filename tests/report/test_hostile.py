"""File names, source text and messages written to do harm, in every format."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import pytest

from tfmemlint.report import FORMATS
from tfmemlint.vocabulary import Applicability, Checked, Cost, Finding

Render = Callable[..., str]
Found = Callable[..., Finding]

NASTY = {
    "escape": "\x1b[2J\x1b]0;title\x07",
    "newline": "a\n::warning file=x::INJECTED",
    "carriage return": "a\rx",
    "backspace": "a\b\x7f",
    "C1": "\x85\x9b2J",
    "line separators": "\u2028\u2029",
    "bidi": "\u202egnp\u202c\u2066\u2069\u200f\u061c",
    "surrogate": "\udcff\ud800\udfff",
    "noncharacters": "\ufffe\uffff",
    "markup": "\"<&>']]>",
    "punctuation": ",:%;=|`",
    "NUL": "\x00",
}
UNSAFE_ON_A_TERMINAL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\ud800-\udfff]"
)

each_format = pytest.mark.parametrize("output_format", FORMATS)
each_text = pytest.mark.parametrize("nasty", NASTY.values(), ids=NASTY)


@pytest.fixture
def hostile(found: Found) -> Callable[[str], Checked]:
    """A file whose name, text, message, fix and cost all hold the same."""

    def hostile(nasty: str) -> Checked:
        text = f"x = '''{nasty}'''\nbad('{nasty}')\n"
        finding = found(
            text,
            f"'''{nasty}'''",
            f"message {nasty}",
            replacements=[("bad", f"good{nasty}")],
            applicability=Applicability.SAFE,
            cost=Cost(f"4 * {nasty}", 4),
        )
        return Checked(f"evil{nasty}.py", text, (finding, found(text, "bad")))

    return hostile


Hostile = Callable[[str], Checked]


@each_format
@each_text
def test_nothing_but_text_and_line_feeds_reaches_the_terminal(
    render: Render, hostile: Hostile, output_format: str, nasty: str
) -> None:
    assert UNSAFE_ON_A_TERMINAL.findall(render(output_format, hostile(nasty))) == []


@each_format
@each_text
def test_every_report_can_be_encoded(
    render: Render, hostile: Hostile, output_format: str, nasty: str
) -> None:
    assert render(output_format, hostile(nasty)).encode("utf-8", "strict")


@each_text
def test_reports_of_one_line_a_finding_keep_to_it(
    render: Render, hostile: Hostile, nasty: str
) -> None:
    for output_format in ("concise", "pylint", "github", "json-lines"):
        assert len(render(output_format, hostile(nasty)).splitlines()) == 2

    for line in render("github", hostile(nasty)).splitlines():
        assert re.fullmatch(r"::warning title=[^,:]*,file=[^,:]*(,\w+=\d+)+::[^\n\r]*", line)


@each_text
@pytest.mark.parametrize("output_format", ["json", "gitlab", "rdjson", "sarif"])
def test_json_has_no_half_characters(
    render: Render, hostile: Hostile, output_format: str, nasty: str
) -> None:
    text = render(output_format, hostile(nasty))

    assert text.isascii()
    assert json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "strict")


@each_text
def test_json_keeps_all_that_unicode_can_hold(render: Render, hostile: Hostile, nasty: str) -> None:
    [record, _] = json.loads(render("json", hostile(nasty)))

    written = re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", nasty)
    assert f"message {written}" == record["message"]
    assert record["filename"].endswith(f"evil{written}.py")


@each_text
def test_junit_is_well_formed(render: Render, hostile: Hostile, nasty: str) -> None:
    report = ElementTree.fromstring(render("junit", hostile(nasty)))

    assert len(list(report.iter("failure"))) == 2


@pytest.mark.skipif(os.name == "nt", reason="names of files are not bytes there")
def test_a_sarif_address_is_the_name_byte_for_byte(render: Render, found: Found) -> None:
    name = os.fsdecode(b"\xff %\xc3\xa9\n.py")

    log = json.loads(render("sarif", Checked(name, "bad", (found("bad", "bad"),))))

    [result] = log["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.isascii()
    assert unquote_to_bytes(uri) == b"\xff %\xc3\xa9\n.py"


def test_what_is_hidden_is_shown(render: Render, found: Found) -> None:
    text = "bad\x1b\x7f\x85\u202e\udcff"
    results = Checked("a\nb\x1b.py", text, (found(text, "bad"),))

    assert render("full", results).splitlines()[1:4] == [
        " --> a␊b␛.py:1:1",
        "  |",
        "1 | bad␛␡\\x85\\u202e\\udcff",
    ]


def test_what_is_harmless_is_left_alone(render: Render, found: Found) -> None:
    text = "bad = 'é \U0001d4b3 😀 ␛ \\x1b \N{NO-BREAK SPACE}'"

    assert f"1 | {text}\n" in render("full", Checked("é 😀\\.py", text, (found(text, "bad"),)))
    assert "é 😀\\.py:1:1: " in render("concise", Checked("é 😀\\.py", text, (found(text, "bad"),)))
