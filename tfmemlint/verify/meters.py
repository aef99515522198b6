"""What weighs a program from within: each meter is set going before it, and read after it."""

from __future__ import annotations

import contextlib
import gc
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import combinations, pairwise
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

from tfmemlint.verify.devices import Device

FEWEST_STEPS = 30
_MOMENTS = 600  # an even number


class MeasuringError(Exception):
    """This program or machine does not give the figure asked for; the message says why."""


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


def slope(readings: Sequence[float]) -> float:
    """Growth per step: the median slope of all pairs (Theil-Sen), without the first third."""
    settled = list(enumerate(readings))[len(readings) // 3 :]
    stride = len(settled) // 300 + 1
    return statistics.median(
        (later - earlier) / (after - before)
        for (before, earlier), (after, later) in combinations(settled[::stride], 2)
    )


def _device_peak(tf: Any, device: Device) -> Meter:
    held = _device_bytes(tf, device)
    tf.config.experimental.reset_memory_stats(device.address)
    before_resets = 0

    def now() -> Reading:
        info = tf.config.experimental.get_memory_info(device.address)
        return Reading(info["current"] - held, max(info["peak"], before_resets) - held)

    def note() -> None:
        nonlocal before_resets
        before_resets = max(before_resets, _device_bytes(tf, device, "peak"))

    _before_resets(note)

    return Meter("TensorFlow's allocator", lambda: now().peak, now=now)


def _before_resets(note: Callable[[], None]) -> None:
    """Have something done before the program makes TensorFlow forget the peak."""
    with contextlib.suppress(ImportError, AttributeError):  # where private names have changed
        context: Any = import_module("tensorflow.python.eager.context").Context
        reset = context.reset_memory_stats

        def note_and_reset(owner: Any, *args: Any) -> Any:
            note()
            return reset(owner, *args)

        context.reset_memory_stats = note_and_reset


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
    before_resets = 0

    def now() -> Reading:
        return Reading(_status("VmRSS") - held, max(_status("VmHWM"), before_resets) - held)

    def on_event(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal before_resets
        if event == "open" and arguments and str(arguments[0]).endswith("/clear_refs"):
            before_resets = max(before_resets, _status("VmHWM"))

    sys.addaudithook(on_event)

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


def sampled(now: Callable[[], Reading]) -> Callable[[], list[list[float]]]:
    """Begin to read what is held every few milliseconds; what is returned ends it.

    A peak that came and went between two readings is shown at the second; the last one is taken at
    the end. As the program goes on, readings are put together by twos and taken half as often:
    there are never more than a few hundred.
    """
    start, pause, over = time.perf_counter(), 0.002, Event()
    moments: list[list[float]] = []

    def read(highest: float) -> None:
        nonlocal moments, pause
        ended = False
        while not ended:
            ended = over.wait(pause)
            held, peak = now()
            moments.append([time.perf_counter() - start, peak if peak > highest else held])
            highest = max(highest, peak)
            if len(moments) == _MOMENTS:
                moments = [
                    [later[0], max(one[1], later[1])]
                    for one, later in zip(moments[::2], moments[1::2], strict=True)
                ]
                pause *= 2

    sampler = Thread(target=read, args=[now().peak], daemon=True)
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
NEED_STEPS = ("device growth", "host growth", "step time")
