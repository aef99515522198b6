"""Looks on while Keras' layers and TensorFlow's tapes are made, and while layers are called."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from threading import local
from types import FrameType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

MODULE = "keras.src.layers.layer"
"""Where the class of all layers is defined."""

Place = tuple[str, int]
"""A line of the user's: file and number."""


class Layer(NamedTuple):
    """A layer, by name, and the line that made it."""

    name: str
    place: Place | None


class Layers:
    """All layers and tapes that have been made since."""

    def __init__(self, is_users: Callable[[str], bool]) -> None:
        self._is_users = is_users
        self._layers: WeakKeyDictionary[Any, Place] = WeakKeyDictionary()
        self._tapes: WeakKeyDictionary[Any, Place] = WeakKeyDictionary()
        self._called = local()

    def listen_to_layers(self, module: Any) -> None:
        """Given Keras' module of that class, once that has been imported."""
        begin, call = module.Layer.__init__, module.Layer.__call__

        def begin_and_note(layer: Any, *args: Any, **kwargs: Any) -> None:
            begin(layer, *args, **kwargs)
            with suppress(Exception):
                place = self._users_line(without=layer)
                if place:
                    self._layers.setdefault(layer, place)

        def note_and_call(layer: Any, *args: Any, **kwargs: Any) -> Any:
            called = self._stack()
            called.append(layer)
            try:
                return call(layer, *args, **kwargs)
            finally:
                called.pop()

        module.Layer.__init__ = begin_and_note
        module.Layer.__call__ = note_and_call

    def listen_to_tapes(self) -> None:
        """Raises ImportError and AttributeError where they are no more what they were."""
        tape: Any = import_module("tensorflow.python.eager.backprop").GradientTape
        begin = tape.__init__

        def begin_and_note(owner: Any, *args: Any, **kwargs: Any) -> None:
            begin(owner, *args, **kwargs)
            with suppress(Exception):
                place = self._users_line()
                if place:
                    self._tapes[owner] = place

        tape.__init__ = begin_and_note

    def place(self, layer: Any) -> Place | None:
        """The line that made a layer."""
        return self._layers.get(layer)

    def tapes(self) -> Iterator[Place]:
        """The lines that made the tapes that hold something; the last one first."""
        for tape, place in reversed([*self._tapes.items()]):
            if getattr(tape, "_tape", None) is not None:
                yield place

    def called(self) -> Layer | None:
        """The layer at work in this thread: the innermost."""
        stack = self._stack()
        return Layer(stack[-1].name, self.place(stack[-1])) if stack else None

    def _stack(self) -> list[Any]:
        stack: list[Any] | None = getattr(self._called, "stack", None)
        if stack is None:
            stack = self._called.stack = []
        return stack

    def _users_line(self, without: Any = None) -> Place | None:
        """The line of the user's that is at work; not one in the `__init__` of the very object."""
        frame: FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
        while frame is not None:
            code = frame.f_code
            own = code.co_name == "__init__" and next(iter(frame.f_locals.values()), 0) is without
            if self._is_users(code.co_filename) and not (without is not None and own):
                return code.co_filename, frame.f_lineno
            frame = frame.f_back
        return None
