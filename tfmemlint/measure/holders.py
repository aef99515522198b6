"""Which of a program's own objects keep tensors, found from Python's references."""

from __future__ import annotations

import gc
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple, cast

from tfmemlint.measure.allocations import EAGER, GRADIENT, PIPELINE, Allocation

_MOST_OBJECTS = 400_000
"""Objects that are looked at; a program of ours had 20,000."""
_FEW = 24
"""Keys of a dictionary that are named one by one."""
_GROWN = 1.05
_LEAST = 4 << 20
"""From how much more on it is worth looking again at once."""
_COST = 25
"""So many times as long as looking takes is waited before looking again for less."""
_MOST_LOOKS = 200
_LEAVES = (str, bytes, bytearray, int, float, complex, bool, type(None), ModuleType, CodeType)

LAYER, OPTIMISER, TAPE, LIBRARY = "layer", "optimiser", "tape", "library"
"""Kinds of holders that are no containers of the program's."""
WORK, STEPS, ACTIVATIONS = "work", "pipeline", "activations"
GRADIENTS, UPDATES = "gradients", "updates"
"""Kinds of holders that are no objects of Python's: what is at work has hold of it."""


class Holder(NamedTuple):
    """An object that keeps tensors, by the name that the program knows it by."""

    name: str
    kind: str
    """The name of its type, or one of the kinds above."""
    place: tuple[str, int] | None = None
    """Where a layer or a tape was made."""


class Held(NamedTuple):
    """What one holder keeps."""

    bytes: int
    tensors: int


class Look(NamedTuple):
    """What was held by whom at one moment."""

    nanoseconds: int
    in_use: int
    addresses: Mapping[int, Holder]
    """By where a tensor's memory begins; of what is on a GPU, that is not known."""
    held: Mapping[Holder, Held]
    runs: Mapping[int, int]
    """How often each statement had been run."""
    tape: tuple[str, int] | None
    """Where the innermost tape was made, if there was one."""


class Places(NamedTuple):
    """What is known of objects of TensorFlow's and Keras', by looking on when they are made."""

    layer: Callable[[Any], tuple[str, int] | None]
    tapes: Callable[[], Iterable[tuple[str, int]]]


class Holders:
    """Looks at what the program holds whenever that has become more than it ever was."""

    def __init__(
        self,
        tf: Any,
        is_users: Callable[[str], bool],
        places: Places,
        runs: Callable[[], Mapping[int, int]],
    ) -> None:
        self.looks: list[Look] = []
        self.seconds = 0.0
        self._tf = tf
        self._is_users = is_users
        self._places = places
        self._runs = runs
        self._tensor: Any = import_module("tensorflow.python.framework.ops").EagerTensor
        self._variable: Any = import_module(
            "tensorflow.python.ops.resource_variable_ops"
        ).BaseResourceVariable
        self._highest = 0
        self._next = 0.0

    def look(self, current: int) -> None:
        """Look, if that is worth while; so much is in use now."""
        much_more = current > _GROWN * self._highest and current > self._highest + _LEAST
        if much_more or (time.perf_counter() >= self._next and current >= _LEAST):
            self._look_now(current)

    def look_after(self, peak: int, current: int) -> None:
        """Look, if nobody has since the peak."""
        if peak and (not self.looks or self.looks[-1].nanoseconds < peak):
            self._look_now(current)

    def _look_now(self, current: int) -> None:
        now, spent = time.perf_counter(), time.thread_time()
        with suppress(Exception):  # whatever the program's objects do when they are looked at
            self.looks.append(self._look(current))
        self._highest = max(current, self._highest)
        self._next = now + _COST * (time.thread_time() - spent)
        self.seconds += time.perf_counter() - now
        if len(self.looks) > _MOST_LOOKS:
            del self.looks[1:-1:2]

    def holder_of(self, allocation: Allocation, place: tuple[str, int], peak: int) -> Holder:
        """Who kept what was alive at the peak; `place` is where that is seen with."""
        after = next((look for look in self.looks if look.nanoseconds > peak), None)
        before = [look for look in self.looks if allocation.nanoseconds <= look.nanoseconds <= peak]
        for look in (*reversed(before), *filter(None, [after])):
            holder = look.addresses.get(allocation.address)
            if holder is not None:
                return holder
        origin = allocation.origin
        phase, layer = (origin.phase, origin.layer) if origin else ("", None)
        if phase == PIPELINE:
            return Holder("", STEPS, place)
        if layer:
            kind = GRADIENTS if phase == GRADIENT else ACTIVATIONS
            return Holder(layer.name, kind, layer.place)
        for name in {each.name for look in before for each in look.held if each.kind == OPTIMISER}:
            if name in allocation.operation.split("/"):
                return Holder(name, UPDATES)
        tape = next((look.tape for look in reversed(before)), None)
        return Holder("", TAPE, tape) if tape and allocation.during == EAGER else Holder("", WORK)

    def prune(self, peak: int) -> None:
        """Forget all addresses but of the looks around the peak and of the last one."""
        wanted = {id(look) for look in self.looks[-1:]}
        before = [look for look in self.looks if look.nanoseconds <= peak]
        after = [look for look in self.looks if look.nanoseconds > peak]
        wanted |= {id(look) for look in (*before[-3:], *after[:1])}
        self.looks = [
            look if id(look) in wanted else look._replace(addresses={}) for look in self.looks
        ]

    def _look(self, current: int) -> Look:
        when = time.time_ns()
        tensors: dict[int, tuple[Any, Holder]] = {}
        _Walk(self, tensors, self._places).go(self._roots())
        addresses: dict[int, Holder] = {}
        sizes: Counter[Holder] = Counter()
        counts: Counter[Holder] = Counter()
        with self._tf.init_scope():  # neither a graph nor a tape is to take notice
            for each, holder in tensors.values():
                found = _memory(self.value(each))
                if found is None or found[0] in addresses:
                    continue
                addresses[found[0]] = holder
                sizes[holder] += found[1]
                counts[holder] += 1
        held = {holder: Held(size, counts[holder]) for holder, size in sizes.items()}
        tape = next(iter(self._places.tapes()), None)
        return Look(when, current, addresses, held, dict(self._runs()), tape)

    def is_tensor(self, each: object) -> bool:
        """Whether it has memory of its own."""
        return type(each) is self._tensor or isinstance(each, self._variable)

    def value(self, each: Any) -> Any:
        """The tensor that a variable has."""
        if not isinstance(each, self._variable):
            return each
        with suppress(Exception):
            return each._read_variable_op()
        return None

    def is_of_users(self, kind: type[Any]) -> bool:
        """Whether the class is written in the program's own files."""
        module = sys.modules.get(getattr(kind, "__module__", ""))
        return self._is_users(getattr(module, "__file__", None) or "")

    def all_tensors(self) -> list[Any]:
        """Every tensor that Python knows of."""
        kind = self._tensor
        return [each for each in gc.get_objects() if type(each) is kind]

    def _roots(self) -> Iterator[tuple[object, str]]:
        for module in [*sys.modules.values()]:
            if self._is_users(getattr(module, "__file__", None) or ""):
                yield from _named(vars(module))
        for frame in sys._current_frames().values():  # pyright: ignore[reportPrivateUsage]
            at: FrameType | None = frame
            while at is not None:
                if self._is_users(at.f_code.co_filename) and at.f_code.co_name != "<module>":
                    for value, name in _named(at.f_locals):
                        yield value, f"{name} in {at.f_code.co_name}()"
                at = at.f_back


