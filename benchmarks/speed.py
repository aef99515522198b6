"""How fast tfmemlint is, as ratios to programs that everybody knows, measured side by side.

`python benchmarks/speed.py` prints a table; `--profile` prints where a run's time goes instead.
Each figure is the median of several rounds in which all programs take turns on the same files.
Times are those of the processor, user and system, of a process and its children.
"""

from __future__ import annotations

import argparse
import gc
import os
import pkgutil
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import cached_property, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")

SCRIPTS = Path(sys.executable).parent
TFMEMLINT = (str(SCRIPTS / "tfmemlint"), "check", "--isolated", "--silent", "--exit-zero")
RUFF = (str(SCRIPTS / "ruff"), "check", "--isolated", "--silent", "--exit-zero")
RUFF_COLD = (*RUFF, "--select", "E,F", "--no-cache")

CLEAN = """

class Block{number}(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.dense = keras.layers.Dense(units)

    def call(self, inputs):
        for _ in range(3):
            inputs = self.dense(inputs)
        return tf.concat([inputs, inputs], axis=-1)
"""
FIXABLE = """

def pipeline{number}(paths):
    return tf.data.TFRecordDataset(paths).batch(32).shuffle(1000)
"""


class Cost(NamedTuple):
    """What one run of a program took."""

    cpu: float
    wall: float
    """Seconds, both."""
    memory: float
    """The most that a process of it held, in MB."""


class Row(NamedTuple):
    """One line of the table."""

    work: str
    figure: str
    most: str
    aim: str
    measured: str


def run(command: Sequence[str], cwd: Path | None = None) -> Cost:
    """Run a program to its end; what it took."""
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    begin = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    wall = time.perf_counter() - begin
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def compare(rounds: int, *commands: Sequence[str]) -> list[Cost]:
    """The median costs of programs that take turns."""
    costs: list[list[Cost]] = [[] for _ in commands]
    for _ in range(rounds):
        for command, known in zip(commands, costs, strict=True):
            known.append(run(command))
    return [Cost(*map(median, zip(*each, strict=True))) for each in costs]


def copied(sources: Sequence[Path], target: Path) -> int:
    """Copy the Python files below some folders to one of ours; how many lines they have."""
    lines = 0
    for number, source in enumerate(sources):
        for folder, _, names in os.walk(source):
            to = target / str(number) / Path(folder).relative_to(source)
            for name in names:
                if name.endswith(".py"):
                    to.mkdir(parents=True, exist_ok=True)
                    lines += (Path(folder) / name).read_bytes().count(b"\n")
                    shutil.copyfile(Path(folder) / name, to / name)
    return lines


def installed(name: str) -> Path:
    """The folder of an installed package, which is not imported."""
    spec = find_spec(name.partition(".")[0])
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is not installed")
    return Path(spec.origin).parent.joinpath(*name.split(".")[1:])


def version_of(package: str) -> str:
    """The version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def machine() -> str:
    """The date, the kind of machine and the versions that figures hold for."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = (line for line in info.read_text().splitlines() if line.startswith("model name"))
        model = next(names, model).partition(": ")[2] or model
    packages = ("ruff", "libcst", "keras", "tensorflow", "tensorflow-cpu", "fixit", "torchfix")
    known = [f"{name} {found}" for name in packages if (found := version_of(name)) != "absent"]
    return (
        f"{date.today().isoformat()}, {os.cpu_count()} cores ({model}), {platform.system()}, "
        f"Python {platform.python_version()}, {', '.join(known)}"
    )


def ratio(value: float) -> str:
    """A ratio, with two digits that mean something."""
    return f"{value:.2f}x" if value < 10 else f"{value:.0f}x"


def corpora(rounds: int, tensorflow: Path, library: Path) -> Iterator[Row]:
    """Whole folders, cold: nothing is remembered from another run."""
    for work, folder, most, aim in (
        ("cold, Keras and TensorFlow sources, over ruff", tensorflow, "5x", "2x"),
        ("cold, Keras alone, over ruff", tensorflow / "0", "", ""),
        ("cold, the standard library, over ruff", library, "0.25x", "0.1x"),
    ):
        ours = (*TFMEMLINT, "--no-cache", "-j1", str(folder))
        mine, ruff = compare(rounds, ours, (*RUFF_COLD, str(folder)))
        yield Row(
            work, ratio(mine.cpu / ruff.cpu), most, aim, f"{mine.cpu:.2f} s / {ruff.cpu:.2f} s"
        )


