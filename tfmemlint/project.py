"""The files of a project to each other: which of them an import means, and what is known of it.

A file is read when a name is asked for that comes from it, and nothing of it is run. What belongs
to a project does not depend on which of its files are checked. Where it is not certain which file
an import means, there is no answer.
"""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH100, PTH109, PTH116, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from stat import S_ISREG
from sys import intern

from tfmemlint.facts.library.words import LIBRARIES
from tfmemlint.glances import Glances, imported_in, module_of
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple
from tfmemlint.roots import MARKS, MOST_FOLDERS, PACKAGE
from tfmemlint.screen import handles_data, words

if TYPE_CHECKING:  # most files are told from their words; what is named here takes long to import
    import ast

    from tfmemlint.facts import TensorFlow
    from tfmemlint.facts.syntax.imports import Importing, Others
    from tfmemlint.facts.syntax.tree import Forest
    from tfmemlint.importers import Importers
    from tfmemlint.parsing import Pieces
    from tfmemlint.source import File

_LARGEST = 500_000
"""Bytes of a file that others are not told of: data, or made by a program."""
_LARGEST_NOTEBOOK = 2_000_000
"""The same of a notebook, most of which is what its cells have shown."""
_KEPT = 700_000
"""Bytes of the files whose facts are kept for those that are checked next."""
_MOST_KEPT = 1_500_000
"""The same in projects where that is soon reached, as each file leads to many."""
_SOON = 10
"""Files that are checked until then."""
_MOST_ASKED = 60
"""Files that one file leads to."""
_MOST_AROUND = 120
"""Files that names may come from; of more, nobody says which names those are."""
_MOST_IMPORTERS = 8
"""Files that import one; what more of them use says little about any of them."""
_MOST_NEAR = 300
"""Files that are looked through for imports of one, and folders."""
_DEFINED = re.compile(rb"^(?:async def|class|def)?[ \t]*(\w+)[ \t]*[(:=]", re.MULTILINE)
"""What a file gives names that stand at the left edge."""
_BEHIND = re.compile(rb"import([ \t]*\([^)#]*(?:#[^\n]*[^)#]*)*|[^\n]*)")
_WORD = re.compile(rb"\w+|\*")
_CALLED = re.compile(rb"\.[ \t]*[A-Za-z_][0-9A-Za-z_]*[ \t]*\(")
"""A method that is called. What stands in code as nothing else is defined elsewhere."""
_NOTEBOOK = ".ipynb"
_PASSED_OVER = frozenset(("__pycache__", "build", "dist", "node_modules", "site-packages", "venv"))


class _Near(NamedTuple):
    """The files around a folder that may import what stands in it."""

    files: tuple[str, ...] = ()
    notebooks: tuple[str, ...] = ()


class _Kept(NamedTuple):
    """A file that was read."""

    text: str
    tf: TensorFlow


