"""`path:line: [CODE(name)] message`, which CI servers read as pylint's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from tfmemlint.report.escape import show, show_path
from tfmemlint.report.items import Item, Settings


def write(items: Iterable[Item], settings: Settings, out: TextIO) -> None:
    """Write one line a finding."""
    for item in items:
        finding = item.finding
        where = f"{show_path(item.source.path)}:{item.in_file.row}"
        label = f"[{finding.code}({finding.name})]"
        out.write(f"{where}: {label} {show(finding.diagnostic.message)}\n")
