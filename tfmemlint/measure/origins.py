"""Which statement of the user's made a graph's operation or a step of a `tf.data` pipeline."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from math import inf
from typing import Any, NamedTuple

from tfmemlint.measure.allocations import (
    DATA,
    EAGER,
    FORWARD,
    GRADIENT,
    PIPELINE,
    Allocation,
    Origin,
)
from tfmemlint.measure.keras_layers import MODULE as LAYERS
from tfmemlint.measure.keras_layers import Layer

Locate = Callable[[str, int], "int | None"]
"""The number of the user's statement on a line of a file."""

_VERSION = re.compile(r"V\d+$")
_FUSED = re.compile(r"And(?=[A-Z])")
_RUN_FUNCTIONS = ("FlatMap", "Interleave", "Map")
_DEEPEST = 16
_TAPE, _GRADIENT = "gradient_tape", "_grad"
"""How TensorFlow names what a tape makes of a graph, and what a graph makes of itself."""
_LAYERS = LAYERS.rpartition(".")[2] + ".py"


class Step(NamedTuple):
    """A step of a pipeline: what it is, and the statement that made it."""

    kind: str
    statement: int
    room: float = 0
    """How many elements it may keep."""


class Made(NamedTuple):
    """What made an operation of a graph."""

    statement: int
    layer: Layer | None = None


Pipeline = tuple[Step, ...]
"""The last step comes first, as in the runtime's names."""


