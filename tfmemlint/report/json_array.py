"""A list of objects with the field names that ruff's readers know."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any, TextIO

from tfmemlint.report.escape import encodable
from tfmemlint.report.items import Item, Place, Settings, Source, absolute
from tfmemlint.report.links import page
from tfmemlint.report.noqa import NoqaRows
from tfmemlint.vocabulary import Cost, Fix


def write(items: Iterable[Item], settings: Settings, out: TextIO) -> None:
    """Write one list of all findings."""
    out.write(json.dumps(list(records(items)), indent=2) + "\n")


def records(items: Iterable[Item]) -> Iterator[dict[str, Any]]:
    """A finding as one object each; all of it escaped to ASCII by the standard library."""
    for source, found in groupby(items, key=attrgetter("source")):
        noqa = NoqaRows(source)
        for item in found:
            finding = item.finding
            location, end_location = _locations(item.place)
            yield {
                "cell": item.place.cell,
                "code": finding.code,
                "cost": cost(finding.diagnostic.cost),
                "end_location": end_location,
                "filename": encodable(absolute(source.path)),
                "fix": _fix(source, finding.diagnostic.fix),
                "location": location,
                "message": encodable(finding.diagnostic.message),
                "name": finding.name,
                "noqa_row": noqa.row(item),
                "severity": item.severity,
                "url": page(finding.code),
            }


def cost(found: Cost | None) -> dict[str, Any] | None:
    """What is held, for readers that calculate; None where nothing is said of it."""
    if found is None:
        return None
    return {
        "at_most": found.at_most,
        "bytes": found.bytes,
        "fixed_bytes": found.fixed_bytes,
        "fixed_formula": encodable(found.fixed) or None,
        "formula": encodable(found.formula) or None,
        "grows": found.law.value,
        "notes": [encodable(each) for each in found.notes],
    }


def _fix(source: Source, fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    edits: list[dict[str, Any]] = []
    for span, text in fix.edits:
        location, end_location = _locations(source.place(span))
        edits.append(
            {"content": encodable(text), "end_location": end_location, "location": location}
        )
    return {
        "applicability": fix.applicability.value,
        "edits": edits,
        "message": encodable(fix.title),
    }


def _locations(place: Place) -> tuple[dict[str, int], dict[str, int]]:
    return (
        {"column": place.column, "row": place.row},
        {"column": place.end_column, "row": place.end_row},
    )
