"""What a file imports from the files that are checked with it, as far as those say."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from functools import cached_property

from tfmemlint.facts.syntax.bindings import How
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts import TensorFlow

_MAX_HOPS = 5

LIBRARIES = sys.stdlib_module_names | {"keras", "numpy", "tensorflow", "tf_keras"}
"""What no other file is taken for, even where it has the name of one."""


class Factory(NamedTuple):
    """A function at which every call makes another traced function."""

    gives: bool
    """Whether it is returned; else it is called there and then."""
    reads: tuple[str, ...]
    """The parameters in which the traced function finds its model and the like."""
    parameters: tuple[str, ...]
    """Those that take positional arguments, without the receiver."""
    receiver: str | None
    """What a method calls the object that it belongs to."""


class Imported(NamedTuple):
    """What other files have to say. They are asked by the dotted names that this file gives them.

    Such as `..model.make_step`, or `model.Net().make_step` for a method of an instance.
    """

    factories: frozenset[str]
    """The last part of the name of every factory there is; others need not be asked about."""
    factory: Callable[[str], Factory | None]
    """The factory that a name means."""
    loads: Callable[[str], bool]
    """Whether a function gives back an array that it loads from the path it is given first."""


class Imports:
    """The imported functions of a module."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._functions = tf.functions
        self._imported = tf.imported

    @cached_property
    def factories(self) -> tuple[tuple[ast.Call, Factory], ...]:
        """The calls of factories in other files, in source order."""
        return tuple(self._factories())

    def loads(self, callee: ast.expr) -> bool:
        """Whether a function of another file gives back an array, loaded from the path it takes."""
        name = self._dotted(callee, _MAX_HOPS) if self._imported is not None else None
        if self._imported is None or name is None or name.partition(".")[0] in LIBRARIES:
            return False
        return self._imported.loads(name)

    @cached_property
    def may_load(self) -> bool:
        """Whether anything is imported that may be a function of another file."""
        if self._imported is None:
            return False
        written = map(self.written, self._tree.all(ast.alias))
        return any(each.partition(".")[0] not in LIBRARIES for each in written)

    def given(self, call: ast.Call, factory: Factory) -> Iterator[ast.expr | None]:
        """What a call gives for all that a factory reads; None for what cannot be told."""
        if any(isinstance(each, ast.Starred) for each in call.args):
            yield None
            return
        named = {each.arg: each.value for each in call.keywords}
        for name in factory.reads:
            if name == factory.receiver:
                yield call.func.value if isinstance(call.func, ast.Attribute) else None
                continue
            place = factory.parameters.index(name) if name in factory.parameters else len(call.args)
            if place < len(call.args):
                yield call.args[place]
            elif name in named:
                yield named[name]
            elif None in named:
                yield None  # `**options`; what is left out is the same with every call

    def exported(self, name: str) -> str | None:
        """The dotted name of what other files get under a name from this one, if it is imported."""
        bindings = self._bindings.of(self._tree.module, name)
        written = {
            self.written(each.node)
            for each in bindings
            if each.how is How.IMPORTED and isinstance(each.node, ast.alias)
        }
        return written.pop() if len(bindings) == 1 and len(written) == 1 else None

    @cached_property
    def starred(self) -> tuple[str, ...]:
        """What the names begin with that `from ... import *` brings: `.model.`."""
        stars = (alias for alias in self._tree.all(ast.alias) if alias.name == "*")
        return tuple(self.written(each).removesuffix("*") for each in stars)

    def written(self, alias: ast.alias) -> str:
        """The dotted name of an import, beginning with as many dots as are written."""
        statement = self._tree.parent(alias)
        if not isinstance(statement, ast.ImportFrom):
            return alias.name if alias.asname else alias.name.partition(".")[0]
        module = "." * statement.level + (statement.module or "")
        return f"{module}.{alias.name}" if statement.module else f"{module}{alias.name}"

    def _factories(self) -> Iterator[tuple[ast.Call, Factory]]:
        if self._imported is None or not self._imported.factories:
            return
        known = self._imported.factories
        for call in self._tree.all(ast.Call):
            callee = call.func
            last = callee.attr if isinstance(callee, ast.Attribute) else None
            # A name may be short for another: `from model import make_step as make`.
            if isinstance(callee, ast.Name) or last in known:
                name = self._dotted(callee, _MAX_HOPS)
                found = name and name.rpartition(".")[2] in known and self._imported.factory(name)
                if found:
                    yield call, found

    def _dotted(self, expression: ast.expr, hops: int) -> str | None:
        """The dotted name of what is surely one imported thing; `Class()` for an instance."""
        if hops == 0:
            return None
        if isinstance(expression, ast.Call):
            name = self._dotted(expression.func, hops - 1)
            return f"{name}()" if name else None
        if isinstance(expression, ast.Attribute):
            owner = self._functions.instance_of(expression.value)
            if owner is not None:
                values = self._functions.attributes(owner, expression.attr)
                return self._dotted(values[0], hops - 1) if len(values) == 1 else None
            name = self._dotted(expression.value, hops - 1)
            return f"{name}.{expression.attr}" if name else None
        if not isinstance(expression, ast.Name):
            return None
        names: set[str | None] = set()
        for binding in self._bindings.reaching(expression):
            if binding.how is How.IMPORTED and isinstance(binding.node, ast.alias):
                names.add(self.written(binding.node))
            elif binding.how is How.ASSIGNED and binding.value is not None and not binding.path:
                names.add(self._dotted(binding.value, hops - 1))
            else:
                names.add(None)
        return names.pop() if len(names) == 1 else None
