"""Reads allocations out of TensorFlow's own profiler, and keeps what is alive at the peak."""

from __future__ import annotations

import shutil
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from tfmemlint.measure.keras_layers import Layer
from tfmemlint.measure.watching import Moment, advance

_TRACED = (b"MemoryAllocation", b"MemoryDeallocation")
_EXECUTES = "EagerLocalExecute: "
_CONVERTS = ("convert_to_tensor", "tf.constant")
_AROUND = (b"Iterator::", *(name.encode() for name in (_EXECUTES, *_CONVERTS)))
_FACTS = frozenset(
    (
        "addr",
        "allocation_bytes",
        "allocator_name",
        "bytes_allocated",
        "data_type",
        "requested_bytes",
        "shape",
        "tf_op",
    )
)


FORWARD, GRADIENT, PIPELINE = "forward", "gradient", "pipeline"
"""What a step of a training is at."""

EAGER, DATA = "eager", "tf.data"
"""What a thread does that runs an operation by itself, and one that only `tf.data` has."""


class Origin(NamedTuple):
    """The numbers of the statements that an allocation is to be seen with."""

    holder: int
    """What answers for the memory."""
    written_at: int
    """Where the operation was written: within a function that the holder calls, or the same."""
    layer: Layer | None = None
    """The layer of Keras' whose operation it was."""
    phase: str = ""
    """FORWARD, GRADIENT, PIPELINE, or empty where that is not known."""


class Allocation(NamedTuple):
    """Memory asked for: how much, when, and what the runtime says of it."""

    bytes: int
    rounded: int
    """What the allocator gave."""
    nanoseconds: int
    operation: str
    """Empty where the runtime does not say."""
    shape: str
    data_type: int
    during: str
    """EAGER, the `tf.data` iterator at work on that thread, DATA where only that is known, or
    nothing."""
    origin: Origin | None = None
    """None until it has been looked up."""
    address: int = 0


class Peak(NamedTuple):
    """The moment at which most was asked for, and what was alive then."""

    bytes: int
    rounded: int
    nanoseconds: int
    stack: tuple[int, ...]
    alive: tuple[Allocation, ...]
    in_use: int = 0
    """What the allocator itself said was in use then; 0 where it did not say."""


class Event(NamedTuple):
    """An allocation, or None where one at that address ends."""

    nanoseconds: int
    address: int
    allocation: Allocation | None
    in_use: int = 0
    """What the allocator had given away after that, all in all; 0 where it does not say."""
    ended: Allocation | None = None
    """What ends, as far as the allocator says."""

    @property
    def in_use_before(self) -> int:
        """What it had given away before that."""
        begun, ended = (each.rounded if each else 0 for each in (self.allocation, self.ended))
        return self.in_use - begun + ended


