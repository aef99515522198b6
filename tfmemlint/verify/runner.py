"""Runs one program in a fresh process and weighs it; needs nothing but Python and TensorFlow.

Started as `python -I runner.py REQUEST`. REQUEST is JSON and names the file the figures go to: what
the program prints stays its own.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import gc
import io
import json
import os
import platform
import random
import signal
import statistics
import sys
import time
import tokenize
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module, metadata
from importlib.machinery import PathFinder
from itertools import combinations, pairwise
from pathlib import Path
from threading import Event, Thread
from types import CodeType, ModuleType
from typing import Any, NamedTuple, TypeGuard

STEP = "step"
"""What the comment says on the line after which a program has done one step."""
FEWEST_STEPS = 30

_STEP_DONE = "_tfmemlint_step_done"
_ARENA = 2 << 30  # bytes: more than any program holds at once
_MOMENTS = 600  # an even number
_LARGEST_FILE = 4 << 30
_NEW_USERS, _NEW_NETWORK = 0x10000000, 0x40000000  # of unshare(2)


class MeasuringError(Exception):
    """This program or machine does not give the figure asked for; the message says why."""


class SetupError(Exception):
    """What it takes to run any program is missing; the message says what."""


class Device(NamedTuple):
    """Where TensorFlow puts a program's tensors."""

    address: str
    kind: str
    name: str


class Meter(NamedTuple):
    """Set going just before the program; `stop` gives the figure once it has ended."""

    name: str
    stop: Callable[[], float]
    step: Callable[[], None] | None = None
    now: Callable[[], Reading] | None = None


class Reading(NamedTuple):
    """What is held at one moment, and the most that was ever held."""

    held: float
    peak: float


def main(request: dict[str, Any]) -> None:
    """Weigh the program and leave the figures in the file that the request names."""
    try:
        report = _weigh(request)
    except MeasuringError as reason:
        report = {"problem": str(reason)}
    except SetupError as reason:
        report = {"unavailable": str(reason)}
    Path(request["figures"]).write_text(json.dumps(report), encoding="utf-8")


def marked_lines(text: str, word: str) -> set[int]:
    """The numbers of the lines with a comment that says `# word`, alone or beside others."""
    return {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
        and word in (part.strip() for part in token.string.split("#"))
    }


def is_simple(node: object) -> TypeGuard[ast.stmt]:
    """Whether this is a statement, and not one that holds others."""
    return isinstance(node, ast.stmt) and not (hasattr(node, "body") or hasattr(node, "cases"))


def line_numbers(statement: ast.stmt) -> set[int]:
    """The lines a statement stands on."""
    return set(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))


