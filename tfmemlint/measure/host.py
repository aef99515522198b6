"""The most memory that this process has had resident, as far as that is the program's."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from pathlib import Path


class Host:
    """Looks from now on; what happens between `pause` and `go_on` does not count."""

    def __init__(self) -> None:
        _forget()
        self.before = _greatest() or 0
        self._greatest = 0
        self._paused = False

    @property
    def peak(self) -> int | None:
        """Bytes; None where the system does not tell."""
        if self._paused:
            return self._greatest
        now = _greatest()
        return now if now is None else max(now, self._greatest)

    def pause(self) -> None:
        """What follows is none of the program's doing."""
        self._greatest = self.peak or 0
        self._paused = True

    def go_on(self) -> None:
        """What follows is."""
        with contextlib.suppress(AttributeError, OSError):  # there is no such thing but in glibc
            ctypes.CDLL(None).malloc_trim(0)
        _forget()
        self._paused = False


def _forget() -> None:
    with contextlib.suppress(OSError):  # on Linux only; elsewhere an earlier peak stays the peak
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _greatest() -> int | None:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    with contextlib.suppress(ImportError):
        import resource  # noqa: PLC0415  there is none on Windows

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return None
