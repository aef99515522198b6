"""The device that programs are run on: chosen, named, and made ready to be weighed."""

from __future__ import annotations

import contextlib
import gc
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

_ARENA = 2 << 30  # bytes: more than any program holds at once
_YOUNG, _ALL = 1, 2  # of the generations that `gc` tells apart


class SetupError(Exception):
    """What it takes to run any program at all is missing; the message says what to do."""


def import_tensorflow(packages: str) -> Any:
    """TensorFlow, from the directory that it is installed in; raises SetupError.

    What importing leaves behind is collected: later on it is enough to look at what is new.
    """
    known = "tensorflow" in sys.modules
    if packages not in sys.path:  # a user's own site-packages, which `python -I` leaves out
        sys.path.append(packages)
    try:
        tensorflow = import_module("tensorflow")
    except ImportError as error:
        raise SetupError(f"TensorFlow is installed but cannot be imported: {error}") from error
    if not known:
        gc.collect()
    return tensorflow


class Device(NamedTuple):
    """Where TensorFlow puts a program's tensors."""

    address: str
    kind: str
    name: str
    driver: str | None = None
    """The version of a GPU's driver; None where there is none, or it does not tell."""
    remarks: tuple[str, ...] = ()
    """What has to be known of the device to make sense of figures."""


def choose_device(tf: Any, wanted: str, limit: int | None = None) -> Device:
    """Where TensorFlow is to put what it computes: `auto`, `gpu` or `cpu` is wanted.

    A limit is in megabytes, and for a GPU: the CPU's is set by its environment. Nothing may have
    used the devices yet.
    """
    gpus = tf.config.list_physical_devices("GPU")
    if wanted == "gpu" and not gpus:
        raise SetupError("TensorFlow sees no GPU")
    if wanted == "cpu" or not gpus:
        tf.config.set_visible_devices([], "GPU")
        return Device("CPU:0", "cpu", _processor())
    gpu = gpus[0]
    tf.config.set_visible_devices([gpu], "GPU")
    if limit is None:
        tf.config.experimental.set_memory_growth(gpu, True)
    else:
        small = tf.config.LogicalDeviceConfiguration(memory_limit=limit)
        tf.config.set_logical_device_configuration(gpu, [small])
    details = tf.config.experimental.get_device_details(gpu)
    name = details.get("device_name", "unnamed")
    return Device("GPU:0", "gpu", name, _driver(), tuple(_remarks(name, len(gpus))))


def _remarks(name: str, gpus: int) -> Iterator[str]:
    if gpus > 1:
        yield f"the first of {gpus} GPUs is used, and the others are hidden"
    if "MIG" in f"{name} {os.environ.get('CUDA_VISIBLE_DEVICES', '')}":
        yield "this is a part of a GPU (MIG): its memory is that part's alone"
    if os.environ.get("TF_CUDNN_USE_AUTOTUNE", "1") != "0":
        yield "what cuDNN tries out for a new shape counts: TF_CUDNN_USE_AUTOTUNE=0 leaves that out"


def device_in_use(tf: Any) -> Device:
    """Where TensorFlow puts what it computes, now that it can no longer be told."""
    address = "GPU:0" if tf.config.list_logical_devices("GPU") else "CPU:0"
    return Device(address, address[:3].lower(), "")


def let_configuration_pass() -> list[str]:
    """What a program says of devices and threads, before it uses any, comes too late by now.

    It is not to die of that: what it says is passed over. What is returned will say so where it
    matters: where the program has hidden all GPUs from itself.
    """
    passed_over: list[str] = []

    def nothing(*arguments: object, **named: object) -> None:
        """In place of what configures."""
        if {"GPU", "gpu"} & {str(each) for each in (*arguments, *named.values())} and [] in (
            *arguments,
            *named.values(),
        ):
            passed_over.append(
                "the program hides GPUs from itself, which is passed over: say --device cpu"
            )

    with contextlib.suppress(ImportError, AttributeError):  # where private names have changed
        context: Any = import_module("tensorflow.python.eager.context").Context
        for name in ("inter_op_parallelism_threads", "intra_op_parallelism_threads"):
            setattr(context, name, getattr(context, name).setter(nothing))
        for kind in ("logical_device_configuration", "memory_growth", "visible_devices"):
            setattr(context, f"set_{kind}", nothing)
    return passed_over


def _driver() -> str | None:
    ask = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(ask, capture_output=True, text=True, timeout=30, check=True).stdout
        return next(iter(told.split()), None)
    return None


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


def little_room(tf: Any, device: Device) -> str | None:
    """What to say of a GPU of which others have left too little for an arena; None if enough.

    To be asked after `prewarm`, which takes what there is, and gives it back.
    """
    if device.kind != "gpu":
        return None
    with tf.device(device.address):
        try:
            tf.raw_ops.Empty(shape=[_ARENA // 8], dtype=tf.float32, init=False)
        except tf.errors.ResourceExhaustedError:
            return (
                f"less than {_ARENA >> 21} MB of the GPU are free: figures may be rounded up, and "
                "programs run out of memory that others have"
            )
    return None


def warm_up(tf: Any, modules: set[str]) -> None:
    """Load and start what is set up once in a process, whatever the program goes on to do."""
    known = len(sys.modules)
    for name in sorted(modules):
        with contextlib.suppress(ImportError):  # the program will say it better
            import_module(name)
    nothing_new = len(sys.modules) == known

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
    gc.collect(_YOUNG if nothing_new else _ALL)