class Ledger:
    """What is alive, and what was at the peak; fed one stretch of the trace after the other."""

    def __init__(self, attribute: Callable[[Allocation, int], Origin]) -> None:
        self.peak = Peak(0, 0, 0, (), ())
        self.last: Peak | None = None
        self.curve: list[tuple[int, int]] = []
        self._attribute = attribute
        self._alive: dict[int, Allocation] = {}
        self._held = 0
        self._stack: list[int] = [0]
        self.most: dict[int, int] = {}
        """The most bytes that each statement ever held at once, peak or not."""
        self._held_by: Counter[int] = Counter()
        self._unseen: int | None = None
        """What was in use before the first stretch, which nothing is known of."""

    def add(
        self, events: Sequence[Event], timeline: Sequence[Moment], since: int | None = None
    ) -> None:
        """Take in a stretch of the trace and of the program's timeline.

        With `since`, a time, also keep what was alive at the highest point from then on.
        """
        self._reconcile(events)
        self._held_by = Counter()
        for each in self._alive.values():
            self._held_by[each.origin.holder if each.origin else 0] += each.bytes
        moments = [moment.nanoseconds for moment in timeline]
        innermost = _innermost(self._stack, timeline)

        def settled(allocation: Allocation) -> Allocation:
            if allocation.origin is not None:
                return allocation
            at = innermost[bisect_right(moments, allocation.nanoseconds)]
            return allocation._replace(origin=self._attribute(allocation, at))

        events = [
            event._replace(allocation=settled(event.allocation)) if event.allocation else event
            for event in events
        ]
        before = self._alive.copy()
        highest, highest_at = self.peak.bytes, None
        last_highest, last_at = -1, -1
        for index, (moment, address, allocation, _, _) in enumerate(events):
            if since is not None and moment >= since and self._held > last_highest:
                last_highest, last_at = self._held, index
            gone = self._alive.pop(address, None)
            if gone:
                self._held -= gone.bytes
                self._held_by[gone.origin.holder if gone.origin else 0] -= gone.bytes
            if allocation:
                self._alive[address] = allocation
                self._held += allocation.bytes
                self._note(allocation)
                if self._held > highest:
                    highest, highest_at = self._held, index + 1
            self.curve.append((moment, self._held))

        def peak(count: int) -> Peak:
            """What was alive after so many events."""
            there = before.copy()
            for _, address, allocation, _, _ in events[:count]:
                there.pop(address, None)
                if allocation:
                    there[address] = allocation
            alive = tuple(settled(each) for each in there.values())
            when = events[count - 1].nanoseconds if count else moments[0] if moments else 0
            return Peak(
                sum(each.bytes for each in alive),
                sum(each.rounded for each in alive),
                when,
                tuple(_after(self._stack, timeline[: bisect_right(moments, when)])),
                alive,
                events[count - 1].in_use if count else 0,
            )

        if highest_at is not None:
            self.peak = peak(highest_at)
        if since is not None:
            self.last = peak(len(events) if self._held > last_highest else last_at)
        self._alive = {address: settled(each) for address, each in self._alive.items()}
        self._stack = _after(self._stack, timeline)
        self.curve = thinned(self.curve)

    def _note(self, allocation: Allocation) -> None:
        holder = allocation.origin.holder if allocation.origin else 0
        self._held_by[holder] += allocation.bytes
        self.most[holder] = max(self.most.get(holder, 0), self._held_by[holder])

    def _reconcile(self, events: Sequence[Event]) -> None:
        """Bring what is taken for alive in line with what the allocator says at the next stretch.

        Between two stretches nothing is seen. What ended there must not be taken for alive for
        ever, and what began there is only known by its end.
        """
        if not events:
            return
        truth = events[0].in_use_before
        if self._unseen is None:
            self._unseen = truth
            return
        unsure = self._disprove(events)
        held = sum(each.rounded for each in self._alive.values())
        too_much = held + self._unseen - truth if events[0].in_use else 0
        for address in self._likeliest_first(unsure, too_much):
            if too_much > 0:
                too_much -= self._alive.pop(address).rounded
        self._add_missed(events, -too_much)
        self._held = sum(each.bytes for each in self._alive.values())

    def _likeliest_first(self, unsure: set[int], too_much: int) -> list[int]:
        """What has ended of all that may have, as far as can be guessed: what is just as much as is
        too much, else what was made last of what is no more; and if that is not enough, the least.
        """
        size = {address: self._alive[address].rounded for address in unsure}
        last = sorted(unsure, key=lambda each: -self._alive[each].nanoseconds)
        for address in last:
            if size[address] == too_much:
                return [address]
        chosen: list[int] = []
        for address in last:
            if size[address] <= too_much:
                too_much -= size[address]
                chosen.append(address)
        rest = sorted(unsure.difference(chosen), key=size.__getitem__)
        return [*chosen, *rest]

    def _disprove(self, events: Sequence[Event]) -> set[int]:
        """Drop what lies where something else is put before it has ended; the addresses of what
        may have ended as well as not."""
        addresses = sorted(self._alive)
        unsure = set(addresses)
        for _, address, allocation, _, _ in events:
            if allocation is None:
                unsure.discard(address)
                continue
            first = max(0, bisect_right(addresses, address) - 1)
            for other in addresses[first : bisect_left(addresses, address + allocation.rounded)]:
                if other in unsure and other + self._alive[other].rounded > address:
                    unsure.discard(other)
                    del self._alive[other]
        return unsure

    def _add_missed(self, events: Sequence[Event], missing: int) -> None:
        """Take for alive what is seen to end and was not seen to begin, as far as it is missing."""
        begun = set(self._alive)
        for event in events:
            ended = event.ended
            if event.allocation:
                begun.add(event.address)
            elif ended and event.address not in begun and ended.rounded <= missing:
                missing -= ended.rounded
                begun.add(event.address)
                self._alive[event.address] = ended._replace(nanoseconds=events[0].nanoseconds)


