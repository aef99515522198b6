"""What the imports of a file mean, where other files of its project are what they name."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.words import LIBRARIES, TRACING_WORDS
from tfmemlint.facts.syntax.bindings import Binding
from tfmemlint.light_typing import NamedTuple

_TRACERS = frozenset(TRACING_WORDS.encode().split())
_MAX_HOPS = 8
"""Files that hand a name on to each other, each by an import."""


class Place(NamedTuple):
    """A file of the project, and what of it is meant: `.load` of data.py, or the whole of it."""

    module: ast.Module
    names: tuple[str, ...] = ()


class Lead(NamedTuple):
    """A file of the project that a name leads to, as far as its words tell."""

    path: str
    """The file."""
    names: tuple[str, ...]
    """What of it is meant."""
    may_hand_on: bool
    """Whether that may be what it imports itself."""


class Importing(NamedTuple):
    """The files that import one, as far as their words tell; by default there are none."""

    imported: bool = False
    """Whether there is any."""
    words: frozenset[str] = frozenset()
    """What such files name as an attribute, or define: they may set it, or take its place."""
    is_vague: bool = False
    """Whether there are too many files to look through."""


class Others(NamedTuple):
    """The other files of a project, as one of them sees them."""

    path: str
    """The one that sees them."""
    find: Callable[[str], Place | None]
    """What a dotted name means, with as many dots before it as an import has."""
    leads: Callable[[str], Lead | None]
    """Where a dotted name leads, which is not read for that."""
    reached: Callable[[str], frozenset[str]]
    """A file, by its path, and those that it imports, directly or not."""
    words_in: Callable[[str], frozenset[bytes]]
    """Every name in a file, by its path."""
    importers: Callable[[], tuple[ast.Module, ...]]
    """The files that import this one."""
    beside: Callable[[str], tuple[ast.Module, ...]]
    """The files that those import beside it, and that say a word."""
    words: Callable[[], tuple[frozenset[bytes], ...]]
    """Every name in each of the files that this one imports, directly or not."""
    given: Callable[[], tuple[frozenset[str], ...] | None]
    """The names that each file around may give to anything; None if that cannot be told."""
    importing: Callable[[], Importing]
    """What the files that import this one may do to it."""

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return self.path.replace("\\", "/").rpartition("/")[2]


def _parts(expression: ast.expr) -> tuple[ast.Name | None, list[str]]:
    """The name that a dotted name begins with, and what follows."""
    names: list[str] = []
    while isinstance(expression, ast.Attribute):
        names.append(expression.attr)
        expression = expression.value
    return expression if isinstance(expression, ast.Name) else None, names[::-1]


class Imports:
    """What the names mean that a file imports from others of its project."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._others = tf.others
        self._found: dict[str, Place | None] = {}
        self._may_give: dict[str, bool] = {}
        self._at_end: dict[str, tuple[Binding, ...]] = {}
        self._beside: dict[str, tuple[ast.Module, ...]] = {}

    @cached_property
    def any(self) -> bool:
        """Whether the file imports anything from another file."""
        return bool(self._brought or self.starred)

    @cached_property
    def words(self) -> tuple[frozenset[bytes], ...]:
        """Every name in each of the files that this one imports, directly or not."""
        return self._others.words() if self._others is not None and self.any else ()

    def may_give(self, name: str) -> bool:
        """Whether the files around this one may give anything a name."""
        if name not in self._may_give:
            given = self._given
            found = given is None or not name.isascii() or any(name in each for each in given)
            self._may_give[name] = found
        return self._may_give[name]

    @cached_property
    def _given(self) -> tuple[frozenset[str], ...] | None:
        return self._others.given() if self._others is not None else ()

    @property
    def importers(self) -> tuple[TensorFlow, ...]:
        """What is known of the files that import this one."""
        return self._tree.forest.facts_of(self._importers) if self._importers else ()

    def beside(self, method: str) -> tuple[TensorFlow, ...]:
        """The files that those import beside this one, if they name a method."""
        if method.startswith("__") or self._others is None or not self._importers:
            return ()
        if method not in self._beside:
            self._beside[method] = self._others.beside(method)
        return self._tree.forest.facts_of(self._beside[method])

    @cached_property
    def _importers(self) -> tuple[ast.Module, ...]:
        return self._others.importers() if self._others is not None else ()

    @property
    def is_imported(self) -> bool:
        """Whether another file imports this one: looked at when something hangs on it."""
        return self._importing.imported

    def may_touch(self, name: str) -> bool:
        """Whether another file may give something of this file another value."""
        return self._importing.is_vague or name in self._importing.words

    @cached_property
    def _importing(self) -> Importing:
        return self._others.importing() if self._others is not None else Importing()

    def of_alias(self, alias: ast.alias) -> Place | None:
        """What of which file an import brings."""
        home = self._tree.elsewhere(alias)
        if home is not None:
            return home.imports.of_alias(alias)
        return self._find(self.written(alias)) if self._others is not None else None

    def lead(self, alias: ast.alias) -> Lead | None:
        """Where an import leads, if to another file of the project, which is not read for that."""
        home = self._tree.elsewhere(alias)
        return self._lead(self.written(alias)) if home is None else home.imports.lead(alias)

    def of(self, expression: ast.expr) -> Place | None:
        """What of which file a name means, or a dotted name that begins with an import."""
        home = self._tree.elsewhere(expression)
        if home is not None:
            return home.imports.of(expression)
        if self._others is None:
            return None
        first, names = _parts(expression)
        if first is None or not self._may_mean(first.id):
            return None
        bindings = self._bindings.reaching(first)
        if not bindings:
            place = self._by_star(first)
            return place and place._replace(names=(*place.names, *names))
        alias = bindings[0].node
        if len(bindings) > 1 or not isinstance(alias, ast.alias):
            return None
        return self._find(".".join((self.written(alias), *names)))

    def lead_of(self, expression: ast.expr) -> Lead | None:
        """Where a dotted name of this file leads that begins with one import, and surely that."""
        first, names = _parts(expression)
        binding = self._bindings.only(first) if first and first.id in self._brought else None
        alias = binding.node if binding is not None else None
        found = self._lead(self.written(alias)) if isinstance(alias, ast.alias) else None
        if found is None or not names or not isinstance(alias, ast.alias):
            return found
        return self._lead(".".join((self.written(alias), *names)))

    def may_reach(self, lead: Lead, home: TensorFlow) -> bool:
        """Whether a name may mean something in a file, be it handed on by others."""
        if self._others is None or home.others is None:
            return True
        return home.others.path in self._others.reached(lead.path)

    def may_trace(self, lead: Lead) -> bool:
        """Whether TensorFlow may be told of where a name leads, or behind, to trace functions."""
        if self._others is None:
            return True
        files = self._others.reached(lead.path)
        return any(not _TRACERS.isdisjoint(self._others.words_in(each)) for each in files)

    def _may_mean(self, name: str) -> bool:
        """Whether a name may be one that other files give: most are not."""
        return name in self._brought or bool(self.starred)

    @cached_property
    def _brought(self) -> frozenset[str]:
        """The names that are given what other files have."""
        found: set[str] = set()
        for each in self._tree.all(ast.alias):
            # A folder without a file of its own is no file, but those in it are.
            if self._lead(self.written(each)) or self._lead(each.name):
                found.add(each.asname or each.name.partition(".")[0])
        return frozenset(found)

    def inside(self, name: str, hops: int = _MAX_HOPS) -> tuple[Binding, ...]:
        """What gives a name of this file the value with which others import it."""
        if name not in self._at_end:
            self._at_end[name] = self._bindings.at_end(name)
        found = self._at_end[name]
        if found or not hops or self._others is None:
            return found
        for place in self.starred:
            home = self._tree.elsewhere(place.module)
            if home is not None and (found := home.imports.inside(name, hops - 1)):
                return found
        return ()

    def home(self, place: Place) -> Imports:
        """The imports of the file that is meant."""
        home = self._tree.elsewhere(place.module)
        return self if home is None else home.imports

    def _by_star(self, name: ast.Name) -> Place | None:
        """What a name means that nothing here binds, after `from ... import *`."""
        if self._bindings.home(name.id, name) is not None:
            return None
        for place in self.starred:
            if self.home(place).inside(name.id):
                return place._replace(names=(name.id,))
        return None

    @cached_property
    def starred(self) -> tuple[Place, ...]:
        """The files all of whose names are imported."""
        stars = (each for each in self._tree.all(ast.alias) if each.name == "*")
        found = (
            self._find(self.written(each).removesuffix("*").rstrip(".") or ".") for each in stars
        )
        return tuple(each for each in found if each is not None and not each.names)

    @cached_property
    def behind_stars(self) -> frozenset[ast.Module]:
        """Those files, and the files all of whose names they import in their turn."""
        found, waiting = set[ast.Module](), list(self.starred)
        while waiting:
            place = waiting.pop()
            home = self._tree.elsewhere(place.module)
            if home is not None and place.module not in found:
                found.add(place.module)
                waiting += home.imports.starred
        return frozenset(found)

    def _find(self, name: str) -> Place | None:
        if self._others is None or name.partition(".")[0] in LIBRARIES:
            return None
        if name not in self._found:
            self._found[name] = self._others.find(name)
        return self._found[name]

    def _lead(self, name: str) -> Lead | None:
        if self._others is None or name.partition(".")[0] in LIBRARIES:
            return None
        return self._others.leads(name)

    def written(self, alias: ast.alias) -> str:
        """The dotted name of an import, beginning with as many dots as are written."""
        statement = self._tree.parent(alias)
        if not isinstance(statement, ast.ImportFrom):
            return alias.name if alias.asname else alias.name.partition(".")[0]
        module = "." * statement.level + (statement.module or "")
        return f"{module}.{alias.name}" if statement.module else f"{module}{alias.name}"
