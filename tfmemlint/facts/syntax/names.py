"""What an expression refers to: imported APIs under any alias, by one canonical dotted name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.keras_layers import ALIASES, KEEPS, MERGES, PARAMETERS, WEIGHTLESS
from tfmemlint.facts.library.spellings import (
    OPTIMIZERS,
    canonical,
    ending,
    last_words,
    spellings,
)
from tfmemlint.facts.syntax.bindings import Binding, How

_MAX_HOPS = 20

_STARS = {
    "keras": frozenset(
        """Input Model Sequential activations applications backend callbacks constraints datasets
        initializers layers losses metrics models optimizers preprocessing regularizers
        utils""".split()  # noqa: SIM905
    ),
    "keras.layers": frozenset(
        {
            *(*PARAMETERS, *KEEPS, *MERGES, *WEIGHTLESS, "Input", "Lambda", "Layer"),
            *(each.lower() for each in (*MERGES, "Concatenate", "Dot")),
            *(f"{each}{axes}D" for each in (*PARAMETERS, *ALIASES) for axes in (1, 2, 3)),
            *(f"Conv{axes}DTranspose" for axes in (1, 2, 3)),
        }
    ),
    "keras.models": frozenset({"Model", "Sequential", "clone_model", "load_model"}),
    "keras.optimizers": frozenset(OPTIMIZERS.split()),
    "keras.preprocessing.image": frozenset({"ImageDataGenerator", "img_to_array", "load_img"}),
    "keras.utils": frozenset({"Sequence", "img_to_array", "load_img", "to_categorical"}),
}
"""What `from ... import *` brings, of the modules often imported so."""


class Names:
    """Canonical names of expressions, through imports, aliases and simple assignments."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._imports = tf.imports
        self._known: dict[ast.expr | None, str | None] = {}
        self._aliases: dict[ast.alias, str | None] = {}
        self._used: dict[tuple[str, ...], bool] = {}
        self._mentioned: dict[frozenset[str], bool] = {}
        self._written: dict[bytes, bool] = {}

    def qualified(self, expression: ast.expr | None) -> str | None:
        """The canonical dotted name of an imported thing: `tf.keras.Model` is "keras.Model".

        None for anything that is not surely one imported thing.
        """
        if expression in self._known:
            return self._known[expression]
        root = _root(expression)
        if not isinstance(root, ast.Name):
            return None
        elsewhere = self._tree.elsewhere(root)
        if elsewhere is not None:
            return elsewhere.names.qualified(expression)
        if root.id not in self._may_be_imported or expression is None:
            self._known[expression] = None
            return None
        return self._resolve(expression, _MAX_HOPS)

    def called(self, node: ast.AST | None) -> str:
        """The canonical name of what a call calls; empty for what is no call of a library's."""
        return (self.qualified(node.func) if isinstance(node, ast.Call) else None) or ""

    def call_of(self, node: ast.AST | None, names: frozenset[str]) -> ast.Call | None:
        """The call that a node is, if it calls one of these canonical names."""
        return node if isinstance(node, ast.Call) and self.is_any(node.func, names) else None

    def is_any(self, expression: ast.expr | None, names: frozenset[str]) -> bool:
        """Whether an expression refers to one of these canonical names."""
        return self.one_of(expression, names) is not None

    def one_of(self, expression: ast.expr | None, names: frozenset[str]) -> str | None:
        """Which of these canonical names an expression refers to, if any."""
        if isinstance(expression, ast.Attribute) and expression.attr not in last_words(names):
            return None
        found = self.qualified(expression)
        return found if found in names else None

    def mentions(self, names: frozenset[str]) -> bool:
        """Whether anything in the file may refer to one of these canonical names."""
        if names not in self._mentioned:
            self._mentioned[names] = self._mentions(names)
        return self._mentioned[names]

    def calls(self, names: frozenset[str]) -> Iterator[tuple[ast.Call, str]]:
        """Every call of one of these canonical names, and which it is, in source order."""
        if self.mentions(names):
            for call in self._tree.calls(self.spelled(names)):
                name = self.one_of(call.func, names)
                if name is not None:
                    yield call, name

    def reads(self, names: frozenset[str]) -> list[ast.Attribute | ast.Name]:
        """Every read of one of these canonical names, in source order."""
        words = self.spelled(names)
        spelled: list[ast.Attribute | ast.Name] = [*self._ending(words)]
        spelled += (each for each in self._tree.all(ast.Name) if each.id in words)
        read = (each for each in spelled if isinstance(each.ctx, ast.Load))
        found = [each for each in read if self.qualified(each) in names]
        return sorted(found, key=lambda each: (each.lineno, each.col_offset))

    def spelled(self, names: frozenset[str]) -> frozenset[str]:
        """The last words of all that may refer to one of these canonical names."""
        return last_words(names) | self._may_be_imported

    def module(self, name: str, at: ast.AST) -> str | None:
        """What code at `at` calls a module that the file imports: `tf` for "tensorflow"."""
        for alias in self._tree.all(ast.alias):
            called, scope = alias.asname or alias.name, self._tree.scope(alias)
            if (
                isinstance(self._tree.parent(alias), ast.Import)
                and canonical(alias.name) == name
                and "." not in called
                and self._bindings.home(called, at) is scope
                and all(
                    isinstance(each.node, ast.alias) and self.imported(each.node) == name
                    for each in self._bindings.of(scope, called)
                )
            ):
                return called
        return None

    def uses(self, names: tuple[str, ...]) -> bool:
        """Whether the file imports or mentions anything whose canonical name begins like these."""
        if names not in self._used:
            self._used[names] = self._uses(names)
        return self._used[names]

    def may_use(self, names: tuple[str, ...]) -> bool:
        """The same, of this file and all that it imports, as far as their words tell."""
        return self.uses(names) or any(
            self._is_written(each.rstrip(".").rpartition(".")[2].encode()) for each in names
        )

    def _uses(self, names: tuple[str, ...]) -> bool:
        imported = self._tree.all(ast.alias)
        if any((self.imported(each) or "").startswith(names) for each in imported):
            return True
        if any(each.startswith(names) for each in self._read_of_stars):
            return True
        ends = tuple(ending(names))  # a name that begins so has a part of it that ends so
        wanted = [each for each in self._tree.attributes if each.startswith(ends)]
        return any((self.qualified(each) or "").startswith(names) for each in self._ending(wanted))

    def _mentions(self, names: frozenset[str]) -> bool:
        if not self._brought.isdisjoint(names):
            return True
        if any(self.qualified(each) in names for each in self._ending(last_words(names))):
            return True
        if not self._imports.words:
            return False
        return any(all(map(self._is_written, each)) for each in spellings(names))

    def _is_written(self, word: bytes) -> bool:
        """Whether a word is one of this file, or of one that it imports."""
        if word not in self._written:
            found = word in self._own or any(word in each for each in self._imports.words)
            self._written[word] = found
        return self._written[word]

    @cached_property
    def _own(self) -> frozenset[bytes]:
        """The names of attributes and of what is imported."""
        imported = (each.name.split(".") for each in self._tree.all(ast.alias))
        modules = ((each.module or "").split(".") for each in self._tree.all(ast.ImportFrom))
        own = {*self._tree.attributes, *chain.from_iterable((*imported, *modules))}
        return frozenset(each.encode() for each in own)

    @cached_property
    def _brought(self) -> frozenset[str | None]:
        """What the file imports, by name or by `*`."""
        starred = (
            canonical(f"{module}.{name}")
            for module in self._starred_modules
            for name in _STARS.get(module, ())
        )
        return frozenset(chain(map(self.imported, self._tree.all(ast.alias)), starred))

    def _ending(self, parts: Iterable[str]) -> Iterator[ast.Attribute]:
        """The attributes of these names."""
        known = self._tree.attributes
        return (each for part in known.keys() & parts for each in known[part])

    def _resolve(self, expression: ast.expr, hops: int) -> str | None:
        if expression in self._known:
            return self._known[expression]
        found: str | None = None
        if hops:
            if isinstance(expression, ast.Attribute):
                base = self._resolve(expression.value, hops - 1)
                found = canonical(f"{base}.{expression.attr}") if base else None
            elif isinstance(expression, ast.Name):
                if expression.id in self._imported_once:
                    return self._imported_once[expression.id]
                self._known[expression] = None  # an alias of itself refers to nothing
                bindings = self._bindings.reaching(expression)
                names = {self._bound(each, hops - 1) for each in bindings}
                if self._bindings.home(expression.id, expression) is None:
                    names = {self._starred(expression.id)}
                found = names.pop() if len(names) == 1 else None
        self._known[expression] = found
        return found

    def _bound(self, binding: Binding, hops: int) -> str | None:
        if binding.how is How.IMPORTED:
            assert isinstance(binding.node, ast.alias)
            return self.imported(binding.node)
        if binding.value is not None and binding.is_whole:
            return self._resolve(binding.value, hops)
        return None

    @cached_property
    def _may_be_imported(self) -> frozenset[str]:
        """The names that mean an imported thing somewhere in the file: most mean none anywhere."""
        found = {each.asname or each.name.partition(".")[0] for each in self._tree.all(ast.alias)}
        found.update(*(_STARS.get(module, ()) for module in self._starred_modules))
        for module in self._imports.behind_stars:
            home = self._tree.elsewhere(module)
            others = home.tree.all(ast.alias) if home is not None else ()
            found.update(each.asname or each.name.partition(".")[0] for each in others)
        renamed = [
            (name, root.id)
            for name, how, _, value, _ in self._bindings.all
            if isinstance(value, (ast.Name, ast.Attribute))
            and how is How.ASSIGNED
            and isinstance(root := _root(value), ast.Name)
        ]
        size = 0
        while size != len(found):  # until no name is given to another any more
            size = len(found)
            found.update(name for name, root in renamed if root in found)
        return frozenset(found)

    @cached_property
    def _imported_once(self) -> Mapping[str, str | None]:
        """What the names mean, wherever they stand, that the module imports and nothing rebinds."""
        module = self._tree.module
        found: dict[str, str | None] = {}
        for alias in self._tree.all(ast.alias):
            bindings = self._bindings.named(alias.asname or alias.name.partition(".")[0])
            if len(bindings) == 1 and self._bindings.of(module, bindings[0].name):
                found[bindings[0].name] = self.imported(alias)
        return found

    def _starred(self, name: str) -> str | None:
        """What a name that nothing here binds means after `from ... import *`."""
        for module in self._starred_modules:
            if name in _STARS.get(module, ()):
                return canonical(f"{module}.{name}")
        return self._brought_by(self._imports.inside(name))

    @cached_property
    def _read_of_stars(self) -> list[str]:
        """What the file reads of all that `from ... import *` brings."""
        if not self._starred_modules and not self._imports.starred:
            return []
        read = {each.id for each in self._tree.all(ast.Name)}
        free = (each for each in read if not self._bindings.named(each))
        return [found for each in free if (found := self._starred(each)) is not None]

    @cached_property
    def _starred_modules(self) -> list[str]:
        stars = (alias for alias in self._tree.all(ast.alias) if alias.name == "*")
        return [(self.imported(alias) or "").removesuffix(".*") for alias in stars]

    def imported(self, alias: ast.alias) -> str | None:
        """The canonical name of what an import brings from a library."""
        if alias not in self._aliases:
            self._aliases[alias] = None  # files may import all of each other
            self._aliases[alias] = self._import(alias)
        return self._aliases[alias]

    def _import(self, alias: ast.alias) -> str | None:
        lead = self._imports.lead(alias)
        if lead is not None:
            return self._handed_on(alias) if lead.may_hand_on else None
        statement = self._tree.parent(alias)
        if isinstance(statement, ast.ImportFrom):
            if statement.level or statement.module is None:
                return None
            return canonical(f"{statement.module}.{alias.name}")
        return canonical(alias.name if alias.asname else alias.name.partition(".")[0])

    def _handed_on(self, alias: ast.alias) -> str | None:
        """What of a library another file of the project imports for others, too."""
        place = self._imports.of_alias(alias)
        if place is None or not place.names:
            return None
        name, *rest = place.names
        found = self._brought_by(self._imports.home(place).inside(name))
        return canonical(".".join((found, *rest))) if found else None

    def _brought_by(self, bindings: Sequence[Binding]) -> str | None:
        """What a name of another file means there, if it imports that."""
        origin = bindings[0].node if len(bindings) == 1 else None
        if not isinstance(origin, ast.alias):
            return None
        home = self._tree.elsewhere(origin)
        return home.names.imported(origin) if home is not None else None


def _root(expression: ast.expr | None) -> ast.expr | None:
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return expression