def public(rounds: int, folder: Path | None) -> Iterator[Row]:
    """Public code as people write it, nearly all of which is looked into."""
    work, limits = "cold, public code", ("6x", "3x")
    if folder is None:
        yield Row(f"{work}, over ruff", "not fetched", *limits, "")
        return
    files = sum(1 for _ in folder.rglob("*.py"))
    scripts = ("--extend-exclude", "*.ipynb")
    ours = (*TFMEMLINT, *scripts, "--no-cache", "-j1", str(folder))
    mine, ruff = compare(rounds, ours, (*RUFF_COLD, *scripts, str(folder)))
    measured = f"{mine.cpu:.1f} s / {ruff.cpu:.2f} s"
    yield Row(f"{work}, {files:,} files, over ruff", ratio(mine.cpu / ruff.cpu), *limits, measured)
    yield Row(f"memory over these {files:,} files", f"{mine.memory:.0f} MB", "80", "40", "")


def warm(rounds: int, folder: Path) -> Row:
    """A second run over files that have not changed since the first."""
    ours, ruff = (*TFMEMLINT, str(folder)), (*RUFF, "--select", "E,F", str(folder))
    os.chdir(folder)
    run(ours)
    time.sleep(3)  # a file that has just been written is not remembered
    run(ours)
    run(ruff)
    mine, theirs = compare(rounds, ours, ruff)
    return Row(
        "warm, Keras and TensorFlow sources, over ruff's warm run",
        ratio(mine.cpu / theirs.cpu),
        "0.5x",
        "0.3x",
        f"{mine.cpu * 1e3:.0f} ms / {theirs.cpu * 1e3:.0f} ms",
    )


MENTIONED = re.compile(rb"tensorflow|keras")

BARE = (sys.executable, "-I", "-c", "")


def samples(folder: Path) -> tuple[Path, Path, Path]:
    """A clean file of 500 lines, one with fixable findings, one without TensorFlow."""
    imports = "import keras\nimport tensorflow as tf\n"
    clean, fixable, plain = folder / "clean.py", folder / "fixable.py", folder / "plain.py"
    clean.write_text(imports + "".join(CLEAN.format(number=number) for number in range(45)))
    fixable.write_text(imports + "".join(FIXABLE.format(number=number) for number in range(3)))
    plain.write_text("import json\n\nprint(json.dumps(1))\n" * 160)
    os.chdir(folder)
    return clean, fixable, plain


def single(rounds: int, folder: Path) -> Iterator[Row]:
    """One file at a time, from the start of the process to its end."""
    clean, fixable, plain = samples(folder)
    ours = TFMEMLINT[:2]
    python, version, none, one, fix = compare(
        rounds,
        BARE,
        (TFMEMLINT[0], "--version"),
        (*ours, str(plain)),
        (*ours, str(clean)),
        (*ours, str(fixable)),
    )
    yield Row("one clean TensorFlow file of 500 lines", f"{one.cpu * 1e3:.0f} ms", "40", "20", "")
    yield Row("one file with fixable findings", f"{fix.cpu * 1e3:.0f} ms", "160", "120", "")
    for work, cost in (("--version", version), ("a file without TensorFlow", none)):
        yield Row(
            f"{work}, over bare `python -I`",
            ratio(cost.cpu / python.cpu),
            "2x",
            "1.3x",
            f"{cost.cpu * 1e3:.1f} ms / {python.cpu * 1e3:.1f} ms",
        )


def many(folder: Path, tensorflow: Path) -> Iterator[Row]:
    """Memory over fifteen thousand files, and what a second process gains."""
    for number in range(8):
        shutil.copytree(tensorflow, folder / str(number), copy_function=os.link)
    files = sum(1 for _ in folder.rglob("*.py"))
    command = (*TFMEMLINT, "--no-cache", str(folder))
    alone = run((*command, "-j1"))
    yield Row(f"memory over {files:,} files", f"{alone.memory:.0f} MB", "80", "40", "")
    ours = (*TFMEMLINT, "--no-cache", str(tensorflow))
    one, two = compare(3, (*ours, "-j1"), (*ours, "-j2"))
    measured = f"{one.wall:.2f} s / {two.wall:.2f} s wall; {ratio(two.cpu / one.cpu)} the CPU"
    yield Row("two processes, times faster", ratio(one.wall / two.wall), "1.7x", "1.9x", measured)


