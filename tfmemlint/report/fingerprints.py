"""Names for findings that stay when lines are put above them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator

from tfmemlint.report.escape import encodable
from tfmemlint.report.items import Item, Settings, relative

_ENOUGH = 1000
"""Characters of a line that tell it from others."""


def fingerprinted(items: Iterable[Item], settings: Settings) -> Iterator[tuple[Item, str]]:
    """Each finding with its fingerprint: file, code, the line's words, which of those so far."""
    seen: Counter[str] = Counter()
    for item in items:
        path = relative(item.source.path, settings.root) or item.source.path
        line = item.source.line(item.place.above + item.place.row)
        words = "\0".join((path, item.finding.code, " ".join(line[:_ENOUGH].split())))
        digest = hashlib.sha256(encodable(words).encode()).hexdigest()[:16]
        seen[digest] += 1
        yield item, f"{digest}:{seen[digest]}"
