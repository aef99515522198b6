"""What a process is started with: to run one program, or to be forked for each of many.

A fork is spared the seconds that it takes to import TensorFlow. It is as good as a process of its
own as long as nothing has been run in what it is forked from, and no thread been started there.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from tfmemlint.verify import pages_held, runner
from tfmemlint.verify.devices import SetupError, import_tensorflow
from tfmemlint.verify.ending import status_of

LONGEST_REQUEST = 1 << 20
_OURS: dict[str, ModuleType] = {}
"""Modules of ours that have been imported, and taken away from the program."""

_OF_TRACED = "__autograph_generated_file"
_DRIVERS = ("nvidia[0-9]*", "nvidiactl", "kfd", "dxg")
"""What the drivers of NVIDIA and AMD, and of Windows for what runs in its Linux, have in /dev."""


def main(task: str, argument: str) -> None:
    """Do what the process is for."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "tfmemlint"]:
        _OURS[name] = sys.modules.pop(name)  # the program is to find nothing of ours
    if task == "run":
        runner.main(json.loads(argument))
        _leave(0)
    _serve(**json.loads(argument))


def _serve(packages: str, number: int, modules: Sequence[str] = ()) -> None:
    """Fork for each request; say first whether that can be done."""
    with socket.socket(fileno=number) as line:
        line.set_inheritable(False)
        _tell(line, _readiness(packages, modules))
        pages = _pages()
        _tell(line, {"weighs_host": bool(pages)})
        while asked := _next(line):
            request, streams = asked
            child = os.fork()
            if not child:
                _become(request, streams, line, pages)
            for stream in streams:
                os.close(stream)
            _, status = os.waitpid(child, 0)
            _tell(line, {"ended": os.waitstatus_to_exitcode(status)})


def _readiness(packages: str, modules: Sequence[str]) -> dict[str, Any]:
    try:
        import_tensorflow(packages)
        for name in modules:
            import_module(name)
    except SetupError as reason:
        return {"unavailable": str(reason)}
    threads = len(list(Path("/proc/self/task").iterdir()))
    return {"ready": threads == 1 and not may_see_gpus(Path("/dev"))}


def _pages() -> tuple[pages_held.Stretch, ...]:
    """What a fork has to fetch to be like a process of its own; none where it cannot."""
    try:
        pages = pages_held.in_memory()
    except OSError:
        return ()
    return pages if pages_held.fetch(pages) else ()


def may_see_gpus(devices: Path) -> bool:
    """Whether there is a driver of GPUs that have not been hidden; it is looked for, not asked.

    What TensorFlow was built for says nothing: its usual wheel is built for CUDA everywhere.
    """
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") == "-1"
    there = any(next(devices.glob(name), None) is not None for name in _DRIVERS)
    return there and not hidden


def _next(line: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next request, and where the program is to print; None if there is none any more."""
    try:
        data, streams, _, _ = socket.recv_fds(line, LONGEST_REQUEST, 2)
    except ConnectionError:
        return None
    return (json.loads(data), streams) if data else None


def _become(
    asked: dict[str, Any],
    streams: list[int],
    line: socket.socket,
    pages: Sequence[pages_held.Stretch],
) -> None:
    """In a fork: be a process like any other, run the program, and end."""
    status = 1
    try:
        os.setsid()
        _tell(line, {"started": os.getpid()})
        line.close()
        for number, stream in enumerate(streams, 1):
            os.dup2(stream, number)
            os.close(stream)
        signal.set_wakeup_fd(-1)
        os.environ.update(asked["environment"])
        tempfile.tempdir = None
        if asked["of_host"]:
            pages_held.fetch(pages)
        os.chdir(asked["folder"])
        if "pytest" in asked["request"]:
            status = _test(asked["request"]["pytest"])
        elif "measure" in asked["request"]:
            _measure(**asked["request"])
        else:
            runner.main(asked["request"])
            status = 0
    except SystemExit as end:
        status = status_of(end)
    except BaseException:  # noqa: BLE001  as Python itself would
        traceback.print_exc()
    finally:
        _leave(status)


def _test(arguments: list[str]) -> int:
    """What `python -m pytest` does."""
    import pytest  # noqa: PLC0415  a user's tests are run, so it is there

    if sys.path[0] == "":
        sys.path[0] = os.getcwd()  # noqa: PTH109
    sys.argv = ["pytest", *arguments]
    return int(pytest.main(arguments))


def _measure(measure: dict[str, Any], path: list[str]) -> None:
    """What `tfmemlint measure` has a process do; raises SystemExit."""
    sys.modules.update(_OURS)
    from tfmemlint.measure.inside import main  # noqa: PLC0415  nothing else needs it

    sys.path[:0] = path
    main(json.dumps(measure))


def _leave(status: int) -> None:
    """Taking TensorFlow down in good order takes half a second and tells nothing.

    But it would take away the files that it has written of the functions it has traced.
    """
    for name, module in [*sys.modules.items()]:
        if name.startswith(_OF_TRACED):
            for written in filter(None, (module.__file__, module.__cached__)):
                Path(written).unlink(missing_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _tell(line: socket.socket, what: dict[str, Any]) -> None:
    try:
        line.send(json.dumps(what).encode())
    except OSError:  # nobody listens any more
        os._exit(1)
