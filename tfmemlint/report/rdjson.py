"""Reviewdog's diagnostic format; columns count UTF-8 bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TextIO

from tfmemlint.report.escape import encodable
from tfmemlint.report.fix_diff import edited
from tfmemlint.report.items import Item, Settings, Source, absolute, in_order
from tfmemlint.vocabulary import Applicability, Fix, Span


def write(items: Iterable[Item], settings: Settings, out: TextIO) -> None:
    """Write one object with all findings."""
    report = {
        "diagnostics": [_diagnostic(item) for item in items],
        "severity": "WARNING",
        "source": {"name": "tfmemlint"},
    }
    out.write(json.dumps(report, indent=2) + "\n")


def _diagnostic(item: Item) -> dict[str, Any]:
    source, finding = item.source, item.finding
    location: dict[str, Any] = {"path": encodable(absolute(source.path))}
    diagnostic: dict[str, Any] = {
        "code": {"value": finding.code},
        "location": location,
        "message": encodable(item.message) + _warning(finding.diagnostic.fix),
        "severity": item.severity.upper(),
    }
    fix = finding.diagnostic.fix
    if item.place.cell is None:
        location["range"] = _range(source, finding.diagnostic.span)
        if fix and fix.edits and fix.applicability is not Applicability.DISPLAY:
            diagnostic["suggestions"] = [_suggestion(source, fix)]
    return diagnostic


def _warning(fix: Fix | None) -> str:
    """What a reader has to know of a suggestion, which has no words of its own."""
    if fix is None or fix.applicability is not Applicability.UNSAFE:
        return ""
    return f" (the suggested fix is unsafe, results may differ: {encodable(fix.title)})"


def _suggestion(source: Source, fix: Fix) -> dict[str, Any]:
    """One replacement for the whole fix: a reader may accept suggestions one by one."""
    edits = in_order(fix)
    region = Span(edits[0].span.start, max(edit.span.end for edit in edits))
    text = edited(source.text, region, edits)
    return {"range": _range(source, region), "text": encodable(text)}


def _range(source: Source, span: Span) -> dict[str, dict[str, int]]:
    return {"start": _position(source, span.start), "end": _position(source, span.end)}


def _position(source: Source, offset: int) -> dict[str, int]:
    row, _ = source.lines.position(offset)
    before = source.text[source.lines.starts[row - 1] : offset]
    return {"line": row, "column": len(before.encode("utf-8", "surrogatepass")) + 1}
