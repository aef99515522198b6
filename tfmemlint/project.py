"""The files of one run to each other: what one of them imports from another.

Only files that were given are looked at, and nothing of them is run. Where it is not certain which
file or which function an import means, there is no answer.
"""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH100, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from stat import S_ISREG
from typing import NamedTuple

from tfmemlint.decoding import UndecodableError, decode
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.imports import LIBRARIES, Factory, Imported
from tfmemlint.parsing import TooDeep
from tfmemlint.screen import words
from tfmemlint.source import File

_LARGEST = 2_000_000
_MOST_HOPS = 20
"""Files that an import is followed through."""
_MOST_OPEN = 16
_PACKAGE = "__init__.py"
_IMPORT = re.compile(rb"\b(?:from[ \t]+([.\w]+)[ \t]+)?import[ \t]+(\([^)]*\)|[^\n#;(]*)")
_STARRED = b"import *"
_NAME = re.compile(r"[^\W\d][.\w]*|\*")

_Place = tuple[str, tuple[str, ...]]
"""A file, and the parts of a dotted name that are to be found in it."""


class Settled(NamedTuple):
    """Which files the others may matter to."""

    again: list[str]
    """Those that may import what others make."""
    among: dict[str, str]
    """Those to which they cannot matter, as long as this stands for the others."""


