"""In the process of one program: confines it, sets its meter going, runs it, leaves the figures."""

from __future__ import annotations

import ast
import contextlib
import ctypes
import json
import os
import platform
import random
import signal
import sys
import tokenize
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module, metadata
from importlib.machinery import PathFinder
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from tfmemlint.verify.devices import (
    Device,
    SetupError,
    choose_device,
    import_tensorflow,
    let_configuration_pass,
    little_room,
    prewarm,
    warm_up,
)
from tfmemlint.verify.ending import keep_for_the_end, wait_for_threads
from tfmemlint.verify.marks import STEP, STEP_DONE, mark_steps, marked_lines
from tfmemlint.verify.meters import METERS, NEED_STEPS, MeasuringError, sampled

_LARGEST_FILE = 4 << 30
_NEW_USERS, _NEW_NETWORK = 0x10000000, 0x40000000  # of unshare(2)


def main(request: dict[str, Any]) -> None:
    """Weigh the program and leave the figures in the file that the request names."""
    try:
        report = _weigh(request)
    except MeasuringError as reason:
        report = {"problem": str(reason)}
    except SetupError as reason:
        report = {"unavailable": str(reason)}
    Path(request["figures"]).write_text(json.dumps(report), encoding="utf-8")


def _weigh(request: dict[str, Any]) -> dict[str, Any]:
    signal.alarm(int(request["seconds"]) + 10)  # the parent may be killed before it can end us
    own: dict[str, Any] | None = request["own"]
    if own is None:
        _confine()
    if request["metric"] != "step time":
        _stay_on_one_processor(request["place"])
    path: str = request["program"]
    with tokenize.open(path) as file:
        text = file.read()
    tree = ast.parse(text, path)
    steps = mark_steps(tree, marked_lines(text, STEP))
    if not steps and request["metric"] in NEED_STEPS:
        raise MeasuringError(f"no simple statement is marked `# {STEP}`")
    code = compile(tree, path, "exec")

    tf = import_tensorflow(request["packages"])
    device = choose_device(tf, request["device"], request["limit"])
    if device.kind == "cpu" and not own:  # a GPU's driver reserves far more addresses than memory
        _limit("RLIMIT_AS", request["memory"])
    roomy = request["metric"].startswith("device") and request["limit"] is None
    filler = prewarm(tf, device) if roomy else None
    warm_up(tf, _imported(tree, own["path"] if own else []))
    crowded = little_room(tf, device) if roomy else None
    passed_over = let_configuration_pass() if own else []
    _seed(tf)

    program = _program(path, own)
    meter = METERS[request["metric"]](tf, device)
    vars(program)[STEP_DONE] = meter.step or (lambda: None)
    curve = sampled(meter.now) if request["curve"] and meter.now else list
    files = {path, program.__file__}
    run_what_was_kept = keep_for_the_end(files.__contains__)
    _execute(code, program)
    _execute_to_the_end(run_what_was_kept)
    report: dict[str, Any] = {
        "figure": meter.stop(),
        "curve": curve(),
        "meter": meter.name,
        "device": {"kind": device.kind, "name": device.name, "driver": device.driver},
        "remarks": [*device.remarks, *filter(None, [crowded]), *_on_a_gpu(device, passed_over)],
        "versions": _versions(tf, device),
    }
    del filler
    return report


def _on_a_gpu(device: Device, remarks: Sequence[str]) -> Sequence[str]:
    return tuple(dict.fromkeys(remarks)) if device.kind == "gpu" else ()


def _versions(tf: Any, device: Device) -> dict[str, str]:
    build: dict[str, str] = tf.sysconfig.get_build_info() if device.kind == "gpu" else {}
    libraries = {name: f"{name}_version" for name in ("cuda", "cudnn")}
    return {
        **{name: build[key] for name, key in libraries.items() if key in build},
        "keras": metadata.version("keras"),
        "numpy": metadata.version("numpy"),
        "python": platform.python_version(),
        "tensorflow": tf.__version__,
    }


def _program(path: str, own: dict[str, Any] | None) -> ModuleType:
    """The module that the program is to run in, and what it finds around it."""
    program = ModuleType("__main__")
    program.__file__ = own["file"] if own else path
    sys.modules["__main__"] = program
    sys.argv = [program.__file__]
    if own:
        program.__package__ = own["package"] or None
        sys.argv += own["arguments"]
        sys.path[:0] = own["path"]
    return program


def _execute_to_the_end(run_what_was_kept: Callable[[], None]) -> None:
    """What Python itself does behind the last line of a program."""
    wait_for_threads()
    try:
        run_what_was_kept()
    except Exception:  # noqa: BLE001  Python, too, says so and goes on
        traceback.print_exc()


def _execute(code: CodeType, program: ModuleType) -> None:
    try:
        exec(code, vars(program))
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    except Exception as error:  # noqa: BLE001  whatever it is, the program is to blame
        if error.__traceback__:  # without this frame, as if the program had been run by itself
            error.__traceback__ = error.__traceback__.tb_next
        traceback.print_exception(error)
        raise SystemExit(1) from None


def _confine() -> None:
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_FSIZE", _LARGEST_FILE)
    if sys.platform == "linux":
        unshare = ctypes.CDLL(None).unshare
        if unshare(_NEW_NETWORK):
            unshare(_NEW_USERS | _NEW_NETWORK)


def _stay_on_one_processor(place: int | None) -> None:
    """Threads then race less to free tensors, and the number of processors does not matter.

    Programs that run side by side, each at its place, do not share one.
    """
    if sys.platform == "linux":
        processors = sorted(os.sched_getaffinity(0))
        chosen = os.getpid() if place is None else place
        os.sched_setaffinity(0, {processors[chosen % len(processors)]})


def _limit(name: str, amount: int) -> None:
    import resource  # noqa: PLC0415  there is none on Windows

    kind: int = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        amount = min(amount, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses some
        resource.setrlimit(kind, (amount, hard))


def _imported(tree: ast.Module, own: Sequence[str]) -> set[str]:
    """The modules a program imports, but those in folders of its own: what they do is its doing."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name for name in names if not PathFinder.find_spec(name.partition(".")[0], own)}


def _seed(tf: Any) -> None:
    random.seed(0)
    import_module("numpy").random.seed(0)
    tf.random.set_seed(0)
