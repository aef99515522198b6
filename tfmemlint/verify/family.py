"""What a program starts: weighed from outside while it runs, and none of it left running after."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

_SET_SUBREAPER = 36  # of prctl(2)
_OFTEN = 0.05  # seconds
_LATEST = 5.0
_FIELDS = ("VmHWM", "RssAnon")


class Children(NamedTuple):
    """What a program's own processes held, as far as was looked: twenty times a second.

    Counted is what is there at two looks. What is caught between a fork and the program that it is
    to become still has the memory of the one that forked, and would be taken for a second one.
    """

    most: int = 0
    """How many there were at once."""
    largest: int = 0
    """The most bytes that one of them ever had resident."""
    together: int = 0
    """The most that all had at once, pages of files aside."""


class Family(Thread):
    """Watches the processes below one, and ends those that outlive it.

    What leaves the family, by having its parent die, is handed to this process meanwhile.
    """

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self._process = process
        self._over = Event()
        self._known: set[int] = set()
        self._last: set[int] = set()
        self._strangers = set(_children(os.getpid()))
        self.found = Children()
        _adopt(1)
        self.start()

    def run(self) -> None:
        while not self._over.wait(_OFTEN):
            self._look()

    def end(self) -> Children:
        """Look no more, and let none survive; what there was."""
        self._over.set()
        self.join()
        give_up = time.monotonic() + _LATEST
        while (left := self._left()) and time.monotonic() < give_up:
            for each in left:
                with contextlib.suppress(OSError):
                    os.kill(each, signal.SIGKILL)
            for each in left:
                with contextlib.suppress(OSError):
                    os.waitpid(each, os.WNOHANG)
            time.sleep(0.01)
        _adopt(0)
        return self.found

    def _look(self) -> None:
        below = {*_below(self._process)}
        staying, self._last = below & self._last, below
        self._known |= below
        weights = [weight for each in staying if (weight := _weight(each))]
        self.found = Children(
            max(self.found.most, len(weights)),
            max([self.found.largest, *(greatest for greatest, _ in weights)]),
            max(self.found.together, sum(anonymous for _, anonymous in weights)),
        )

    def _left(self) -> set[int]:
        """What lives of the family, wherever it has gone."""
        ours = set(_children(os.getpid())) - self._strangers - {self._process}
        adopted = {each for each in ours if each in self._known or _is_older(self._process, each)}
        found = {below for each in adopted for below in (each, *_below(each))}
        return {each for each in found if _state(each) not in ("", "Z", "X")}


def _adopt(yes: int) -> None:
    """Become, or be no more, the parent of what is left alone below."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SET_SUBREAPER, yes, 0, 0, 0)


def _children(process: int) -> list[int]:
    found: list[int] = []
    for place in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, place.read_text("ascii").split())
    return found


def _below(process: int) -> Iterator[int]:
    for child in _children(process):
        yield child
        yield from _below(child)


def _weight(process: int) -> tuple[int, int] | None:
    """The most that a process had resident, and what of it now is no page of a file."""
    with contextlib.suppress(OSError, ValueError):
        lines = Path(f"/proc/{process}/status").read_text("ascii", "replace").splitlines()
        fields = dict(line.split(":", 1) for line in lines if ":" in line)
        if "VmHWM" in fields:
            greatest, anonymous = (int(fields[name].split()[0]) for name in _FIELDS)
            return greatest << 10, anonymous << 10
    return None


def _state(process: int) -> str:
    fields = _stat(process)
    return fields[0] if fields else ""


def _is_older(one: int, other: int) -> bool:
    """Whether one process was started before the other; one that is gone was."""
    first, second = _stat(one), _stat(other)
    return not first or (bool(second) and int(first[19]) <= int(second[19]))


def _stat(process: int) -> list[str]:
    with contextlib.suppress(OSError):
        return (
            Path(f"/proc/{process}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        )
    return []
