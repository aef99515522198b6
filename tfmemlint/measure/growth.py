"""Where a container that keeps tensors is added to, and how much each time."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tfmemlint.measure.holders import Holder, Look

_ADDERS = frozenset(
    ("add", "append", "appendleft", "extend", "extendleft", "insert", "put", "setdefault", "update")
)
_OFTEN = 2


class Growth(NamedTuple):
    """How a holder has grown until the peak."""

    statement: int
    runs: int
    """How often the statement had been run by then."""
    bytes: float
    """What the holder grew by each time, from the first time that it was seen."""


def growth(
    holder: Holder,
    looks: Sequence[Look],
    files: Iterable[str],
    locate: Callable[[str, int], int | None],
) -> Growth | None:
    """What has been seen of a holder's growth; None where no statement adds to it repeatedly."""
    seen = [look for look in looks if holder in look.held]
    if not seen:
        return None
    first, last = seen[0], seen[-1]
    places = (place for file in files for place in _additions(file) if place[0] == _last(holder))
    found = {
        number
        for name, file, line in places
        if name and (number := locate(file, line)) is not None and number in last.runs
    }
    number = max(found, key=lambda each: last.runs[each], default=None)
    if number is None or last.runs[number] < _OFTEN:
        return None
    runs = last.runs[number] - first.runs.get(number, 0)
    grown = last.held[holder].bytes - first.held[holder].bytes
    if first is last or runs <= 0:  # it was seen once: all of it has come until then
        runs, grown = last.runs[number], last.held[holder].bytes
    return Growth(number, last.runs[number], max(0.0, grown / runs))


def _last(holder: Holder) -> str:
    """What an object is called at last: `features` of `history["features"]`, or `self.features`."""
    name = holder.name.partition(" in ")[0]
    while name.endswith("[*]"):
        name = name.removesuffix("[*]")
    if name.endswith('"]'):
        return name.removesuffix('"]').rpartition('["')[2]
    return name.rpartition(".")[2]


@cache
def _additions(file: str) -> tuple[tuple[str, str, int], ...]:
    """What is added to in a file, each with its last name, the file and the line."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ()
    return tuple((name, file, line) for name, line in _of_tree(tree))


def _of_tree(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _ADDERS:
                yield _name(node.func.value), node.lineno
        elif isinstance(node, ast.AugAssign):
            yield _name(node.target), node.lineno
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript):
                    yield _name(target.value), node.lineno


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        key = node.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return key.value
        return _name(node.value)
    return ""
