"""What is to be read from a value: attributes of objects, entries of containers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable

from tfmemlint.facts.flow.frames import Frame
from tfmemlint.light_typing import NamedTuple

Read = str | tuple[Hashable]
"""`".name"` for an attribute, `(key,)` for an entry, ANY for any entry."""
Path = tuple[Read, ...]
Ways = Iterable["End"] | None
"""The places before one on the way back; None where there is nothing to see through."""

ANY = "*"


class End(NamedTuple):
    """A place on the way back from a value, and what is still to be read from it there.

    The last places are the ends: what nothing sees through.
    """

    node: ast.AST
    path: Path = ()
    frame: Frame | None = None


class Ends(NamedTuple):
    """All the ends that were found, and whether there are no others."""

    found: tuple[End, ...] = ()
    complete: bool = True

    @property
    def only(self) -> End | None:
        """The one end that there surely is, if it is one."""
        return self.found[0] if self.complete and len(self.found) == 1 else None

    def but_for(self, named: Callable[[ast.expr], str | None]) -> bool:
        """Whether something is still to be read, of calls of what has a name alone."""
        left = [each.node for each in self.found if each.path]
        calls = [each for each in left if isinstance(each, ast.Call) and named(each.func)]
        return self.complete and 0 < len(left) == len(calls) < len(self.found)


class Classes(NamedTuple):
    """What a value may be an instance of."""

    found: tuple[ast.ClassDef, ...] = ()
    sure: bool = True
    """Whether it is surely one of them."""


def is_entry(read: Read) -> bool:
    """Whether an entry of a container is read, not an attribute."""
    return read[0] != "."


def key(index: ast.expr) -> Read:
    """The entry that an index names."""
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
        index = index.operand
        if isinstance(index, ast.Constant) and isinstance(index.value, int):
            return (-index.value,)
    if isinstance(index, ast.Constant) and isinstance(index.value, (str, int)):
        return (index.value,)
    return ANY


def may_be(one: Read, other: Read) -> bool:
    """Whether two entries may be the same."""
    if one == ANY:
        return is_entry(other)
    return one == other or (other == ANY and is_entry(one))


def after(reads: Path, path: Path) -> Path | None:
    """What is left of a path behind these; None where it reads something else."""
    if len(path) < len(reads) or not all(map(may_be, reads, path)):
        return None
    return path[len(reads) :]


def unpacked(places: tuple[int, ...], path: Path) -> Path | None:
    """The path from what is unpacked, for one from a name that gets an element of it.

    `*rest` gets a list of elements: nothing but one of them can be read.
    """
    reads: list[Read] = []
    for place in places:
        if place >= 0:
            reads.append((place,))
            continue
        if not path or not is_entry(path[0]):
            return None
        path = (ANY, *path[1:])
    return (*reads, *path)
