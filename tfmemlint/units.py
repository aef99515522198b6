"""Bytes in words, and words in bytes: a kilobyte is 2**10 wherever they stand."""

from __future__ import annotations

import re

_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgt]?)i?b?)\s*", re.IGNORECASE)


def size(amount: float) -> str:
    """Bytes in the unit that suits them; a megabyte is 2**20."""
    unit = "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if abs(amount) < 1023.5:
            break
        amount, unit = amount / 1024, larger
    digits = 0 if unit == "B" or abs(amount) >= 9.95 else 1
    return f"{amount:.{digits}f} {unit}"


def parsed(text: str) -> int | None:
    """Bytes, given as in `8GiB`, `8 GB`, `8g` or `8192`; None for what is no such thing."""
    match = _AMOUNT.fullmatch(text)
    if match is None:
        return None
    return int(float(match[1]) * (1 << 10 * " kmgt".index(match[2].lower() or " ")))
