"""Files named one by one, as pre-commit names them, against the folder that they are in.

`python benchmarks/named.py DIR` takes so many of the Python files below DIR as are asked for,
copies them away, and checks the copy as a folder and by the names of its files: what that costs of
a processor, and whether the same is found.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

FILES = 5047
COMMAND = ("check", "--isolated", "--no-cache", "--exit-zero", "-j1", "--output-format", "concise")
MOST = 1.5
"""Times what the folder costs: named files are looked up in what imports them, and no more."""


def main(argv: list[str]) -> int:
    """Print both figures; the exit code says whether the names cost too much, or say otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--into", type=Path, help="where to put the copy")
    options = parser.parse_args(argv)
    with TemporaryDirectory(dir=options.into) as copy:
        names = _copied(options.folder, Path(copy), options.files)
        whole, found = _checked(["."], Path(copy))
        one_by_one, also = _checked(names, Path(copy))
    ratio = one_by_one / whole
    print(f"{len(names)} files: as a folder {whole:.1f} s of a processor, named {one_by_one:.1f} s")
    print(f"{ratio:.2f} times; {found.total()} lines of findings, {(found - also).total()} of them")
    print(f"not found by name, {(also - found).total()} found by name alone")
    return ratio > MOST or found != also


def _copied(source: Path, target: Path, most: int) -> list[str]:
    """Copy that many files; their names."""
    names: list[str] = []
    for path in sorted(source.rglob("*.py")):
        if len(names) == most:
            break
        if path.is_file() and not path.is_symlink():
            name = path.relative_to(source)
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / name)
            names.append(str(name))
    return names


def _checked(names: list[str], folder: Path) -> tuple[float, Counter[str]]:
    """The seconds of a processor that a run takes, and the lines it prints but for the summary."""
    before = _spent()
    done = subprocess.run(
        [sys.executable, "-m", "tfmemlint", *COMMAND, *names],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line for line in done.stdout.splitlines() if ": TFM" in line)
    return _spent() - before, Counter(line.removeprefix("./") for line in lines)


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
