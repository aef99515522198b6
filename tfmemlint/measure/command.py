"""`tfmemlint measure`: runs a program and says which of its lines hold the memory at the peak."""

from __future__ import annotations

import argparse
import errno
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO, cast

from tfmemlint import plots
from tfmemlint.measure.account import Account, UnusableError, read
from tfmemlint.parser import Parser
from tfmemlint.refusing import refuse
from tfmemlint.verify.devices import SetupError
from tfmemlint.verify.family import Children, Family
from tfmemlint.verify.processes import packages_with_tensorflow
from tfmemlint.verify.terminal import ended_in_good_order

if TYPE_CHECKING:
    from io import TextIOWrapper

_START = (
    "import sys; sys.path[:] = [path for path in sys.path if path]; sys.path.append(sys.argv[1]);"
    "from tfmemlint.measure.inside import main; main(sys.argv[2])"
)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_RESIDENT_UNIT = 1 if sys.platform == "darwin" else 1024
_SMALLEST = 1 << 20


class Finished(NamedTuple):
    """How the process of a program ended."""

    status: int
    host_peak: int = 0
    """The most memory it had resident, which counts where its own account is older than its end."""
    children: Children = Children()


Start = Callable[[Mapping[str, object]], Finished | None]
"""Has a process do what is requested, and waits for its end; None if there can be no process."""


def main(argv: Sequence[str]) -> int:
    """Measure the program these arguments name; the program's exit status, or 2."""
    ours, arguments = _split(argv)
    asked = make_parser().parse_args(ours)
    if asked.html is not None:
        if not plots.available():
            return refuse(plots.MISSING)
        if not Path(asked.html).parent.is_dir():
            return refuse(f"{asked.html} cannot be written: there is no such folder")
    try:
        with ended_in_good_order():
            account = measure(
                Path(asked.program),
                arguments,
                device=asked.device,
                limit=asked.limit,
                out=sys.stderr if asked.json else sys.stdout,
            )
    except (SetupError, UnusableError, OSError) as reason:
        return refuse(str(reason))
    from tfmemlint.measure import advice, showing  # noqa: PLC0415

    out = cast("TextIOWrapper", sys.stdout)
    out.reconfigure(encoding="utf-8" if asked.json else None, errors="backslashreplace")
    findings = advice.advise(account)
    if asked.html is not None:  # first, as nobody may read the words to their end
        from tfmemlint.measure.picture import page  # noqa: PLC0415

        try:
            text = page(asked.program, account, findings, asked.limit)
            Path(asked.html).write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            return refuse(f"{asked.html} cannot be written: {error.strerror}")
    if not asked.json:
        print()
    tell = showing.write_json if asked.json else showing.write
    tell(account, findings, sys.stdout, asked.limit)
    return account.status


def measure(
    program: Path,
    arguments: Sequence[str] = (),
    *,
    device: str = "auto",
    limit: int | None = None,
    out: TextIO | None = None,
    errors: TextIO | None = None,
    text: bytes | None = None,
    start: Start | None = None,
) -> Account:
    """Run the program, printing to `out` and to `errors`; raises SetupError and UnusableError.

    With a `text`, it is run as if that stood in its file; with a `start`, by that if it can.
    """
    if not program.is_file():
        why = errno.EISDIR if program.is_dir() else errno.ENOENT
        raise UnusableError(f"{program}: {os.strerror(why)}")
    packages_with_tensorflow()
    with tempfile.TemporaryDirectory(prefix="tfmemlint-", ignore_cleanup_errors=True) as home:
        record, shared = Path(home, "record.json"), Path(home, "account")
        if text is not None:
            Path(home, "text").write_bytes(text)
        request = {
            "text": str(Path(home, "text")) if text is not None else None,
            "program": str(program.resolve()),
            "name": str(program),
            "arguments": list(arguments),
            "record": str(record),
            "account": str(shared),
            "trace": str(Path(home, "trace")),
            "device": device,
            "limit": limit,
        }
        ended = start(request) if start else None
        ended = ended or _freshly(request, device, limit, out, errors)
        account = read(record, shared, ended.status)._replace(children=ended.children)
    if account.ended == "killed":  # its own record is older than its end
        return account._replace(host_peak=ended.host_peak)
    return account


def _freshly(
    request: Mapping[str, object],
    device: str,
    limit: int | None,
    out: TextIO | None,
    errors: TextIO | None,
) -> Finished:
    """In a process of its own."""
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen(
        [sys.executable, "-c", _START, root, json.dumps(request)],
        env=_environment(device, limit),
        stdout=out,
        stderr=errors,
    )
    family = Family(process.pid)
    children = Children()
    try:
        status, host_peak = _wait(process)
    finally:
        children = family.end()
    return Finished(status, host_peak, children)


def _wait(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """The program's status, and the most memory it had resident.

    Ctrl-C is the program's to answer: it gets the signal, too.
    """
    patience = 3
    try:
        while True:
            try:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode, usage.ru_maxrss * _RESIDENT_UNIT
            except KeyboardInterrupt:
                patience -= 1
                if not patience:
                    raise
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()


def _environment(device: str, limit: int | None) -> Mapping[str, str]:
    """The program's own environment, with an allocator on the CPU that keeps account."""
    environment = {"TF_CPP_MIN_LOG_LEVEL": "1", **os.environ, "TF_CPU_ALLOCATOR_USE_BFC": "1"}
    if limit is not None:
        environment["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = str(limit >> 20)
    if device == "cpu":
        environment["CUDA_VISIBLE_DEVICES"] = "-1"
    return environment


def _split(argv: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """What stands before the first `--`, and behind it."""
    end = argv.index("--") if "--" in argv else len(argv)
    return argv[:end], argv[end + 1 :]


def make_parser() -> argparse.ArgumentParser:
    """What reads the arguments, and writes the help."""
    parser = Parser(
        "tfmemlint measure",
        usage="tfmemlint measure [OPTION ...] SCRIPT.py [-- ARGUMENT ...]",
        description="Run a program and say at which line the device's memory stood highest, what "
        "was held there, and what `tfmemlint check` finds on those lines.",
        epilog="Measuring takes half a second, 2.5 microseconds for every statement run of the "
        "program's own files, and, where a great many tiny operations are run, up to one and a "
        "half times as long again as the program; the report says how long it took. What threads "
        "of its own do is held against the line that the main thread was at. The program "
        "runs as it would without: in this folder, with its own environment, threads and files. "
        "Exit status: the program's own; 2 if it could not be run at all.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "program", metavar="SCRIPT.py", help="the program to run; what follows `--` is its own"
    )
    parser.add_argument(
        "--limit",
        type=_bytes,
        metavar="SIZE",
        help="try the program under a smaller device: 2GiB, 500MB (1 MB is 2^20 bytes)",
    )
    parser.add_argument(
        "--device",
        choices=("auto", "gpu", "cpu"),
        default="auto",
        help="which device to watch (auto: the GPU if TensorFlow sees one)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print everything as JSON; the program prints to stderr"
    )
    parser.add_argument("--html", metavar="FILE", help="write a page to look at as well")
    return parser


def _bytes(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"`{text}` is not a size such as 2GiB")
    amount, unit = match.groups()
    size = int(float(amount) * 1024 ** " KMGT".index(unit.upper() or " "))
    if size < _SMALLEST:
        raise argparse.ArgumentTypeError(f"{text} is less than 1 MB, the least there is")
    return size
