"""Runs programs in forks of one process that has imported TensorFlow: milliseconds each.

What a program printed, how it ended and which files it left behind is what two versions of it are
compared by. As a script this is the process that forks: it reads one request a line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

LONGEST = 120.0
"""Seconds that one program may take."""


class Ran(NamedTuple):
    """What one run of a program came to."""

    code: int | None
    """Its exit code; None where it had to be stopped."""
    printed: str
    files: tuple[tuple[str, str], ...]
    """What it left behind, by name, with a digest of what is in it."""
    said: str = ""
    """The end of what went to stderr: warnings and tracebacks, which are not compared."""

    def like(self, other: Ran) -> bool:
        """Whether nobody can tell the two runs apart."""
        return self[:3] == other[:3]


class Forks:
    """One process with TensorFlow in it, and a fork of it for each program."""

    def __enter__(self) -> Forks:
        quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "PYTHONHASHSEED": "0"}
        quiet |= {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "2"}
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **quiet},
        )
        return self

    def __exit__(self, *_: object) -> None:
        _pipe(self._process.stdin).close()
        self._process.wait()
        _pipe(self._process.stdout).close()

    def run(self, folder: Path, program: str = "main.py", longest: float = LONGEST) -> Ran:
        """Run a program in its folder, with that as the working directory."""
        return self.run_all([folder], program, longest)[0]

    def run_all(
        self, folders: Sequence[Path], program: str = "main.py", longest: float = LONGEST
    ) -> list[Ran]:
        """Run the programs of several folders in one fork: what each leaves set, the next finds."""
        request = {"folders": [*map(str, folders)], "program": program, "longest": longest}
        print(json.dumps(request), file=_pipe(self._process.stdin), flush=True)
        answers = json.loads(_pipe(self._process.stdout).readline())
        return [
            Ran(code, printed, tuple((name, digest) for name, digest in files), said)
            for code, printed, files, said in answers
        ]


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def _serve() -> None:
    """Import TensorFlow, then fork for each request; what programs print is not our stdout."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _warm_up()
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(_forked(**request)), file=answers, flush=True)


def _warm_up() -> None:
    """Load what programs need, once for all: but no operation is run, as that starts threads."""
    import gc  # noqa: PLC0415

    import tensorflow as tf  # type: ignore[import-untyped]  # noqa: PLC0415

    def scaled(value: object) -> object:
        if value > 1:  # type: ignore[operator]
            return value + 1  # type: ignore[operator]
        return value

    _ = tf.keras.layers.Dense, tf.keras.optimizers.SGD, tf.image.resize
    tf.autograph.to_graph(scaled)(2)
    gc.collect()
    gc.freeze()


def _forked(folders: list[str], program: str, longest: float) -> list[tuple[object, ...]]:
    """Run the programs of these folders in one fork, one after the other, each by itself."""
    there = [Path(each) for each in folders]
    before = [_files(each) for each in there]
    child = os.fork()
    if child == 0:
        for each in there:
            code = _become(each, program)
            each.with_suffix(".code").write_text(str(code))
        os._exit(0)
    status = _ended(child, time.monotonic() + longest)
    return [_left(each, old, status) for each, old in zip(there, before, strict=True)]


def _files(folder: Path) -> set[Path]:
    found = (each for each in folder.rglob("*") if each.is_file())
    return {each for each in found if "__pycache__" not in each.parts}


def _left(folder: Path, before: set[Path], status: int | None) -> tuple[object, ...]:
    """What a program came to; without a code of its own, the process had an end before."""
    from hashlib import blake2b  # noqa: PLC0415

    files = [
        (str(each.relative_to(folder)), blake2b(each.read_bytes(), digest_size=8).hexdigest())
        for each in sorted(_files(folder) - before)
    ]
    kept = {end: folder.with_suffix(end) for end in (".code", ".stdout", ".stderr")}
    texts = {
        end: path.read_text(errors="backslashreplace") if path.exists() else ""
        for end, path in kept.items()
    }
    code = int(texts[".code"]) if texts[".code"] else status
    return code, texts[".stdout"], files, texts[".stderr"][-2000:]


def _ended(child: int, end: float) -> int | None:
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


def _become(folder: Path, program: str) -> int:
    """Run a program in this process as if it were alone; its exit code."""
    import atexit  # noqa: PLC0415
    import builtins  # noqa: PLC0415
    import runpy  # noqa: PLC0415
    import traceback  # noqa: PLC0415

    code, known, meant = 0, set(sys.modules), dict(vars(builtins))
    try:
        for end, place in ((".stdout", 1), (".stderr", 2)):
            file = os.open(folder.with_suffix(end), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, place)
            os.close(file)
        os.chdir(folder)
        sys.argv[:] = [program]
        sys.path.insert(0, str(folder))
        sys.stdin = open(os.devnull)  # noqa: PTH123, SIM115
        runpy.run_path(program, run_name="__main__")
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001  as Python does at the top of any program
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    vars(builtins).update(meant)
    sys.path.remove(str(folder))
    for name in set(sys.modules) - known:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    return code


if __name__ == "__main__":
    _serve()
