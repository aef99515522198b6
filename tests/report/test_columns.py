"""The same place in every format: code points, bytes or terminal cells, each where it belongs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

from tfmemlint.vocabulary import Checked, Finding

Render = Callable[..., str]
Found = Callable[..., Finding]


@pytest.mark.parametrize(
    ("line", "column", "byte"),
    [
        ('x = "é \U0001d4b3 😀"; bad', 14, 21),
        ("\tif\tx:\tbad", 8, 8),
        ("bad", 1, 1),
        ("e\u0301 = bad", 6, 7),
        ('"漢字", bad', 7, 11),
    ],
)
def test_columns(render: Render, found: Found, line: str, column: int, byte: int) -> None:
    text = f"import os\r\n{line}\r\n"
    results = Checked("a.py", text, (found(text, "bad"),))

    def read(output_format: str) -> Any:
        return json.loads(render(output_format, results))

    assert render("concise", results).startswith(f"a.py:2:{column}: ")
    assert f" --> a.py:2:{column}\n" in render("full", results)
    assert f"  2:{column} TFM202" in render("grouped", results)
    assert f",col={column},endLine=2,endColumn={column + 3}::" in render("github", results)
    assert (column, column + 3) == tuple(
        read("json")[0][which]["column"] for which in ("location", "end_location")
    )
    assert (column, column + 3) == tuple(
        read("json-lines")[which]["column"] for which in ("location", "end_location")
    )
    region = read("sarif")["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert (column, column + 3) == (region["startColumn"], region["endColumn"])
    positions = read("gitlab")[0]["location"]["positions"]
    assert (column, column + 3) == (positions["begin"]["column"], positions["end"]["column"])
    span = read("rdjson")["diagnostics"][0]["location"]["range"]
    assert (byte, byte + 3) == (span["start"]["column"], span["end"]["column"])
    case = ElementTree.fromstring(render("junit", results))[0][0]
    assert str(column) == case.get("column")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("other", ["\x0c", "\u2028", "\x85", "\x0b", "\x1c"])
def test_rows_end_where_python_ends_them(
    render: Render, found: Found, end: str, other: str
) -> None:
    text = f"x = 1{end}s = '{other}'{end}bad{end}"

    assert re.match(r"a\.py:3:1: ", render("concise", Checked("a.py", text, (found(text, "bad"),))))
