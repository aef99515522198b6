"""What attributes of instances may hold: what is assigned to them, declared, or put into them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from weakref import ref

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame, entered, frame_at
from tfmemlint.facts.flow.overwritten import outlasting
from tfmemlint.facts.flow.paths import ANY, End, Path, Ways, unpacked
from tfmemlint.facts.syntax.functions import CALL
from tfmemlint.facts.syntax.nodes import called
from tfmemlint.facts.syntax.tree import FunctionNode


class Attributes:
    """The ways back from an attribute of an instance of a class."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._classes = tf.classes
        self._members = tf.members
        self._stores = tf.stores
        self._tf = ref(tf)
        """What an object is an instance of is asked of sources, which ask for attributes."""
        self._families: dict[ast.ClassDef, Collection[ast.ClassDef]] = {}

    def of(
        self,
        owners: Iterable[ast.ClassDef],
        path: Path,
        made: ast.Call | None,
        frame: Frame | None,
        reader: FunctionNode | None = None,
    ) -> Ways:
        """What an attribute of an instance may hold.

        `made` is the call that makes the instance, `reader` the method that reads it.
        """
        head, *below = path
        name, rest = str(head)[1:], tuple(below)
        found: dict[End, None] = {}
        for owner in owners:
            if self._classes.is_enumeration(owner):
                return None
            method = self._functions.method(owner, name)
            if method is not None:
                if not self._members.is_property(method):
                    found[End(method, rest)] = None
                    continue
                found.update((End(each, rest), None) for each in self._bodies.returns(method))
            found.update(
                (each, None) for each in self._given(owner, name, rest, made, frame, reader)
            )
        if not found:
            return None
        return found

    def of_receiver(
        self, owner: ast.ClassDef, function: FunctionNode, path: Path, frame: Frame | None
    ) -> Ways:
        """What `self` is: the object that a method is called on, else any of its class."""
        if frame is not None and self._members.class_of(function) is not None:
            call = frame.call
            if isinstance(self._functions.definition(call.func), ast.ClassDef):
                return [End(call, path, frame.outer)]
            if getattr(function, "name", "") == CALL and not _is_named(call.func):
                return [End(call.func, path, frame.outer)]
            if isinstance(call.func, ast.Attribute) and not is_super(call.func.value):
                return [End(call.func.value, path, frame.outer)]
        if not path or path[0][0] != ".":
            return None
        heirs = self._functions.heirs(owner)
        return self.of((owner, *heirs), path, None, None, function)

    def methods_of(self, parameter: ast.AST, path: Path) -> Ways:
        """The methods of the class that a parameter is said to be of: `agent: Agent`."""
        said = parameter.annotation if isinstance(parameter, ast.arg) else None
        owner = self._functions.definition(said) if said is not None else None
        if not isinstance(owner, ast.ClassDef) or path[0][0] != ".":
            return None
        if self._functions.method(owner, str(path[0])[1:]) is None:
            return None
        return self.of((owner, *self._functions.heirs(owner)), path, None, None)

    def _given(
        self,
        owner: ast.ClassDef,
        name: str,
        rest: Path,
        made: ast.Call | None,
        frame: Frame | None,
        reader: FunctionNode | None,
    ) -> Iterator[End]:
        """What is assigned to an attribute of instances of a class, or put into what it holds."""
        maker = self._functions.method(owner, "__init__")
        inner = entered(maker, made, frame) if maker is not None and made is not None else None
        lineage = self._functions.lineage(owner)
        related = self._related(owner)
        stores = self._stores.of_attribute(name, related)
        for store in outlasting(self._tree, stores, reader):
            taken = unpacked(store.places, rest)
            if taken is not None and self._may_set(store.target.value, owner):
                taken = (ANY, *taken) if store.is_loop else taken
                yield End(store.value, taken, frame_at(self._tree, store.target, inner))
        if rest:
            puts = self._stores.into_attribute(name, related)
            ours = (put for put in puts if self._holds(put.holder, owner))
            yield from self._stores.back(ours, rest, inner)
        for each in lineage:
            field = self._stores.field(each, name)
            if field is not None:
                yield from self._field(owner, name, field, rest, made, frame)
                return

    def _related(self, owner: ast.ClassDef) -> Collection[ast.ClassDef]:
        """A class, its bases and its heirs."""
        if owner not in self._families:
            functions = self._functions
            lineage, heirs = functions.lineage(owner), functions.heirs(owner)
            self._families[owner] = dict.fromkeys((*lineage, *heirs))
        return self._families[owner]

    def _field(
        self,
        owner: ast.ClassDef,
        name: str,
        field: ast.AnnAssign | ast.Assign,
        rest: Path,
        made: ast.Call | None,
        frame: Frame | None,
    ) -> Iterator[End]:
        """What an attribute holds that the class's body declares, as dataclasses do."""
        has_maker = self._functions.method(owner, "__init__") is not None
        calls = [made] if made is not None else [*self._callers.calls_of(owner)]
        lineage = self._functions.lineage(owner)
        passed = [None if has_maker else self._stores.passed(each, lineage, name) for each in calls]
        if field.value is not None and not passed and isinstance(field, ast.AnnAssign):
            yield End(field, rest)  # whoever makes an instance may have given another value
        elif field.value is not None and (not passed or None in passed):
            yield End(field.value, rest)
        yield from (End(value, rest, frame) for value in passed if value is not None)

    def _holds(self, holder: ast.expr, owner: ast.ClassDef) -> bool:
        return isinstance(holder, ast.Attribute) and self._is_of(holder.value, owner)

    def _may_set(self, holder: ast.expr, owner: ast.ClassDef) -> bool:
        """Whether what an attribute of `holder` is given may be read of a class's instances."""
        given = self._functions.definition(holder) if isinstance(holder, ast.Name) else None
        if isinstance(given, ast.ClassDef):
            return given in self._functions.lineage(owner)
        return self._is_of(holder, owner)

    def _is_of(self, expression: ast.expr, owner: ast.ClassDef) -> bool:
        """Whether an expression may be an instance of a class, its bases or its heirs."""
        receiver = self._members.receiver_named(expression)
        tf = self._tf()
        if receiver is not None:
            found: Collection[ast.ClassDef] = (receiver,)
        else:
            found = tf.sources.classes(expression).found if tf is not None else ()
        lineage = self._functions.lineage
        return any(each in lineage(owner) or owner in lineage(each) for each in found)


def is_super(expression: ast.expr) -> bool:
    """Whether an expression is `super()`."""
    return called(expression) == "super"


def _is_named(callee: ast.expr) -> bool:
    return isinstance(callee, ast.Attribute) and callee.attr == CALL
