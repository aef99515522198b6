"""`tfmemlint verify --self-check`: known allocations against what the meters say of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tfmemlint.report.figures import amount
from tfmemlint.verify.benches import Bench
from tfmemlint.verify.processes import Job, Machine, ProgramError, Run
from tfmemlint.verify.terminal import GOOD, NOT_GOOD, Progress, in_good_order, printable
from tfmemlint.vocabulary import Metric

_MB = 1 << 20
_SECONDS = 600.0
_CLOSE = 0.05
"""By how much of what is expected a figure may be off, and by a megabyte."""
_SETTINGS = (
    "CUDA_CACHE_PATH",
    "CUDA_DEVICE_ORDER",
    "CUDA_VISIBLE_DEVICES",
    "TF_CUDNN_USE_AUTOTUNE",
    "TF_ENABLE_ONEDNN_OPTS",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_GPU_ALLOCATOR",
    "XLA_FLAGS",
)


class Case(NamedTuple):
    """A program, and what is to be found of it."""

    name: str
    metric: Metric
    text: str
    least: float
    most: float


class Found(NamedTuple):
    """What was found of a case."""

    case: Case
    figures: tuple[float, ...]
    problem: str = ""

    @property
    def good(self) -> bool:
        """Whether every run gave what is expected."""
        low, high = self.case.least, self.case.most
        return not self.problem and all(low <= each <= high for each in self.figures)


def _about(size: float, tolerance: float = _MB) -> tuple[float, float]:
    return size - _CLOSE * size - tolerance, size + _CLOSE * size + tolerance


_TF = "import tensorflow as tf\n"
_CONVOLUTION = """images = tf.zeros([16, 128, 128, 16])
kernel = tf.zeros([3, 3, 16, 16])
y = tf.nn.conv2d(images, kernel, 1, "SAME")
"""
_THREADS = """from threading import Thread
kept = []
def hold():
    kept.append(tf.zeros([8, 1024, 1024]))
threads = [Thread(target=hold) for _ in range(2)]
for thread in threads:
    thread.start()
"""
_FUNCTION = """@tf.function
def f(x):
    return tf.reduce_sum(tf.concat([x, x], axis=0))
f(tf.zeros([8, 1024, 1024]))
"""
_XLA = """@tf.function(jit_compile=True)
def f(x):
    return tf.sort(x, axis=-1)
x = tf.zeros([8, 1024, 1024])
y = f(x)
"""
_GROWING = """kept = []
for _ in range(40):
    kept.append(tf.zeros([256, 1024]))  # step
