"""What is seen of a file without parsing it: what it may import, and whether it uses TensorFlow."""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH116, PTH119, PTH123

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from stat import S_ISREG
from zlib import crc32

from tfmemlint.light_typing import NamedTuple
from tfmemlint.roots import PACKAGE
from tfmemlint.screen import handles_data, mentions_tensorflow

_LARGEST = 2_000_000
"""Bytes of a file that are looked through."""
_STATEMENT = re.compile(
    rb"[ \t\f]*(?:from[ \t]+([.\w]+)[ \t]+)?import[ \t]+(\([^)]*\)|[^\n\r#;(\"']*)"
)
_BEFORE = (b"\n", b"\r", b";", b":", b'"', b"'")
"""What can stand before a statement."""
_NAME = re.compile(r"[^\W\d][.\w]*|\*")
_SEARCHED = re.compile(rb"\bsys\.path\.(?:append|extend|insert)\(([^\n]*)")
_TEXT = re.compile(rb"\"([^\"\n]*)\"|'([^'\n]*)'")
_WORD = re.compile(rb"[^\W\d]\w*")
_BY_NAME = (b"__import__", b"import_module", b"runpy")
_FRAMEWORKS = ("keras", "tensorflow", "tf_keras")
_OTHERS = frozenset({"caffe", "chainer", "flax", "jax", "mxnet", "paddle", "torch"})
_SAVES = (b".save(", b".savez", b".savemat(", b".to_pickle(", b".to_hdf(", b"h5py", b".dump(")


class Glance(NamedTuple):
    """What is seen of a file without parsing it."""

    mentions: bool
    """Whether it mentions TensorFlow."""
    uses: bool
    """Whether it imports TensorFlow, Keras, or what is named after them."""
    uses_another: bool
    """Whether it imports another framework that trains networks."""
    saves: bool
    """Whether it can write arrays to files."""
    imports: tuple[str, ...]
    """The dotted names that it may import."""
    words: frozenset[str]
    """Their parts; all words of a file that may import what it has the name of."""
    place: str
    """Stands for what it holds."""
    searched: tuple[tuple[str, ...], ...] = ()
    """Folders that it has Python look into, from one above or below: the names on the way."""


class Glances:
    """Files at a glance, each of which is read once."""

    def __init__(self) -> None:
        self._known: dict[str, Glance] = {}

    def of(self, path: str) -> Glance:
        """What is seen of a file; nothing where it cannot be read."""
        if path not in self._known:
            self._known[path] = _glance(read(path))
        return self._known[path]


def module_of(path: str) -> str:
    """The last part of the dotted name that a file is imported by."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) if name == PACKAGE else name.removesuffix(".py")


def read(path: str) -> bytes:
    """What a regular file holds, or how it begins; nothing where it cannot be read."""
    try:
        if not S_ISREG(os.stat(path).st_mode):
            return b""
        with open(path, "rb") as file:
            return file.read(_LARGEST)
    except OSError:
        return b""


def imported_in(data: bytes) -> Iterator[str]:
    """All that looks like an import in a file, be it in a string, as the lines of notebooks are."""
    if b"\\\n" in data:
        data = data.replace(b"\\\n", b" ")
    end, found = 0, data.find(b"import")
    while found >= 0:
        start = max(data.rfind(each, end, found) for each in _BEFORE)
        match = _STATEMENT.match(data, max(start + 1, end))
        end = max(found + len(b"import"), match.end() if match else 0)
        if match:
            module, names = (
                "" if each is None else each.decode(errors="replace") for each in match.groups()
            )
            prefix = module if not module or module.endswith(".") else f"{module}."
            yield from (prefix + name for name in _NAME.findall(names))
            if module:
                yield module
        found = data.find(b"import", end)


def _glance(data: bytes) -> Glance:
    names = tuple(dict.fromkeys(imported_in(data)))
    parts = frozenset(part for name in names for part in name.split("."))
    if any(each in data for each in _BY_NAME):
        parts |= {word.decode(errors="replace") for word in _WORD.findall(data)}
    mentions = mentions_tensorflow(data)
    uses = mentions and any(name.startswith(_FRAMEWORKS) for name in names)
    others = any(name.partition(".")[0] in _OTHERS for name in names)
    saves = handles_data(data) and any(each in data for each in _SAVES)
    place = f"{len(data)}-{crc32(data):08x}"
    searched = tuple(dict.fromkeys(_searched_in(data)))
    return Glance(mentions, uses, others, saves, names, parts, place, searched)


def _searched_in(data: bytes) -> Iterator[tuple[str, ...]]:
    """The folders that a file adds to where Python looks: `utils` of `sys.path.append("../utils")`.

    Where the way begins is not known before the program runs, but where it may end is.
    """
    for added in _SEARCHED.findall(data) if b"sys.path" in data else ():
        written = [b"".join(each).decode(errors="replace") for each in _TEXT.findall(added)]
        names = [name for each in written for name in each.split("/")]
        way = tuple(name for name in names if name not in ("", ".", ".."))
        if way and not any(each.startswith("/") or "\\" in each for each in written):
            yield way
