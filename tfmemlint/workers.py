"""Spreads work over forked processes, in such a way that one that dies loses nobody else's work."""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_NUMBER = 4  # bytes: of a batch's number, a place and a length
_MOST_BATCHES = 2_000  # so that all their numbers fit in a pipe at once, on any system
_PATIENCE, _LIMIT = 0.3, 1.0
"""Seconds until a worker that is to stop is interrupted, and until it is killed."""


class _Worker(NamedTuple):
    process: int
    results: int
    """The pipe that its results come through."""


def cores() -> int:
    """How many processes can run at once."""
    if not hasattr(os, "fork"):
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(
    work: Callable[[Item], Result], items: Sequence[Item], processes: int
) -> list[Result | None]:
    """The result of `work` for each item, in order; None where a process that had no other died."""
    places = range(len(items))
    results = dict(_run(work, items, places, processes))
    for place in places:
        if place not in results:
            results.update(_run(work, items, [place], 1))
    return [results.get(place) for place in places]


def _run(
    work: Callable[[Item], Result], items: Sequence[Item], places: Sequence[int], processes: int
) -> Iterator[tuple[int, Result]]:
    size = max(1, min(16, len(places) // (processes * 4)), len(places) // _MOST_BATCHES + 1)
    batches = [places[start : start + size] for start in range(0, len(places), size)]
    queue, filling = os.pipe()
    os.write(filling, b"".join(map(_packed, range(len(batches)))))
    os.close(filling)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    workers: list[_Worker] = []
    try:
        for _ in range(min(processes, len(batches))):
            reading, writing = os.pipe()
            # An interrupt waits: amid a fork Python loses it, or we lose the process.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            try:
                process = os.fork()
                if process == 0:
                    for pipe in (reading, *(worker.results for worker in workers)):
                        os.close(pipe)  # or nobody would notice that the parent is gone
                    _serve(work, items, batches, queue, writing, before)
                os.close(writing)
                workers.append(_Worker(process, reading))
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield from _results(workers)
    finally:
        os.close(queue)
        _stop(workers)


def _serve(
    work: Callable[[Item], object],
    items: Sequence[Item],
    batches: Sequence[Sequence[int]],
    queue: int,
    results: int,
    mask: Iterable[int],
) -> NoReturn:
    """A worker's life: batch after batch until none is left."""
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        while number := os.read(queue, _NUMBER):
            for place in batches[int.from_bytes(number, "big")]:
                result = pickle.dumps(work(items[place]), pickle.HIGHEST_PROTOCOL)
                _write(results, _packed(place) + _packed(len(result)) + result)
    finally:
        # Whatever was raised, be it an interrupt: the parent sees what is missing.
        os._exit(0)


def _results(workers: Sequence[_Worker]) -> Iterator[tuple[int, Any]]:
    unread = {worker.results: bytearray() for worker in workers}
    waiting = select.poll()
    for pipe in unread:
        waiting.register(pipe, select.POLLIN)
    while unread:
        for pipe, _ in waiting.poll():
            chunk = os.read(pipe, 1 << 16)
            if not chunk:
                waiting.unregister(pipe)
                del unread[pipe]
                continue
            data = unread[pipe]
            data += chunk
            while len(data) >= (start := 2 * _NUMBER):
                end = start + int.from_bytes(data[_NUMBER:start], "big")
                if len(data) < end:
                    break
                yield int.from_bytes(data[:_NUMBER], "big"), pickle.loads(data[start:end])
                del data[:end]


def _stop(workers: Sequence[_Worker]) -> None:
    """See every worker end; one that has not is told to, and then made to."""
    for worker in workers:
        os.close(worker.results)
    begin = time.monotonic()
    running = [worker.process for worker in workers]
    signals = [(_LIMIT, signal.SIGKILL), (_PATIENCE, signal.SIGINT)]
    while running := [process for process in running if os.waitpid(process, os.WNOHANG)[0] == 0]:
        time.sleep(0.001)
        if signals and time.monotonic() - begin > signals[-1][0]:
            _, number = signals.pop()
            for process in running:
                os.kill(process, number)


def _write(pipe: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(pipe, left) :]


def _packed(number: int) -> bytes:
    return number.to_bytes(_NUMBER, "big")
