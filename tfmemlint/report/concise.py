"""One line a finding, `path:line:col: CODE [*] message`: what editors' own patterns read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from tfmemlint.report.escape import show, show_path
from tfmemlint.report.items import Item, Settings


def write(items: Iterable[Item], settings: Settings, out: TextIO) -> None:
    """Write one line a finding."""
    for item in items:
        out.write(f"{show_path(item.source.path)}:{item.position}: {headline(item)}\n")


def headline(item: Item) -> str:
    """What was found, in one line; `[*]` where --fix would mend it."""
    mark = "[*] " if item.applies else ""
    return f"{item.finding.code} {mark}{show(item.finding.diagnostic.message)}"
