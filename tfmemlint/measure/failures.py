"""What a program died of, read out of the words of TensorFlow."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple

_REQUESTED = re.compile(r"shape\s?(\[[\d,]*\]) and type (\w+)")
_NODE = re.compile(r"\{\{node ([^}]+)\}\}")
_OPERATION = re.compile(r"\[Op:(\w+)\]")
_UNMADE = "Cannot parse tensor from proto"
"""What TensorFlow says of a constant for which there is no memory."""
_UNMADE_TYPE = re.compile(r"dtype: DT_(\w+)")
_UNMADE_LENGTH = re.compile(r"size: (\d+)")
_DEEPEST_CAUSE = 10


class Tensor(NamedTuple):
    """One that was asked for."""

    shape: str
    data_type: str

    @property
    def elements(self) -> int:
        """How many there would have been."""
        count = 1
        for length in filter(None, self.shape.strip("[]").split(",")):
            count *= int(length)
        return count


def exhausted(error: BaseException, kind: type[BaseException]) -> BaseException | None:
    """The error itself, or that behind it, that says the device has no memory left."""
    behind: BaseException | None = error
    for _ in range(_DEEPEST_CAUSE):
        if behind is None or isinstance(behind, kind) or _UNMADE in str(behind):
            return behind
        behind = behind.__cause__ or behind.__context__
    return None


def requested(message: str) -> Tensor | None:
    """The tensor for which there was no memory."""
    found = _REQUESTED.search(message)
    if found:
        return Tensor(found[1], found[2])
    data_type = _UNMADE_TYPE.search(message)
    if _UNMADE not in message or data_type is None:
        return None
    return Tensor(f"[{','.join(_UNMADE_LENGTH.findall(message))}]", data_type[1].lower())


def node(message: str) -> str | None:
    """The operation of a graph that failed, by name."""
    found = _NODE.search(message)
    return found[1] if found else None


def operation(message: str) -> str | None:
    """The operation that failed, by name, or by kind where it had no name."""
    found = _NODE.search(message) or _OPERATION.search(message)
    return found[1] if found else None


def raised_at(
    traceback: TracebackType | None, locate: Callable[[str, int], int | None]
) -> int | None:
    """The innermost of the user's statements that an error has passed."""
    found = None
    while traceback is not None:
        statement = locate(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
        found = found if statement is None else statement
        traceback = traceback.tb_next
    return found
