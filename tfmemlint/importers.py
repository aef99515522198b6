"""Which files of a project import another, and what they may do to what stands in it.

Nothing here is exact: what merely looks like an import counts as one, since a safe fix must not be
told of too few. It is asked where a safe fix hangs on it, and reads the files of a project once.
"""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH116, PTH118, PTH119, PTH123

from __future__ import annotations

import os
import re
from functools import cached_property
from stat import S_ISREG

from tfmemlint.facts.sure.outside import Importing

_IMPORT = re.compile(rb"\b(?:from|import)[ \t]+([^\n;#]*(?:\([^)]*\))?[^\n;#]*)")
_BY_NAME = (b"__import__", b"import_module", b"runpy")
_WORD = re.compile(rb"[^\W\d]\w*")
_TOUCHED = re.compile(rb"(?:\.\s*|\bdef\s+|\bclass\s+)([^\W\d]\w*)")
_PACKAGE = "__init__.py"
_LARGEST = 2_000_000
_MOST = 5_000
"""Files of a project that are looked through."""
_PASSED_OVER = frozenset(("__pycache__", "node_modules", "site-packages", "venv"))


class Importers:
    """The files of a project, as each of them knows the others."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._known: dict[str, Importing] = {}

    def of(self, path: str) -> Importing:
        """What the others may do to a file, given by its absolute path."""
        if path not in self._known:
            self._known[path] = self._of(path)
        return self._known[path]

    def _of(self, path: str) -> Importing:
        if self._by_word is None:
            return Importing(imported=True, is_vague=True)
        folder, name = os.path.split(path)
        module = os.path.basename(folder) if name == _PACKAGE else name.removesuffix(".py")
        others = [each for each in self._by_word.get(module.encode(), ()) if each != path]
        words = set[bytes]()
        for each in others:
            data = _read(each)
            words.update(_TOUCHED.findall(data), _imported(data))
        known = frozenset(word.decode(errors="replace") for word in words)
        return Importing(imported=bool(others), words=known)

    @cached_property
    def _by_word(self) -> dict[bytes, list[str]] | None:
        """The files, by the words that stand in their imports; None if there are too many."""
        found: dict[bytes, list[str]] = {}
        number = 0
        for folder, folders, names in os.walk(self._root):
            folders[:] = [each for each in folders if each[0] != "." and each not in _PASSED_OVER]
            for name in names:
                if not name.endswith((".py", ".ipynb")):
                    continue
                number += 1
                if number > _MOST:
                    return None
                path = os.path.join(folder, name)
                for word in _imported(_read(path)):
                    found.setdefault(word, []).append(path)
        return found


def _imported(data: bytes) -> set[bytes]:
    """The words of all that a file imports, or may."""
    if any(each in data for each in _BY_NAME):
        return set(_WORD.findall(data))
    joined = data.replace(b"\\\n", b" ")
    return {word for names in _IMPORT.findall(joined) for word in _WORD.findall(names)}


def _read(path: str) -> bytes:
    try:
        if not S_ISREG(os.stat(path).st_mode):
            return b""
        with open(path, "rb") as file:
            return file.read(_LARGEST)
    except OSError:
        return b""
