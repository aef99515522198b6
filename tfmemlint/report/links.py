"""Where the documentation is: the one place that says so."""

from __future__ import annotations

import re

DOCUMENTATION = "https://tfmemlint.readthedocs.io/en/latest/"


def page(code: str) -> str | None:
    """The address of the page on a code; None for the rules of other packs."""
    return f"{DOCUMENTATION}rules/{code}/" if re.fullmatch(r"TFM\d{3}", code) else None