"""
_RESET = """x = tf.zeros([16, 1024, 1024])
device = "GPU:0" if tf.config.list_logical_devices("GPU") else "CPU:0"
del x
tf.config.experimental.reset_memory_stats(device)
"""

CASES: Sequence[Case] = (
    Case("nothing", Metric.DEVICE_PEAK, _TF, 0, _MB),
    Case(
        "held: 64 MB",
        Metric.DEVICE_PEAK,
        f"{_TF}x = tf.zeros([16, 1024, 1024])\n",
        *_about(64 * _MB),
    ),
    Case(
        "held, and held no more: 64 MB, then 32 MB",
        Metric.DEVICE_PEAK,
        f"{_TF}x = tf.zeros([16, 1024, 1024])\ndel x\ny = tf.zeros([8, 1024, 1024])\n",
        *_about(64 * _MB),
    ),
    Case(
        "a peak that the program resets: 64 MB", Metric.DEVICE_PEAK, _TF + _RESET, *_about(64 * _MB)
    ),
    Case("in two threads: 32 MB each", Metric.DEVICE_PEAK, _TF + _THREADS, *_about(64 * _MB)),
    Case(
        "in a graph: 32 MB, joined to itself",
        Metric.DEVICE_PEAK,
        _TF + _FUNCTION,
        *_about(96 * _MB),
    ),
    Case(  # 16 MB each way; beyond that is scratch, or another layout
        "a convolution: 16 MB to 16 MB, and scratch",
        Metric.DEVICE_PEAK,
        _TF + _CONVOLUTION,
        32 * _MB * (1 - _CLOSE),
        5 * 32 * _MB,
    ),
    Case(
        "an XLA step: 32 MB to 32 MB, and scratch",
        Metric.DEVICE_PEAK,
        _TF + _XLA,
        64 * _MB * (1 - _CLOSE),
        4 * 64 * _MB,
    ),
    Case("growth: 1 MB a step", Metric.DEVICE_GROWTH, _TF + _GROWING, *_about(_MB, 4096)),
    Case(
        "of the host: 64 MB of NumPy's",
        Metric.HOST_PEAK,
        "import numpy as np\nx = np.ones([8, 1024, 1024])\n",
        *_about(64 * _MB, 4 * _MB),
    ),
)
"""Each is run twice: twins have to agree."""


Runs = Callable[[Job], Run]


def check(device: str, *, as_json: bool) -> int:
    """Run all cases, print what came of them; the exit code."""
    return in_good_order(lambda progress: _check(device, as_json, progress))


def _check(device: str, as_json: bool, progress: Progress) -> int:
    progress.plan(2 * len(CASES))
    with Bench(device) as bench:
        found, machine = run_all(device, bench.run, progress.tell)
    progress.clear()
    if as_json:
        print(json.dumps(_record(found, machine), indent=2))
    else:
        print("\n".join(map(printable, told(found, machine))))
    return GOOD if all(each.good for each in found) else NOT_GOOD


def run_all(
    device: str, run: Runs, tell: Callable[[str], None] = lambda _: None
) -> tuple[list[Found], Machine | None]:
    """What is found of each case, and on what; raises SetupError."""
    found: list[Found] = []
    machine = None
    for case in CASES:
        figures: list[float] = []
        problem = ""
        for _ in range(2):
            tell(case.name)
            try:
                ended = run(Job("case.py", case.text, case.metric, device, _SECONDS))
            except ProgramError as error:
                problem = str(error)
                break
            figures.append(ended.figure)
            machine = ended.machine
        if len(figures) > 1 and case.metric is not Metric.HOST_PEAK:
            apart = max(figures) - min(figures)
            if apart > _MB:
                problem = f"twins are {amount(case.metric, apart)} apart"
        found.append(Found(case, tuple(figures), problem))
    return found, machine


def told(found: Sequence[Found], machine: Machine | None) -> Iterator[str]:
    """What came of it, line by line: enough to know the machine by."""
    yield f"{'':<44} {'found':>12} {'expected':>24}"
    for each in found:
        metric = each.case.metric
        figure = amount(metric, max(each.figures)) if each.figures else "-"
        expected = " to ".join(
            amount(metric, max(0.0, limit)) for limit in (each.case.least, each.case.most)
        )
        verdict = "good" if each.good else each.problem or "WRONG"
        yield f"{each.case.name:<44} {figure:>12} {expected:>24}  {verdict}"
    if machine:
        driver = f", driver {machine.driver}" if machine.driver else ""
        yield f"device       {machine.device.upper()}: {machine.device_name}{driver}"
        yield from (f"             {remark}" for remark in machine.remarks)
        yield f"versions     {', '.join(f'{name} {one}' for name, one in machine.versions.items())}"
    settings = ", ".join(f"{name}={value}" for name, value in _environment().items())
    yield f"environment  {settings or 'nothing set that allocators look at'}"
    failed = sum(not each.figures for each in found)
    bad = sum(not each.good for each in found) - failed
    if failed:
        yield f"             {failed} of {len(found)} could not be run"
    yield (
        f"verdict      {bad} of {len(found)} figures are wrong: do not trust this machine's"
        if bad
        else f"verdict      {len(found) - failed} of {len(found)} figures are right"
        + ("" if failed else ": the meters can be trusted here")
    )


def _environment() -> Mapping[str, str]:
    return {name: os.environ[name] for name in _SETTINGS if name in os.environ}


def _record(found: Sequence[Found], machine: Machine | None) -> dict[str, Any]:
    return {
        "cases": [
            {
                "name": each.case.name,
                "metric": each.case.metric.value,
                "least": each.case.least,
                "most": each.case.most,
                "figures": each.figures,
                "good": each.good,
                "problem": each.problem or None,
            }
            for each in found
        ],
        "good": all(each.good for each in found),
        "device": machine and {"kind": machine.device, "name": machine.device_name},
        "driver": machine and machine.driver,
        "versions": machine and dict(machine.versions),
        "environment": dict(_environment()),
    }
