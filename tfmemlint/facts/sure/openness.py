"""Whether a file looks at itself, or reaches into what others made: then no reading is complete.

A name that `globals()` may bind, an attribute that `setattr` may set, a line number that is
printed, an object whose end is told by `__del__`: whoever reads such code sees less than it does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.options import Options
from tfmemlint.facts.library import open_words as words
from tfmemlint.facts.syntax.nodes import root

_MOST_FILES = 30
_READS_PATHS = frozenset({"abspath", "basename", "dirname", "realpath"})


class Openness:
    """Whether what stands in a file is all that is done with what it names."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._imports = tf.imports
        self._forest = tf.tree.forest
        self._options = tf.of(Options)

    @cached_property
    def reaches_out(self) -> str | None:
        """What in this file may change what others made, as soon as it is imported."""
        return self._attribute(libraries=True) or self._called()

    @property
    def is_told_numbers(self) -> bool:
        """Whether whoever runs this file may give it other numbers than the facts expect."""
        return self._options.are_read

    def _brought(self) -> str | None:
        """What a file of the project that is imported here may change, directly or not."""
        pending = [*self._reached()]
        seen: set[Openness] = {self}
        for each in pending:
            if each not in seen:
                seen.add(each)
                if each.reaches_out is not None:
                    return each.reaches_out
                if each.is_told_numbers:
                    return "options"
                if len(seen) < _MOST_FILES:
                    pending += each._reached()
        return None

    def _reached(self) -> Iterator[Openness]:
        """The files of the project that this one imports."""
        for alias in self._tree.all(ast.alias):
            place = self._imports.of_alias(alias)
            facts = self._forest.facts.get(place.module) if place is not None else None
            found = facts() if facts is not None else None
            if found is not None:
                yield found.openness

    @cached_property
    def why(self) -> str | None:
        """What in this file may do more than is seen, in a word; None where nothing does."""
        return (
            self._imported()
            or self._named()
            or self._attribute()
            or self._class()
            or self._called()
            or self._written()
            or ("options" if self.is_told_numbers else None)
            or self._brought()
        )

    def _imported(self) -> str | None:
        for statement in self._tree.all(ast.Import, ast.ImportFrom):
            if isinstance(statement, ast.ImportFrom):
                brought = [statement.module or ""]
            else:
                brought = [each.name for each in statement.names]
            for name in brought:
                if name.partition(".")[0] in words.MODULES:
                    return name
            if any(each.name == "*" for each in statement.names) and not self._is_known(statement):
                return "import *"
        return None

    def _is_known(self, star: ast.Import | ast.ImportFrom) -> bool:
        """Whether what `import *` brings is Keras', and takes the place of nothing named before."""
        starred = f"{star.module}." if isinstance(star, ast.ImportFrom) and not star.level else ""
        if not starred.startswith(words.STARS):
            return False
        for statement in self._tree.module.body:
            if statement is star:
                return True
            if isinstance(statement, ast.Expr):
                continue
            if not isinstance(statement, (ast.Import, ast.ImportFrom)):
                return False
            module = statement.module if isinstance(statement, ast.ImportFrom) else ""
            named = {each.asname or each.name for each in statement.names}
            if words.STARRED & named and not f"{module}.".startswith(words.STARS):
                return False
        return False

    def _named(self) -> str | None:
        for name in self._tree.all(ast.Name):
            if name.id in words.BUILTINS and self._bindings.home(name.id, name) is None:
                return name.id
            if name.id == "__file__" and not self._is_path(name):
                return name.id
            if name.id in ("getattr", "hasattr") and not self._is_plain_look(name):
                return name.id
        for constant in self._tree.all(ast.Constant):
            text = constant.value
            if isinstance(text, str) and ("lineno" in text or text.endswith(".py")):
                return "lineno" if "lineno" in text else text
        return None

    def _is_plain_look(self, name: ast.Name) -> bool:
        """`getattr(x, "name")`: what is looked at, and where, is in sight."""
        call = self._tree.parent(name)
        if not isinstance(call, ast.Call) or call.func is not name or len(call.args) < 2:
            return False
        wanted = call.args[1]
        text = wanted.value if isinstance(wanted, ast.Constant) else None
        return isinstance(text, str) and not text.startswith("_") and text not in words.ATTRIBUTES

    def _is_path(self, name: ast.Name) -> bool:
        """`os.path.dirname(__file__)`, where the file lies and not what is in it."""
        node: ast.AST | None = self._tree.parent(name)
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "dirname":
                return True
            if node.func.attr not in _READS_PATHS:
                return False
            node = self._tree.parent(node)
        while isinstance(node, (ast.Call, ast.Attribute)):
            if getattr(node, "attr", "") in ("parent", "parents"):
                return True
            if isinstance(node, ast.Attribute) and node.attr not in ("resolve", "absolute"):
                return False
            node = self._tree.parent(node)
        return False

    def _attribute(self, *, libraries: bool = False) -> str | None:
        for name, found in self._tree.attributes.items():
            if libraries:
                if any(map(self._sets_library, found)):
                    return f"{name} of a library"
                continue
            if name in words.ATTRIBUTES or "lineno" in name:
                return name
            if (
                name.startswith("__")
                and name not in words.DUNDERS
                and not all(map(self._is_told, found))
            ):
                return name
            for each in found:
                private = name.startswith("_") and not name.startswith("__")
                if private and not self._is_own(each):
                    return name
                if self._sets_library(each):
                    return f"{name} of a library"
        return None

    def _sets_library(self, attribute: ast.Attribute) -> bool:
        set_here = not isinstance(attribute.ctx, ast.Load)
        return set_here and self._names.qualified(attribute.value) is not None

    def _is_told(self, attribute: ast.Attribute) -> bool:
        """`x.__class__.__name__`, which only says what something is called."""
        return getattr(self._tree.parent(attribute), "attr", "") == "__name__"

    def _is_own(self, attribute: ast.Attribute) -> bool:
        """Whether a private attribute is one of `self`, or of a class of this file."""
        owner = root(attribute.value)
        return isinstance(owner, ast.Name) and owner.id in ("self", "cls")

    def _class(self) -> str | None:
        for each in self._tree.all(ast.FunctionDef, ast.AsyncFunctionDef):
            if each.name in words.HOOKS:
                return each.name
        for owner in self._tree.all(ast.ClassDef):
            if owner.keywords:
                return "metaclass"
        return None

    def _called(self) -> str | None:
        for attribute in self._tree.all(ast.Attribute):
            name = self._names.qualified(attribute)
            if name is not None and name.startswith(words.SETS) and self._sets(attribute, name):
                return name
        for alias in self._tree.all(ast.alias):
            statement = self._tree.parent(alias)
            module = statement.module if isinstance(statement, ast.ImportFrom) else ""
            name = f"{module}.{alias.name}"
            if name.startswith(words.SETS) and not name.startswith(words.SETS_NOTHING):
                return name
        return None

    def _sets(self, attribute: ast.Attribute, name: str) -> bool:
        above = self._tree.parent(attribute)
        longer = isinstance(above, ast.Attribute) and self._names.qualified(above) is not None
        return not longer and not name.startswith(words.SETS_NOTHING)

    def _written(self) -> str | None:
        """Code that is read as text, or begun by its own name."""
        for each in self._tree.all(ast.Subscript):
            if self._names.qualified(each.value) == "sys.argv":
                place = each.slice
                if isinstance(place, ast.Constant) and place.value == 0:
                    return "sys.argv[0]"
        return None
