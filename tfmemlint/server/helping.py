"""The process that looks at documents, so that the one which hears of keystrokes never waits."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Mapping
from queue import SimpleQueue
from typing import Any, BinaryIO, NamedTuple

from tfmemlint.config import ConfigError
from tfmemlint.server.checking import Desk

_SIZE = 4
"""Bytes that say how long a message is."""
_SETTINGS, _STOP = "settings", "stop"
_FLAGS = ("-I", "-B") if sys.dont_write_bytecode else ("-I",)
"""Where Python looks for modules is told: the folder of the documents is no place for that."""


class _Task(NamedTuple):
    number: int
    name: str
    arguments: tuple[Any, ...]


class Helper:
    """A desk in a process of its own."""

    def __init__(self) -> None:
        self._settings: Mapping[str, object] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._starting = asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._number = 0

    async def configure(self, settings: Mapping[str, object]) -> None:
        """Have settings read anew."""
        self._settings = settings
        await self._send(_SETTINGS, settings)

    async def check(self, *arguments: Any) -> Any:
        """As `Desk.check`; whoever stops waiting for it has it stopped."""
        return await self._ask("check", *arguments)

    async def check_cells(self, *arguments: Any) -> Any:
        """As `Desk.check_cells`."""
        return await self._ask("check_cells", *arguments)

    async def fixed(self, *arguments: Any) -> Any:
        """As `Desk.fixed`."""
        return await self._ask("fixed", *arguments)

    async def look_around(self) -> None:
        """As `Desk.look_around`."""
        await self._send("look_around")

    def kill(self) -> None:
        """Be rid of the process; whoever asks next has another one started."""
        if self._process is not None:
            self._process.kill()

    async def _ask(self, name: str, *arguments: Any) -> Any:
        number = await self._send(name, *arguments)
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            return await answer
        except asyncio.CancelledError:
            await self._send(_STOP, number)
            raise
        finally:
            self._asked.pop(number, None)

    async def _send(self, name: str, *arguments: Any) -> int:
        async with self._starting:
            if self._process is None:
                self._process = await self._started()
                self._reading = asyncio.create_task(self._read(self._process))
                self._write(self._process, _SETTINGS, self._settings)
        return self._write(self._process, name, *arguments)

    def _write(self, process: asyncio.subprocess.Process, name: str, *arguments: Any) -> int:
        self._number += 1
        assert process.stdin is not None
        process.stdin.write(_packed(_Task(self._number, name, arguments)))
        return self._number

    async def _started(self) -> asyncio.subprocess.Process:
        program = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import help; help()"
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            sys.executable, *_FLAGS, "-c", program, stdin=pipe, stdout=pipe
        )

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Hand out answers until the process is gone."""
        assert process.stdout is not None
        try:
            while True:
                size = int.from_bytes(await process.stdout.readexactly(_SIZE), "big")
                number, answer = pickle.loads(await process.stdout.readexactly(size))
                waiting = self._asked.get(number)
                if waiting is not None and not waiting.done():
                    if isinstance(answer, Exception):
                        waiting.set_exception(answer)
                    else:
                        waiting.set_result(answer)
        except asyncio.IncompleteReadError:
            self._process = None
            for waiting in self._asked.values():
                if not waiting.done():
                    waiting.set_exception(ConfigError("the process that looks at files died"))


class _Bench:
    """The other end: does one task after the other, but those that nobody waits for any more."""

    def __init__(self, answers: BinaryIO) -> None:
        self._answers = answers
        self._settings: Mapping[str, object] = {}
        self._desk: Desk | None = None
        self._tasks: SimpleQueue[_Task] = SimpleQueue()
        self._stopped: set[int] = set()
        self._doing: int | None = None

    def hear(self, requests: BinaryIO) -> None:
        """Take tasks, from a thread of its own, until whoever sets them is gone."""
        while len(size := requests.read(_SIZE)) == _SIZE:
            task = pickle.loads(requests.read(int.from_bytes(size, "big")))
            if task.name == _STOP:
                self._stopped.update(task.arguments)
                interrupt_main(signal.SIGINT)
            else:
                self._tasks.put(task)
        os._exit(0)

    def interrupted(self, *_: object) -> None:
        """Leave what is being done, if nobody waits for it."""
        if self._doing in self._stopped:
            raise _StoppedError

    def work(self) -> None:
        """Do what is asked for."""
        while True:
            task = self._tasks.get()
            answer: object = None
            try:
                self._doing = task.number
                if task.number not in self._stopped:
                    answer = self._answer(task)
                self._doing = None
            except _StoppedError:
                self._doing = None
                if self._desk is not None:
                    self._desk.look_around()  # what is known may be half of it
            self._stopped.discard(task.number)
            self._answers.write(_packed((task.number, answer)))
            self._answers.flush()

    def _answer(self, task: _Task) -> object:
        try:
            return self._done(task)
        except Exception as error:  # noqa: BLE001  whoever asked is to hear of it
            return error

    def _done(self, task: _Task) -> object:
        if task.name == _SETTINGS:
            (self._settings,) = task.arguments
            self._desk = None
            return None
        if self._desk is None:
            try:
                self._desk = Desk(self._settings)
            except ConfigError:
                self._desk = Desk({})
                raise
        return getattr(self._desk, task.name)(*task.arguments)


class _StoppedError(BaseException):
    """Nobody waits for the answer; not an Exception, which a rule's own handler would catch."""


def help() -> None:
    """Look at documents for a server, through the standard streams, until it is gone."""
    answers = answers_apart()
    bench = _Bench(answers)
    signal.signal(signal.SIGINT, bench.interrupted)
    threading.Thread(target=bench.hear, args=(sys.stdin.buffer,), daemon=True).start()
    bench.work()


def answers_apart() -> BinaryIO:
    """The standard output, for answers alone: whatever is printed goes where errors go."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _packed(message: object) -> bytes:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(_SIZE, "big") + data
