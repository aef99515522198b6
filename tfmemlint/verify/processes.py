"""Runs one program from outside: confined, timed, weighed, and nothing of it left running."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import IO, Any, NamedTuple

from tfmemlint.verify.devices import SetupError
from tfmemlint.verify.family import Children, Family
from tfmemlint.vocabulary import Metric

KEPT = 1 << 16
"""Bytes of what a program prints that are kept; the rest is read, hashed and dropped."""

MARK = "TFMEMLINT_RUN"
"""The variable that all processes of a program have in their environment."""

OF_HOST = (Metric.HOST_PEAK, Metric.HOST_GROWTH)

_START = (
    "import sys; from importlib.util import module_from_spec, spec_from_file_location;"
    "spec = spec_from_file_location('tfmemlint', sys.argv[1]);"
    "sys.modules['tfmemlint'] = module = module_from_spec(spec); spec.loader.exec_module(module);"
    "from tfmemlint.verify.starting import main; main(*sys.argv[2:])"
)
"""Imports the very tfmemlint that this is, and leaves `sys.path` as it was."""
_LATEST = 5  # seconds
_PASSED_ON = (
    "PATH",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "CUDA_CACHE_PATH",
    "CUDA_DEVICE_ORDER",
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "TF_CUDNN_USE_AUTOTUNE",
    "TF_GPU_ALLOCATOR",
)
_OF_A_TEST_RUN = ("PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST")
"""What pytest sets for what it runs itself, and for every test anew."""
_NEEDED = ("CUDA_VISIBLE_DEVICES", "TF_CPU_ALLOCATOR_USE_BFC")
"""What nobody else may set where a program is to be weighed on one device."""
_STEADY = {
    "LANG": "C.UTF-8",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "TF_NUM_INTEROP_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "KERAS_BACKEND": "tensorflow",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "262144",
    "MALLOC_TRIM_THRESHOLD_": "262144",
}


class ProgramError(Exception):
    """The program gave no figure: it crashed, hung, was killed, or cannot be measured."""

    def __init__(self, reason: str, stderr: str = "", status: int | None = None) -> None:
        super().__init__(reason)
        self.stderr = stderr
        self.status = status
        """What the program ended with; a signal's number negated; None if it was stopped."""


class Surroundings(NamedTuple):
    """What a user's own program is to find around it: what Python itself would give it."""

    file: str
    """Where the program really is; what runs may be a changed copy."""
    folder: str
    """What comes first where modules are looked for."""
    package: str = ""
    """What its relative imports are relative to."""
    arguments: tuple[str, ...] = ()


class Job(NamedTuple):
    """One program and how to run it."""

    name: str
    text: str
    metric: Metric
    device: str = "auto"
    seconds: float = 120
    memory: int = 16 << 30
    """Bytes of address space on the CPU; TensorFlow takes 1.3 GB, the arena 2, and each thread that
    tf.data starts 8 MB of stack, be it used or not, and may be an arena of its own."""
    own: Surroundings | None = None
    """For a program of the user's, which is neither confined nor taken away from its files."""
    title: str = ""
    """What to call the program; its name if empty."""
    encoding: str = "utf-8"
    curve: bool = False
    """Whether to follow a peak's memory over time as well."""
    limit: int | None = None
    """Megabytes that the device is to have, if not all there is."""

    @property
    def called(self) -> str:
        return self.title or self.name


class Output(NamedTuple):
    """What a program printed: its beginning, and what all of it hashes to."""

    digest: str
    text: str


class Machine(NamedTuple):
    """What a program was run on, and with."""

    device: str
    device_name: str
    versions: Mapping[str, str]
    driver: str | None = None
    """Of a GPU."""
    remarks: tuple[str, ...] = ()
    """What has to be known of the device."""


Curve = tuple[tuple[float, float], ...]
"""Seconds since the program began, and bytes held."""


class Run(NamedTuple):
    """What one run of a program gave."""

    figure: float
    meter: str
    """What gave the figure."""
    machine: Machine
    output: Output
    curve: Curve = ()
    children: Children = Children()
    """What the program's own processes held, which the figure does not count."""


