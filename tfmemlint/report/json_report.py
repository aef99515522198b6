"""One object with all findings and a summary of them, for what reads no list without one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TextIO

from tfmemlint.report.items import Item, Settings
from tfmemlint.report.json_array import records


def write(items: Iterable[Item], settings: Settings, out: TextIO) -> None:
    """Write the findings, as in the format `json`, and how many there are of what."""
    listed = list(items)
    costs = [item.finding.diagnostic.cost for item in listed]
    known = [cost.bytes for cost in costs if cost is not None and cost.bytes is not None]
    summary = {
        "findings": len(listed),
        "hidden_as_small": settings.small,
        "known_bytes": sum(known),
        "of_unknown_size": len(listed) - len(known),
    }
    report = {"findings": list(records(listed)), "summary": summary}
    out.write(json.dumps(report, indent=2) + "\n")
