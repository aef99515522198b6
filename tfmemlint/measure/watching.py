"""Keeps account, statement by statement, of what the device's allocator says is in use."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import get_ident
from typing import NamedTuple

ENTERED, LEFT = -1, -2
"""What stands in a timeline in place of a statement's number where a function begins or ends."""

CURRENT, PEAK, PEAK_AT, NOW_AT, RISES = 0, 1, 2, 3, 4
"""Where things stand in the account; from RISES on, how far each statement drove the peak up."""


class Reading(NamedTuple):
    """Bytes in use, now and at most."""

    current: int
    peak: int


class Moment(NamedTuple):
    """From when on the program was at a statement."""

    nanoseconds: int
    statement: int


class Watch:
    """Called by the program at every statement.

    The account is shared memory: it outlives a program that is killed.
    """

    def __init__(self, account: memoryview[int], prepare: Callable[[], None]) -> None:
        self.read: Callable[[], Reading] | None = None
        """None until there is a device to read from."""
        self.timeline: list[Moment] = []
        self.readings: list[tuple[int, int]] = []
        """Bytes in use, by the clock, a few hundred times a second at most."""
        self.peak_stack: tuple[int, ...] = ()
        self.calls = 0
        self.runs: dict[int, int] = {}
        """How often each statement was run."""
        self.pause: Callable[[], None] | None = None
        """To be called, once, where the program is between two statements."""
        self.look: Callable[[int], None] | None = None
        """To be called where more is in use than ever; with how much that is."""
        self.host: Callable[[int, int], None] | None = None
        """To be called now and then, with the statement that has been run and the bytes in use."""
        self._account = account
        self._prepare = prepare
        self._thread = get_ident()
        self._stack = [0]
        self._next_reading = 0

    def at(self, statement: int) -> None:
        """The program is about to run a statement."""
        if get_ident() == self._thread:
            self._settle()
            self._stack[-1] = statement
            self.runs[statement] = self.runs.get(statement, 0) + 1
            self._account[NOW_AT] = statement
            self.timeline.append(Moment(time.time_ns(), statement))

    def enter(self) -> None:
        """The program begins a function."""
        if get_ident() == self._thread:
            self._settle()
            self._stack.append(self._stack[-1])
            self.timeline.append(Moment(time.time_ns(), ENTERED))

    def leave(self) -> None:
        """The program ends a function, and is again at the statement that called it."""
        if get_ident() == self._thread:
            self._settle()
            if len(self._stack) > 1:
                self._stack.pop()
            self._account[NOW_AT] = self._stack[-1]
            self.timeline.append(Moment(time.time_ns(), LEFT))

    def between(self) -> None:
        """The program is about to have TensorFlow do something; no statement need have ended."""
        if get_ident() == self._thread:
            self._settle()

    def forget(self) -> None:
        """No longer listen: this is another process."""
        self._thread = 0

    def stop(self) -> None:
        """Take the last reading, and none after it."""
        self._settle()
        self._thread = 0

    def seconds_for_a_call(self) -> float:
        """What being called costs; to be asked once nothing is watched any more."""
        self._thread = get_ident()
        calls, started = 1000, time.perf_counter()
        for _ in range(calls):
            self.at(self._stack[-1])
        self._thread = 0
        self.calls -= calls
        return (time.perf_counter() - started) / calls

    @property
    def running(self) -> int:
        """The statement the program is at."""
        return self._stack[-1]

    def _settle(self) -> None:
        """Whatever has risen since the last call is the doing of the statement it was at."""
        self.calls += 1
        if self.read is None:
            self._prepare()
            if self.host and (now := time.time_ns()) >= self._next_reading:
                self.host(self._stack[-1], 0)
                self._next_reading = now + 5_000_000
            return
        current, peak = self.read()
        account = self._account
        account[CURRENT] = current
        if peak > account[PEAK]:
            statement = self._stack[-1]
            place = RISES + statement
            if place < len(account):
                account[place] += peak - account[PEAK]
            account[PEAK], account[PEAK_AT] = peak, statement
            self.peak_stack = tuple(self._stack)
            self.readings.append((time.time_ns(), peak))
            if self.look:
                self.look(current)
        now = time.time_ns()
        if now >= self._next_reading:
            self.readings.append((now, current))
            self._next_reading = now + 5_000_000
            if self.host:
                self.host(self._stack[-1], current)
        if self.pause:
            pause, self.pause = self.pause, None
            pause()


def advance(stack: list[int], statement: int) -> None:
    """Take a stack one entry of a timeline further."""
    if statement == ENTERED:
        stack.append(stack[-1])
    elif statement != LEFT:
        stack[-1] = statement
    elif len(stack) > 1:
        stack.pop()
