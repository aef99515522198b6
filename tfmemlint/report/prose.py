"""The parts of a rule's page."""

from __future__ import annotations

import re


def summary(page: str) -> str:
    """The first sentence, without its full stop."""
    opening = " ".join(page.strip().partition("\n\n")[0].split())
    return re.split(r"\.(?= [A-Z]|$)", opening, maxsplit=1)[0]


def section(page: str, heading: str) -> str:
    """The text under a heading; empty where there is none."""
    match = re.search(
        rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE
    )
    return match[1].strip() if match else ""
