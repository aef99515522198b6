"""What other tools name in programs of `fixtures/programs`: prints the table of `docs/peers.md`.

It needs `pip install scalene memray memory_profiler`, and `pip install --no-deps xprof`, which
reads what TensorFlow's own profiler writes. Each program is run once by itself and once by each
tool; the time is that of the processor, of all threads and processes. `--only WORD` runs the
programs whose name has it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from textwrap import indent
from typing import Any, NamedTuple

PROGRAMS = Path(__file__).parent.parent / "fixtures" / "programs"
NAMES = ("cnn_fit.py", "folds.py", "gan.py", "replay.py")
MB = 1 << 20
_MOST = 2
"""So many lines are named of each tool: those with the most memory."""


class Told(NamedTuple):
    """What one tool says of a program."""

    lines: Sequence[str]
    """What it names, most memory first."""
    seconds: float


def run(command: Sequence[str], **settings: str) -> float:
    """The processor's seconds that a command takes; what it prints is dropped."""
    before = spent()
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        command, env={**environment, **settings}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"{' '.join(map(str, command))}\n{done.stderr[-2000:]}", file=sys.stderr)
    return spent() - before


def spent() -> float:
    """The processor's seconds of all that has been run and has ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def alone(program: Path, _: Path) -> Told:
    """The program by itself."""
    return Told([], run([sys.executable, str(program)]))


def tfmemlint(program: Path, home: Path) -> Told:
    """`tfmemlint measure`: the lines that made what was alive, and what held it."""
    page = home / "account.json"
    with page.open("w", encoding="utf-8") as out:
        before = spent()
        command = [sys.executable, "-m", "tfmemlint", "measure", "--json", str(program)]
        subprocess.run(command, stdout=out, stderr=subprocess.DEVNULL, check=False)
        seconds = spent() - before
    return Told(_of_account(json.loads(page.read_text("utf-8"))), seconds)


def _of_account(account: dict[str, Any]) -> list[str]:
    """What made most of the device's peak, what held it, and what made the process larger."""
    found = [f"line {each['line']} {each['bytes'] / MB:.0f} MB" for each in account["held"][:1]]
    found += [
        f"held by {each['words']} {each['bytes'] / MB:.0f} MB" for each in account["held_by"][:1]
    ]
    rises = [each for each in account["host"]["rises"] if "import" not in each["text"]]
    return found + [f"host: line {each['line']} {each['bytes'] / MB:.0f} MB" for each in rises[:1]]


def scalene(program: Path, home: Path) -> Told:
    """The lines at which the process grew most, sampled."""
    page = home / "scalene.json"
    command = [sys.executable, "-m", "scalene", "run", "-o", str(page), str(program)]
    seconds = run(command)
    if not page.exists():
        return Told(["nothing: it left no profile"], seconds)
    found: Counter[int] = Counter()
    for name, file in json.loads(page.read_text("utf-8"))["files"].items():
        if Path(name).name == program.name:
            for line in file["lines"]:
                found[line["lineno"]] = round(line["n_peak_mb"] * MB)
    return Told(_lines(found), seconds)


def memray(program: Path, home: Path) -> Told:
    """The lines of the program at which what was alive at the highest point was allocated."""
    page = home / "memray.bin"
    command = [sys.executable, "-m", "memray", "run", "-q", "-f", "-o", str(page), str(program)]
    seconds = run(command)
    read = import_module("memray").FileReader
    found: Counter[int] = Counter()
    with read(page) as reader:
        for record in reader.get_high_watermark_allocation_records(merge_threads=True):
            frames: Iterable[tuple[str, str, int]] = record.stack_trace()
            own = [line for _, file, line in frames if Path(file).name == program.name]
            found[own[0] if own else 0] += record.size
    return Told(_lines(found), seconds)


def memory_profiler(program: Path, home: Path) -> Told:
    """The lines after which the process was larger, one by one: of a function that has its mark.

    It sees functions only, so the program is put into one.
    """
    copy = home / program.name
    body = indent(program.read_text("utf-8"), "    ")
    copy.write_text(f"@profile\ndef main():\n{body}\nmain()\n", "utf-8")
    page = home / "lines.txt"
    command = [sys.executable, "-m", "memory_profiler", "-o", str(page), str(copy)]
    seconds = run(command)
    found: Counter[int] = Counter()
    for line in page.read_text("utf-8").splitlines():
        told = re.match(r"\s*(\d+)\s+[\d.]+ MiB\s+(-?[\d.]+) MiB", line)
        if told:
            found[int(told[1]) - 2] = round(float(told[2]) * MB)
    return Told(_lines(found), seconds)


_TRACED = """
import runpy, sys
import tensorflow as tf
program, folder = sys.argv[1:]
tf.profiler.experimental.start(folder)
runpy.run_path(program, run_name="__main__")
tf.profiler.experimental.stop()
"""
_READ = """
import json, sys
from xprof.convert.raw_to_tool_data import xspace_to_tool_data
data, _ = xspace_to_tool_data(sys.argv[1:], "memory_profile", {})
print(data if isinstance(data, str) else data.decode())
"""


def tensorflow_profiler(program: Path, home: Path) -> Told:
    """The operations whose results were alive when TensorFlow's allocator had given out most."""
    seconds = run(
        [sys.executable, "-c", _TRACED, str(program), str(home)], TF_CPU_ALLOCATOR_USE_BFC="1"
    )
    traces = [str(path) for path in home.rglob("*.xplane.pb")]
    done = subprocess.run(
        [sys.executable, "-c", _READ, *traces], capture_output=True, text=True, check=False
    )
    found: Counter[str] = Counter()
    for each in json.loads(done.stdout)["memoryProfilePerAllocator"].values():
        snapshots = each.get("memoryProfileSnapshots", [])
        for alive in each.get("activeAllocations", []):
            number = int(alive.get("snapshotIndex", -1))
            if number >= 0:
                told = snapshots[number]["activityMetadata"]
                size = int(told["requestedBytes"]) * int(alive["numOccurrences"])
                found[f"`{told['tfOpName']}`"] += size
    return Told([f"{name} {size / MB:.0f} MB" for name, size in found.most_common(_MOST)], seconds)


def _lines(found: Counter[int]) -> list[str]:
    most = [(line, size) for line, size in found.most_common(_MOST) if size >= MB]
    return [f"{f'line {line}' if line else 'no line'} {size / MB:.0f} MB" for line, size in most]


TOOLS: dict[str, Callable[[Path, Path], Told]] = {
    "by itself": alone,
    "tfmemlint measure": tfmemlint,
    "scalene": scalene,
    "memray": memray,
    "memory_profiler": memory_profiler,
    "TensorFlow's profiler": tensorflow_profiler,
}


def main() -> None:
    """Print a line for each program and tool."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="the programs whose name has this")
    parser.add_argument("--tool", default="", help="the tools whose name has this")
    options = parser.parse_args()
    print("| program | tool | names | processor |\n|---|---|---|---|")
    for name in NAMES:
        if options.only not in name:
            continue
        for tool, look in TOOLS.items():
            if options.tool in tool:
                with tempfile.TemporaryDirectory() as home:
                    told = look(PROGRAMS / name, Path(home))
                row = f"| {name} | {tool} | {'; '.join(told.lines)} | {told.seconds:.0f} s |"
                print(row, flush=True)


if __name__ == "__main__":
    main()