def peers(tensorflow: Path, folder: Path, programs: Path) -> Iterator[Row]:
    """Other linters built on libcst, each on files that it looks into: whole processes."""
    sources = [
        each for each in sorted(tensorflow.rglob("*.py")) if MENTIONED.search(each.read_bytes())
    ]
    of_torch = [each for each in sources if b"torch" in each.read_bytes()]
    samples = {"fixit": sources[::20], "torchfix": of_torch[::2]}
    for name, arguments in (("fixit", ("lint",)), ("torchfix", ("--select", "ALL"))):
        program = shutil.which(name, path=str(programs))
        if program is None:
            yield Row(f"over {name}", "not installed", "1/100", "1/250", "")
            continue
        sample = folder / name
        sample.mkdir(parents=True)
        for number, path in enumerate(samples[name]):
            shutil.copyfile(path, sample / f"file_{number}.py")
        lines = sum(each.read_bytes().count(b"\n") for each in samples[name])
        ours = (*TFMEMLINT, "--no-cache", "-j1", str(sample))
        mine, theirs = compare(3, ours, (program, *arguments, str(sample)))
        yield Row(
            f"{lines:,} lines, over {name}",
            f"1/{theirs.cpu / mine.cpu:.0f}",
            "1/100",
            "1/250",
            f"{mine.cpu * 1e3:.0f} ms / {theirs.cpu:.1f} s",
        )


class Stopwatch:
    """How much processor time named parts take, each without the parts inside it."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._within: list[float] = []

    def time(self, name: str, work: Callable[..., Result], *arguments: Any) -> Result:
        """The result of some work, whose time is counted."""
        begin = time.process_time()
        self._within.append(0.0)
        try:
            return work(*arguments)
        finally:
            took = time.process_time() - begin
            self.spent[name] = self.spent.get(name, 0.0) + took - self._within.pop()
            if self._within:
                self._within[-1] += took

    def watch(self, kind: type) -> None:
        """Count the time of the facts of a class, which are found when first asked for."""
        for name, fact in vars(kind).items():
            if isinstance(fact, cached_property):
                fact.func = partial(self.time, f"fact {kind.__name__}.{name}", fact.func)


def profile(folder: Path) -> None:
    """Print each rule's share of the bytes parsed, and the shares of time of rules and facts."""
    from tfmemlint import facts, registry, screen  # noqa: PLC0415
    from tfmemlint.decoding import decode  # noqa: PLC0415
    from tfmemlint.parsing import TooDeep, parse, refuse  # noqa: PLC0415
    from tfmemlint.source import File  # noqa: PLC0415

    watch = Stopwatch()
    found = pkgutil.walk_packages(facts.__path__, f"{facts.__name__}.")
    names = [each.name for each in found]
    for module in map(import_module, (facts.__name__, *names)):
        for kind in vars(module).values():
            if isinstance(kind, type) and kind.__module__ == module.__name__:
                watch.watch(kind)
    gc.disable()
    rules = registry.load()
    total, mentioned, inside, parsed = 0, 0, 0, 0
    by_rule, alone = dict.fromkeys(rules, 0), dict.fromkeys(rules, 0)
    for path in sorted(folder.rglob("*.py")):
        data = watch.time("read", path.read_bytes)
        total += len(data)
        if not watch.time("mentions TensorFlow?", screen.mentions_tensorflow, data):
            continue
        mentioned += len(data)
        code, strings = watch.time("comments and strings", screen.code, data)
        if watch.time("inside TensorFlow?", screen.is_inside_tensorflow, code):
            inside += len(data)
            continue
        words = watch.time("words", screen.words, code + b" " + strings)
        awaited = screen.awaited(rules.values(), words)
        text = watch.time("decode", decode, data).text
        for rule in awaited:
            by_rule[rule.code] += len(data)
            alone[rule.code] += len(data) if len(awaited) == 1 else 0
        parsed += len(data) if awaited else 0
        try:
            if not awaited:
                watch.time("syntax alone", refuse, text, str(path))
                continue
            tree = watch.time("parse", parse, text, str(path))
        except (SyntaxError, TooDeep):
            continue
        watch.time("walk", facts.TensorFlow, tree)
        file = File(str(path), text)
        for rule in awaited:
            watch.time(f"rule {rule.code}", lambda rule, file: list(rule.check(file)), rule, file)
    spent, everything = watch.spent, sum(watch.spent.values())
    print(f"{total:,} bytes, {mentioned / total:.1%} of them in files that mention TensorFlow")
    print(f"of what TensorFlow itself is made of: {inside / total:.1%}")
    print(f"parsed for any rule: {parsed / total:.1%}\n")
    print("rule    bytes parsed for it   for it alone   time without facts")
    for rule_code in rules:
        own = spent.pop(f"rule {rule_code}", 0.0) / everything
        own_bytes = f"{by_rule[rule_code] / total:18.1%} {alone[rule_code] / total:16.1%}"
        print(f"{rule_code} {own_bytes} {own:16.1%}")
    print(f"\nshare of {everything:.2f} s")
    for name, took in sorted(spent.items(), key=lambda each: -each[1]):
        if took > everything / 1000:
            print(f"{took / everything:6.1%} {name}")


