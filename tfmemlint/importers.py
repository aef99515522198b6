"""Which files of a project import another, and what they may do to what stands in it.

Nothing here is exact: what merely looks like an import counts as one, since a safe fix must not be
told of too few. It is asked where a safe fix hangs on it, and reads the files of a project once.
"""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH118

from __future__ import annotations

import os
import re
from functools import cached_property

from tfmemlint.facts.syntax.imports import Importing
from tfmemlint.glances import Glances, module_of, read

_TOUCHED = re.compile(rb"(?:\.\s*|\bdef\s+|\bclass\s+)([^\W\d]\w*)")
_MOST = 5_000
"""Files of a project that are looked through."""
_PASSED_OVER = frozenset(("__pycache__", "node_modules", "site-packages", "venv"))


class Importers:
    """The files of a project, as each of them knows the others."""

    def __init__(self, root: str, glances: Glances) -> None:
        self._root = root
        self._glances = glances
        self._known: dict[str, Importing] = {}

    def of(self, path: str) -> Importing:
        """What the others may do to a file, given by its absolute path."""
        if path not in self._known:
            self._known[path] = self._of(path)
        return self._known[path]

    def _of(self, path: str) -> Importing:
        if self._by_word is None:
            return Importing(imported=True, is_vague=True)
        others = [each for each in self._by_word.get(module_of(path), ()) if each != path]
        words = set[str]()
        for each in others:
            words |= self._glances.of(each).words
            words.update(word.decode(errors="replace") for word in _TOUCHED.findall(read(each)))
        return Importing(imported=bool(others), words=frozenset(words))

    @cached_property
    def _by_word(self) -> dict[str, list[str]] | None:
        """The files, by the words that stand in their imports; None if there are too many."""
        found: dict[str, list[str]] = {}
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
                for word in self._glances.of(path).words:
                    found.setdefault(word, []).append(path)
        return found
