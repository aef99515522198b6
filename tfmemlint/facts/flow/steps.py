"""Steps backwards that an expression tells by itself: literals, entries, either of two."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.paths import ANY, End, Path, Ways, is_entry, key, may_be
from tfmemlint.facts.library.shapes import is_new


def _subscript(node: ast.Subscript, path: Path, frame: Frame | None) -> Ways:
    index = node.slice
    if isinstance(index, ast.Tuple):
        return None
    if isinstance(index, ast.Slice):
        within = path and is_entry(path[0])
        return [End(node.value, (ANY, *path[1:]), frame)] if within else None
    if is_new(index):  # `x[None]` is an array of one element, which is `x`
        return [End(node.value, path[1:], frame)] if path and is_entry(path[0]) else None
    return [End(node.value, (key(index), *path), frame)]


def _dict(node: ast.Dict, path: Path, frame: Frame | None) -> Ways:
    if not path or not is_entry(path[0]):
        return None
    found: list[End] = []
    for each, value in zip(node.keys, node.values, strict=True):
        if each is None:
            found.append(End(value, path, frame))
        elif may_be(key(each), path[0]):
            found.append(End(value, path[1:], frame))
    return found


def _elements(node: ast.List | ast.Tuple | ast.Set, path: Path, frame: Frame | None) -> Ways:
    if not path or not is_entry(path[0]):
        return None
    starred = any(isinstance(each, ast.Starred) for each in node.elts)
    place = path[0][0] if path[0] != ANY and not starred else None
    found: list[End] = []
    for number, each in enumerate(node.elts):
        if isinstance(each, ast.Starred):
            found.append(End(each.value, (ANY, *path[1:]), frame))
        elif place is None or place in (number, number - len(node.elts)):
            found.append(End(each, path[1:], frame))
    return found


def _comprehension(
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp, path: Path, frame: Frame | None
) -> Ways:
    return [End(node.elt, path[1:], frame)] if path and is_entry(path[0]) else None


def _dict_comprehension(node: ast.DictComp, path: Path, frame: Frame | None) -> Ways:
    return [End(node.value, path[1:], frame)] if path and is_entry(path[0]) else None


def _either(node: ast.IfExp, path: Path, frame: Frame | None) -> Iterable[End]:
    return [End(node.body, path, frame), End(node.orelse, path, frame)]


def _or(node: ast.BoolOp, path: Path, frame: Frame | None) -> Iterable[End]:
    return [End(each, path, frame) for each in node.values]


def _through(
    node: ast.NamedExpr | ast.Await | ast.Starred, path: Path, frame: Frame | None
) -> Iterable[End]:
    return [End(node.value, path, frame)]


def _joined(node: ast.BinOp, path: Path, frame: Frame | None) -> Ways:
    if not path or not is_entry(path[0]) or not isinstance(node.op, (ast.Add, ast.BitOr, ast.Mult)):
        return None
    sides = [node.left, node.right]
    if isinstance(node.op, ast.Mult):
        sides = [each for each in sides if not isinstance(each, ast.Constant)]
    below = (ANY, *path[1:]) if not isinstance(node.op, ast.BitOr) else path
    return [End(each, below, frame) for each in sides]


def _constant(node: ast.Constant, path: Path, frame: Frame | None) -> Ways:
    """Of `None` nothing is read or called: where that is done, something else stands there."""
    return [] if path and node.value is None else None


STEPS: Mapping[type[ast.AST], Callable[..., Ways]] = {
    ast.Constant: _constant,
    ast.Subscript: _subscript,
    ast.Dict: _dict,
    ast.List: _elements,
    ast.Tuple: _elements,
    ast.Set: _elements,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _dict_comprehension,
    ast.IfExp: _either,
    ast.BoolOp: _or,
    ast.NamedExpr: _through,
    ast.Await: _through,
    ast.Starred: _through,
    ast.BinOp: _joined,
}
"""By the kind of an expression: what may have given it, or a part of it, its value."""