class Launch(NamedTuple):
    """What it takes to have a program run in a process."""

    request: Mapping[str, object]
    environment: Mapping[str, str]
    folder: Path | None
    """The working folder; None for our own."""
    seconds: float
    of_host: bool = False
    """Whether the host's memory is weighed."""


class Ended(NamedTuple):
    """How a process ended, and what it had to say."""

    status: int | None
    """None if it had to be stopped."""
    output: Output
    stderr: str
    children: Children = Children()


def run(job: Job, start: Callable[[Launch], Ended] | None = None, place: int | None = None) -> Run:
    """Run the program in a process of its own and weigh it; raises ProgramError and SetupError.

    `start` runs the process to its end; `place` tells it from others at the same time.
    """
    packages = packages_with_tensorflow()
    with tempfile.TemporaryDirectory(prefix="tfmemlint-", ignore_cleanup_errors=True) as home:
        program, figures, work = Path(home, job.name), Path(home, "figures"), Path(home, "work")
        program.write_text(job.text, encoding=job.encoding, newline="")
        work.mkdir()
        request = {
            "program": str(program),
            "figures": str(figures),
            "packages": packages,
            "metric": job.metric.value,
            "device": job.device,
            "seconds": job.seconds,
            "memory": job.memory,
            "curve": job.curve,
            "limit": job.limit,
            "own": _own(job.own) if job.own else None,
            "place": place,
        }
        launch = Launch(
            request,
            _environment(job, work),
            None if job.own else work,
            job.seconds,
            job.metric in OF_HOST,
        )
        status, output, stderr, children = (start or run_freshly)(launch)
        stderr = stderr.replace(f"{home}{os.sep}", "")
        if status is None:
            raise ProgramError(f"{job.called} was still running after {job.seconds:g} s", stderr)
        report = _report(job, status, figures, stderr)
    device = report["device"]
    machine = Machine(
        device["kind"],
        device["name"],
        report["versions"],
        device["driver"],
        tuple(report.get("remarks", ())),
    )
    curve = tuple((moment, held) for moment, held in report["curve"])
    return Run(report["figure"], report["meter"], machine, output, curve, children)


def run_freshly(launch: Launch, begun: Callable[[int], None] = lambda _: None) -> Ended:
    """Run a program in a process that is started for it alone."""
    command = starting("run", launch.request)
    return run_to_its_end(command, launch.seconds, launch.environment, launch.folder, begun)


def starting(
    task: str, argument: Mapping[str, object], options: Sequence[str] = ("-I",)
) -> list[str]:
    """The command that starts a process for a program or for forks."""
    package = str(Path(__file__).parents[1] / "__init__.py")
    return [sys.executable, *options, "-c", _START, package, task, json.dumps(argument)]


def packages_with_tensorflow() -> str:
    """The directory TensorFlow is installed in; raises SetupError if it is not."""
    if os.name != "posix":
        raise SetupError("programs can be measured on Linux and macOS only")
    spec = find_spec("tensorflow")
    if spec is None or not spec.submodule_search_locations:
        raise SetupError(
            'TensorFlow is not installed: run `pip install "tfmemlint[verify]"`',
        )
    return str(Path(next(iter(spec.submodule_search_locations))).parent)


def run_to_its_end(
    command: Sequence[str],
    seconds: float,
    environment: Mapping[str, str],
    folder: Path | None,
    begun: Callable[[int], None] = lambda _: None,
) -> Ended:
    """Run a command with nothing on its stdin; when it is over nothing of it is left running.

    `begun` is told its process group.
    """
    mark = uuid.uuid4().hex
    process = family = None
    children = Children()
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**environment, MARK: mark},
            start_new_session=True,
        )
        family = Family(process.pid) if folder is None else None  # a user's own program
        begun(process.pid)
        stdout, stderr = Drain(process.stdout), Drain(process.stderr)
        status = _wait(process, seconds)
    finally:
        if process is not None:
            kill_group(process.pid)
            process.wait()
        kill_all(mark, process.pid if process else None)
        if family is not None:
            children = family.end()
    return Ended(status, stdout.output(), stderr.last(), children)


