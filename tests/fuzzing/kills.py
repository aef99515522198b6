"""Kills runs of `check --fix` while they write: each file is as it was, or as it should be.

`python tests/fuzzing/kills.py 200` makes 500 files, kills so many runs over them at whatever time,
has a run mend all of them and take away what the killed ones left behind, as it does a minute
later, and then has three runs mend them at the same time.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from mutations import FIXTURES

from tfmemlint.api import fix_source
from tfmemlint.writing import STALE

FILES = 500
OLD = (FIXTURES / "TFM202" / "bad.py").read_bytes()
NEW = fix_source(OLD.decode(), unsafe=True, settings={"select": ["TFM202"]}).text.encode()
COMMAND = ("check", "--fix", "--unsafe-fixes", "--no-cache", "--quiet", "--select", "TFM202", ".")


def main(argv: list[str]) -> int:
    """Kill as many runs as are asked for; the exit code says whether anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int, nargs="?", default=200)
    parser.add_argument("--minutes", type=float, default=600.0)
    options = parser.parse_args(argv)
    chosen, lost, end = random.Random(0), Counter[str](), time.monotonic() + 60 * options.minutes
    with TemporaryDirectory() as name:
        folder = Path(name)
        began = time.monotonic()
        _restore(folder)
        _begun(folder).wait()
        whole, kills, cut_short = time.monotonic() - began, 0, 0
        lost.update(_lost(folder, {NEW}))
        while kills < options.kills and time.monotonic() < end:
            _restore(folder)
            process = _begun(folder)
            time.sleep(chosen.uniform(0, whole))
            running = process.poll() is None
            with suppress(ProcessLookupError):  # it has ended, and all it started
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
            found = Counter(each.read_bytes() for each in folder.glob("*.py"))
            cut_short += running and 0 < found[NEW] < FILES
            lost.update(_lost(folder, {OLD, NEW}))
        left = _litter(folder)
        for copy in left:  # as if they had been there for longer than anybody is at work on one
            os.utime(folder / copy, (time.time() - STALE - 1,) * 2)
        _restore(folder)
        _begun(folder).wait()
        lost.update(_lost(folder, {NEW}))
        stay = _litter(folder)
        _restore(folder)
        for process in [_begun(folder) for _ in range(3)]:
            process.wait()
        lost.update(_lost(folder, {NEW}))
        stay |= _litter(folder)
    print(f"{kills} kills, {cut_short} with some files mended and others not")
    print(f"copies left by the last of them: {len(left)}, after the next run: {len(stay)}")
    print(f"files that were neither as before nor mended: {lost.total()}")
    return bool(lost or stay)


def _litter(folder: Path) -> set[str]:
    """What is there and is none of the files."""
    return {each.name for each in folder.iterdir()} - {f"program{each}.py" for each in range(FILES)}


def _restore(folder: Path) -> None:
    for number in range(FILES):
        path = folder / f"program{number}.py"
        if not path.exists() or path.read_bytes() != OLD:
            path.write_bytes(OLD)


def _begun(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tfmemlint", *COMMAND],
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _lost(folder: Path, allowed: set[bytes]) -> Counter[str]:
    """The files that hold anything else, or are gone."""
    paths = [folder / f"program{number}.py" for number in range(FILES)]
    return Counter(
        each.name for each in paths if not each.exists() or each.read_bytes() not in allowed
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