def slope(readings: Sequence[float]) -> float:
    """Growth per step: the median slope of all pairs (Theil-Sen), without the first third."""
    settled = list(enumerate(readings))[len(readings) // 3 :]
    stride = len(settled) // 300 + 1
    return statistics.median(
        (later - earlier) / (after - before)
        for (before, earlier), (after, later) in combinations(settled[::stride], 2)
    )


def _weigh(request: dict[str, Any]) -> dict[str, Any]:
    signal.alarm(int(request["seconds"]) + 10)  # the parent may be killed before it can end us
    own: dict[str, Any] | None = request["own"]
    if own is None:
        _confine()
    if request["metric"] != "step time":
        _stay_on_one_processor()
    path: str = request["program"]
    with tokenize.open(path) as file:
        text = file.read()
    tree = ast.parse(text, path)
    steps = _mark_steps(tree, marked_lines(text, STEP))
    if not steps and request["metric"] in _NEED_STEPS:
        raise MeasuringError(f"no simple statement is marked `# {STEP}`")
    code = compile(tree, path, "exec")

    tf = _tensorflow(request["packages"])
    device = choose_device(tf, request["device"], request["limit"])
    if device.kind == "cpu" and not own:  # a GPU's driver reserves far more addresses than memory
        _limit("RLIMIT_AS", request["memory"])
    roomy = request["metric"].startswith("device") and request["limit"] is None
    filler = prewarm(tf, device) if roomy else None
    warm_up(tf, _imported(tree, own["path"] if own else []))
    _seed(tf)

    program = _program(path, own)
    meter = METERS[request["metric"]](tf, device)
    vars(program)[_STEP_DONE] = meter.step or (lambda: None)
    curve = _sampled(meter.now) if request["curve"] and meter.now else list
    _execute(code, program)
    figure = meter.stop()
    del filler
    return {
        "figure": figure,
        "curve": curve(),
        "meter": meter.name,
        "device": {"kind": device.kind, "name": device.name},
        "versions": {
            "keras": metadata.version("keras"),
            "numpy": metadata.version("numpy"),
            "python": platform.python_version(),
            "tensorflow": tf.__version__,
        },
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


def _stay_on_one_processor() -> None:
    """Threads then race less to free tensors, and the number of processors does not matter."""
    if sys.platform == "linux":
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {processors[os.getpid() % len(processors)]})


def _limit(name: str, amount: int) -> None:
    import resource  # noqa: PLC0415  there is none on Windows

    kind: int = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        amount = min(amount, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses some
        resource.setrlimit(kind, (amount, hard))


def _tensorflow(packages: str) -> Any:
    if packages not in sys.path:  # a user's own site-packages, which `python -I` leaves out
        sys.path.append(packages)
    try:
        return import_module("tensorflow")
    except ImportError as error:
        raise SetupError(f"TensorFlow is installed but cannot be imported: {error}") from error


def choose_device(tf: Any, wanted: str, limit: int | None = None) -> Device:
    """Where TensorFlow is to put what it computes: `auto`, `gpu` or `cpu` is wanted.

    A limit is in megabytes, and for a GPU: the CPU's is set by its environment.
    """
    gpus = tf.config.list_physical_devices("GPU")
    if wanted == "gpu" and not gpus:
        raise SetupError("TensorFlow sees no GPU")
    if wanted == "cpu" or not gpus:
        tf.config.set_visible_devices([], "GPU")
        return Device("CPU:0", "cpu", _processor())
    for gpu in gpus:
        if limit is None:
            tf.config.experimental.set_memory_growth(gpu, True)
        else:
            small = tf.config.LogicalDeviceConfiguration(memory_limit=limit)
            tf.config.set_logical_device_configuration(gpu, [small])
    details = tf.config.experimental.get_device_details(gpus[0])
    return Device("GPU:0", "gpu", details.get("device_name", "unnamed"))


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def prewarm(tf: Any, device: Device) -> Any:
    """Give the allocator one large free region, so that it need not round what is asked for.

    What is returned has to be kept: it fills the region of 2 MB that the very first operation
    opens, which would otherwise count as a whole for any tensor of 1 to 2 MB that lands in it.
    The arena is never written to, and so costs addresses and hardly any memory.
    """
    size = _ARENA
    with tf.device(device.address):
        filler = tf.raw_ops.Empty(shape=[1 << 18], dtype=tf.float32, init=False)
        while size >= 64 << 20:
            try:
                tf.raw_ops.Empty(shape=[size // 4], dtype=tf.float32, init=False)
                break
            except tf.errors.ResourceExhaustedError:
                size //= 2
    return filler


def warm_up(tf: Any, modules: set[str]) -> None:
    """Load and start what is set up once in a process, whatever the program goes on to do."""
    for name in sorted(modules):
        with contextlib.suppress(ImportError):  # the program will say it better
            import_module(name)

    def square(x: Any) -> Any:
        return tf.reduce_sum(tf.matmul(x, x))

    with tf.GradientTape() as tape:
        x = tf.ones([4, 4])
        tape.watch(x)
        y = tf.function(square)(x)
    tape.gradient(y, x)
    for _ in tf.data.Dataset.from_tensors([[1.0]]).map(square).batch(1):
        pass
    del tape, x, y
    gc.collect()


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


def _mark_steps(tree: ast.Module, lines: set[int]) -> int:
    """Have each simple statement on one of the lines followed by a call of the meter."""
    blocks: list[list[ast.AST]] = [
        values
        for node in ast.walk(tree)
        for _, values in ast.iter_fields(node)
        if isinstance(values, list)
    ]
    found = 0
    for block in blocks:
        for statement in block.copy():
            if is_simple(statement) and lines & line_numbers(statement):
                call = ast.Expr(ast.Call(ast.Name(_STEP_DONE, ast.Load()), [], []))
                ast.copy_location(call, statement)
                block.insert(block.index(statement) + 1, ast.fix_missing_locations(call))
                found += 1
    return found


def _device_peak(tf: Any, device: Device) -> Meter:
    held = _device_bytes(tf, device)
    tf.config.experimental.reset_memory_stats(device.address)

    def now() -> Reading:
        info = tf.config.experimental.get_memory_info(device.address)
        return Reading(info["current"] - held, info["peak"] - held)

    return Meter("TensorFlow's allocator", lambda: now().peak, now=now)


def _device_growth(tf: Any, device: Device) -> Meter:
    readings: list[float] = []

    def step() -> None:
        gc.collect()
        readings.append(_device_bytes(tf, device))

    _device_bytes(tf, device)
    gc.freeze()  # collecting after every step is then cheap: only the program's own are looked at
    return Meter("TensorFlow's allocator", lambda: _growth(readings), step)


def _device_bytes(tf: Any, device: Device, which: str = "current") -> int:
    try:
        held: int = tf.config.experimental.get_memory_info(device.address)[which]
    except ValueError as error:
        raise MeasuringError(f"{device.address} does not tell how much memory is in use") from error
    return held


def _host_peak(tf: Any, device: Device) -> Meter:
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        start = _greatest_ever()
        return Meter("ru_maxrss", lambda: _greatest_ever() - start)
    held = _status("VmHWM")

    def now() -> Reading:
        return Reading(_status("VmRSS") - held, _status("VmHWM") - held)

    return Meter("VmHWM", lambda: now().peak, now=now)


def _host_growth(tf: Any, device: Device) -> Meter:
    readings: list[float] = []

    def step() -> None:
        gc.collect()
        readings.append(_status("RssAnon"))

    try:
        _status("RssAnon")
    except OSError as error:
        raise MeasuringError("growth of the host's memory can be told on Linux only") from error
    gc.freeze()
    return Meter("RssAnon", lambda: _growth(readings), step)


def _step_time(tf: Any, device: Device) -> Meter:
    moments: list[float] = []

    def stop() -> float:
        _enough(moments)
        settled = moments[len(moments) // 3 :]
        return statistics.median(after - before for before, after in pairwise(settled))

    return Meter("perf_counter", stop, lambda: moments.append(time.perf_counter()))


def _traces(tf: Any, device: Device) -> Meter:
    functions = _functions_made_from_now(tf)
    return Meter(
        "tracing count", lambda: sum(each.experimental_get_tracing_count() for each in functions)
    )


def _graph_bytes(tf: Any, device: Device) -> Meter:
    functions = _functions_made_from_now(tf)

    def stop() -> float:
        try:
            traced = [one for each in functions for one in each._list_all_concrete_functions()]
        except AttributeError as error:
            raise MeasuringError(
                f"TensorFlow {tf.__version__} does not list a function's graphs"
            ) from error
        sizes: list[int] = [one.graph.as_graph_def().ByteSize() for one in traced]
        return sum(sizes)

    return Meter("GraphDef size", stop)


def _functions_made_from_now(tf: Any) -> list[Any]:
    """Every `tf.function` as it is made, Keras's own and those bound to an instance included."""
    made: list[Any] = []
    function: Any = tf.function(gc.collect)
    kind: Any = function.__class__
    begin = kind.__init__

    def remember(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        made.append(self)

    kind.__init__ = remember
    return made


def _sampled(now: Callable[[], Reading]) -> Callable[[], list[list[float]]]:
    """Begin to read what is held every few milliseconds; what is returned ends it.

    A peak that came and went between two readings is shown at the second. As the program goes on,
    readings are put together by twos and taken half as often: there are never more than a few
    hundred.
    """
    start, pause, over = time.perf_counter(), 0.002, Event()
    moments: list[list[float]] = []

    def read() -> None:
        nonlocal moments, pause
        highest = now().peak
        while not over.wait(pause):
            held, peak = now()
            moments.append([time.perf_counter() - start, peak if peak > highest else held])
            highest = max(highest, peak)
            if len(moments) == _MOMENTS:
                moments = [
                    [later[0], max(one[1], later[1])]
                    for one, later in zip(moments[::2], moments[1::2], strict=True)
                ]
                pause *= 2

    sampler = Thread(target=read, daemon=True)
    sampler.start()

    def end() -> list[list[float]]:
        over.set()
        sampler.join()
        return [[round(moment, 4), max(0, held)] for moment, held in moments]

    return end


def _growth(readings: Sequence[float]) -> float:
    _enough(readings)
    return max(0.0, slope(readings))


def _enough(steps: Sequence[float]) -> None:
    if len(steps) < FEWEST_STEPS:
        raise MeasuringError(f"{len(steps)} steps were made; it takes {FEWEST_STEPS} or more")


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        name, _, amount = line.partition(":")
        if name == key:
            return int(amount.split()[0]) * 1024
    raise OSError(key)


def _greatest_ever() -> int:
    import resource  # noqa: PLC0415  there is none on Windows

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


METERS: dict[str, Callable[[Any, Device], Meter]] = {
    "device peak": _device_peak,
    "host peak": _host_peak,
    "device growth": _device_growth,
    "host growth": _host_growth,
    "traces": _traces,
    "graph bytes": _graph_bytes,
    "step time": _step_time,
}
_NEED_STEPS = ("device growth", "host growth", "step time")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # taking TensorFlow down in good order takes half a second and tells nothing
