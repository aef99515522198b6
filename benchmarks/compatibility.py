"""What tfmemlint runs with: tried, each in an environment of its own, and printed as a table.

`python benchmarks/compatibility.py` needs `uv`, which finds each Python or fetches it. It asks of
each, with the oldest libcst that is allowed and the newest, whether `check` finds the same
and fixes make the same of all fixtures; and of each TensorFlow, with Keras 2 and 3, whether
`verify` finds that the fixes of some rules save what is claimed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

CHECKOUT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
LIBCST = ("oldest", "newest")
TENSORFLOW = ("2.16", "2.17", "2.18", "2.19", "2.20", "2.21")
KERAS = ("3", "2")
RULES = ("TFM101", "TFM202", "TFM401")
"""One that counts traces, one that weighs a pipeline, one that weighs what a loop keeps."""
LONGEST = 1800.0


class Failed(Exception):
    """A step that ended with an error; the message is the last line that it said."""


def main(argv: Sequence[str]) -> int:
    """Print the table, a line as soon as it is known; the exit code says whether all is well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", nargs="*", default=PYTHONS)
    parser.add_argument("--tensorflow", nargs="*", default=TENSORFLOW)
    parser.add_argument("--keras", nargs="*", default=KERAS)
    parser.add_argument("--verify-with", default="3.11", help="the Python that TensorFlow runs on")
    parser.add_argument("--rules", nargs="*", default=RULES)
    options = parser.parse_args(argv)
    said: list[bool] = []
    print("| Python | with | came to | |\n|---|---|---|---|", flush=True)
    expected = _checked(Path(sys.executable))
    for python in options.python:
        said += [_line(python, _libcst(python, each, expected)) for each in LIBCST]
    host = options.verify_with
    for version in options.tensorflow:
        several = (_verified(host, version, keras, options.rules) for keras in options.keras)
        said += [_line(host, steps) for steps in several]
    return 0 if all(said) else 1


def _line(python: str, steps: Iterator[str]) -> bool:
    """Print a line of the table: what there was, what it came to, and how long that took."""
    began, what = time.monotonic(), ""
    try:
        what = next(steps)
        *_, last = steps
    except Failed as failure:
        last = f"**failed**: {failure}"
    print(f"| {python} | {what} | {last} | {time.monotonic() - began:.0f} s |", flush=True)
    return not last.startswith("**")


def _libcst(python: str, which: str, expected: str) -> Iterator[str]:
    with TemporaryDirectory() as folder:
        yield f"libcst, the {which}"
        oldest = re.search(r'"libcst>=([\d.]+)"', (CHECKOUT / "pyproject.toml").read_text())
        wanted = [f"libcst=={oldest[1]}.*"] if oldest and which == "oldest" else []
        there = _environment(Path(folder), python, wanted)
        found = _checked(there)
        yield f"{_version(there, 'libcst')}: the same" if found == expected else "**differs**"


def _verified(python: str, version: str, keras: str, rules: Sequence[str]) -> Iterator[str]:
    with TemporaryDirectory() as folder:
        yield f"TensorFlow {version}, Keras {keras}"
        wanted = [f"tensorflow=={version}.*"] + [f"tf_keras=={version}.*"] * (keras == "2")
        there = _environment(Path(folder), python, wanted)
        legacy = {"TF_USE_LEGACY_KERAS": "1"} if keras == "2" else {}
        command = ["verify", *rules, "--runs", "1", "--jobs", "1", "--device", "cpu", "--json"]
        printed = _run([there, "-m", "tfmemlint", *command], legacy, codes=(0, 1))
        records = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
        held = [each["code"] for each in records if each["claim"]["holds"]]
        what = f"{len(held)} of {len(rules)} claims hold"
        yield (
            f"{_version(there, 'tensorflow')}: {what}" if len(held) == len(rules) else f"**{what}**"
        )


def _environment(folder: Path, python: str, wanted: list[str]) -> Path:
    """The Python of a new environment with tfmemlint, as it is installed by people."""
    uv = [sys.executable, "-m", "uv", "python"]
    _run([*uv, "install", "--quiet", python], codes=(0, 1, 2))  # it may be here, and no network
    _run([_run([*uv, "find", "--no-project", python]).strip(), "-m", "venv", folder / "env"])
    there = folder / "env" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    binary = ["--only-binary", "libcst,tensorflow,numpy"]
    _run([there, "-m", "pip", "install", "--quiet", *binary, CHECKOUT, *wanted])
    return there


def _checked(python: Path) -> str:
    """A digest of what is found in the fixtures, and of what all fixes would change there."""
    check: list[str | Path] = [python, "-m", "tfmemlint", "check", "--no-cache", "fixtures"]
    found = _run([*check, "--output-format", "concise"], codes=(0, 1))
    changes = _run([*check, "--diff", "--unsafe-fixes"], codes=(0, 1))
    return hashlib.sha256(f"{found}\n{changes}".encode()).hexdigest()


def _version(python: Path, package: str) -> str:
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return _run([python, "-c", code]).strip()


def _run(
    command: Sequence[str | Path], more: dict[str, str] | None = None, codes: Sequence[int] = (0,)
) -> str:
    environment = {**os.environ, **(more or {}), "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment.pop("PYTHONPATH", None)
    try:
        done = subprocess.run(
            [str(each) for each in command],
            cwd=CHECKOUT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"took longer than {LONGEST:.0f} s") from None
    if done.returncode not in codes:
        lines = [each for each in done.stderr.splitlines() if each.strip()]
        raise Failed(lines[-1].strip()[:120] if lines else f"exit code {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
