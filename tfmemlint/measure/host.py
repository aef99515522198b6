"""The most memory that this process has had resident, as far as that is the program's."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from pathlib import Path

_FIELDS = (b"VmHWM:", b"RssAnon:", b"RssFile:")


class Host:
    """Looks from now on; what happens between `pause` and `go_on` does not count."""

    def __init__(self) -> None:
        _forget()
        self.before = _greatest() or 0
        self._greatest = 0
        self._paused = self._own = False
        self.rises: dict[int, int] = {}
        """How far each statement drove the peak up."""
        self.anonymous = 0
        """The most that was no page of a file, as far as was looked."""
        self.files = 0
        """The most that was pages of files."""
        self.outside = 0
        """The most that was neither, nor in use on the CPU by TensorFlow's allocator."""
        self._known = self.before

    @property
    def peak(self) -> int | None:
        """Bytes; None where the system does not tell."""
        if self._paused:
            return self._greatest
        now = _greatest()
        return now if now is None else max(now, self._greatest)

    def note(self, statement: int, tensors: int) -> None:
        """Whatever has risen since the last call is the doing of this statement."""
        if self._paused:
            return
        found = _status()
        if not found:
            return
        greatest, anonymous = max(found["VmHWM"], self._greatest), found["RssAnon"]
        if greatest > self._known:
            self.rises[statement] = self.rises.get(statement, 0) + greatest - self._known
            self._known = greatest
        self.anonymous = max(self.anonymous, anonymous)
        self.files = max(self.files, found["RssFile"])
        self.outside = max(self.outside, anonymous - tensors)

    def on_event(self, event: str, arguments: tuple[object, ...]) -> None:
        """Look before the program has the system forget the peak."""
        if event == "open" and forgets_the_peak(arguments) and not self._own:
            self._greatest = self.peak or 0

    def pause(self) -> None:
        """What follows is none of the program's doing."""
        self._greatest = self.peak or 0
        self._paused = True

    def go_on(self) -> None:
        """What follows is."""
        with contextlib.suppress(AttributeError, OSError):  # there is no such thing but in glibc
            ctypes.CDLL(None).malloc_trim(0)
        self._own = True
        _forget()
        self._own = self._paused = False


def forgets_the_peak(arguments: tuple[object, ...]) -> bool:
    """Whether what is about to be opened is where Linux is told to forget how much there was."""
    return bool(arguments) and str(arguments[0]).endswith("/clear_refs")


def _forget() -> None:
    with contextlib.suppress(OSError):  # on Linux only; elsewhere an earlier peak stays the peak
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _status() -> dict[str, int]:
    """What Linux says of this process' memory; nothing elsewhere."""
    try:
        lines = Path("/proc/self/status").read_bytes().splitlines()
    except OSError:
        return {}
    fields = (line.split() for line in lines if line.startswith(_FIELDS))
    found = {name[:-1].decode("ascii"): int(size) * 1024 for name, size, _ in fields}
    return found if len(found) == len(_FIELDS) else {}


def _greatest() -> int | None:
    found = _status()
    if found:
        return found["VmHWM"]
    with contextlib.suppress(ImportError):
        import resource  # noqa: PLC0415  there is none on Windows

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return None
