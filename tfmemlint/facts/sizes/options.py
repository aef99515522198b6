"""What programs take for options where they are told none: the defaults of their parsers."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.syntax.nodes import same_code
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


_FLAGS = frozenset(
    f"{module}.DEFINE_{kind}"
    for module in ("absl.flags", "tensorflow.flags", "tensorflow.app.flags")
    for kind in ("float", "integer")
)
_DATACLASSES = frozenset({"dataclasses.dataclass", "attr.dataclass", "attr.s", "attrs.define"})


class Options:
    """The defaults of options, by the names that code reads them by."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names

    def default(self, node: ast.expr) -> ast.expr | None:
        """What `args.batch_size` is if nobody says otherwise; None where that cannot be told."""
        if not isinstance(node, ast.Attribute):
            return None
        return self._defaults.get(node.attr)

    @cached_property
    def _defaults(self) -> Mapping[str, ast.expr | None]:
        """By name; None for those that several options have."""
        found: dict[str, ast.expr | None] = {}
        for name, value in (*self._arguments(), *self._fields()):
            same = name not in found or _is_same(found[name], value)
            found[name] = value if same else None
        return found

    def _arguments(self) -> list[tuple[str, ast.expr | None]]:
        found: list[tuple[str, ast.expr | None]] = []
        for call, _ in self._tree.methods("add_argument"):
            names = [each.value for each in call.args if isinstance(each, ast.Constant)]
            long = [each for each in names if isinstance(each, str) and each.startswith("--")]
            told = argument(call, None, "dest")
            if isinstance(told, ast.Constant):
                long = [str(told.value)]
            if long:
                name = long[0].lstrip("-").replace("-", "_")
                found.append((name, argument(call, None, "default")))
        for call, _ in self._names.calls(_FLAGS):
            name_of = argument(call, 0, "name")
            if isinstance(name_of, ast.Constant):
                found.append((str(name_of.value), argument(call, 1, "default")))
        return found

    def _fields(self) -> list[tuple[str, ast.expr | None]]:
        """The fields of data classes, and of classes that hold nothing but settings."""
        return [
            (each.target.id, each.value)
            for owner in self._tree.all(ast.ClassDef)
            if any(map(self._makes_fields, owner.decorator_list))
            for each in owner.body
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        ]

    def _makes_fields(self, decorator: ast.expr) -> bool:
        made = decorator.func if isinstance(decorator, ast.Call) else decorator
        return self._names.is_any(made, _DATACLASSES)


def _is_same(one: ast.expr | None, other: ast.expr | None) -> bool:
    return one is not None and other is not None and same_code(one, other)