class Origins:
    """Listens while graphs are traced and pipelines are made."""

    def __init__(
        self,
        locate: Locate,
        running: Callable[[], int],
        layer: Callable[[], Layer | None] = lambda: None,
    ) -> None:
        self._locate = locate
        self._running = running
        self._layer = layer
        self._operations: dict[str, set[Made]] = {}
        self._pipelines: dict[Pipeline, None] = {}
        self._iterated: set[Pipeline] = set()
        self._during: dict[str, str] = {}
        self._found: dict[tuple[str, str], tuple[int | None, int | None, Layer | None, str]] = {}
        """What has been found out since anything was made."""

    def listen(self) -> list[str]:
        """Start; what this TensorFlow does not let us hear."""
        missing: list[str] = []
        try:
            graph: Any = import_module("tensorflow.python.framework.func_graph").FuncGraph
            self._listen_to_graphs(graph, graph._create_op_internal)
        except (ImportError, AttributeError):
            missing.append("operations of graphs")
        try:
            dataset: Any = import_module("tensorflow.python.data.ops.dataset_ops").DatasetV2
            self._listen_to_pipelines(dataset, dataset.__init__)
            iterator: Any = import_module("tensorflow.python.data.ops.iterator_ops").OwnedIterator
            self._listen_to_iterators(iterator, iterator.__init__)
        except (ImportError, AttributeError):
            missing.append("steps of tf.data pipelines")
        return missing

    def add_operation(self, name: str, statement: int, layer: Layer | None = None) -> None:
        """A graph got an operation of this name."""
        self._operations.setdefault(name, set()).add(Made(statement, layer))
        self._found.clear()

    def add_pipeline(self, steps: Pipeline) -> None:
        """A pipeline was made, or one made longer."""
        self._found.clear()
        self._pipelines.pop(steps[1:], None)
        self._pipelines[steps] = None

    def add_iterator(self, steps: Pipeline) -> None:
        """Somebody goes through a pipeline, which counts for more than one that is only made."""
        self._found.clear()
        self._iterated.add(steps)

    def add_allocation(self, allocation: Allocation) -> None:
        """Remember what an iterator runs: the trace forgets one at work where a stretch ends."""
        operation, during = allocation.operation, allocation.during
        known = not during.startswith("Iterator::") or self._during.get(operation) == during
        if operation and not known:
            self._during[operation] = during
            self._found.clear()

    def of_operation(self, name: str) -> int | None:
        """The statement that made the operation of this name; None where it is not the only one."""
        made, _ = self.made(name)
        return made and made.statement

    def made(self, name: str) -> tuple[Made | None, str]:
        """What made the operation of this name, and in what phase of a step it is run.

        The runtime's names have something before them where a function was inlined, and something
        after where the graph was optimised. An operation of a gradient is named for the one that
        it is the gradient of, whose line says more than that of the call for all gradients.
        """
        parts = name.split("/")[:_DEEPEST]
        for known in _forwards(parts):
            made = self._one(known)
            if made:
                return made, GRADIENT
        for known in _stretches(parts):
            if known in self._operations:
                made = self._one(known)
                return made, FORWARD if made and made.layer else ""
        return None, ""

    def _one(self, name: str) -> Made | None:
        """What made all operations of this name, where that is one statement."""
        made = self._operations.get(name, ())
        statement = _same(each.statement for each in made)
        if statement is None:
            return None
        layers = {each.layer for each in made}
        return Made(statement, layers.pop() if len(layers) == 1 else None)

    def of_element(self, iterator: str) -> int | None:
        """The statement that keeps what is made in `Iterator::Root::Prefetch::Shuffle::Map`."""
        kinds = [kind for part in iterator.split("::")[1:] for kind in _kinds(part)]
        likeness = {
            pipeline: len({step.kind for step in pipeline}.intersection(kinds))
            for pipeline in self._pipelines
        }
        most = max(likeness.values(), default=0)
        alike = [pipeline for pipeline, shared in likeness.items() if shared == most > 0]
        return self._one_of((pipeline, _place(pipeline, kinds)) for pipeline in alike)

    def of_any_element(self, *, batch: bool) -> int | None:
        """The statement that keeps the batches of any pipeline, or the elements that are made for
        them; None if that is not one for all."""
        return self._one_of(
            (pipeline, index)
            for pipeline in self._pipelines
            for index, step in enumerate(pipeline)
            if (_is_batch(step) if batch else step.kind in _RUN_FUNCTIONS)
        )

    def attribute(self, allocation: Allocation, running: int) -> Origin:
        """The statements to see an allocation with.

        In a graph, where the operation was written; in a pipeline, what keeps its elements; and
        where neither is known, where the program was.
        """
        key = allocation.operation, allocation.during
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._find(*key)
        holder, written, layer, phase = found
        return Origin(holder or running, written or holder or running, layer, phase)

    def _find(
        self, operation: str, during: str
    ) -> tuple[int | None, int | None, Layer | None, str]:
        """What holds what an operation makes, where it was written, whose it is and in what phase;
        as far as that does not depend on where the program was."""
        made, phase = None, ""
        if operation and during != EAGER:
            made, phase = self.made(operation)
        written = made and made.statement
        if written and not during:
            during = self._during.get(operation, "")
        holder = written
        if during == DATA:
            holder = self.of_any_element(batch=not operation) or written
        elif during and during != EAGER:
            holder = self.of_element(during) or written
        if during and during != EAGER:
            phase = PIPELINE
        return holder, written, made.layer if made else None, phase

    def _one_of(self, places: Iterable[tuple[Pipeline, int]]) -> int | None:
        """What keeps the elements at one place, of several pipelines: the one keeper there is, or
        the one in pipelines that were gone through, or the one that has the most room for them."""
        found = [(pipeline, _keeper(pipeline, place)) for pipeline, place in places]
        used = [(steps, keeper) for steps, keeper in found if steps in self._iterated]
        most = max((keeper.room for _, keeper in used or found), default=0)
        roomy = (keeper.statement for _, keeper in used or found if keeper.room == most > 0)
        return (
            _same(keeper.statement for _, keeper in found)
            or _same(keeper.statement for _, keeper in used)
            or _same(roomy)
        )

    def _listen_to_graphs(self, graph: Any, create: Any) -> None:
        def create_and_note(owner: Any, *args: Any, **kwargs: Any) -> Any:
            operation = create(owner, *args, **kwargs)
            with suppress(Exception):  # whatever is private and has changed is not the program's
                layer = self._layer()
                statement = self._users(operation.traceback, layer)
                if statement is not None:
                    self.add_operation(operation.name, statement, layer)
            return operation

        graph._create_op_internal = create_and_note

    def _listen_to_pipelines(self, dataset: Any, begin: Any) -> None:
        def begin_and_note(owner: Any, *args: Any, **kwargs: Any) -> None:
            begin(owner, *args, **kwargs)
            with suppress(Exception):
                before: Pipeline = ()
                for source in owner._inputs():
                    before += getattr(source, "_tfmemlint_steps", ())
                kind = _kind(type(owner).__name__)
                step = Step(kind, self._running(), _room(owner, kind))
                owner._tfmemlint_steps = steps = (step, *before)
                self.add_pipeline(steps)

        dataset.__init__ = begin_and_note

    def _listen_to_iterators(self, iterator: Any, begin: Any) -> None:
        def begin_and_note(owner: Any, dataset: Any = None, *args: Any, **kwargs: Any) -> None:
            self.add_iterator(getattr(dataset, "_tfmemlint_steps", ()))
            begin(owner, dataset, *args, **kwargs)

        iterator.__init__ = begin_and_note

    def _users(self, traceback: Any, layer: Layer | None) -> int | None:
        """The innermost statement of the user's; the frames are mapped back by AutoGraph.

        What a layer of Keras' own does is seen with the line that made the layer.
        """
        for frame in reversed(traceback):
            statement = self._locate(frame.filename, frame.lineno)
            if statement is not None:
                return statement
            if layer and layer.place and frame.name == "__call__" and _LAYERS in frame.filename:
                made = self._locate(*layer.place)
                if made is not None:
                    return made
        return None


