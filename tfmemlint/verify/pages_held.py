"""What a process has in memory, so that a fork of it can have the same before it is weighed.

A fork is given what its parent has written. Pages of files, such as the code of libraries, it has
to fetch as it comes to need them, and what was swapped out as well: they would count as the
program's own.
"""

from __future__ import annotations

import ctypes
import errno
import os
from array import array
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

_POPULATE_READ = 22  # of madvise(2), since Linux 5.14
_THERE = 1 << 63  # in /proc/PID/pagemap


class Stretch(NamedTuple):
    """Bytes of the address space."""

    start: int
    size: int


def in_memory() -> tuple[Stretch, ...]:
    """The pages that this process has; raises OSError."""
    page = os.sysconf("SC_PAGE_SIZE")
    found: list[Stretch] = []
    with open("/proc/self/pagemap", "rb", buffering=0) as pagemap:  # noqa: PTH123  Path buffers
        for start, end in _readable():
            pagemap.seek(start // page * 8)
            entries = array("Q", pagemap.read((end - start) // page * 8))
            first = start
            for is_there, group in groupby(entries, _THERE.__and__):
                size = sum(1 for _ in group) * page
                if is_there:
                    found.append(Stretch(first, size))
                first += size
    return tuple(found)


def fetch(stretches: Iterable[Stretch]) -> bool:
    """Have these pages as if they had been used; whether that can be done here.

    What is no longer there, such as what it took to look for them, is passed over.
    """
    advise = ctypes.CDLL(None, use_errno=True).madvise
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    known = True
    for start, size in stretches:
        known &= advise(start, size, _POPULATE_READ) == 0 or ctypes.get_errno() != errno.EINVAL
    return known


def _readable() -> Iterator[tuple[int, int]]:
    """The mappings that can be read, but for those of the kernel's own, such as `[vvar]`."""
    for line in Path("/proc/self/maps").read_text("utf-8", "replace").splitlines():
        addresses, permissions, _, _, _, *name = line.split(maxsplit=5)
        if permissions.startswith("r") and not "".join(name).startswith("[v"):
            start, _, end = addresses.partition("-")
            yield int(start, 16), int(end, 16)
