"""What programs take for options where they are told none: the defaults of their parsers."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.syntax.arithmetic import constant
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import same_code
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


_MODULES = ("absl.flags", "tensorflow.flags", "tensorflow.app.flags")
_FLAGS = frozenset(
    f"{module}.DEFINE_{kind}" for module in _MODULES for kind in ("float", "integer")
)
_FLAGS_READ = frozenset(f"{module}.FLAGS" for module in _MODULES)
_PARSES = frozenset({"parse_args", "parse_known_args"})
_DATACLASSES = frozenset({"dataclasses.dataclass", "attr.dataclass", "attr.s", "attrs.define"})


class Options:
    """The defaults of options, by the names that code reads them by."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._flow = tf.flow
        self._bindings = tf.bindings

    def default(self, node: ast.expr) -> ast.expr | None:
        """What `args.batch_size` is if nobody says otherwise; None where that cannot be told."""
        if not isinstance(node, ast.Attribute):
            return None
        return self._defaults.get(node.attr)

    def number(self, node: ast.expr, frame: Frame | None = None) -> int | float | None:
        """The number that an option is expected to be: what it is if nobody says otherwise.

        What is not above zero stands for something else: for all, for none, for as many as fit.
        """
        if not isinstance(node, ast.Attribute):
            return None
        told = self._told_in(node.value, frame)
        default = told.default(node) if told is not None else None
        number = constant(default) if default is not None else None
        return number if number is not None and number > 0 else None

    def _told_in(self, holder: ast.expr, frame: Frame | None) -> Options | None:
        """The options of the file that tells what something holds, if a parser may give it."""
        if self._names.is_any(holder, _FLAGS_READ):
            return self
        made, inner = self._flow.made(holder, frame)
        binding = self._bindings.only(made)
        if isinstance(made, ast.Subscript):  # `parse_known_args()[0]`
            made = made.value
        elif binding is not None and binding.path[:1] == (0,) and binding.value is not None:
            made = binding.value
        if isinstance(made, ast.Call):
            if not isinstance(made.func, ast.Attribute) or made.func.attr not in _PARSES:
                return None
            home = self._tree.elsewhere(self._flow.made(made.func.value, inner)[0])
            return self if home is None else home.of(Options)
        if binding is None or binding.how is not How.PARAMETER:
            return None
        taker = self._tree.taker(binding.node)
        return None if isinstance(self._tree.parent(taker), ast.ClassDef) else self

    @cached_property
    def are_read(self) -> bool:
        """Whether this file reads numbers that whoever runs it may give."""
        return any(map(self.number, self._tree.all(ast.Attribute)))

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
