"""The `sarif` format, held to the part of SARIF 2.1.0 that it uses and to what GitHub takes in."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.vocabulary import Applicability, Cell, Checked, Diagnostic, Finding, Rule, Span

validator: Any = import_module("jsonschema").Draft202012Validator  # it has no types

Render = Callable[..., str]
Found = Callable[..., Finding]
MakeRule = Callable[..., Rule]

TEXT = "x = 1\ny = bad(x)\nz = bad(x)\n"
PAGE = """`shuffle` after `batch` buffers whole batches.

## What it finds
A pipeline that calls `.batch(...)`
and then `.shuffle(...)`.

## Fix safety
Unsafe: the examples come out in another order.
"""


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _array(items: dict[str, Any], **limits: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **limits}


_STRING = {"type": "string", "minLength": 1}
_FROM_ONE = {"type": "integer", "minimum": 1}
_TEXT = _object({"text": _STRING})
_LEVEL = {"enum": ["error", "warning", "note"]}
_ARTIFACT = _object(
    {"uri": {"type": "string", "pattern": r"^[A-Za-z0-9._~/:%-]+$"}},
    {"uriBaseId": {"const": "%SRCROOT%"}},
)
_REGION = _object(
    dict.fromkeys(("startLine", "startColumn", "endLine", "endColumn"), _FROM_ONE),
    {"snippet": _TEXT},
)
_PHYSICAL = _object({"artifactLocation": _ARTIFACT, "region": _REGION})
_REPLACEMENT = _object(
    {"deletedRegion": _REGION, "insertedContent": _object({"text": {"type": "string"}})}
)
_CHANGE = _object({"artifactLocation": _ARTIFACT, "replacements": _array(_REPLACEMENT, minItems=1)})
_RESULT = _object(
    {
        "ruleId": _STRING,
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": _LEVEL,
        "message": _TEXT,
        "locations": _array(
            _object({"physicalLocation": _PHYSICAL}),
            minItems=1,
            maxItems=1,
        ),
        "partialFingerprints": _object({"primaryLocationLineHash": _STRING}),
    },
    {
        "properties": _object({"cost": {"type": "object"}}),
        "fixes": _array(
            _object({"description": _TEXT, "artifactChanges": _array(_CHANGE, minItems=1)})
        ),
    },
)
_RULE = _object(
    {
        "id": _STRING,
        "name": _STRING,
        "shortDescription": _TEXT,
        "fullDescription": _object({"text": {**_STRING, "maxLength": 1024}}),
        "help": _object({"text": _STRING, "markdown": _STRING}),
        "defaultConfiguration": _object({"level": _LEVEL}),
        "properties": _object(
            {
                "tags": _array(_STRING, maxItems=10),
                "precision": {"enum": ["very-high", "high", "medium", "low"]},
                "problem.severity": {"enum": ["error", "warning", "recommendation"]},
            }
        ),
    },
    {"helpUri": {"type": "string", "pattern": "^https://.*/rules/TFM\\d{3}/$"}},
)
_DRIVER = _object(
    {
        "name": {"const": "tfmemlint"},
        "version": _STRING,
        "semanticVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
        "rules": _array(_RULE, uniqueItems=True),
    },
    {"informationUri": {"type": "string", "pattern": "^https://"}},
)
_RUN = _object(
    {
        "tool": _object({"driver": _DRIVER}),
        "automationDetails": _object({"id": {"type": "string", "pattern": "/$"}}),
        "columnKind": {"const": "unicodeCodePoints"},
        "originalUriBaseIds": _object(
            {"%SRCROOT%": _object({"uri": {"type": "string", "pattern": "^file:///.*/$"}})}
        ),
        "results": _array(_RESULT),
        "properties": _object({"hiddenAsSmall": {"type": "integer"}}),
    }
)
_LOG = _object(
    {"$schema": _STRING, "version": {"const": "2.1.0"}, "runs": _array(_RUN, minItems=1)}
)


@pytest.fixture
def run(render: Render) -> Callable[..., dict[str, Any]]:
    """The one run of a valid log."""

    def run(*results: Checked, **settings: Any) -> dict[str, Any]:
        log = json.loads(render("sarif", *results, **settings))
        validator(_LOG).validate(log)
        [only] = log["runs"]
        rules = [each["id"] for each in only["tool"]["driver"]["rules"]]
        for result in only["results"]:
            assert result["ruleId"] == rules[result["ruleIndex"]]
        assert sorted(set(rules)) == sorted(rules)
        return dict(only)

    return run


Run = Callable[..., dict[str, Any]]


def test_a_result_has_a_relative_address_a_region_and_its_text(
    run: Run, found: Found, tmp_path: Path
) -> None:
    results = Checked(str(tmp_path / "a b" / "é.py"), TEXT, (found(TEXT, "bad(x)"),))

    only = run(results, root=str(tmp_path))

    [result] = only["results"]
    expected = {
        "artifactLocation": {"uri": "a%20b/%C3%A9.py", "uriBaseId": "%SRCROOT%"},
        "region": {
            "startLine": 2,
            "startColumn": 5,
            "endLine": 2,
            "endColumn": 11,
            "snippet": {"text": "bad(x)"},
        },
    }
    assert expected == result["locations"][0]["physicalLocation"]
    assert only["originalUriBaseIds"]["%SRCROOT%"]["uri"] == f"{tmp_path.as_uri()}/"


def test_a_file_outside_the_root_has_an_absolute_address(
    run: Run, found: Found, tmp_path: Path
) -> None:
    outside = tmp_path / "elsewhere" / "a.py"

    only = run(Checked(str(outside), TEXT, (found(TEXT, "bad"),)), root=str(tmp_path / "project"))

    [result] = only["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": outside.as_uri()
    }


def test_a_rule_brings_its_page(run: Run, rule: MakeRule) -> None:
    only = run(rules={"TFM202": rule(PAGE)})

    described = only["tool"]["driver"]["rules"][0]
    assert described["id"] == "TFM202"
    assert described["shortDescription"]["text"] == "`shuffle` after `batch` buffers whole batches"
    assert described["fullDescription"]["text"] == (
        "A pipeline that calls `.batch(...)` and then `.shuffle(...)`."
    )
    assert described["help"]["markdown"] == PAGE.strip()
    assert only["results"] == []


def test_a_page_too_long_for_github_is_cut(run: Run, rule: MakeRule) -> None:
    page = f"Long.\n\n## What it finds\n{'word ' * 1000}\n"

    run(rules={"TFM202": rule(page)})  # the schema has the limit


def test_codes_of_the_engine_have_entries_without_any_rule(run: Run) -> None:
    broken = Finding("TFM002", "syntax-error", Diagnostic(Span(4, 5), "'(' was never closed"))

    only = run(Checked("a.py", "x = (\n", (broken,)))

    [result] = only["results"]
    described = only["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert (described["name"], result["level"]) == ("syntax-error", "error")


def test_a_file_that_could_not_be_read_is_a_result(run: Run) -> None:
    unreadable = Finding("TFM001", "unreadable", Diagnostic(Span(0, 0), "it is not UTF-8"))

    [result] = run(Checked("a.py", "", (unreadable,)))["results"]

    assert result["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 1,
        "startColumn": 1,
        "endLine": 1,
        "endColumn": 1,
    }


def test_a_code_that_no_rule_at_hand_has_is_described_by_its_name(run: Run, found: Found) -> None:
    only = run(Checked("a.py", TEXT, (found(TEXT, "bad"), found(TEXT, "x"))))

    names = {each["id"]: each["name"] for each in only["tool"]["driver"]["rules"]}
    assert names["TFM202"] == "shuffle-after-batch"


def test_a_fix_is_replacements_in_order(run: Run, found: Found) -> None:
    finding = found(
        TEXT,
        "bad",
        replacements=[("bad(x)", "good(x)"), ("x = 1\n", "")],
        applicability=Applicability.UNSAFE,
    )

    [result] = run(Checked("a.py", TEXT, (finding,)))["results"]

    [fix] = result["fixes"]
    [change] = fix["artifactChanges"]
    first, second = change["replacements"]
    assert fix["description"]["text"] == "Shuffle before batching (unsafe)"
    assert first == {
        "deletedRegion": {"startLine": 1, "startColumn": 1, "endLine": 2, "endColumn": 1},
        "insertedContent": {"text": ""},
    }
    assert second["insertedContent"]["text"] == "good(x)"


def test_a_suggestion_that_is_never_applied_is_no_fix(run: Run, found: Found) -> None:
    finding = found(
        TEXT, "bad", replacements=[("bad", "good")], applicability=Applicability.DISPLAY
    )

    [result] = run(Checked("a.py", TEXT, (finding,)))["results"]

    assert "fixes" not in result


def test_a_notebook_result_names_the_cell_and_claims_no_rows_of_the_file(
    run: Run, found: Found
) -> None:
    finding = found(TEXT, "bad", replacements=[("bad", "good")])

    [result] = run(Checked("n.ipynb", TEXT, (finding,), (Cell(0, 1), Cell(6, 3))))["results"]

    assert result["message"]["text"] == "cell 3, line 1: buffers batches"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 1
    assert "fixes" not in result


def test_fingerprints_stay_when_other_lines_change_and_tell_twins_apart(
    run: Run, found: Found
) -> None:
    def fingerprints(text: str) -> list[str]:
        findings = [found(text, words) for words in ("y ", "bad", "z ")]
        results = run(Checked("a.py", text, tuple(findings)))["results"]
        return [each["partialFingerprints"]["primaryLocationLineHash"] for each in results]

    before = fingerprints(TEXT)

    assert len(set(before)) == 3
    assert before == fingerprints("import os\n\n" + TEXT)
    assert before == fingerprints(TEXT.replace("y =", "y  ="))
    assert before[:2] == fingerprints(TEXT.replace("z = bad(x)", "z = 0"))[:2]
    assert before[2] != fingerprints(TEXT.replace("z = bad(x)", "z = 0"))[2]
