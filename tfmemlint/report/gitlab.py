"""GitLab's code quality report."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TextIO

from tfmemlint.report.escape import encodable
from tfmemlint.report.fingerprints import fingerprinted
from tfmemlint.report.items import Item, Settings, relative


def write(items: Iterable[Item], settings: Settings, out: TextIO) -> None:
    """Write one list of all findings."""
    found = [
        {
            "check_name": item.finding.code,
            "description": encodable(f"{item.finding.code}: {item.message}"),
            "fingerprint": fingerprint,
            "location": {
                "path": encodable(relative(item.source.path, settings.root) or item.source.path),
                "positions": {
                    "begin": {"line": item.in_file.row, "column": item.in_file.column},
                    "end": {"line": item.in_file.end_row, "column": item.in_file.end_column},
                },
            },
            "severity": "critical" if item.severity == "error" else "major",
        }
        for item, fingerprint in fingerprinted(items, settings)
    ]
    out.write(json.dumps(found, indent=2) + "\n")
