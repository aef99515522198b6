"""How every command says that it cannot do what it was asked for."""

from __future__ import annotations

import sys

from tfmemlint.report.escape import show

FAILED = 2
"""The exit code for that: findings have another."""


def refuse(reason: str) -> int:
    """Say why not; the exit code."""
    print(f"error: {show(reason)}", file=sys.stderr)
    return FAILED
