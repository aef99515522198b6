"""What assignments give to what: names and attributes, be it by taking apart what is assigned."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T", bound=ast.expr)


def targets(
    target: ast.expr, kind: type[T], path: tuple[int, ...] = ()
) -> Iterator[tuple[T, tuple[int, ...]]]:
    """The names or attributes a target binds, each with the place of its value when unpacked."""
    if isinstance(target, kind):
        yield target, path
    elif isinstance(target, ast.Starred):
        yield from targets(target.value, kind, (*path, -1))
    elif isinstance(target, (ast.Tuple, ast.List)):
        for index, element in enumerate(target.elts):
            yield from targets(element, kind, (*path, index))


def element(value: ast.expr, path: tuple[int, ...]) -> tuple[ast.expr, tuple[int, ...]]:
    """Follow a path into literal tuples and lists as far as they go."""
    while path and isinstance(value, (ast.Tuple, ast.List)) and 0 <= path[0] < len(value.elts):
        if any(isinstance(each, ast.Starred) for each in value.elts):
            break
        value, path = value.elts[path[0]], path[1:]
    return value, path
