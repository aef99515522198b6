"""What builtin functions, methods of containers and the standard library do to what they hold."""

from __future__ import annotations

import ast

from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.paths import ANY, End, Path, Ways, is_entry, key
from tfmemlint.facts.library.makers import WRAPS_ITERABLE
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def through(name: str, call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    """Where what is read from a call's result comes from; None where the call is an end.

    `name` is the canonical name of a function, `builtins.zip`, or `.items` for a method.
    """
    how = _HOW.get(name)
    if how is None or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    return how(call, path, frame)


def _all(call: ast.Call, path: Path, frame: Frame | None) -> Iterable[End]:
    return [End(each, path, frame) for each in call.args[:1]]


def _entries(call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    return _all(call, path, frame) if path and is_entry(path[0]) else None


def _any(call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    return _all(call, (ANY, *path[1:]), frame) if path and is_entry(path[0]) else None


def _of_last(call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    within = path and is_entry(path[0])
    return [End(each, (ANY, *path[1:]), frame) for each in call.args[1:2]] if within else None


def _of_each(call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    within = path and is_entry(path[0])
    return [End(each, (ANY, *path[1:]), frame) for each in call.args] if within else None


def _next(call: ast.Call, path: Path, frame: Frame | None) -> Iterable[End]:
    first = [End(each, (ANY, *path), frame) for each in call.args[:1]]
    return [*first, *(End(each, path, frame) for each in call.args[1:2])]


def _zip(call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    if len(path) < 2 or not (is_entry(path[0]) and is_entry(path[1])):
        return None
    if path[1] == ANY:
        return [End(each, (ANY, *path[2:]), frame) for each in call.args]
    place = path[1][0]
    if not isinstance(place, int) or not -len(call.args) <= place < len(call.args):
        return None
    return [End(call.args[place], (ANY, *path[2:]), frame)]


def _enumerate(call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    second = len(path) > 1 and is_entry(path[0]) and path[1] == (1,)
    return _all(call, (ANY, *path[2:]), frame) if second else None


def _dict(call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    if not path or not is_entry(path[0]):
        return None
    named = [
        End(each.value, path if each.arg is None else path[1:], frame)
        for each in call.keywords
        if each.arg is None or path[0] in (ANY, (each.arg,))
    ]
    return [*named, *_all(call, path, frame)]


def _namespace(call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    if (
        not path
        or is_entry(path[0])
        or call.args
        or any(each.arg is None for each in call.keywords)
    ):
        return None
    named = [each.value for each in call.keywords if path[0] == f".{each.arg}"]
    return [End(each, path[1:], frame) for each in named]


def _getattr(call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    name = call.args[1] if len(call.args) > 1 else None
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return None
    found = [End(call.args[0], (f".{name.value}", *path), frame)]
    return [*found, *(End(each, path, frame) for each in call.args[2:])]


def _holder(call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    return [End(call.func.value, path, frame)] if isinstance(call.func, ast.Attribute) else None


def _values(call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    within = path and is_entry(path[0]) and not call.args
    return _holder(call, (ANY, *path[1:]), frame) if within else None


def _items(call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    second = len(path) > 1 and is_entry(path[0]) and path[1] == (1,) and not call.args
    return _holder(call, (ANY, *path[2:]), frame) if second else None


def _get(call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    read = key(call.args[0]) if call.args else ANY
    found = _holder(call, (read, *path), frame)
    default = [End(each, path, frame) for each in call.args[1:2]]
    return None if found is None else [*found, *default]


def _copied(call: ast.Call, path: Path, frame: Frame | None) -> Ways:
    return _holder(call, path, frame) if path and not call.args else None


_HOW: Mapping[str, Callable[[ast.Call, Path, Frame | None], Ways]] = {
    **dict.fromkeys(WRAPS_ITERABLE - {"itertools.chain"}, _entries),
    ".copy": _copied,
    ".get": _get,
    ".items": _items,
    ".pop": _get,
    ".setdefault": _get,
    ".values": _values,
    "argparse.Namespace": _namespace,
    "builtins.dict": _dict,
    "builtins.enumerate": _enumerate,
    "builtins.filter": _of_last,
    "builtins.getattr": _getattr,
    "builtins.iter": _entries,
    "builtins.list": _entries,
    "builtins.next": _next,
    "builtins.reversed": _any,
    "builtins.set": _any,
    "builtins.sorted": _any,
    "builtins.tuple": _entries,
    "builtins.zip": _zip,
    "collections.OrderedDict": _dict,
    "collections.deque": _entries,
    "copy.copy": _all,
    "copy.deepcopy": _all,
    "itertools.chain": _of_each,
    "itertools.cycle": _any,
    "itertools.islice": _any,
    "itertools.zip_longest": _zip,
    "random.choice": _next,
    "random.sample": _any,
    "types.SimpleNamespace": _namespace,
}
