"""Places where programs are run one after the other; there may be several side by side."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from tfmemlint.verify.devices import SetupError
from tfmemlint.verify.family import Children, Family
from tfmemlint.verify.processes import (
    MARK,
    Drain,
    Ended,
    Job,
    Launch,
    Run,
    environment_of_device,
    kill_all,
    kill_group,
    packages_with_tensorflow,
    run,
    run_freshly,
    starting,
)
from tfmemlint.verify.starting import LONGEST_REQUEST

_LATER = ("TF_CPU_ALLOCATOR_USE_BFC", "TF_CPU_BFC_MEM_LIMIT_IN_MB")
"""What TensorFlow looks at where it is first used, and not where it is imported."""
_PATIENCE = 300  # seconds; importing TensorFlow takes a few


def of_server(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The part of the environment of programs that counts where TensorFlow is imported."""
    return {name: value for name, value in environment.items() if name not in _LATER}


class StoppedError(Exception):
    """Nothing is run here any more."""


class Bench:
    """Runs one program at a time; `stop` may be called from any thread."""

    def __init__(self, device: str = "auto", place: int | None = None) -> None:
        self._device = device
        self._place = place
        self._lock = Lock()
        self._stopped = False
        self._group: int | None = None
        self._server: Server | None = None
        self._environment: Mapping[str, str] = {}
        """What was set where the server has imported TensorFlow."""
        self._can_fork = hasattr(socket, "recv_fds") and sys.platform == "linux"

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        self._give_up()

    def run(self, job: Job) -> Run:
        """Run a program and weigh it; raises ProgramError, SetupError and StoppedError."""
        alike = job.device == self._device or (self._device, job.device) == ("auto", "cpu")
        try:
            launch = partial(self._launch, forked=alike, own=job.own is not None)
            return run(job, launch, self._place)
        finally:
            with self._lock:
                self._group = None

    def fork(self, launch: Launch) -> Ended | None:
        """Run a program of the user's in a fork; None where it takes a process of its own."""
        try:
            return self._forked(launch, launch.environment)
        finally:
            with self._lock:
                self._group = None

    def stop(self) -> None:
        """Kill what is running, and run nothing any more."""
        with self._lock:
            self._stopped = True
            if self._group is not None:
                kill_group(self._group)
            if self._server is not None:
                self._server.kill()

    def _launch(self, launch: Launch, *, forked: bool, own: bool) -> Ended:
        environment = launch.environment if own else environment_of_device(self._device)
        ended = self._forked(launch, environment) if forked else None
        if ended is not None:
            return ended
        self._begun(None)
        return run_freshly(launch, self._begun)

    def _forked(self, launch: Launch, environment: Mapping[str, str]) -> Ended | None:
        server = self._ready_server(environment)
        if server is None or (launch.of_host and not server.weighs_host):
            return None
        ended = server.run(launch, self._begun)
        if ended is None:
            self._give_up()
        return ended

    def _ready_server(self, environment: Mapping[str, str]) -> Server | None:
        environment = of_server(environment)
        if not self._can_fork or (self._server and self._environment == environment):
            return self._server
        self._close_server()
        server = Server(environment)
        with self._lock:
            self._server, self._environment = server, environment
            if self._stopped:
                server.kill()
        if not server.is_ready():
            self._give_up()
        return self._server

    def _give_up(self) -> None:
        """Fork no more."""
        self._can_fork = False
        self._close_server()

    def _close_server(self) -> None:
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.close()

    def _begun(self, group: int | None) -> None:
        """Know what is to be killed when all this is to stop; raises StoppedError."""
        with self._lock:
            self._group = group
            if not self._stopped:
                return
            if group is not None:
                kill_group(group)
        raise StoppedError


class Server:
    """A process that has imported TensorFlow and run nothing, and runs programs in forks.

    What TensorFlow's allocator weighs is the same to the byte in a fork, whatever that shares with
    what it was forked from. The host's memory is once the fork has the pages that its parent had:
    what it writes counts in either, and a page of its parent's that it copies was counted before.
    So is a step's time, as far as that can be told: what is copied when it is first written is
    copied in the first steps, which do not count.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        options: Sequence[str] = ("-I",),
        folder: Path | None = None,
        modules: Sequence[str] = (),
    ) -> None:
        self.weighs_host = False
        """Whether the host's memory can be weighed in a fork."""
        self._mark = uuid.uuid4().hex
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        argument = {
            "packages": packages_with_tensorflow(),
            "number": theirs.fileno(),
            "modules": modules,
        }
        with theirs:
            self._process = subprocess.Popen(
                starting("serve", argument, options),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env={**environment, MARK: self._mark},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def is_ready(self) -> bool:
        """Whether a fork is as good as a process of its own; raises SetupError."""
        try:
            until = time.monotonic() + _PATIENCE
            is_ready = bool(self._hear("ready", until))
            self.weighs_host = is_ready and bool(self._hear("weighs_host", until))
        except (_LostError, OSError):
            return False
        return is_ready

    def run(self, launch: Launch, begun: Callable[[int], None] = lambda _: None) -> Ended | None:
        """Run a program to its end in a fork; None if there can be no forks any more."""
        asked = {
            "request": launch.request,
            "environment": launch.environment,
            "folder": str(launch.folder or Path.cwd()),
            "of_host": launch.of_host,
        }
        until = time.monotonic() + launch.seconds
        status: int | None = None
        group: int | None = None
        family: Family | None = None
        children = Children()
        output, to_output = _pipe()
        errors, to_errors = _pipe()
        try:
            with contextlib.ExitStack() as ours:
                ours.callback(os.close, to_output)
                ours.callback(os.close, to_errors)
                socket.send_fds(self._line, [json.dumps(asked).encode()], [to_output, to_errors])
            group = self._hear("started", until)
            family = Family(group) if launch.folder is None else None  # a user's own program
            begun(group)
            status = self._hear("ended", until)
        except TimeoutError:
            if group is None:
                return None
            kill_group(group)
            with contextlib.suppress(_LostError, TimeoutError):
                self._hear("ended", time.monotonic() + _PATIENCE)
        except (_LostError, OSError):
            return None
        finally:
            kill_all(self._mark, group, but=self._process.pid)
            if family is not None:
                children = family.end()
        return Ended(status, output.output(), errors.last(), children)

    def kill(self) -> None:
        """End the process; whoever waits for it is told."""
        kill_group(self._process.pid)

    def close(self) -> None:
        """End the process, and all there is of it."""
        self.kill()
        self._process.wait()
        self._line.close()

    def _hear(self, key: str, until: float) -> int:
        """What the process says next; raises SetupError, TimeoutError and _LostError."""
        self._line.settimeout(max(0.001, until - time.monotonic()))
        data = self._line.recv(LONGEST_REQUEST)
        told: dict[str, Any] = json.loads(data) if data else {}
        if "unavailable" in told:
            raise SetupError(told["unavailable"])
        if key not in told:
            raise _LostError
        return int(told[key])


def _pipe() -> tuple[Drain, int]:
    """What reads a pipe to its end, and the end to write to."""
    read, write = os.pipe()
    return Drain(os.fdopen(read, "rb")), write


class _LostError(Exception):
    """The process is no more, or says what it should not."""