def _named(scope: Mapping[str, object]) -> Iterator[tuple[object, str]]:
    for name, value in list(scope.items()):
        if not name.startswith("__") and not isinstance(value, _LEAVES):
            yield value, name


def _memory(tensor: Any) -> tuple[int, int] | None:
    """Where a tensor's memory begins, and how much it is; None for one that has none of ours."""
    if tensor is None or not tensor.dtype.is_numpy_compatible or tensor.dtype.size == 0:
        return None
    if tensor.dtype.name == "string":
        return None
    if "CPU" in tensor.backing_device:
        array = tensor._numpy()
        return array.__array_interface__["data"][0], array.nbytes
    size = tensor.dtype.size
    for length in tensor.shape:
        size *= length
    return -id(tensor), size


class _Walk:
    """From what the program has names for to all that it keeps by them, nearest first.

    What is of libraries comes last: what the program can reach by itself is held by itself.
    """

    def __init__(
        self, holders: Holders, found: dict[int, tuple[Any, Holder]], places: Places
    ) -> None:
        self._holders = holders
        self._found = found
        self._places = places
        self._seen: set[int] = set()
        self._late: list[Callable[[], None]] = []
        self._pending: deque[tuple[Any, str, Holder | None]] = deque()
        layers: Any = sys.modules.get("keras.src.layers.layer")
        optimisers: Any = sys.modules.get("keras.src.optimizers.base_optimizer")
        variables: Any = sys.modules.get("keras.src.backend.common.variables")
        self._layer: Any = getattr(layers, "Layer", ())
        self._optimiser: Any = getattr(optimisers, "BaseOptimizer", ())
        self._keras_variable: Any = getattr(
            variables, "Variable", getattr(variables, "KerasVariable", ())
        )

    def go(self, roots: Iterable[tuple[object, str]]) -> None:
        """Find all tensors there are."""
        self._pending.extend((value, name, None) for value, name in roots)
        while True:
            while self._pending and len(self._seen) < _MOST_OBJECTS:
                self._visit(*self._pending.popleft())
            if not self._late:
                break
            late, self._late = self._late, []
            for each in late:
                each()
        self._unreached()

    def _visit(self, each: Any, path: str, holder: Holder | None) -> None:
        if isinstance(each, _LEAVES) or id(each) in self._seen:
            return
        self._seen.add(id(each))
        if self._holders.is_tensor(each):
            self._found[id(each)] = (each, holder or Holder(path, "tensor"))
            return
        with suppress(Exception):
            for child, name, its_holder in self._children(each, path, holder):
                self._pending.append((child, name, its_holder))

    def _children(
        self, each: Any, path: str, holder: Holder | None
    ) -> Iterator[tuple[Any, str, Holder | None]]:
        if isinstance(each, dict):
            yield from _of_dictionary(each, path, holder)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(each, (list, tuple, set, frozenset, deque)):
            held = cast("Collection[Any]", each)
            within = holder or Holder(path, type(held).__name__)
            for child in tuple(held):
                yield child, f"{path}[*]", within
        elif isinstance(each, FunctionType):
            for name, cell in zip(each.__code__.co_freevars, each.__closure__ or (), strict=False):
                with suppress(ValueError):  # a cell that is empty yet
                    yield cell.cell_contents, f"{name} in the closure of {each.__name__}", holder
            for child in each.__defaults__ or ():
                yield child, f"a default of {each.__name__}", holder
        elif isinstance(each, MethodType):
            yield each.__self__, path, holder
            yield each.__func__, path, holder
        elif isinstance(each, partial):
            for child in (each.func, *each.args, *each.keywords.values()):
                yield child, path, holder
        elif isinstance(each, GeneratorType):
            if each.gi_frame is not None:
                for child, name in _named(each.gi_frame.f_locals):
                    yield child, f"{name} in {each.__name__}()", holder
        elif isinstance(each, type):
            if self._holders.is_of_users(each):
                for name, child in list(vars(each).items()):
                    yield child, f"{each.__name__}.{name}", None
        else:
            yield from self._of_object(each, path, holder)

    def _of_object(
        self, each: Any, path: str, holder: Holder | None
    ) -> Iterator[tuple[Any, str, Holder | None]]:
        attributes = _attributes(each)
        if isinstance(each, self._layer):
            own = Holder(each.name, LAYER, self._places.layer(each))
            for variable in (*each._trainable_variables, *each._non_trainable_variables):
                self._visit(variable, path, own)
            for name, child in attributes.items():
                if name == "_tracker" or isinstance(child, self._keras_variable):
                    continue
                # What stands in a layer of the user's own class is held by its attribute.
                yield child, f"{path}.{name}", None if self._is_own(each, name) else own
        elif isinstance(each, self._optimiser):
            own = Holder(each.name, OPTIMISER)
            self._late.append(partial(self._add_all, attributes, path, own))
        elif isinstance(each, self._keras_variable):
            yield from ((child, path, holder) for child in attributes.values())
        elif self._holders.is_of_users(type(each)):  # pyright: ignore[reportUnknownArgumentType]
            for name, child in attributes.items():
                yield child, f"{path}.{name}", holder
        elif not isinstance(each, BuiltinFunctionType) and attributes:
            own = holder or Holder(path, type(each).__name__)
            self._late.append(partial(self._add_all, attributes, path, own))

    def _is_own(self, layer: Any, name: str) -> bool:
        kind: type[Any] = layer.__class__
        return self._holders.is_of_users(kind) and not name.startswith("_")

    def _add_all(self, attributes: Mapping[str, Any], path: str, holder: Holder) -> None:
        self._pending.extend((child, path, holder) for child in attributes.values())

    def _unreached(self) -> None:
        """What is kept by libraries, or by what Python cannot see into."""
        rest = [each for each in self._holders.all_tensors() if id(each) not in self._found]
        ids = {id(each) for each in rest}
        tape = next(iter(self._places.tapes()), None)
        passing = (FrameType, tuple) if tape else (FrameType,)  # a tape keeps tuples
        owned: set[int] = set()
        for referrer in gc.get_referrers(*rest) if rest else ():
            if referrer is not rest and not isinstance(referrer, passing):
                owned |= {id(each) for each in gc.get_referents(referrer)} & ids
        for each in rest:
            holder = Holder("", TAPE, tape) if tape else Holder("", WORK)
            self._found[id(each)] = (each, Holder("", LIBRARY) if id(each) in owned else holder)


def _of_dictionary(
    each: dict[Any, Any], path: str, holder: Holder | None
) -> Iterator[tuple[Any, str, Holder | None]]:
    few = len(each) <= _FEW
    for key, child in list(each.items()):
        named = few and isinstance(key, str)
        quoted = f'"{key}"' if named else "*"
        yield child, f"{path}[{quoted}]", holder or _many(each, path, named)


def _many(each: object, path: str, named: bool) -> Holder | None:
    return None if named else Holder(path, type(each).__name__)


def _attributes(each: Any) -> dict[str, Any]:
    found: dict[str, Any] = dict(getattr(each, "__dict__", {}))
    for kind in type(each).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            with suppress(AttributeError):
                found.setdefault(name, getattr(each, name))
    return found
