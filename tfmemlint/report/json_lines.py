"""The objects of the `json` format, one a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TextIO

from tfmemlint.report.items import Item, Settings
from tfmemlint.report.json_array import records


def write(items: Iterable[Item], settings: Settings, out: TextIO) -> None:
    """Write one object a line."""
    for record in records(items):
        out.write(json.dumps(record, separators=(",", ":")) + "\n")
