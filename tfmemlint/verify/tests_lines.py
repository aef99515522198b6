"""Which lines of a test, and of what it calls, answer for the device's peak."""

from __future__ import annotations

import linecache
import os
import sys
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from tfmemlint.measure import device
from tfmemlint.measure.allocations import Ledger, Peak, Trace
from tfmemlint.measure.origins import Origins
from tfmemlint.measure.statements import Statement, Statements, is_users
from tfmemlint.measure.watching import RISES, Watch
from tfmemlint.report.figures import size

_MATTERS = 0.1
"""The part of the peak from which on a line is named."""
_MOST_LINES = 3


def watch(tf: Any, address: str, root: Path) -> Callable[[], Sequence[str]]:
    """Look on at every line below the root from now on; what is returned ends that and tells.

    Only lines of the user's own are named: what a library does is done by the line that calls it.
    """
    statements = Statements()
    statements.add(Statement("", 0, 0, ""))  # before the first one
    own: dict[str, bool] = {}

    def is_own(file: str) -> bool:
        if file not in own:
            own[file] = is_users(file, root)
        return own[file]

    def locate(file: str, line: int) -> int | None:
        if not is_own(file):
            return None
        number = statements.at(file, line)
        return statements.add(Statement(file, line, line, "")) if number is None else number

    watching = Watch(memoryview(array("q", bytes(8 * RISES))), lambda: None)
    watching.read = device.reader(tf, address)
    origins = Origins(locate, lambda: watching.running)
    origins.listen()
    stop_tracing = _traced(tf, address, origins, watching)
    before = sys.gettrace()

    def local(frame: FrameType, event: str, arg: object) -> Any:
        if event == "line":
            watching.at(locate(frame.f_code.co_filename, frame.f_lineno) or 0)
        elif event == "return":
            watching.leave()
        return local

    def on_call(frame: FrameType, event: str, arg: object) -> Any:
        if not is_own(frame.f_code.co_filename):
            return None
        watching.enter()
        return local

    def stop() -> Sequence[str]:
        sys.settrace(before)
        watching.stop()
        peak = stop_tracing()
        stack = (peak and peak.stack) or watching.peak_stack
        told = (
            [f"the device peak stood at {_place(statements.all[stack[-1]], root)}"] if stack else []
        )
        return [*told, *_held(peak, statements, root)]

    sys.settrace(on_call)
    return stop


def _traced(tf: Any, address: str, origins: Origins, watching: Watch) -> Callable[[], Peak | None]:
    """Begin to trace allocations; what is returned ends that and tells what was alive at the peak.

    It tells nothing where that is not known: where the test profiles itself, or TensorFlow's
    private modules have changed.
    """
    folder = tempfile.TemporaryDirectory(prefix="tfmemlint-", ignore_cleanup_errors=True)
    ledger = Ledger(origins.attribute)
    given_way = False

    def give_way() -> None:
        nonlocal given_way
        given_way = True
        trace.stop()

    try:
        trace = Trace(
            tf, Path(folder.name, "trace"), "gpu_0" if "GPU" in address else "cpu", give_way
        )
        trace.start()
    except Exception:  # noqa: BLE001  private modules may fail in any way
        return lambda: None

    def stop() -> Peak | None:
        with folder:
            if given_way:
                return None
            ledger.add(trace.events(trace.stop()), watching.timeline)
        return ledger.peak if ledger.peak.bytes else None

    return stop


def _held(peak: Peak | None, statements: Statements, root: Path) -> Iterator[str]:
    """The lines that held most of it, most first."""
    held: Counter[int] = Counter()
    for each in peak.alive if peak else ():
        held[each.origin.holder if each.origin else 0] += each.bytes
    total = held.total()
    for number, amount in held.most_common(_MOST_LINES):
        if number and amount >= _MATTERS * total:
            place = _place(statements.all[number], root)
            yield f"{size(amount)} of it were held by {place}"


def _place(statement: Statement, root: Path) -> str:
    shown = Path(os.path.relpath(statement.path, root)).as_posix()
    code = linecache.getline(statement.path, statement.line).strip()
    return f"{shown}:{statement.line}: {code}"
