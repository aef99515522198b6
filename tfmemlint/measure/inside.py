"""Runs a program as Python would and keeps account of its memory; nothing of it leaves this process
but the record that the request names."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from threading import Event, Lock, Thread, current_thread
from types import ModuleType, TracebackType
from typing import Any

from tfmemlint.measure import device, failures, recording
from tfmemlint.measure import statements as stmts
from tfmemlint.measure.allocations import Ledger, Trace, thinned
from tfmemlint.measure.holders import Holders, Places
from tfmemlint.measure.host import Host
from tfmemlint.measure.keepers import Keepers
from tfmemlint.measure.keras_layers import MODULE as LAYERS
from tfmemlint.measure.keras_layers import Layers
from tfmemlint.measure.origins import Origins
from tfmemlint.measure.statements import Statements
from tfmemlint.measure.watching import Watch
from tfmemlint.verify.ending import status_of, wait_for_threads

_STRETCH = 5.0  # seconds of work that are traced before the trace is read
_LONGEST_STRETCH = 60.0  # seconds, with whatever work
_LONGEST_TIMELINE = 200_000
_STILL, _LONGEST_REST = 3, 0.3  # readings that are the same; seconds


def main(request_text: str) -> None:
    """Run the program; ends the process with the program's own status."""
    request: dict[str, Any] = json.loads(request_text)
    session = _Session(request)
    status = session.run()
    sys.stdout.flush()
    sys.stderr.flush()
    sys.exit(status)


