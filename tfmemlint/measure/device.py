"""The device that is watched: chosen, given room, and read from."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

from tfmemlint.measure.watching import Reading

_ARENA = 2 << 30
_REGION = 4 << 20  # what the allocator takes before the arena is asked for


class NoSuchDeviceError(Exception):
    """The device that was asked for is not there, or cannot be made as small; says why."""


def choose(tf: Any, wanted: str, limit: int | None) -> str:
    """The device to watch; with the limit set, where that is TensorFlow's to set."""
    gpus: list[Any] = tf.config.list_physical_devices("GPU")
    if wanted == "cpu":
        gpus = []
    if wanted == "gpu" and not gpus:
        raise NoSuchDeviceError("TensorFlow sees no GPU")
    if gpus and limit:
        configuration = tf.config.LogicalDeviceConfiguration(memory_limit=limit >> 20)
        try:
            tf.config.set_logical_device_configuration(gpus[0], [configuration])
        except (RuntimeError, ValueError) as error:
            raise NoSuchDeviceError(f"the GPU cannot be made smaller: {error}") from error
    return "GPU:0" if gpus else "CPU:0"


def warm(tf: Any, device: str, limit: int | None) -> None:
    """Give a CPU's allocator one large free region, as a GPU's has from the start."""
    size = _ARENA if limit is None else limit - _REGION
    if device != "CPU:0" or size < _REGION:
        return
    with tf.init_scope(), tf.device(device):
        with contextlib.suppress(tf.errors.ResourceExhaustedError):
            tf.raw_ops.Empty(shape=[size // 4], dtype=tf.float32, init=False)
        with contextlib.suppress(ValueError):
            tf.config.experimental.reset_memory_stats(device)


def reader(tf: Any, device: str) -> Callable[[], Reading]:
    """What reads how much is in use; raises whatever it pleases if the device keeps no account."""
    try:
        read = import_module("tensorflow.python.pywrap_tfe").TFE_GetMemoryInfo
        context: Any = import_module("tensorflow.python.eager.context").context()
        read(context._context_handle, device)
    except (ImportError, AttributeError):

        def read_publicly() -> Reading:
            info = tf.config.experimental.get_memory_info(device)
            return Reading(info["current"], info["peak"])

        return read_publicly

    def read_directly() -> Reading:
        info = read(context._context_handle, device)
        return Reading(info["current"], info["peak"])

    return read_directly