class Project:
    """The files of a run, once it is known which of them make traced functions for others.

    To read every file again would take too long: the first question is which ones have one of the
    names that others make, the second which of those may import it. They alone are parsed again.
    """

    def __init__(
        self, paths: Iterable[str], roots: Iterable[str], makes: Mapping[str, Iterable[str]]
    ) -> None:
        """`makes` has the names, by path; imports may be absolute from any of the `roots`."""
        self._files = frozenset(os.path.abspath(path) for path in paths if path.endswith(".py"))
        self._roots = frozenset(map(os.path.abspath, roots))
        self._makers = {os.path.abspath(path): frozenset(names) for path, names in makes.items()}
        self._names = frozenset[str]().union(*self._makers.values())
        self._digest = _digest(",".join(sorted(chain.from_iterable(self._makers.values()))))
        self._factories: dict[str, Mapping[str, Factory]] = {}
        self._defined: dict[tuple[str, str], _Place | None] = {}
        self._opened: dict[str, File] = {}

    def settle(
        self, paths: Iterable[str], before: Mapping[str, str], read: Callable[[str], bytes | None]
    ) -> Settled:
        """Which of some files may import what others make.

        `before` has what stood for all others when a file was last looked at, and found clean.
        """
        among: dict[str, str] = {}
        mentioning: list[str] = []
        imports: dict[str, frozenset[str]] = {}
        for path in paths:
            names, mentions, _ = before.get(path, "").partition(":")
            if names == self._digest:
                among[path] = before[path]
                if mentions:
                    mentioning.append(path)
                continue
            data = read(path)
            if data is not None and (self._mentions(path, data) or _STARRED in data):
                imports[path] = frozenset(_imported_in(data))
            else:
                among[path] = self._digest
        handing_on = {path for path, names in imports.items() if self._hands_on(names)}
        around = self._around(handing_on)
        for path in mentioning:
            if among[path] != around:
                imports[path] = frozenset(_imported_in(read(path) or b""))
        near = {*self._makers, *map(os.path.abspath, handing_on)}
        near |= {os.path.join(os.path.dirname(each), _PACKAGE) for each in self._makers}
        again = [path for path, names in imports.items() if self._reaches(near, path, names)]
        among.update(dict.fromkeys(imports.keys() - handing_on, around))
        for path in {*again, *handing_on}:
            among.pop(path, None)
        return Settled(sorted(again), among)

    def _mentions(self, path: str, data: bytes) -> bool:
        others = [name.encode() for name in self._others(path)]
        if not any(name in data for name in others):
            return False
        return not words(data).isdisjoint(others)

    def _hands_on(self, names: Iterable[str]) -> bool:
        """Whether other files may get from one with these imports what it imports itself."""
        handed_on = self._names | {"*"}
        return any(
            name.rpartition(".")[2] in handed_on and name.partition(".")[0] not in LIBRARIES
            for name in names
        )

    def _around(self, handing_on: Iterable[str]) -> str:
        """Stands for all that may decide what the imports of a file lead to."""
        deciding = sorted(map(os.path.abspath, handing_on))
        return f"{self._digest}:{_digest(chr(10).join([*sorted(self._files), *deciding]))}"

    def _reaches(self, near: Collection[str], path: str, names: Iterable[str]) -> bool:
        """Whether Python may read any of these files for the imports of another."""
        here = os.path.abspath(path)
        folder = os.path.dirname(here)
        return any(
            each in near and each != here
            for name in names
            for each in self._on_the_way(folder, name)
        )

    def _on_the_way(self, folder: str, name: str) -> Iterator[str]:
        """The files that Python may read for an import."""
        plain = name.lstrip(".")
        level = len(name) - len(plain)
        parts = plain.split(".")
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        if level:
            yield os.path.join(folder, _PACKAGE)
        elif parts[0] in LIBRARIES:
            return
        for place in {folder} if level else self._searched(folder):
            for part in parts:
                place = os.path.join(place, part)
                yield os.path.join(place, _PACKAGE)
                yield f"{place}.py"

    def imported(self, path: str) -> Imported:
        """What the files that one imports have to say to it."""
        folder = os.path.dirname(os.path.abspath(path))

        def defined(name: str) -> _Place | None:
            key = folder, name
            if key not in self._defined:
                self._defined[key] = self._definition(folder, name, set())
            return self._defined[key]

        def factory(name: str) -> Factory | None:
            place = defined(name)
            return self._made_in(place[0]).get(".".join(place[1])) if place is not None else None

        def loads(name: str) -> bool:
            place = defined(name)
            if place is None or len(place[1]) != 1:
                return False
            file = self._open(place[0], place[1][0])
            return file is not None and file.tf.loading.loads(place[1][0])

        return Imported(self._others(path), factory, loads)

    def _others(self, path: str) -> frozenset[str]:
        """The names of what all other files make."""
        here = os.path.abspath(path)
        if here not in self._makers:
            return self._names
        others = (names for maker, names in self._makers.items() if maker != here)
        return frozenset[str]().union(*others)

    def _definition(self, folder: str, name: str, seen: set[_Place]) -> _Place | None:
        """Where that stands which a dotted name means in a file of a folder."""
        place = self._place(folder, name)
        if place is None or place in seen or len(seen) == _MOST_HOPS:
            return None
        seen.add(place)
        return self._within(*place, seen)

    def _place(self, folder: str, name: str) -> _Place | None:
        """The one file that the first parts of a name mean, and what is left of the name."""
        plain = name.lstrip(".")
        parts = tuple(plain.split("."))
        level = len(name) - len(plain)
        if not level:
            roots = self._searched(folder) if parts[0] not in LIBRARIES else ()
            found = {self._below(root, parts) for root in roots} - {None}
            return found.pop() if len(found) == 1 else None
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        package = os.path.join(folder, _PACKAGE)
        if package not in self._files:
            return self._below(folder, parts)
        below = None if self._binds(package, parts[0]) else self._below(folder, parts)
        return below or (package, parts)

    def _searched(self, folder: str) -> set[str]:
        """The folders in which Python may have been told to look for modules."""
        searched = set(self._roots)
        while True:
            searched |= {folder, os.path.join(folder, "src")}
            folder, below = os.path.dirname(folder), folder
            if folder == below:
                return searched

    def _below(self, folder: str, parts: tuple[str, ...]) -> _Place | None:
        """The module that the first parts mean in a folder; what a package binds comes first."""
        found: _Place | None = None
        for number, part in enumerate(parts, 1):
            rest = parts[number:]
            folder = os.path.join(folder, part)
            package = os.path.join(folder, _PACKAGE)
            if package in self._files:
                found = package, rest
                if rest and self._binds(package, rest[0]):
                    return found
            elif f"{folder}.py" in self._files:
                return f"{folder}.py", rest
            elif found is not None:
                return found
        return found

    def _within(self, path: str, parts: tuple[str, ...], seen: set[_Place]) -> _Place | None:
        """Where that is defined which parts of a name mean in a file, be it there or imported."""
        if not parts:
            return None
        plain = parts[0].removesuffix("()")
        file, folder = self._open(path, plain), os.path.dirname(path)
        if file is None:
            return None
        imports = file.tf.imports
        if bindings := file.tf.bindings.of(file.tree, plain):
            target = imports.exported(plain)
            if target is None:
                only = len(bindings) == 1 and bindings[0].how is How.DEFINED
                return (path, parts) if only else None
            name = ".".join([f"{target}{parts[0].removeprefix(plain)}", *parts[1:]])
            return self._definition(folder, name, seen)
        names = (prefix + ".".join(parts) for prefix in imports.starred)
        found = {self._definition(folder, each, seen) for each in names} - {None}
        return found.pop() if len(found) == 1 else None

    def _binds(self, path: str, name: str) -> bool:
        """Whether a module itself gives a name its meaning."""
        plain = name.removesuffix("()")
        file = self._open(path, plain)
        return file is not None and bool(file.tf.bindings.of(file.tree, plain))

    def _made_in(self, path: str) -> Mapping[str, Factory]:
        if path not in self._makers:
            return {}
        if path not in self._factories:
            file = self._open(path, "")
            try:
                self._factories[path] = {} if file is None else file.tf.factories.all
            except RecursionError:
                self._factories[path] = {}
        return self._factories[path]

    def _open(self, path: str, name: str) -> File | None:
        """A file that was given, if it can be read and names this, or may by a `*`."""
        if path not in self._opened:
            try:
                status = os.stat(path)
                if not S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                    return None
                with open(path, "rb") as source:
                    data = source.read()
                if name.encode() not in data and b"*" not in data:
                    return None
                file = File(path, decode(data).text)
            except (OSError, UndecodableError, SyntaxError, TooDeep, RecursionError, MemoryError):
                return None
            if len(self._opened) == _MOST_OPEN:
                self._opened.clear()
            self._opened[path] = file
        return self._opened[path]


def _imported_in(data: bytes) -> Iterator[str]:
    """All that looks like an import in a file, be it a notebook."""
    for match in _IMPORT.finditer(data.replace(b"\\\n", b" ")):
        module, names = (
            "" if each is None else each.decode(errors="replace") for each in match.groups()
        )
        prefix = module if not module or module.endswith(".") else f"{module}."
        yield from (prefix + name for name in _NAME.findall(names))
        if module:
            yield module


def _digest(text: str) -> str:
    from hashlib import blake2b  # noqa: PLC0415

    return blake2b(text.encode(errors="surrogateescape"), digest_size=8).hexdigest()
