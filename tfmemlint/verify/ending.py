"""How a program ended, for those that run it in a process of ours."""

from __future__ import annotations

import sys


def status_of(end: SystemExit) -> int:
    """The exit code that Python would end with; what is no number it prints, as Python does."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code, file=sys.stderr)
    return 1
