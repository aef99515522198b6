"""What the imports of a file mean, where other files of its project are what they name."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property

from tfmemlint.facts.library.words import LIBRARIES
from tfmemlint.facts.syntax.bindings import Binding
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts import TensorFlow
    from tfmemlint.facts.sure.outside import Importing

_MAX_HOPS = 8
"""Files that hand a name on to each other, each by an import."""


class Place(NamedTuple):
    """A file of the project, and what of it is meant: `.load` of data.py, or the whole of it."""

    module: ast.Module
    names: tuple[str, ...] = ()


class Others(NamedTuple):
    """The other files of a project, as one of them sees them."""

    find: Callable[[str], Place | None]
    """What a dotted name means, with as many dots before it as an import has."""
    importers: Callable[[], tuple[TensorFlow, ...]]
    """The files that import this one."""
    words: Callable[[], frozenset[bytes]]
    """Every name in the files that this one imports, directly or not."""
    importing: Callable[[], Importing]
    """What the files that import this one may do to it."""


class Imports:
    """What the names mean that a file imports from others of its project."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._others = tf.others
        self._found: dict[str, Place | None] = {}

    @cached_property
    def any(self) -> bool:
        """Whether the file imports anything from another file."""
        return bool(self._brought or self._starred)

    @cached_property
    def words(self) -> frozenset[bytes]:
        """Every name in the files that this one imports, directly or not."""
        return self._others.words() if self._others is not None and self.any else frozenset()

    @cached_property
    def importers(self) -> tuple[TensorFlow, ...]:
        """What is known of the files that import this one."""
        return self._others.importers() if self._others is not None else ()

    def of_alias(self, alias: ast.alias) -> Place | None:
        """What of which file an import brings."""
        home = self._tree.elsewhere(alias)
        if home is not None:
            return home.imports.of_alias(alias)
        return self._find(self.written(alias)) if self._others is not None else None

    def of(self, expression: ast.expr) -> Place | None:
        """What of which file a name means, or a dotted name that begins with an import."""
        home = self._tree.elsewhere(expression)
        if home is not None:
            return home.imports.of(expression)
        if self._others is None:
            return None
        names: list[str] = []
        while isinstance(expression, ast.Attribute):
            names.append(expression.attr)
            expression = expression.value
        if not isinstance(expression, ast.Name) or not self._may_mean(expression.id):
            return None
        bindings = self._bindings.reaching(expression)
        if not bindings:
            place = self._by_star(expression)
            return place and place._replace(names=(*place.names, *reversed(names)))
        alias = bindings[0].node
        if len(bindings) > 1 or not isinstance(alias, ast.alias):
            return None
        return self._find(".".join((self.written(alias), *reversed(names))))

    def _may_mean(self, name: str) -> bool:
        """Whether a name may be one that other files give: most are not."""
        return name in self._brought or bool(self._starred)

    @cached_property
    def _brought(self) -> frozenset[str]:
        """The names that are given what other files have."""
        found: set[str] = set()
        for each in self._tree.all(ast.alias):
            # A folder without a file of its own is no file, but those in it are.
            if self._find(self.written(each)) or self._find(each.name):
                found.add(each.asname or each.name.partition(".")[0])
        return frozenset(found)

    def inside(self, name: str, hops: int = _MAX_HOPS) -> tuple[Binding, ...]:
        """What gives a name of this file the value with which others import it."""
        found = self._bindings.at_end(name)
        if found or not hops or self._others is None:
            return found
        for place in self._starred:
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
        for place in self._starred:
            if self.home(place).inside(name.id):
                return place._replace(names=(name.id,))
        return None

    @cached_property
    def _starred(self) -> tuple[Place, ...]:
        """The files all of whose names are imported."""
        stars = (each for each in self._tree.all(ast.alias) if each.name == "*")
        found = (
            self._find(self.written(each).removesuffix("*").rstrip(".") or ".") for each in stars
        )
        return tuple(each for each in found if each is not None and not each.names)

    def _find(self, name: str) -> Place | None:
        if self._others is None or name.partition(".")[0] in LIBRARIES:
            return None
        if name not in self._found:
            self._found[name] = self._others.find(name)
        return self._found[name]

    def written(self, alias: ast.alias) -> str:
        """The dotted name of an import, beginning with as many dots as are written."""
        statement = self._tree.parent(alias)
        if not isinstance(statement, ast.ImportFrom):
            return alias.name if alias.asname else alias.name.partition(".")[0]
        module = "." * statement.level + (statement.module or "")
        return f"{module}.{alias.name}" if statement.module else f"{module}{alias.name}"
