"""How many, which ones, and what --fix could do; and measurements in words."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from tfmemlint.report import statistics, summary
from tfmemlint.report.figures import measured
from tfmemlint.vocabulary import Applicability, Checked, Cost, Finding

Found = Callable[..., Finding]

SAFE, UNSAFE, DISPLAY = Applicability.SAFE, Applicability.UNSAFE, Applicability.DISPLAY


@pytest.fixture
def checked(found: Found) -> Callable[..., list[Checked]]:
    """Two files, with one finding for each applicability; None is a finding without a fix."""

    def checked(*fixes: Applicability | None) -> list[Checked]:
        findings = tuple(
            found("x", "x", replacements=[("x", "y")] if fix else (), applicability=fix)
            for fix in fixes
        )
        return [Checked("a.py", "x", findings[:1]), Checked("b.py", "x", findings[1:])]

    return checked


Make = Callable[..., list[Checked]]


@pytest.mark.parametrize(
    ("fixes", "unsafe_fixes", "fixed", "expected"),
    [
        ((), False, 0, "All checks passed!\n"),
        ((None,), False, 0, "Found 1 error.\n"),
        ((None, DISPLAY), True, 0, "Found 2 errors.\n"),
        ((SAFE, None), False, 0, "Found 2 errors.\n[*] 1 fixable with the `--fix` option.\n"),
        (
            (SAFE, SAFE, UNSAFE),
            False,
            0,
            "Found 3 errors.\n[*] 2 fixable with the `--fix` option"
            " (1 hidden fix can be enabled with the `--unsafe-fixes` option).\n",
        ),
        (
            (SAFE, SAFE, UNSAFE),
            True,
            0,
            "Found 3 errors.\n[*] 3 fixable with the `--fix` option.\n",
        ),
        (
            (UNSAFE, UNSAFE),
            False,
            0,
            "Found 2 errors.\nNo fixes available"
            " (2 hidden fixes can be enabled with the `--unsafe-fixes` option).\n",
        ),
        ((), False, 3, "Found 3 errors (3 fixed, 0 remaining).\n"),
        ((None,), False, 1, "Found 2 errors (1 fixed, 1 remaining).\n"),
    ],
)
def test_the_summary_counts_findings_and_fixes(
    checked: Make,
    fixes: tuple[Applicability | None, ...],
    unsafe_fixes: bool,
    fixed: int,
    expected: str,
) -> None:
    out = io.StringIO()
    summary(checked(*fixes), out, unsafe_fixes, fixed=fixed)

    assert expected == out.getvalue()


@pytest.fixture
def many(found: Found) -> list[Checked]:
    """Ten findings of one code, some of them fixable, and one of another."""
    some = found("x", "x", replacements=[("x", "y")])
    unsafe = found("x", "x", replacements=[("x", "y")], applicability=UNSAFE)
    once = found("x", "x", code="TFM101", name="whole-dataset")
    return [
        Checked("a.py", "x", (once, some, some, unsafe)),
        Checked("b.py", "x", (found("x", "x"),) * 7),
    ]


def test_statistics_have_the_most_frequent_first(many: list[Checked]) -> None:
    out = io.StringIO()
    statistics(many, out, "full")

    expected = "10\tTFM202\t[-] shuffle-after-batch\n 1\tTFM101\t[ ] whole-dataset\n"
    assert expected == out.getvalue()


def test_statistics_show_no_marks_where_nothing_can_be_fixed(found: Found) -> None:
    out = io.StringIO()
    statistics([Checked("a.py", "x", (found("x", "x"),))], out, "concise")

    assert out.getvalue() == "1\tTFM202\tshuffle-after-batch\n"


def test_statistics_star_what_can_all_be_fixed(checked: Make) -> None:
    out = io.StringIO()
    statistics(checked(SAFE, UNSAFE), out, "full", unsafe_fixes=True)

    assert out.getvalue() == "2\tTFM202\t[*] shuffle-after-batch\n"


def test_statistics_in_json_have_the_fields_of_ruff(many: list[Checked]) -> None:
    out = io.StringIO()
    statistics(many, out, "json")

    assert json.loads(out.getvalue()) == [
        {
            "code": "TFM202",
            "name": "shuffle-after-batch",
            "count": 10,
            "fixable": False,
            "fixable_count": 2,
            "cost_bytes": None,
            "measured": None,
        },
        {
            "code": "TFM101",
            "name": "whole-dataset",
            "count": 1,
            "fixable": False,
            "fixable_count": 0,
            "cost_bytes": None,
            "measured": None,
        },
    ]


def test_statistics_of_nothing_are_nothing() -> None:
    out = io.StringIO()
    statistics([Checked("a.py", "x")], out, "full")

    assert out.getvalue() == ""


def _measured(metric: str, unit: str, bad: float, fixed: float, holds: bool = True) -> Any:
    taken = {"bad": {"figure": bad}, "fixed": {"figure": fixed}, "unit": unit}
    return {"claim": {"metric": metric, "holds": holds}, "metrics": {metric: taken}}


@pytest.mark.parametrize(
    ("metric", "unit", "bad", "fixed", "expected"),
    [
        ("device peak", "bytes", 167 << 20, 66 << 20, "device peak 167 MB -> 66 MB"),
        ("host peak", "bytes", 1.5 * 2**30, 900, "host peak 1.5 GB -> 900 B"),
        (
            "device growth",
            "bytes per step",
            1592 * 1024,
            0,
            "device growth 1.6 MB -> 0 B a step",
        ),
        ("traces", "traces", 60, 1, "traces 60 -> 1"),
        ("step time", "seconds", 0.01234, 0.008, "step time 12.3 ms -> 8 ms"),
        ("graph bytes", "bytes", 1023.7, 9.95 * 1024, "graph bytes 1.0 KB -> 10 KB"),
    ],
)
def test_a_measurement_in_words(
    metric: str, unit: str, bad: float, fixed: float, expected: str
) -> None:
    assert expected == measured(_measured(metric, unit, bad, fixed))


@pytest.mark.parametrize(
    "figures",
    [
        {},
        {"claim": {"metric": "device peak", "holds": True}},
        {"claim": None},
        [],
        _measured("device peak", "bytes", 2, 1, holds=False),
    ],
)
def test_what_was_not_shown_to_hold_is_not_said(figures: Any) -> None:
    assert measured(figures) == ""


def test_statistics_tell_what_is_held_and_what_a_fix_was_measured_to_save(found: Found) -> None:
    text = "x y"
    findings = (
        found(text, "x", cost=Cost("2 GB", 2 << 30)),
        found(text, "y", cost=Cost("n * 8", None)),
        found(text, "y", cost=Cost("1 GB", 1 << 30)),
        found(text, "y", code="TFM101", name="other"),
    )
    out = io.StringIO()
    measured = {"TFM202": "device peak 2 MB -> 1 MB"}
    statistics([Checked("a.py", text, findings)], out, "full", measured=measured)

    assert out.getvalue() == (
        "3\tTFM202\tshuffle-after-batch\tholds 3.0 GB \tdevice peak 2 MB -> 1 MB\n"
        "1\tTFM101\tother\n"
    )
