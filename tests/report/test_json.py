"""The `json` and `json-lines` formats, and the row on which a `# noqa` can stand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

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
    Law,
    Span,
)

Render = Callable[..., str]
Found = Callable[..., Finding]

TEXT = "x = 1\ny = bad(\n    x)\n"


def test_an_object_has_the_fields_that_readers_of_ruff_know(render: Render, found: Found) -> None:
    finding = found(TEXT, "bad", replacements=[("bad", "good")], applicability=Applicability.UNSAFE)
    expected = [
        {
            "cell": None,
            "code": "TFM202",
            "cost": None,
            "end_location": {"column": 8, "row": 2},
            "filename": str(Path.cwd() / "a.py"),
            "fix": {
                "applicability": "unsafe",
                "edits": [
                    {
                        "content": "good",
                        "end_location": {"column": 8, "row": 2},
                        "location": {"column": 5, "row": 2},
                    }
                ],
                "message": "Shuffle before batching",
            },
            "location": {"column": 5, "row": 2},
            "message": "buffers batches",
            "name": "shuffle-after-batch",
            "noqa_row": 3,
            "severity": "warning",
            "url": "https://tfmemlint.readthedocs.io/en/latest/rules/TFM202/",
        }
    ]

    assert expected == json.loads(render("json", Checked("a.py", TEXT, (finding,))))


def test_lines_hold_the_same_objects(render: Render, found: Found) -> None:
    results = [
        Checked("a.py", TEXT, (found(TEXT, "bad"), found(TEXT, "x"))),
        Checked("b.py", TEXT, (found(TEXT, "y"),)),
    ]

    lines = render("json-lines", *results).splitlines()

    assert json.loads(render("json", *results)) == [json.loads(line) for line in lines]
    assert len(lines) == 3


def test_no_findings_are_an_empty_list(render: Render) -> None:
    assert json.loads(render("json", Checked("a.py", TEXT))) == []


def test_a_finding_without_a_fix_says_so(render: Render, found: Found) -> None:
    [record] = json.loads(render("json", Checked("a.py", TEXT, (found(TEXT, "bad"),))))

    assert record["fix"] is None


def test_standard_input_keeps_its_name(render: Render, found: Found) -> None:
    [record] = json.loads(render("json", Checked("-", TEXT, (found(TEXT, "bad"),))))

    assert record["filename"] == "-"


def test_a_notebook_has_the_cell_and_rows_in_it(render: Render) -> None:
    text = "import os\nx = 1\ny = bad(\n  x)\n"
    fix = Fix("Mend", (Edit(Span(0, 6), "from"), Edit(Span(20, 23), "good")), Applicability.SAFE)
    finding = Finding("TFM202", "name", Diagnostic(Span(20, 23), "bad", fix))

    [record] = json.loads(
        render("json", Checked("n.ipynb", text, (finding,), (Cell(0, 1), Cell(16, 4))))
    )

    assert record["cell"] == 4
    assert record["location"] == {"column": 5, "row": 1}
    assert record["noqa_row"] == 2
    assert [edit["location"] for edit in record["fix"]["edits"]] == [
        {"column": 1, "row": 1},
        {"column": 5, "row": 1},
    ]


def test_what_kept_a_file_from_being_checked_is_an_error_no_comment_suppresses(
    render: Render,
) -> None:
    for code, severity in [
        ("TFM001", "error"),
        ("TFM002", "error"),
        ("TFM003", "warning"),
        ("TFM004", "error"),
    ]:
        finding = Finding(code, "name", Diagnostic(Span(0, 0), "why"))

        [record] = json.loads(render("json", Checked("a.py", "(", (finding,))))

        assert (severity, None) == (record["severity"], record["noqa_row"])


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("bad(1)\n", 1),
        ("x = 1\nbad(1)\ny = 2\n", 2),
        ("bad(1)", 1),
        ("f(\n    bad(1),\n    2,\n)\n", 4),
        ("f([\n    {bad(1): 2},\n  ], 3)\ny = ()\n", 3),
        ("x = bad(1) + \\\n    2\ny = 3\n", 2),
        ('bad("""a\n(b\n""")\ny = 2\n', 3),
        ("bad('''a\n\"\"\"b''')\ny = 2\n", 2),
        ("bad('(', \"[\", '\\'{')\ny = 2\n", 1),
        ("bad(1)  # see (a\ny = 2\n", 1),
        ("f(  # not yet)\n  bad(1))\ny = 2\n", 2),
        ("f(\r\n  bad(1)\r\n)\r\ny = 2\r\n", 3),
        ("# it's\nbad(1)\n", 2),
        ("'a\\\nb'; bad(1)\ny = 2\n", 2),
        ("if bad(\n    1):\n    pass\n", 2),
    ],
)
def test_a_noqa_stands_on_the_last_row_of_the_logical_line(
    render: Render, found: Found, text: str, row: int
) -> None:
    [record] = json.loads(render("json", Checked("a.py", text, (found(text, "bad"),))))

    assert row == record["noqa_row"]


def test_a_cost_is_told_as_numbers(render: Render, found: Found) -> None:
    cost = Cost("8 * 48 KB", 8 * 48 << 10, Law.DATA, "48 KB", 48 << 10, 8 * 48 << 10, ("at least",))
    finding = found(TEXT, "bad", cost=cost)

    [made] = json.loads(render("json", Checked("a.py", TEXT, (finding,))))

    assert made["cost"] == {
        "at_most": 8 * 48 << 10,
        "bytes": 8 * 48 << 10,
        "fixed_bytes": 48 << 10,
        "fixed_formula": "48 KB",
        "formula": "8 * 48 KB",
        "grows": "with the data",
        "notes": ["at least"],
    }
