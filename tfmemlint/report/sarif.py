"""SARIF 2.1.0, as code scanning services take it in."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from importlib import metadata
from typing import Any, TextIO

from tfmemlint.report import links
from tfmemlint.report.escape import encodable, uri
from tfmemlint.report.fingerprints import fingerprinted
from tfmemlint.report.items import (
    ENGINE,
    Item,
    Place,
    Settings,
    Source,
    in_order,
    relative,
    severity,
)
from tfmemlint.report.json_array import cost
from tfmemlint.report.prose import section, summary
from tfmemlint.vocabulary import Applicability, Finding, Fix, Span

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LONGEST_DESCRIPTION = 1024  # what GitHub takes

Object = dict[str, Any]


def write(items: Iterable[Item], settings: Settings, out: TextIO) -> None:
    """Write one log with one run."""
    found = list(fingerprinted(items, settings))
    rules = _rules(settings, (item.finding for item, _ in found))
    places = {rule["id"]: index for index, rule in enumerate(rules)}
    run = {
        "tool": {"driver": {"name": "tfmemlint", **_distribution(), "rules": rules}},
        "automationDetails": {"id": "tfmemlint/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"uri": _file_uri(settings.root).rstrip("/") + "/"}},
        "results": [
            _result(item, fingerprint, places[item.finding.code], settings.root)
            for item, fingerprint in found
        ],
        "properties": {"hiddenAsSmall": settings.small},
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    out.write(json.dumps(log, indent=2) + "\n")


def _distribution() -> Object:
    about = metadata.metadata("tfmemlint")
    version = about["Version"]
    homes = [each.partition(", ")[2] for each in about.get_all("Project-URL") or ()]
    home = {"informationUri": homes[0]} if homes else {}
    return {"version": version, "semanticVersion": version, **home}


def _result(item: Item, fingerprint: str, rule_index: int, root: str) -> Object:
    source, finding = item.source, item.finding
    artifact = _artifact(source.path, root)
    region = _region(item.in_file)
    if item.place.cell is None:
        region |= _snippet(source, finding.diagnostic.span)
    result: Object = {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": item.severity,
        "message": {"text": encodable(item.message)},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
    }
    if finding.diagnostic.cost is not None:
        result["properties"] = {"cost": cost(finding.diagnostic.cost)}
    fix = finding.diagnostic.fix
    # Replacements count in the rows of the file, which a notebook's cells do not have.
    if fix and fix.edits and fix.applicability is not Applicability.DISPLAY and not source.cells:
        result["fixes"] = [_fix(source, fix, artifact)]
    return result


def _fix(source: Source, fix: Fix, artifact: Object) -> Object:
    replacements = [
        {
            "deletedRegion": _region(source.place(span)),
            "insertedContent": {"text": encodable(text)},
        }
        for span, text in in_order(fix)
    ]
    unsafe = " (unsafe)" if fix.applicability is Applicability.UNSAFE else ""
    return {
        "description": {"text": encodable(fix.title) + unsafe},
        "artifactChanges": [{"artifactLocation": artifact, "replacements": replacements}],
    }


def _region(place: Place) -> Object:
    return {
        "startLine": place.row,
        "startColumn": place.column,
        "endLine": place.end_row,
        "endColumn": place.end_column,
    }


def _snippet(source: Source, span: Span) -> Object:
    text = source.text[span.start : span.end]
    return {"snippet": {"text": encodable(text)}} if text else {}


def _artifact(path: str, root: str) -> Object:
    inside = relative(path, root)
    if inside is None:
        return {"uri": _file_uri(path)}
    return {"uri": uri(inside), "uriBaseId": "%SRCROOT%"}


def _file_uri(path: str) -> str:
    absolute = uri(os.path.abspath(path))  # noqa: PTH100  pathlib keeps `..`
    return f"file://{'' if absolute.startswith('/') else '/'}{absolute}"


def _rules(settings: Settings, findings: Iterable[Finding]) -> list[Object]:
    """All rules, the engine's own codes, and any other code that was found."""
    rules = [
        _descriptor(
            rule.code,
            rule.name,
            summary(rule.page),
            " ".join(section(rule.page, "What it finds").split()) or summary(rule.page),
            rule.page.strip(),
        )
        for rule in settings.rules.values()
    ]
    rules += (
        _descriptor(code, name, summary(meaning), meaning, meaning)
        for code, (name, meaning) in ENGINE.items()
    )
    described = {rule["id"] for rule in rules}
    others = {one.code: one.name for one in findings if one.code not in described}
    return rules + [_descriptor(code, name, name, name, name) for code, name in others.items()]


def _descriptor(code: str, name: str, short: str, full: str, page: str) -> Object:
    level = severity(code)
    address = links.page(code)
    return {
        "id": code,
        "name": name,
        **({"helpUri": address} if address else {}),
        "shortDescription": {"text": short},
        "fullDescription": {"text": full[:_LONGEST_DESCRIPTION]},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": ["memory", "tensorflow"],
            "precision": "high",
            "problem.severity": level,
        },
    }