class _Session:
    """One run of one program."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._request = request
        self._process = os.getpid()
        self._statements = Statements()
        self._statements.add(stmts.Statement("", 0, 0, ""))  # before the first one
        self._watch = Watch(recording.account(request["account"]), self._look_for_tensorflow)
        self._folder = Path(request["program"]).parent
        self._layers = Layers(self._is_users)
        self._origins = Origins(
            self._statements.at, lambda: self._watch.running, self._layers.called
        )
        self._holders: Holders | None = None
        self._users: dict[str, bool] = {}
        self._ledger = Ledger(self._origins.attribute)
        self._trace: Trace | None = None
        self._tracing = False
        self._lock = Lock()
        self._over = Event()
        self._notes: list[str] = []
        self._tf: Any = None
        self._device = ""
        self._started = 0
        self._own_seconds = 0.0
        self._folds = 0
        self._gap = False
        """Whether the trace ended before the program."""
        self._busy: Thread | None = None
        """Who reads the trace just now."""
        self._host = Host()
        self._error: dict[str, Any] | None = None

    def run(self) -> int:
        """Run the program; its exit status."""
        path: str = self._request["program"]
        folder = self._folder
        sys.path.insert(0, str(folder))
        sys.argv = [self._request["name"], *self._request["arguments"]]
        program = ModuleType("__main__")
        program.__file__ = path
        program.__dict__["__builtins__"] = __builtins__
        try:
            text = Path(self._request.get("text") or path).read_bytes()
            code = stmts.instrumented(text, path, self._statements)
        except (SyntaxError, ValueError) as error:
            self._write({"unusable": f"{type(error).__name__}: {error}"})
            return 1
        watch = self._watch
        told = {LAYERS: self._layers.listen_to_layers}
        stmts.listen(folder, self._statements, watch.at, watch.enter, watch.leave, told)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=watch.forget)
        sys.modules["__main__"] = program
        self._host = Host()
        sys.addaudithook(self._host.on_event)
        watch.host = self._note_host
        self._started = time.time_ns()
        ended, status = "finished", 0
        try:
            exec(code, vars(program))
            wait_for_threads()
        except SystemExit as end:
            status = status_of(end)
        except KeyboardInterrupt:
            ended, status = "interrupted", 130
        except BaseException as error:  # noqa: BLE001  whatever it is, the program is to blame
            ended, status = "raised", 1
            traceback = error.__traceback__.tb_next if error.__traceback__ else None
            self._error = self._failure(error, traceback)
            sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        if os.getpid() == self._process:  # and no child that the program has forked
            self._finish(ended, status)
        return status

    def _look_for_tensorflow(self) -> None:
        """Until the program has imported TensorFlow there is nothing to measure.

        It is not imported for the program, which may set its environment first.
        """
        if self._tf is not None or "tensorflow" not in sys.modules:
            return
        self._tf = sys.modules["tensorflow"]
        missing = self._origins.listen()
        try:
            self._layers.listen_to_tapes()
        except (ImportError, AttributeError):
            missing.append("what tapes hold")
        if missing:
            self._notes.append(
                f"this TensorFlow does not tell where {' and '.join(missing)} come from"
            )
        try:
            context: Any = import_module("tensorflow.python.eager.context").Context
            self._wait_for_devices(context, context.ensure_initialized)
            self._stand_before_graphs(context, context.call_function)
            self._stand_before_resets(context, context.reset_memory_stats)
        except (ImportError, AttributeError):
            self._notes.append("this TensorFlow tells only what is traced, not what is in use")
            self._begin(self._choose(), read=False)

    def _wait_for_devices(self, context: Any, initialise: Any) -> None:
        """Choose and warm a device when the program first needs one, and not before.

        Until then the program may still configure TensorFlow.
        """
        busy = False

        def initialise_and_begin(owner: Any) -> None:
            nonlocal busy
            if self._device or busy:
                initialise(owner)
                return
            busy = True
            try:
                chosen = self._choose()
                initialise(owner)
                self._begin(chosen)
            finally:
                busy = False

        context.ensure_initialized = initialise_and_begin

    def _stand_before_graphs(self, context: Any, call: Any) -> None:
        """Also read and pause before a graph is run: in `fit` there are no statements to do so."""

        def settle_and_call(owner: Any, *args: Any, **kwargs: Any) -> Any:
            self._watch.between()
            if self._busy and current_thread() is not self._busy:
                with self._lock:  # another thread waits until the trace is read
                    pass
            return call(owner, *args, **kwargs)

        context.call_function = settle_and_call

    def _stand_before_resets(self, context: Any, reset: Any) -> None:
        """Read before the program has the allocator forget its peak."""

        def settle_and_reset(owner: Any, *args: Any, **kwargs: Any) -> Any:
            self._watch.between()
            return reset(owner, *args, **kwargs)

        context.reset_memory_stats = settle_and_reset

    def _note_host(self, statement: int, in_use: int) -> None:
        self._host.note(statement, 0 if self._device.startswith("GPU") else in_use)

    def _is_users(self, file: str) -> bool:
        known = self._users.get(file)
        if known is None:
            known = self._users[file] = bool(file) and stmts.is_users(file, self._folder)
        return known

    def _choose(self) -> str:
        try:
            return device.choose(self._tf, self._request["device"], self._request["limit"])
        except device.NoSuchDeviceError as reason:
            self._write({"unusable": str(reason)})
            os._exit(2)

    def _begin(self, address: str, *, read: bool = True) -> None:
        """Read from the device and trace its allocator from here on."""
        self._device = address
        started = time.perf_counter()
        if read:
            device.warm(self._tf, address, self._request["limit"])
            try:
                self._watch.read = device.reader(self._tf, address)
            except Exception as error:  # noqa: BLE001  a device that keeps no account
                note = f"{address} does not tell how much memory is in use: {error}"
                self._notes.append(note)
        try:
            allocator = "gpu_0" if address.startswith("GPU") else "cpu"
            folder = Path(self._request["trace"])
            self._trace = Trace(self._tf, folder, allocator, self._give_way)
            self._trace.start()
            self._tracing = True
        except Exception as error:  # noqa: BLE001  private modules may fail in any way
            self._trace = None
            self._notes.append(f"allocations cannot be traced: {type(error).__name__}: {error}")
        else:
            Thread(target=self._take_turns, daemon=True).start()
        try:
            places = Places(self._layers.place, self._layers.tapes)
            self._holders = Holders(self._tf, self._is_users, places, lambda: self._watch.runs)
            self._watch.look = self._holders.look
        except (ImportError, AttributeError):
            self._notes.append("this TensorFlow does not let us see which objects hold tensors")
        self._write(self._record(None, None))
        self._own_seconds += time.perf_counter() - started

    def _give_way(self) -> None:
        """Let the program profile itself, which it cannot while we do."""
        self._over.set()
        self._fold(go_on=False)
        self._gap = True
        self._notes.append("the program profiles itself: allocations are not traced from then on")

    def _take_turns(self) -> None:
        """Have the trace read now and then, so that it never grows large.

        What is allocated meanwhile is not seen. So it is read where the program is between two
        statements, or is about to run a graph, and waits; only if it gets to neither for long, it
        is read while the program is at work.
        """
        written = read = time.monotonic()
        worked = time.process_time()
        while not self._over.wait(0.25):
            now, long = time.monotonic(), len(self._watch.timeline) > _LONGEST_TIMELINE
            if not long and now - written < _STRETCH:
                continue
            work = time.process_time() - worked
            if long or work > _STRETCH or now - read > _LONGEST_STRETCH:
                folds = self._folds
                self._watch.pause = self._fold
                asked = time.monotonic()
                while self._folds == folds and not self._over.wait(0.05):
                    if time.monotonic() - asked > _LONGEST_STRETCH:
                        self._watch.pause = None
                        self._fold()
                read, worked = time.monotonic(), time.process_time()
            self._write(self._record(None, None))
            written = time.monotonic()

    def _fold(self, *, go_on: bool = True, died_at: int | None = None) -> None:
        """Take in what has been traced since the last time."""
        with self._lock:
            self._folds += 1
            if not self._tracing or self._trace is None:
                return
            started = time.perf_counter()
            self._busy = current_thread()
            self._tracing = False
            self._come_to_rest()
            self._host.pause()
            try:
                data = self._trace.stop()
                timeline, self._watch.timeline = self._watch.timeline, []
                if go_on:
                    self._trace.start()
                    self._tracing = True
                since = None
                if died_at is not None:
                    began = (each.nanoseconds for each in timeline if each.statement == died_at)
                    since = max(began, default=0)
                events = self._trace.events(data)
                for event in events:
                    if event.allocation is not None:
                        self._origins.add_allocation(event.allocation)
                self._ledger.add(events, timeline, since)
                if self._holders and self._watch.read:
                    peak, current = self._ledger.peak.nanoseconds, self._watch.read().current
                    self._holders.look_after(peak, current)
                    self._holders.prune((self._ledger.last or self._ledger.peak).nanoseconds)
            except Exception as error:  # noqa: BLE001  what is measured must not die of it
                self._notes.append(f"the trace has a gap: {type(error).__name__}: {error}")
            self._host.go_on()
            self._busy = None
            self._own_seconds += time.perf_counter() - started

    def _come_to_rest(self) -> None:
        """Wait, but not for long, until threads that work ahead have filled their buffers."""
        if self._watch.read is None:
            return
        still, last = 0, -1
        give_up = time.monotonic() + _LONGEST_REST
        while still < _STILL and time.monotonic() < give_up:
            time.sleep(0.005)
            current = self._watch.read().current
            still, last = (still + 1, last) if current == last else (0, current)

    def _finish(self, ended: str, status: int) -> None:
        self._over.set()
        self._watch.stop()
        error = self._error
        self._fold(
            go_on=False, died_at=error["statement"] if error and error["exhausted"] else None
        )
        self._watch.look = self._watch.pause = None
        if self._holders:
            self._own_seconds += self._holders.seconds
        self._own_seconds += self._watch.calls * self._watch.seconds_for_a_call()
        self._write(self._record(ended, status))

    def _failure(self, error: BaseException, traceback: TracebackType | None) -> dict[str, Any]:
        """What the program died of, and where."""
        exhausted = None
        if self._tf is not None:
            exhausted = failures.exhausted(error, self._tf.errors.ResourceExhaustedError)
        message = str(exhausted or error)
        node, requested = failures.node(message), failures.requested(message)
        return {
            "type": type(error).__name__,
            "message": message,
            "exhausted": exhausted is not None,
            "statement": failures.raised_at(traceback, self._statements.at),
            "operation": failures.operation(message),
            "written_at": self._origins.of_operation(node) if node else None,
            "requested": self._tensor(requested) if exhausted and requested else None,
        }

    def _tensor(self, tensor: failures.Tensor) -> dict[str, Any]:
        data_type = self._tf.as_dtype(tensor.data_type)
        size = tensor.elements * data_type.size
        return {"shape": tensor.shape, "dtype": data_type.name, "bytes": size}

    def _record(self, ended: str | None, status: int | None) -> dict[str, Any]:
        """Everything known so far."""
        held = self._ledger.last or self._ledger.peak
        by = Keepers(self._holders, self._statements, held.nanoseconds)
        entries = list(recording.held_entries(held.alive, self._tf, by.number))
        started = self._started
        return {
            "ended": ended,
            "status": status,
            "error": self._error,
            "device": {"address": self._device} if self._device else None,
            "seconds": (time.time_ns() - started) / 1e9,
            "own_seconds": self._own_seconds,
            "calls": self._watch.calls,
            "host": {
                "before": self._host.before,
                "peak": self._host.peak,
                "anonymous": self._host.anonymous,
                "files": self._host.files,
                "outside": self._host.outside,
                "rises": [[number, size] for number, size in self._host.rises.items()],
            },
            "peak": recording.peak_entry(self._ledger.peak, started, self._watch.peak_stack),
            "held": entries,
            "holders": list(by.entries()),
            "most": [[number, size] for number, size in self._ledger.most.items()],
            "curve": recording.timed(self._ledger.curve, started),
            "watched_curve": recording.timed(thinned(self._watch.readings), started),
            "statements": [list(each) for each in self._statements.all],
            "versions": recording.versions(self._tf),
            "gap": self._gap,
            "notes": self._notes,
        }

    def _write(self, record: Mapping[str, Any]) -> None:
        recording.write(Path(self._request["record"]), record)
