"""What `verify` says to people: progress, and what a program said, made harmless."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from shutil import get_terminal_size

from tfmemlint.verify.processes import SetupError

GOOD, NOT_GOOD, FAILED, INTERRUPTED = 0, 1, 2, 130
"""Exit codes."""

Tell = Callable[[str], None]
"""Says what is going on."""

_LAST_LINES = 8
_LOGGED = re.compile(r"[IW]\d{4} \d\d:|[IW]0000 |WARNING: All log messages before absl::Init")


class UsageError(Exception):
    """What was asked for cannot be done; the message says why."""


def in_good_order(action: Callable[[Tell], int]) -> int:
    """Do something long that may be impossible or be interrupted; the exit code."""
    tell = progress()
    try:
        return action(tell)
    except (SetupError, UsageError) as reason:
        tell("")
        return refuse(str(reason))
    except KeyboardInterrupt:
        tell("")
        print("tfmemlint verify: interrupted", file=sys.stderr)
        return INTERRUPTED


def refuse(reason: str) -> int:
    """Say why nothing was measured; the exit code for that."""
    print(f"tfmemlint verify: {printable(reason)}", file=sys.stderr)
    return FAILED


def printable(text: str) -> str:
    """Text that a terminal shows as it is: nothing in it moves a cursor or changes a colour."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def progress() -> Tell:
    """Says what is going on in one line that the next overwrites; silent where nobody watches."""
    if not sys.stderr.isatty():
        return lambda message: None

    width = min(78, get_terminal_size().columns - 1)

    def tell(message: str) -> None:
        print(f"\r{message:<{width}.{width}}\r", end="", file=sys.stderr, flush=True)

    return tell


def last_lines(stderr: str) -> list[str]:
    """The end of what a program said of itself, without what TensorFlow logs."""
    lines = [line for line in stderr.splitlines() if line.strip() and not _LOGGED.match(line)]
    return [printable(line) for line in lines[-_LAST_LINES:]]
