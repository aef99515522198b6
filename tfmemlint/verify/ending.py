"""How a program ended, for those that run it in a process of ours."""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from typing import Any


def status_of(end: SystemExit) -> int:
    """The exit code that Python would end with; what is no number it prints, as Python does."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code, file=sys.stderr)
    return 1


def wait_for_threads() -> None:
    """As Python does when a program has come to its end."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def keep_for_the_end(is_users: Callable[[str], bool]) -> Callable[[], None]:
    """Have what the program registers for its end run when that is asked for.

    What libraries register takes down what the meters read, and is left to Python.
    """
    kept: list[Callable[[], Any]] = []
    register = atexit.register

    def keep(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
        caller = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        if not is_users(caller.f_code.co_filename):
            return register(function, *args, **kwargs)
        kept.append(lambda: function(*args, **kwargs))
        return function

    atexit.register = keep  # type: ignore[assignment]

    def run() -> None:
        while kept:
            kept.pop()()

    return run
