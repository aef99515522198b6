"""What `verify` says to people: progress, and what a program said, made harmless."""

from __future__ import annotations

import contextlib
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from shutil import get_terminal_size
from threading import Lock
from types import FrameType
from typing import NoReturn

from tfmemlint.refusing import refuse
from tfmemlint.verify.devices import SetupError

GOOD, NOT_GOOD, INTERRUPTED = 0, 1, 130
"""Exit codes, beside that for what cannot be done."""

_LAST_LINES = 8
_BAR = 20
_LOGGED = re.compile(r"[IW]\d{4} \d\d:|[IW]0000 |WARNING: All log messages before absl::Init")


class UsageError(Exception):
    """What was asked for cannot be done; the message says why."""


class Progress:
    """Says what is going on in one line that the next overwrites; silent where nobody watches.

    May be told from any thread.
    """

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._lock = Lock()
        self._started = time.monotonic()
        self._steps = 0
        self._begun = 0

    def plan(self, steps: int) -> None:
        """So many steps there are to be."""
        self._steps, self._begun, self._started = steps, 0, time.monotonic()

    def tell(self, step: str) -> None:
        """A step begins, which is the end of another."""
        with self._lock:
            self._begun += 1
            done = min(self._begun - 1, self._steps)
            self._show(bar(done, self._steps, time.monotonic() - self._started) + step)

    def skip(self, steps: int) -> None:
        """So many steps are not taken; if less than none, there were more than planned."""
        with self._lock:
            self._begun += steps

    def clear(self) -> None:
        """Leave the line to others."""
        with self._lock:
            self._show("")

    def _show(self, line: str) -> None:
        if self._shown:
            width = min(100, get_terminal_size().columns - 1)
            print(f"\r{line:<{width}.{width}}\r", end="", file=sys.stderr, flush=True)


def bar(done: int, steps: int, seconds: float) -> str:
    """How far it is and how long it will take still, as long as both are known."""
    if not 0 <= done <= steps or not steps:
        return ""
    full = _BAR * done // steps
    left = f", {duration(seconds * (steps - done) / done)} left" if done else ""
    return f"[{'#' * full}{'.' * (_BAR - full)}] {done} of {steps} runs{left}: "


def duration(seconds: float) -> str:
    """About how long, in words."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def in_good_order(action: Callable[[Progress], int]) -> int:
    """Do something long that may be impossible or be interrupted; the exit code."""
    progress = Progress()
    try:
        with ended_in_good_order():
            return action(progress)
    except (SetupError, UsageError) as reason:
        progress.clear()
        return refuse(str(reason))
    except KeyboardInterrupt:
        progress.clear()
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


@contextlib.contextmanager
def ended_in_good_order() -> Generator[None]:
    """Let `kill`, `timeout` and a terminal that is closed end this as if it had ended by itself.

    So that programs that it runs are ended, too, and their files removed.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
        before = {each: signal.getsignal(each) for each in map(signal.Signals.__getitem__, names)}
    ours = [each for each, handler in before.items() if handler is signal.SIG_DFL]
    for each in ours:
        signal.signal(each, _end)
    try:
        yield
    finally:
        for each in ours:
            signal.signal(each, signal.SIG_DFL)


def _end(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def printable(text: str) -> str:
    """Text that a terminal shows as it is: nothing in it moves a cursor or changes a colour."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def last_lines(stderr: str) -> list[str]:
    """The end of what a program said of itself, without what TensorFlow logs."""
    lines = [line for line in stderr.splitlines() if line.strip() and not _LOGGED.match(line)]
    return [printable(line) for line in lines[-_LAST_LINES:]]
