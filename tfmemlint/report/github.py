"""GitHub's workflow commands, one a finding; the most severe first, since only some are shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from tfmemlint.report.escape import show
from tfmemlint.report.items import Item, Settings, relative

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = str.maketrans({**_DATA, ":": "%3A", ",": "%2C"})
_DATA_TABLE = str.maketrans(_DATA)


def write(items: Iterable[Item], settings: Settings, out: TextIO) -> None:
    """Write one line a finding."""
    for item in sorted(items, key=lambda item: item.severity != "error"):
        path = relative(item.source.path, settings.root) or item.source.path
        properties = {"title": f"tfmemlint ({item.finding.code})", "file": path, **_lines(item)}
        settled = ",".join(
            f"{key}={show(str(value).translate(_PROPERTY))}" for key, value in properties.items()
        )
        out.write(f"::{item.severity} {settled}::{_message(item, path, settings)}\n")


def _lines(item: Item) -> dict[str, int]:
    """Where; GitHub takes columns only for what is on one line."""
    place = item.in_file
    if place.row != place.end_row:
        return {"line": place.row, "endLine": place.end_row}
    return {
        "line": place.row,
        "col": place.column,
        "endLine": place.end_row,
        "endColumn": place.end_column,
    }


def _message(item: Item, path: str, settings: Settings) -> str:
    code, _, diagnostic = item.finding
    lines = [f"{path}:{item.position}: {code} {diagnostic.message}"]
    if diagnostic.fix:
        lines.append(f"  help: {diagnostic.fix.title}")
    if code in settings.measured:
        lines.append(f"  measured: {settings.measured[code]}")
    return "\n".join(map(show, lines)).translate(_DATA_TABLE)
