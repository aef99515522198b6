"""The `gitlab`, `junit` and `rdjson` formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

from tfmemlint.vocabulary import Applicability, Cell, Checked, Diagnostic, Finding, Span

Render = Callable[..., str]
Found = Callable[..., Finding]

TEXT = "x = 1\né\U0001d4b3 = bad(x)\nz = bad(x)\n"
CELLS = (Cell(0, 1), Cell(6, 3))


def test_gitlab_fingerprints_are_unique_and_paths_relative(
    render: Render, found: Found, tmp_path: Path
) -> None:
    results = [
        Checked(
            str(tmp_path / name), TEXT, (found(TEXT, "bad"), found(TEXT, "x)"), found(TEXT, "z"))
        )
        for name in ("a.py", "b.py")
    ]

    records = json.loads(render("gitlab", *results, root=str(tmp_path)))

    assert len({record["fingerprint"] for record in records}) == 6
    assert {record["location"]["path"] for record in records} == {"a.py", "b.py"}
    assert records[0] == {
        "check_name": "TFM202",
        "description": "TFM202: buffers batches",
        "fingerprint": records[0]["fingerprint"],
        "location": {
            "path": "a.py",
            "positions": {"begin": {"line": 2, "column": 6}, "end": {"line": 2, "column": 9}},
        },
        "severity": "major",
    }


def test_gitlab_gets_an_empty_list_when_all_is_well(render: Render) -> None:
    assert json.loads(render("gitlab", Checked("a.py", TEXT))) == []


def test_junit_has_a_suite_a_file_and_a_failure_a_finding(render: Render, found: Found) -> None:
    broken = Finding("TFM002", "syntax-error", Diagnostic(Span(0, 1), "invalid <syntax> & more"))

    report = ElementTree.fromstring(
        render(
            "junit",
            Checked("a.py", TEXT, (found(TEXT, "bad"), found(TEXT, "z"))),
            Checked("b.py", "(", (broken,)),
            Checked("clean.py", TEXT),
        )
    )

    assert report.attrib["tests"] == report.attrib["failures"] == "3"
    assert [(suite.get("name"), suite.get("failures")) for suite in report] == [
        ("a.py", "2"),
        ("b.py", "1"),
    ]
    [case] = report[1]
    assert (case.get("name"), case.get("line")) == ("TFM002 syntax-error", "1")
    assert case[0].get("message") == "invalid <syntax> & more"
    assert case[0].text == "b.py:1:1: TFM002 invalid <syntax> & more"


def test_junit_without_findings_has_one_passing_case(render: Render) -> None:
    report = ElementTree.fromstring(render("junit", Checked("a.py", TEXT)))

    assert [len(case) for suite in report for case in suite] == [0]


def test_rdjson_counts_columns_in_bytes_and_offers_the_whole_fix_at_once(
    render: Render, found: Found, tmp_path: Path
) -> None:
    finding = found(TEXT, "bad(x)", replacements=[("z", "w"), ("bad", "good")])
    path = tmp_path / "a.py"

    report = json.loads(render("rdjson", Checked(str(path), TEXT, (finding,))))

    assert report["source"] == {"name": "tfmemlint"}
    assert report["diagnostics"] == [
        {
            "code": {"value": "TFM202"},
            "location": {
                "path": str(path),
                "range": {"start": {"line": 2, "column": 10}, "end": {"line": 2, "column": 16}},
            },
            "message": "buffers batches",
            "severity": "WARNING",
            "suggestions": [
                {
                    "range": {"start": {"line": 2, "column": 10}, "end": {"line": 3, "column": 2}},
                    "text": "good(x)\nw",
                }
            ],
        }
    ]


def test_rdjson_offers_no_suggestion_that_is_never_applied(render: Render, found: Found) -> None:
    finding = found(
        TEXT, "bad", replacements=[("bad", "good")], applicability=Applicability.DISPLAY
    )

    [diagnostic] = json.loads(render("rdjson", Checked("a.py", TEXT, (finding,))))["diagnostics"]

    assert "suggestions" not in diagnostic


def test_formats_without_cells_say_where_in_the_notebook(render: Render, found: Found) -> None:
    finding = found(TEXT, "bad", replacements=[("bad", "good")])
    results = Checked("n.ipynb", TEXT, (finding,), CELLS)

    [diagnostic] = json.loads(render("rdjson", results))["diagnostics"]
    [record] = json.loads(render("gitlab", results))
    [[case]] = ElementTree.fromstring(render("junit", results))

    assert diagnostic["message"] == "cell 3, line 1: buffers batches"
    assert set(diagnostic["location"]) == {"path"}
    assert "suggestions" not in diagnostic
    assert record["description"] == "TFM202: cell 3, line 1: buffers batches"
    assert record["location"]["positions"]["begin"] == {"line": 1, "column": 1}
    assert case[0].text == "n.ipynb:cell 3:1:6: TFM202 buffers batches"
