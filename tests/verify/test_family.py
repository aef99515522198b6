"""What a program starts, weighed and ended; no TensorFlow is needed for that."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tfmemlint.verify.family import Children, Family

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")

MB = 1 << 20

WORKERS = """import multiprocessing, time


def hold(mb):
    kept = bytearray(mb << 20)
    time.sleep(1.0)
    del kept


if __name__ == "__main__":
    pool = multiprocessing.get_context("fork")
    workers = [pool.Process(target=hold, args=[mb]) for mb in (60, 30)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
"""
RUNAWAY = """import os, sys, time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)"], {})
    os._exit(0)
time.sleep(0.5)
"""


BRIEF = """import os, subprocess, time

kept = bytearray(200 << 20)
for _ in range(40):
    subprocess.run(["true"], check=True)
    if (forked := os.fork()) == 0:
        os._exit(0)
    os.waitpid(forked, 0)
"""


def started(text: str) -> tuple[subprocess.Popen[bytes], Family]:
    process = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE)
    return process, Family(process.pid)


def sleepers() -> set[int]:
    found: set[int] = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if b"import time; time.sleep(600)" in (place / "cmdline").read_bytes().split(b"\0"):
                found.add(int(place.name))
        except OSError:
            continue
    return found


def test_processes_are_weighed_the_largest_and_all_together() -> None:
    process, family = started(WORKERS)
    process.communicate(timeout=600)
    found = family.end()
    assert found.most == 2
    assert 60 * MB < found.largest < 90 * MB
    assert 90 * MB < found.together < 150 * MB


def test_a_program_without_processes_has_none() -> None:
    process, family = started("print(1)")
    process.communicate(timeout=600)
    assert family.end() == Children()


def test_what_is_to_be_another_program_has_not_the_memory_of_the_one_that_forked() -> None:
    process, family = started(BRIEF)
    process.communicate(timeout=600)
    assert family.end().largest < 100 * MB


def test_what_leaves_the_family_is_ended_all_the_same(is_running: Callable[[int], bool]) -> None:
    before = sleepers()
    process = subprocess.Popen([sys.executable, "-c", RUNAWAY], stdout=subprocess.DEVNULL)
    family = Family(process.pid)
    give_up = time.monotonic() + 60
    while not (runaways := sleepers() - before) and time.monotonic() < give_up:
        time.sleep(0.02)
    process.wait(timeout=600)
    assert len(runaways) == 1
    assert all(map(is_running, runaways))
    family.end()
    assert not any(map(is_running, runaways))
