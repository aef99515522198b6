"""The record that a run leaves behind, in the words of JSON, and the account beside it."""

from __future__ import annotations

import contextlib
import json
import mmap
import platform
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from tfmemlint.measure.allocations import EAGER, Allocation, Origin, Peak
from tfmemlint.measure.watching import RISES

_MOST_STATEMENTS = 1 << 16
"""Statements that have a place in the account."""


def account(path: str) -> memoryview[int]:
    """Shared memory for figures by statement."""
    size = 8 * (RISES + _MOST_STATEMENTS)
    with Path(path).open("w+b") as file:
        file.truncate(size)
        return memoryview(mmap.mmap(file.fileno(), size)).cast("q")


def write(target: Path, record: Mapping[str, Any]) -> None:
    """Replace the record, whole or not at all."""
    unfinished = target.with_suffix(".new")
    unfinished.write_text(json.dumps(record), encoding="utf-8")
    unfinished.replace(target)


def peak_entry(peak: Peak, started: int, watched_stack: Iterable[int]) -> dict[str, Any]:
    """The moment at which most was held, as far as it was traced."""
    traced = peak.bytes > 0
    return {
        "requested": peak.bytes if traced else None,
        "rounded": peak.rounded if traced else None,
        "in_use": peak.in_use if traced else None,
        "at": (peak.nanoseconds - started) / 1e9 if traced else None,
        "stack": list(peak.stack),
        "watched_stack": list(watched_stack),
    }


def held_entries(
    alive: Iterable[Allocation], tf: Any, holder: Callable[[Allocation], int | None]
) -> Iterator[dict[str, Any]]:
    """What was held, tensors alike put together."""
    groups: defaultdict[_Alike, list[int]] = defaultdict(list)
    for each in alive:
        key = _Alike(
            each.origin, each.operation, each.shape, each.data_type, each.during, holder(each)
        )
        groups[key].append(each.bytes)
    for (origin, operation, shape, data_type, during, by), sizes in groups.items():
        layer = origin and origin.layer
        yield {
            "statement": origin.holder if origin else 0,
            "written_at": origin.written_at if origin else 0,
            "operation": operation or (None if during == EAGER else during) or None,
            "shape": shape or None,
            "dtype": tf.as_dtype(data_type).name if data_type else None,
            "tensors": len(sizes),
            "bytes": sum(sizes),
            "layer": layer and layer.name,
            "phase": (origin.phase if origin else "") or None,
            "holder": by,
        }


class _Alike(NamedTuple):
    origin: Origin | None
    operation: str
    shape: str
    data_type: int
    during: str
    holder: int | None


def timed(curve: Iterable[tuple[int, int]], started: int) -> list[tuple[float, int]]:
    """A curve by seconds since the program began."""
    return [((when - started) / 1e9, held) for when, held in curve]


def versions(tf: Any) -> dict[str, str]:
    """Of all that the figures depend on."""
    found = {"python": platform.python_version()}
    if tf is not None:
        found["tensorflow"] = tf.__version__
        for name in ("keras", "numpy"):
            with contextlib.suppress(metadata.PackageNotFoundError):
                found[name] = metadata.version(name)
    return found