def _place(pipeline: Pipeline, kinds: list[str]) -> int:
    """Which step of the pipeline the last of these kinds is; TensorFlow adds steps of its own."""
    for depth in range(len(kinds), 0, -1):
        kind = kinds[depth - 1]
        alike = [index for index, step in enumerate(pipeline) if step.kind == kind]
        if alike:
            return alike[min(kinds[:depth].count(kind), len(alike)) - 1]
    return 0


def _keeper(pipeline: Pipeline, index: int) -> Step:
    """The step that keeps what a step makes: on its way out, the one with the most room.

    From the next batch on it is something else that is kept.
    """
    keeper = pipeline[index]
    for step in reversed(pipeline[:index]):
        if _is_batch(step):
            break
        if step.room > keeper.room:
            keeper = step
    return keeper


def _is_batch(step: Step) -> bool:
    return step.kind.endswith("Batch")


def _room(dataset: Any, kind: str) -> float:
    """How many elements a step may keep; 0 where TensorFlow decides."""
    if kind == "Cache":
        return inf
    amount = getattr(dataset, "_num_parallel_calls", getattr(dataset, "_buffer_size", 0))
    with suppress(Exception):  # in a graph the amount is not known
        return max(0, int(amount))
    return 0


def _same(statements: Iterable[int | None]) -> int | None:
    """The one there is; None where there are several."""
    found = set(statements)
    return found.pop() if len(found) == 1 else None


def _stretches(parts: list[str]) -> Iterator[str]:
    """The longest first; of equally long ones, what drops more in front comes first."""
    count = len(parts)
    for length in range(count, 0, -1):
        for start in range(count - length, -1, -1):
            yield "/".join(parts[start : start + length])


def _forwards(parts: list[str]) -> Iterator[str]:
    """The names that the operation may have of which this is a gradient; the longest first."""
    if _TAPE in parts:
        rest = parts[parts.index(_TAPE) + 1 :]
        for length in range(len(rest), 0, -1):
            yield "/".join(rest[:length])
    ends = [index for index, part in enumerate(parts) if part.endswith(_GRADIENT)]
    if ends:
        rest = [*parts[: ends[0]], parts[ends[0]].removesuffix(_GRADIENT)]
        for start in range(len(rest)):
            yield "/".join(rest[start:])


def _kind(name: str) -> str:
    """`_ParallelMapDataset` and `ParallelMapV2` are both a `Map`."""
    name = _VERSION.sub("", name.strip("_")).removesuffix("Dataset")
    if name.startswith("MemoryCache"):  # the runtime's name for what reads and writes a cache
        return "Cache"
    return name.removeprefix("Parallel") or name


def _kinds(part: str) -> list[str]:
    """`MapAndBatch` is two steps; an index in brackets is none of the name."""
    return [_kind(kind) for kind in _FUSED.split(part.partition("[")[0])]
