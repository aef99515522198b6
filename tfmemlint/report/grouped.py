"""Findings under the name of their file, positions aligned."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import TextIO

from tfmemlint.report.concise import headline
from tfmemlint.report.escape import show_path
from tfmemlint.report.items import Item, Settings


def write(items: Iterable[Item], settings: Settings, out: TextIO) -> None:
    """Write one block a file."""
    for source, found in groupby(items, key=attrgetter("source")):
        out.write(f"{show_path(source.path)}:\n")
        block = list(found)
        width = max(len(item.position) for item in block)
        for item in block:
            out.write(f"  {item.position:<{width}} {headline(item)}\n")
        out.write("\n")