def table(rows: Iterator[Row]) -> None:
    """Print rows as they come."""
    print("| work | measured | at most | aim | |\n|---|---|---|---|---|", flush=True)
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def instructions(folder: Path) -> Iterator[Row]:
    """What the processor is told to do for one file: the same number however busy it is."""
    if shutil.which("valgrind") is None:
        raise SystemExit("instructions are counted by valgrind, which is not installed")
    clean, fixable, plain = samples(folder)
    python = counted(BARE, folder)
    for work, command in (
        ("--version", (TFMEMLINT[0], "--version")),
        ("a file without TensorFlow", (*TFMEMLINT[:2], str(plain))),
        ("one clean TensorFlow file of 500 lines", (*TFMEMLINT[:2], str(clean))),
        ("one file with fixable findings", (*TFMEMLINT[:2], str(fixable))),
    ):
        count = counted(command, folder)
        measured = f"{count / 1e6:,.0f} / {python / 1e6:,.0f} million instructions"
        yield Row(f"{work}, over bare `python -I`", ratio(count / python), "", "", measured)


def counted(command: Sequence[str], folder: Path) -> int:
    """How many instructions the second run of a program takes."""
    out = folder / "callgrind.out"
    run(command)
    run(("valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command))
    totals = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
    if totals is None:
        raise SystemExit(f"valgrind did not count {' '.join(command)}")
    return int(totals[1])


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how many times to run each program")
    parser.add_argument("--profile", action="store_true", help="where the time of a run goes")
    parser.add_argument("--peers", type=Path, default=SCRIPTS, help="where fixit and torchfix are")
    parser.add_argument("--public", type=Path, help="a folder of public repositories")
    parts = ("cold", "public", "warm", "single", "many", "peers")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    parser.add_argument("--instructions", action="store_true", help="count them, by valgrind")
    options = parser.parse_args()
    rounds = options.rounds
    with tempfile.TemporaryDirectory(prefix="tfmemlint-speed-") as name:
        here = Path(name)
        os.environ["PYTHONHASHSEED"] = "0"
        if options.instructions:
            table(instructions(here))
            os.chdir(os.sep)
            return
        tensorflow, library = here / "tensorflow", here / "library"
        lines = copied([installed("keras"), installed("tensorflow.python")], tensorflow)
        if options.profile:
            profile(tensorflow)
            return
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        copied([Path(sysconfig.get_path("stdlib"))], library)
        shutil.rmtree(library / "0" / "site-packages", ignore_errors=True)
        files = sum(1 for _ in tensorflow.rglob("*.py"))
        print(f"{machine()}; Keras and TensorFlow: {files:,} files, {lines:,} lines\n")
        rows: dict[str, Callable[[], Iterator[Row]]] = {
            "cold": lambda: corpora(rounds, tensorflow, library),
            "public": lambda: public(rounds, options.public),
            "warm": lambda: iter([warm(rounds, tensorflow)]),
            "single": lambda: single(rounds * 4, here),
            "many": lambda: many(here / "many", tensorflow),
            "peers": lambda: peers(tensorflow, here / "peers", options.peers),
        }
        table(row for part in options.only for row in rows[part]())
        os.chdir(os.sep)


if __name__ == "__main__":
    main()