def thinned(curve: list[tuple[int, int]], points: int = 400) -> list[tuple[int, int]]:
    """At most twice so many points, none of the highest lost; evenly spread over time."""
    if len(curve) <= 2 * points:
        return curve
    start, end = curve[0][0], curve[-1][0]
    width = max(1, (end - start) // points + 1)
    kept: dict[int, tuple[int, int]] = {}
    last: dict[int, tuple[int, int]] = {}
    for point in curve:
        slot = (point[0] - start) // width
        if slot not in kept or point[1] > kept[slot][1]:
            kept[slot] = point
        last[slot] = point
    return sorted({*kept.values(), *last.values()})


class Trace:
    """TensorFlow's profiler, run one stretch after the other so that none grows too large."""

    def __init__(self, tf: Any, folder: Path, allocator: str, give_way: Callable[[], None]) -> None:
        profiler = import_module("tensorflow.python.profiler.profiler_v2")
        self._start, self._stop = profiler.start, profiler.stop
        self._folder = folder
        self._allocator = allocator
        self._space = _space()

        @wraps(self._start)
        def start_of_users(*args: Any, **kwargs: Any) -> None:
            give_way()
            self._start(*args, **kwargs)

        vars(profiler)["start"] = start_of_users
        tf.profiler.experimental.start = start_of_users

    def start(self) -> None:
        """Begin a stretch."""
        self._start(str(self._folder))

    def stop(self) -> bytes:
        """End the stretch; what the profiler wrote of it."""
        self._stop()
        data = b"".join(file.read_bytes() for file in self._folder.rglob("*.xplane.pb"))
        shutil.rmtree(self._folder, ignore_errors=True)
        return data

    def events(self, data: bytes) -> list[Event]:
        """The allocations in a stretch, in order of time."""
        space = self._space.FromString(data)
        start = next(_starts(space), None)
        if start is None:
            return []
        found = [event for plane in space.planes for event in self._of_plane(plane, start)]
        return sorted(found, key=lambda event: event.nanoseconds)

    def _of_plane(self, plane: Any, start: int) -> Iterator[Event]:
        names: dict[int, bytes] = {key: each.name for key, each in plane.event_metadata.items()}
        memory = {key: name == _TRACED[0] for key, name in names.items() if name in _TRACED}
        around = {key: _text(name) for key, name in names.items() if name.startswith(_AROUND)}
        wanted = memory.keys() | around.keys()
        texts = {key: _text(each.name) for key, each in plane.stat_metadata.items()}
        facts = {key: texts[key] for key in texts if texts[key] in _FACTS}
        for line in plane.lines:
            base = start + line.timestamp_ns
            thread = DATA if line.name.startswith(b"tf_data") else ""
            events = [event for event in line.events if event.metadata_id in wanted]
            events.sort(key=lambda event: (event.offset_ps, -event.duration_ps))
            within: list[tuple[int, int]] = []
            for event in events:
                kind, offset = event.metadata_id, event.offset_ps
                while within and within[-1][0] <= offset:
                    within.pop()
                if kind in around:
                    within.append((offset + event.duration_ps, kind))
                    continue
                known: dict[str, Any] = {
                    facts[each.metadata_id]: texts.get(each.ref_value) or each.int64_value
                    for each in event.stats
                    if each.metadata_id in facts
                }
                if self._allocator not in known["allocator_name"].lower():
                    continue
                when = base + offset // 1000
                in_use: int = known.get("bytes_allocated", 0)
                if memory[kind]:
                    during = around[within[-1][1]] if within else thread
                    yield Event(when, known["addr"], _allocation(known, when, during), in_use)
                else:
                    yield Event(when, known["addr"], None, in_use, _allocation(known, when, ""))


def _allocation(facts: dict[str, Any], when: int, during: str) -> Allocation:
    operation: str = facts.get("tf_op", "")
    if during.startswith(_EXECUTES):
        during = EAGER if operation == during.removeprefix(_EXECUTES) else ""
    elif during in _CONVERTS:
        operation, during = operation or during, EAGER
    return Allocation(
        bytes=facts["requested_bytes"],
        rounded=facts["allocation_bytes"],
        nanoseconds=when,
        operation=operation,
        shape=facts.get("shape", ""),
        data_type=facts.get("data_type", 0),
        during=during,
        address=facts["addr"],
    )


def _innermost(stack: Sequence[int], timeline: Sequence[Moment]) -> list[int]:
    """The statement the program is at before the first moment, and from each one on."""
    now = list(stack)
    found = [now[-1]]
    for _, statement in timeline:
        advance(now, statement)
        found.append(now[-1])
    return found


def _after(stack: Sequence[int], timeline: Sequence[Moment]) -> list[int]:
    """The statements that the program is at after a stretch of its timeline."""
    now = list(stack)
    for _, statement in timeline:
        advance(now, statement)
    return now


def _starts(space: Any) -> Iterator[int]:
    for plane in space.planes:
        for stat in plane.stats:
            if plane.stat_metadata[stat.metadata_id].name == b"profile_start_time":
                yield stat.uint64_value


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _space() -> Any:
    """The class of a trace, with bytes for text: names in it are not always UTF-8."""
    descriptor_pb2 = import_module("google.protobuf.descriptor_pb2")
    pools = import_module("google.protobuf.descriptor_pool")
    messages = import_module("google.protobuf.message_factory")
    schema = import_module("tensorflow.tsl.profiler.protobuf.xplane_pb2").DESCRIPTOR
    file = descriptor_pb2.FileDescriptorProto.FromString(schema.serialized_pb)
    pending = list(file.message_type)
    while pending:
        message = pending.pop()
        pending += message.nested_type
        for field in message.field:
            if field.type == field.TYPE_STRING:
                field.type = field.TYPE_BYTES
    pool = pools.DescriptorPool()
    pool.Add(file)
    return messages.GetMessageClass(pool.FindMessageTypeByName("tensorflow.profiler.XSpace"))