class Project:
    """The files around those that are checked."""

    def __init__(self, parsed: dict[str, Pieces] | None = None, named: Iterable[str] = ()) -> None:
        """`parsed` keeps what of changing texts stays the same; without it nothing is kept.

        A folder that was `named` is taken to be a project's where nothing tells which one is.
        """
        self._parsed = parsed
        self._named_folders = frozenset(map(os.path.abspath, named))
        self._here = os.getcwd()
        self._listed: dict[str, frozenset[str]] = {}
        self._first: dict[str, str] = {}
        self._parts: dict[str, _Near] = {}
        self._imported_by: dict[tuple[str, bool], tuple[str, ...]] = {}
        self._alone: dict[_Near, bool] = {}
        self._called_from: dict[str, tuple[str, ...]] = {}
        self._below_of: dict[str, tuple[str, ...]] = {}
        self._wide_below_of: dict[str, tuple[str, ...]] = {}
        self._ways: dict[str, tuple[str, ...]] = {}
        self._targets: dict[str, tuple[str, ...]] = {}
        self._glances = Glances()
        self._words: dict[str, frozenset[bytes]] = {}
        self._code: dict[str, bytes | None] = {}
        """That of notebooks."""
        self._handed_on: dict[str, frozenset[bytes]] = {}
        self._given: dict[str, frozenset[str]] = {}
        self._importing: dict[str, Importers] = {}
        self._forest: Forest | None = None
        self._kept: dict[str, _Kept | None] = {}
        self._size, self._most, self._checked = 0, _KEPT, 0
        """What is kept, how much that may be, and files checked since it began, in this order."""
        self._asked: set[str] = set()
        self._refused = False
        """Whether any file led to too many others: what is known of it may not be all there is."""

    def file(
        self,
        path: str,
        text: str,
        tensorflow: tuple[int, ...] | None = None,
        cells: Sequence[int] = (),
        assumed: Mapping[str, float] | None = None,
    ) -> File:
        """A file that is checked, together with what it imports. Raises as parsing does."""
        from tfmemlint.facts import TensorFlow  # noqa: PLC0415
        from tfmemlint.facts.syntax.tree import Forest, Tree  # noqa: PLC0415
        from tfmemlint.parsing import parse  # noqa: PLC0415
        from tfmemlint.source import File  # noqa: PLC0415

        here = os.path.abspath(path)
        self._asked = {here}
        before = self._kept.get(here)
        self._checked += 1
        is_full = self._size > self._most
        if is_full:
            soon = self._checked * _KEPT < _SOON * self._most
            self._most = _MOST_KEPT if soon else _KEPT
        if is_full or (before is not None and before.text != text):
            self.forget()
            before = None
        if before is not None and not assumed and not self._refused:
            return File(path, text, tensorflow, cells, assumed, before.tf)
        if before is not None:
            tree = before.tf.tree
        else:
            self._forest = self._forest or Forest()
            tree = Tree(parse(text, path, self._pieces(path)), self._forest)
            self._size += len(text)
        tf = TensorFlow(tree, self._others(here), assumed)
        self._kept[here] = _Kept(text, tf)
        return File(path, text, tensorflow, cells, assumed, tf)

    def forget(self) -> None:
        """Let go of all that was read."""
        self._forest, self._size, self._checked, self._refused = None, 0, 0, False
        self._kept.clear()
        self._words.clear()
        self._code.clear()
        self._handed_on.clear()
        self._given.clear()

    def _pieces(self, path: str) -> Pieces | None:
        """What was parsed of a file before. No two trees may share nodes, so by its path."""
        if self._parsed is None:
            return None
        return self._parsed.setdefault(os.path.abspath(path), {})

    def uses_tensorflow(self, path: str, data: bytes) -> bool:
        """Whether a file that does not mention TensorFlow belongs to a program with it.

        What it imports from its project mentions TensorFlow, or it handles data, and a file that
        uses TensorFlow imports it; both directly or not. Or it writes down arrays, in a project
        that trains with TensorFlow alone.
        """
        here = os.path.abspath(path)
        if b"import" in data:
            reached = self._reached(here, self._aimed(here, imported_in(data)))
            if any(self._glances.of(each).mentions for each in reached):
                return True
        return handles_data(data) and (self._serves_tensorflow(here) or self._prepares(here))

    def _prepares(self, path: str) -> bool:
        """Whether a file writes down arrays in a project that has no framework but TensorFlow."""
        if not self._glances.of(path).saves:
            return False
        near = self._near(os.path.dirname(path))
        if near not in self._alone:
            all_near = [self._glances.of(each) for each in (*near.files, *near.notebooks)]
            alone = not any(each.uses_another for each in all_near)
            self._alone[near] = alone and any(each.uses for each in all_near)
        return self._alone[near]

    def _serves_tensorflow(self, path: str) -> bool:
        """Whether a file that imports one uses TensorFlow, or has it from its project."""
        above = [*self._above(path)]
        below = (one for each in above for one in self._below_all(each))
        return any(self._glances.of(each).uses for each in (*above, *below))

    def words(self, path: str, data: bytes) -> tuple[frozenset[bytes], ...]:
        """Everything that can be a name in each file that one imports, or that imports it.

        And in what those import: what they give to its functions they may have from there.
        """
        here = os.path.abspath(path)
        reached = self._reached(here, self._aimed(here, imported_in(data)))
        near = dict.fromkeys((*reached, *self._around_callers(here)))
        return tuple(map(self._words_in, near))

    def around(self, path: str) -> str:
        """Stands for all other files that findings in one may depend on; empty if there are none.

        Those are the files that it imports, and those that import it, with what they import.
        """
        here = os.path.abspath(path)
        related: dict[str, None] = {}
        for each in (here, *self._above(here)):
            related[each] = None
            related.update(dict.fromkeys(self._below_all(each)))
        del related[here]
        prepares = not self._glances.of(here).mentions and self._prepares(here)
        if not related and not prepares:
            return ""
        from hashlib import blake2b  # noqa: PLC0415

        text = "\n".join(f"{self._glances.of(each).place} {each}" for each in sorted(related))
        text += "prepares" if prepares else ""
        return blake2b(text.encode(errors="surrogateescape"), digest_size=8).hexdigest()

    def _given_around(self, path: str) -> tuple[frozenset[str], ...] | None:
        """The names that each file around one may give; None if those files are too many."""
        above = (path, *self._above(path))
        found: dict[str, None] = {}
        for each in above:
            found[each] = None
            found.update(dict.fromkeys(self._wide_below(each)))
        if len(above) == _MOST_ASKED or len(found) >= _MOST_AROUND:
            return None
        del found[path]
        return tuple(map(self._given_in, found))

    def _given_in(self, path: str) -> frozenset[str]:
        if path not in self._given:
            data = _CALLED.sub(b" (", self._read(path) or b"")
            self._given[path] = frozenset(intern(each.decode()) for each in words(data))
        return self._given[path]

    def importing(self, path: str) -> Importing:
        """What the files that import one may do to it, as far as their words tell."""
        root = self._root(os.path.dirname(path))
        if root not in self._importing:
            from tfmemlint.importers import Importers  # noqa: PLC0415

            self._importing[root] = Importers(root, self._glances)
        return self._importing[root].of(path)

    def _others(self, path: str) -> Others:
        from tfmemlint.facts.syntax.imports import Lead, Others, Place  # noqa: PLC0415

        known: dict[str, tuple[str, tuple[str, ...]] | None] = {}

        def named(name: str) -> tuple[str, tuple[str, ...]] | None:
            if name not in known:
                known[name] = self._named(path, name)
            return known[name]

        def leads(name: str) -> Lead | None:
            found = named(name)
            if found is None or found[0] == path:
                return None
            imported, names = self._handed_on_by(found[0]), found[1]
            may = bool(names) and (b"*" in imported or names[0].encode() in imported)
            return Lead(found[0], names, may)

        def find(name: str) -> Place | None:
            found = named(name)
            if found is None or found[0] == path:
                return None
            tf = self._open(found[0])
            return Place(tf.tree.module, found[1]) if tf is not None else None

        def importers() -> tuple[ast.Module, ...]:
            several = self._callers(path)
            found = map(self._open, several if len(several) <= _MOST_IMPORTERS else ())
            return tuple(each.tree.module for each in found if each is not None)

        def beside(word: str) -> tuple[ast.Module, ...]:
            found = map(self._open, self._beside(path, word.encode()))
            return tuple(each.tree.module for each in found if each is not None)

        def all_words() -> tuple[frozenset[bytes], ...]:
            near = dict.fromkeys((*self._below_all(path), *self._around_callers(path)))
            return tuple(map(self._words_in, near))

        def reached(first: str) -> frozenset[str]:
            return frozenset((first, *self._below_all(first)))

        return Others(
            path,
            find,
            leads,
            reached,
            self._words_in,
            importers,
            beside,
            all_words,
            lambda: self._given_around(path),
            lambda: self.importing(path),
        )

    def _open(self, path: str) -> TensorFlow | None:
        if path not in self._asked and len(self._asked) == _MOST_ASKED:
            self._refused = True
            return None
        self._asked.add(path)
        if path not in self._kept:
            self._kept[path] = self._opened(path)
        kept = self._kept[path]
        return kept and kept.tf

    def _opened(self, path: str) -> _Kept | None:
        from tfmemlint.decoding import UndecodableError, decode  # noqa: PLC0415
        from tfmemlint.facts import TensorFlow  # noqa: PLC0415
        from tfmemlint.facts.syntax.tree import Tree  # noqa: PLC0415
        from tfmemlint.parsing import TooDeep, parse  # noqa: PLC0415

        data = self._read(path)
        if data is None:
            return None
        try:
            text = decode(data).text
            tree = Tree(parse(text, path, self._pieces(path)), self._forest)
        except (UndecodableError, SyntaxError, TooDeep, RecursionError, MemoryError):
            return None
        self._size += len(text)
        return _Kept(text, TensorFlow(tree, self._others(path)))

    # Which file a name means.

    def _named(self, path: str, name: str) -> tuple[str, tuple[str, ...]] | None:
        """The one file that the first parts of a dotted name mean, and what is left of it."""
        folder = os.path.dirname(path)
        plain = name.lstrip(".")
        parts = tuple(each for each in plain.split(".") if each)
        level = len(name) - len(plain)
        if not level:
            return self._absolute(path, parts)
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        found = self._below(folder, parts)
        if found is not None or PACKAGE not in self._names_in(folder):
            return found
        return os.path.join(folder, PACKAGE), parts

    def _absolute(self, path: str, parts: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
        if not parts or parts[0] in LIBRARIES:
            return None
        folder = os.path.dirname(path)
        if PACKAGE not in self._names_in(folder):  # a script: Python looks beside it first
            found = self._below(folder, parts)
            if found is not None:
                return found
        for folders in (self._searched(folder), self._added(path)):
            several = {self._below(each, parts) for each in folders} - {None}
            if several:
                return several.pop() if len(several) == 1 else None
        return None

    def _added(self, path: str) -> Iterator[str]:
        """The folders in which a file has Python look for modules, wherever it is run."""
        for way in self._glances.of(path).searched:
            for start in self._searched(os.path.dirname(path)):
                found = os.path.join(start, *way)
                if self._names_in(found):
                    yield found

    def _searched(self, folder: str) -> tuple[str, ...]:
        """The folders in which Python may have been told to look for modules."""
        if folder not in self._ways:
            searched = [folder, os.path.join(folder, "src")]
            above = os.path.dirname(folder)
            if folder != self._root(folder) and above != folder:
                searched += self._searched(above)
            self._ways[folder] = tuple(each for each in searched if self._names_in(each))
        return self._ways[folder]

    def _root(self, folder: str) -> str:
        """The first folder of the project that a folder belongs to."""
        if folder not in self._first:
            self._first[folder] = self._found_root(folder)
        return self._first[folder]

    def _found_root(self, folder: str) -> str:
        above, found = folder, folder
        for _ in range(MOST_FOLDERS):
            names = self._names_in(above)
            if above == self._here or not names.isdisjoint(MARKS):
                return above
            if PACKAGE in names:
                found = os.path.dirname(above)
            elif above in self._named_folders:
                found = above
            above = os.path.dirname(above)
        return found

    def _below(self, folder: str, parts: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
        """The module that the first parts mean in a folder; what a package binds comes first."""
        found: tuple[str, tuple[str, ...]] | None = None
        for number, part in enumerate(parts, 1):
            names, rest = self._names_in(folder), parts[number:]
            below = os.path.join(folder, part)
            if part in names and PACKAGE in self._names_in(below):
                found = os.path.join(below, PACKAGE), rest
                if rest and self._binds(found[0], rest[0]):
                    return found
            elif f"{part}.py" in names:
                return f"{below}.py", rest
            elif part not in names:
                return found
            folder = below
        return found

    def _binds(self, path: str, name: str) -> bool:
        """Whether a package itself gives a name a meaning, other than the module in it.

        `from . import name` does not.
        """
        import ast  # noqa: PLC0415

        if name.isascii() and name.encode() not in self._words_in(path):
            return False
        tf = self._open(path)
        if tf is None:
            return False
        package = os.path.split(os.path.dirname(path))[1]
        given = [each.node for each in tf.bindings.of(tf.tree.module, name)]
        brought = [f".{tf.imports.written(each)}" for each in given if isinstance(each, ast.alias)]
        itself = (f"..{name}", f".{package}.{name}")
        return len(brought) < len(given) or not all(each.endswith(itself) for each in brought)

    def _names_in(self, folder: str) -> frozenset[str]:
        if folder not in self._listed:
            try:
                self._listed[folder] = frozenset(os.listdir(folder))
            except OSError:
                self._listed[folder] = frozenset()
        return self._listed[folder]

    # What imports what, as far as a glance tells.

    def _reached(self, path: str, targets: Iterable[str], most: int = _MOST_ASKED) -> Iterator[str]:
        """The files that one imports which imports these, directly or not."""
        pending = [*dict.fromkeys(targets)][:most]
        seen = {path, *pending}
        for each in pending:
            yield each
            for target in self._aims(each):
                if target not in seen and len(seen) < most:
                    seen.add(target)
                    pending.append(target)

    def _handed_on_by(self, path: str) -> frozenset[bytes]:
        """All words that may be names of what a file imports."""
        if path not in self._handed_on:
            data = (self._read(path) or b"").replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")
            found = (word for names in _BEHIND.findall(data) for word in _WORD.findall(names))
            self._handed_on[path] = frozenset(found)
        return self._handed_on[path]

    def _words_in(self, path: str) -> frozenset[bytes]:
        if path not in self._words:
            self._words[path] = words(self._read(path) or b"")
        return self._words[path]

    def _read(self, path: str) -> bytes | None:
        """What a file holds: of a notebook its code, as most of it is what cells have shown."""
        if not path.endswith(_NOTEBOOK):
            return _read(path)
        if path not in self._code:
            from tfmemlint.decoding import UndecodableError  # noqa: PLC0415
            from tfmemlint.notebooks import read  # noqa: PLC0415

            try:
                code = read(_read(path) or b"").text.encode("utf-8", "surrogatepass")
            except UndecodableError:
                code = None
            self._code[path] = code
        return self._code[path]

    def _aims(self, path: str) -> tuple[str, ...]:
        """The files that a file may import."""
        if path not in self._targets:
            found = self._aimed(path, self._glances.of(path).imports)
            self._targets[path] = tuple(dict.fromkeys(found))
        return self._targets[path]

    def _aimed(self, path: str, names: Iterable[str]) -> Iterator[str]:
        """The files that these imports of a file may mean."""
        folder = os.path.dirname(path)
        for name in dict.fromkeys(names):
            plain = name.lstrip(".")
            parts = tuple(each for each in plain.split(".") if each and each != "*")
            starts: Iterable[str] = ()
            if plain != name:
                start = folder
                for _ in range(len(name) - len(plain) - 1):
                    start = os.path.dirname(start)
                starts = (start,)
                if PACKAGE in self._names_in(start):
                    yield os.path.join(start, PACKAGE)
            elif parts and parts[0] not in LIBRARIES:
                starts = (*self._searched(folder), *self._added(path))
            for start in starts:
                yield from self._on_the_way(start, parts)

    def _on_the_way(self, folder: str, parts: tuple[str, ...]) -> Iterator[str]:
        """The files that Python reads for an import from a folder."""
        for part in parts:
            names, below = self._names_in(folder), os.path.join(folder, part)
            if f"{part}.py" in names:
                yield f"{below}.py"
            if part not in names:
                return
            if PACKAGE in self._names_in(below):
                yield os.path.join(below, PACKAGE)
            folder = below

    def _below_all(self, path: str) -> tuple[str, ...]:
        """The files that one imports, directly or not."""
        if path not in self._below_of:
            self._below_of[path] = tuple(self._reached(path, self._aims(path)))
        return self._below_of[path]

    def _wide_below(self, path: str) -> tuple[str, ...]:
        """The same, as far as names may come from."""
        if path not in self._wide_below_of:
            found = self._reached(path, self._aims(path), _MOST_AROUND)
            self._wide_below_of[path] = tuple(found)
        return self._wide_below_of[path]

    def _above(self, path: str) -> Iterator[str]:
        """The files near one that import it, directly or not."""
        pending, seen = [path], {path}
        for each in pending:
            for importer in self._importers(each, notebooks=True):
                if importer not in seen and len(seen) < _MOST_ASKED:
                    seen.add(importer)
                    pending.append(importer)
                    yield importer

    def _importers(self, path: str, *, notebooks: bool = False) -> tuple[str, ...]:
        """The files near one that import it, tests left out; the notebooks among them if wanted."""
        if (path, notebooks) not in self._imported_by:
            near, word = self._near(os.path.dirname(path)), module_of(path)
            found = (
                each
                for each in (*near.files, *(near.notebooks if notebooks else ()))
                if each != path and word in self._glances.of(each).words
                if path in self._aims(each)
            )
            self._imported_by[path, notebooks] = tuple(found)
        return self._imported_by[path, notebooks]

    def _callers(self, path: str) -> tuple[str, ...]:
        """The files near one that import it, and the notebooks if there are not too many.

        So do those that have its names from a package that hands them on.
        """
        if path not in self._called_from:
            self._called_from[path] = self._find_callers(path)
        return self._called_from[path]

    def _find_callers(self, path: str) -> tuple[str, ...]:
        files, every = self._importers(path), self._importers(path, notebooks=True)
        direct = every if len(every) <= _MOST_IMPORTERS else files
        packages = [each for each in direct if each.endswith(PACKAGE)]
        if not packages:
            return direct
        named = frozenset(_DEFINED.findall(self._read(path) or b""))
        found = dict.fromkeys(direct)
        for package in packages:
            for each in self._importers(package, notebooks=True):
                known = each == path or each in found
                if not known and not named.isdisjoint(self._words_in(each)):
                    found[each] = None
                    packages += [each] if each.endswith(PACKAGE) else []
        return tuple(found) if len(found) <= _MOST_IMPORTERS else direct

    def _around_callers(self, path: str) -> Iterator[str]:
        """Who calls what stands in a file, with what they import, and who may by way of them."""
        callers = self._callers(path)
        for each in callers:
            yield each
            yield from self._below_all(each)
        for each in callers if len(callers) <= _MOST_IMPORTERS else ():
            yield from self._callers(each)

    def _beside(self, path: str, word: bytes) -> tuple[str, ...]:
        """Files that say a word and are imported where one is, or where what has it is: they may be
        handed what it has."""
        importers = self._callers(path)
        above = [each for one in importers for each in self._callers(one)]
        if len(importers) > _MOST_IMPORTERS:
            return ()
        above = above if len(above) <= _MOST_IMPORTERS else []
        found = [*above, *(aim for each in (*importers, *above) for aim in self._aims(each))]
        for each in found:
            if each.endswith(PACKAGE) and len(found) <= _MOST_ASKED:
                found += [aim for aim in self._aims(each) if aim not in found]
        others = dict.fromkeys(each for each in found if each != path and each not in importers)
        saying = [each for each in others if word in self._words_in(each)]
        return tuple(saying) if len(saying) <= _MOST_IMPORTERS else ()

    def _near(self, folder: str) -> _Near:
        """The files of the largest part of a project around a folder that is not too large."""
        if folder not in self._parts:
            found = _files_below(folder)
            above, first = os.path.dirname(folder), self._root(folder)
            if found is not None and folder != first and len(above) < len(folder):
                near = self._near(above)
                found = near if near.files else found
            self._parts[folder] = found or _Near()
        return self._parts[folder]


def _files_below(folder: str) -> _Near | None:
    """The files of a folder and those in it, in order, tests left out; None if too many."""
    found: list[str] = []
    notebooks: list[str] = []
    for number, (each, folders, names) in enumerate(os.walk(folder)):
        folders[:] = sorted(one for one in folders if one[0] != "." and one not in _PASSED_OVER)
        for name in sorted(names):
            if name.endswith(".py") and not name.startswith("test_"):
                found.append(os.path.join(each, name))
            elif name.endswith(_NOTEBOOK):
                notebooks.append(os.path.join(each, name))
        if len(found) > _MOST_NEAR or number > _MOST_NEAR:
            return None
    return _Near(tuple(found), tuple(notebooks[:_MOST_NEAR]))


def _read(path: str) -> bytes | None:
    try:
        status = os.stat(path)
        largest = _LARGEST_NOTEBOOK if path.endswith(_NOTEBOOK) else _LARGEST
        if not S_ISREG(status.st_mode) or status.st_size > largest:
            return None
        with open(path, "rb") as source:
            return source.read()
    except OSError:
        return None
