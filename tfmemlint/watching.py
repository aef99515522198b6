"""`--watch`: does something now, and again whenever one of the files has changed."""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH116

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

PATIENCE = 0.4
"""Seconds between one look at the files and the next."""

Seen = dict[str, tuple[int, int, int]]


def watch(act: Callable[[], object], files: Callable[[], Iterable[str]]) -> None:
    """Act, and act again after each change, until interrupted."""
    while True:
        before = look(files())  # what is changed while we act is a change, too
        act()
        now = look(files())
        while now == before:
            time.sleep(PATIENCE)
            now = look(files())
        while now != before:  # a checkout of another branch takes a while
            time.sleep(PATIENCE / 4)
            before, now = now, look(files())


def look(files: Iterable[str]) -> Seen:
    """What tells a file from what it is after a change."""
    seen: Seen = {}
    for path in files:
        try:
            status = os.stat(path)
        except OSError:
            continue
        seen[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return seen