def kill_group(group: int) -> None:
    """Kill a program, and what it has started that is still of its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def kill_all(mark: str, group: int | None, but: int | None = None) -> None:
    """Kill a program's group and whatever has left it, and see them end; `but` one process."""
    if group is not None:
        kill_group(group)
    give_up = time.monotonic() + _LATEST
    known: set[int] = set()
    while (known := _living(mark, group, known) - {but or 0}) and time.monotonic() < give_up:
        for pid in known:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)


def environment_of_device(device: str) -> dict[str, str]:
    """What the processes of all programs on this device have in their environment."""
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return passed_on | steady(device, ())


def _environment(job: Job, work: Path) -> dict[str, str]:
    limit = {} if job.limit is None else {"TF_CPU_BFC_MEM_LIMIT_IN_MB": str(job.limit)}
    if job.own:
        return environment_of_own(job.device, [job.metric]) | limit
    home = {"HOME": str(work.parent), "TMPDIR": str(work.parent)}
    return environment_of_device(job.device) | steady(job.device, [job.metric]) | limit | home


def steady(device: str, metrics: Collection[Metric]) -> dict[str, str]:
    """The environment in which a process weighs the same every time."""
    weighs_device = not {Metric.DEVICE_PEAK, Metric.DEVICE_GROWTH}.isdisjoint(metrics)
    of_device = {"CUDA_VISIBLE_DEVICES": "-1"} if device == "cpu" else {}
    return _STEADY | of_device | ({"TF_CPU_ALLOCATOR_USE_BFC": "1"} if weighs_device else {})


def environment_of_own(device: str, metrics: Collection[Metric]) -> dict[str, str]:
    """The user's own environment, made steady where the user has said nothing, as far as that
    changes no result: a backend for Keras is for the user to choose."""
    wanted = steady(device, metrics)
    wanted.pop("KERAS_BACKEND")
    needed = {name: wanted[name] for name in _NEEDED if name in wanted}
    theirs = {name: value for name, value in os.environ.items() if name not in _OF_A_TEST_RUN}
    return {**wanted, **theirs, **needed}


def _own(own: Surroundings) -> dict[str, object]:
    path = [own.folder, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**own._asdict(), "path": path}


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _living(mark: str, group: int | None, known: Collection[int]) -> set[int]:
    """The processes that bear the mark, or are of the group, or known; none without /proc.

    A process that is being killed bears no mark any more, long before it has ended.
    """
    wanted = f"{MARK}={mark}".encode()
    found: set[int] = set()
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, its_group = (place / "stat").read_bytes().rpartition(b")")[2].split()[:3]
            pid = int(place.name)
            is_ours = int(its_group) == group or pid in known
            if state not in b"ZX" and (is_ours or wanted in (place / "environ").read_bytes()):
                found.add(pid)
    return found


def _report(job: Job, status: int, figures: Path, stderr: str) -> dict[str, Any]:
    if status < 0:
        name = signal.Signals(-status).name
        raise ProgramError(f"{job.called} was killed by {name}", stderr, status)
    if status > 0:
        raise ProgramError(f"{job.called} exited with status {status}", stderr, status)
    if not figures.exists():
        raise ProgramError(f"{job.called} ended before it could be weighed", stderr)
    report: dict[str, Any] = json.loads(figures.read_text(encoding="utf-8"))
    if "unavailable" in report:
        raise SetupError(report["unavailable"])
    if "problem" in report:
        raise ProgramError(f"{job.called}: {report['problem']}", stderr)
    return report


class Drain(Thread):
    """Reads a pipe to its end, so that the program never waits for us, and keeps little of it."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._hash = hashlib.sha256()
        self._first = b""
        self._last = b""
        self.start()

    def run(self) -> None:
        assert self._pipe is not None
        with self._pipe:
            while part := os.read(self._pipe.fileno(), KEPT):
                self._hash.update(part)
                self._first += part[: KEPT - len(self._first)]
                self._last = (self._last + part)[-KEPT:]

    def output(self) -> Output:
        """All there was, or as much as came within seconds of the end."""
        self.join(_LATEST)
        return Output(self._hash.hexdigest(), self._first.decode("utf-8", "replace"))

    def last(self) -> str:
        """The end of it."""
        self.join(_LATEST)
        return self._last.decode("utf-8", "replace")
