"""What is put into containers and objects: items, appended elements, attributes, fields."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame, frame_at
from tfmemlint.facts.flow.paths import ANY, End, Path, Read, after, is_entry, key
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.syntax.bindings import Binding
from tfmemlint.facts.syntax.targets import targets
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import TypeVar

    A = TypeVar("A")
    _Owned = dict[ast.ClassDef | None, list[A]]
    """Things of `self`, by its class; what is of something else under None."""

_CHANGED = (0,)
"""How what a number is changed by is read: it is not the number."""
_MOST_HANDED_ON = 2
"""Functions of the module that a container is followed into, to see what they put there."""


class Store(NamedTuple):
    """An assignment to an attribute: `base.name = value`, be it one of several it unpacks to."""

    target: ast.Attribute
    value: ast.expr
    places: tuple[int, ...]
    is_loop: bool
    """Whether `value` is what a loop goes over."""


class Put(NamedTuple):
    """Something that is put into a container or an object."""

    holder: ast.expr
    """What it is put into, as it stands there."""
    reads: Path
    """How it is read from there."""
    value: ast.expr
    below: Path = ()
    """What is to be read from `value`: any element, where all of them are put there."""
    keeps: bool = False
    """Whether entries have the keys that they had in `value`."""

    def read(self, path: Path, frame: Frame | None) -> End | None:
        """Where what is read from the container may come from, if from here."""
        rest = after(self.reads, path)
        if rest is None:
            return None
        kept = path[len(self.reads) - 1 : len(self.reads)] if self.keeps else ()
        return End(self.value, (*kept, *self.below, *rest), frame)


class Stores:
    """Everything in the module that puts something into something else."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._members = tf.members
        self._by_read: dict[Binding, dict[Read, list[int]]] = {}
        self._into: dict[Binding, tuple[Put, ...]] = {}
        self._into_attributes: dict[str, _Owned[Put]] = {}
        self._fields_of: dict[ast.ClassDef, dict[str, ast.AnnAssign | ast.Assign]] = {}

    def into(self, binding: Binding) -> tuple[Put, ...]:
        """What is put into the container or object that a binding gives its name."""
        if binding not in self._into:
            self._into[binding] = ()  # should a function hand it on to itself
            self._into[binding] = tuple(self._put(binding, _MOST_HANDED_ON))
        return self._into[binding]

    def read_from(self, binding: Binding, read: Read) -> tuple[Put, ...]:
        """As `into`, of what may be found by one attribute or entry."""
        if binding not in self._by_read:
            places: dict[Read, list[int]] = {}
            for place, put in enumerate(self.into(binding)):
                places.setdefault(put.reads[0], []).append(place)
            self._by_read[binding] = places
        puts, places = self.into(binding), self._by_read[binding]
        if read == ANY:
            return puts
        found = places.get(read, [])
        if is_entry(read) and ANY in places:
            found = sorted((*found, *places[ANY]))
        return tuple(puts[place] for place in found)

    def of_attribute(self, name: str, related: Collection[ast.ClassDef]) -> Iterator[Store]:
        """The assignments to attributes of this name that may be of instances of these classes."""
        for each in self._homes(related):
            yield from _owned(each._attributes.get(name, {}), related)

    def into_attribute(self, name: str, related: Collection[ast.ClassDef]) -> Iterator[Put]:
        """What is put into containers that such attributes hold."""
        for each in self._homes(related):
            yield from _owned(each._into_attribute(name), related)

    def _homes(self, related: Iterable[ast.ClassDef]) -> list[Stores]:
        found: list[Stores] = [self]
        for owner in related:
            home = self._tree.elsewhere(owner)
            if home is not None and home.stores not in found:
                found.append(home.stores)
        return found

    def _into_attribute(self, name: str) -> _Owned[Put]:
        if name not in self._into_attributes:
            found = self._into_attributes[name] = {}
            for use in self._tree.attributes.get(name, ()):
                if isinstance(use.ctx, ast.Load):
                    owner = self._members.receiver_named(use.value)
                    found.setdefault(owner, []).extend(self._puts(use, _MOST_HANDED_ON))
        return self._into_attributes[name]

    def field(self, owner: ast.ClassDef, name: str) -> ast.AnnAssign | ast.Assign | None:
        """The statement in a class's body that declares an attribute or gives it a value."""
        return self._fields(owner).get(name)

    def passed(self, call: ast.Call, lineage: Iterable[ast.ClassDef], name: str) -> ast.expr | None:
        """What a call gives a field of a class without a constructor of its own."""
        names = self._positional(lineage)
        return argument(call, names.index(name) if name in names else None, name)

    def placed(
        self, call: ast.Call, lineage: tuple[ast.ClassDef, ...], read: Read
    ) -> ast.expr | None:
        """What a call that makes a named tuple gives the element that is read by its number."""
        names = self._positional(lineage)
        place = read[0] if read != ANY else None
        if isinstance(place, int) and -len(names) <= place < len(names):
            return self.passed(call, lineage, names[place])
        return None

    def _positional(self, lineage: Iterable[ast.ClassDef]) -> list[str]:
        fields = (self._fields(each) for each in reversed([*lineage]))
        declared = (name for each in fields for name, at in each.items() if _is_declared(at))
        return [*dict.fromkeys(declared)]

    def _fields(self, owner: ast.ClassDef) -> Mapping[str, ast.AnnAssign | ast.Assign]:
        if owner in self._fields_of:
            return self._fields_of[owner]
        found = self._fields_of[owner] = {}
        for each in owner.body:
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                found[each.target.id] = each
            elif isinstance(each, ast.Assign) and len(each.targets) == 1:
                target = each.targets[0]
                if isinstance(target, ast.Name):
                    found[target.id] = each
        return found

    @cached_property
    def _attributes(self) -> Mapping[str, _Owned[Store]]:
        found: dict[str, _Owned[Store]] = {}
        for store in self._stored():
            owner = self._members.receiver_named(store.target.value)
            found.setdefault(store.target.attr, {}).setdefault(owner, []).append(store)
        return found

    def _stored(self) -> Iterator[Store]:
        tree = self._tree
        for at in tree.all(ast.Assign):
            for target in at.targets:
                yield from _stores(target, at.value)
        for counted in filter(_is_number_added, tree.all(ast.AugAssign)):
            if isinstance(counted.target, ast.Attribute):
                yield Store(counted.target, counted.value, _CHANGED, is_loop=False)
        for loop in tree.all(ast.For, ast.AsyncFor):
            yield from _stores(loop.target, loop.iter, is_loop=True)
        for item in tree.all(ast.withitem):
            if item.optional_vars is not None:
                yield from _stores(item.optional_vars, item.context_expr)

    def back(self, puts: Iterable[Put], path: Path, frame: Frame | None) -> Iterator[End]:
        """What is read from a container that was put there."""
        for each in puts:
            found = each.read(path, frame_at(self._tree, each.value, frame))
            if found is not None:
                yield found

    def _put(self, binding: Binding, hops: int) -> Iterator[Put]:
        for use in self._bindings.readers(binding):
            yield from self._puts(use, hops)

    def _puts(self, use: ast.expr, hops: int) -> Iterator[Put]:
        """What the code around a use of a container puts into it."""
        above = self._tree.parent(use)
        if isinstance(above, ast.Attribute) and above.value is use:
            yield from self._by_method(use, above)
        elif isinstance(above, ast.Subscript) and above.value is use:
            yield from self._by_item(use, above, hops)
        elif isinstance(above, ast.Call) and use is not above.func and hops:
            yield from self._by_function(use, above, hops)
        elif isinstance(above, ast.keyword) and hops:
            call = self._tree.parent(above)
            if isinstance(call, ast.Call):
                yield from self._by_function(use, call, hops)
        elif isinstance(above, ast.AugAssign) and above.target is use:
            yield Put(use, (ANY,), above.value, (ANY,))

    def _by_method(self, use: ast.expr, method: ast.Attribute) -> Iterator[Put]:
        call = self._tree.parent(method)
        if isinstance(method.ctx, ast.Store):
            yield from self._by_assignment(use, method, f".{method.attr}")
            return
        if not isinstance(call, ast.Call) or call.func is not method:
            return
        name, last = method.attr, call.args[-1] if call.args else None
        if last is None or isinstance(last, ast.Starred):
            if name == "update":
                named = (each for each in call.keywords if each.arg is not None)
                yield from (Put(use, ((each.arg,),), each.value) for each in named)
        elif name in ("append", "appendleft", "add", "insert", "put"):
            yield Put(use, (ANY,), last)
        elif name in ("extend", "extendleft"):
            yield Put(use, (ANY,), last, (ANY,))
        elif name == "update":
            yield Put(use, (ANY,), last, keeps=True)
        elif name == "setdefault" and len(call.args) > 1:
            yield Put(use, (key(call.args[0]),), last)
            yield from self._below(use, key(call.args[0]), call, _MOST_HANDED_ON)

    def _by_item(self, use: ast.expr, item: ast.Subscript, hops: int) -> Iterator[Put]:
        above = self._tree.parent(item)
        if isinstance(item.ctx, ast.Load):
            yield from self._below(use, key(item.slice), item, hops)
        elif isinstance(item.ctx, ast.Store):
            yield from self._by_assignment(use, item, key(item.slice))
            if isinstance(above, ast.AugAssign):
                yield Put(use, (key(item.slice), ANY), above.value, (ANY,))

    def _by_assignment(self, use: ast.expr, place: ast.expr, read: Read) -> Iterator[Put]:
        """What an assignment puts there, be it one of several things that it takes apart."""
        target: ast.AST = place
        taken: list[Read] = []
        above = self._tree.parent(target)
        while isinstance(above, (ast.List, ast.Tuple)):
            if any(isinstance(each, ast.Starred) for each in above.elts):
                return
            assert isinstance(target, ast.expr)
            taken.insert(0, (above.elts.index(target),))
            target, above = above, self._tree.parent(above)
        if isinstance(above, ast.Assign) and target in above.targets:
            yield Put(use, (read,), above.value, tuple(taken))
        elif isinstance(above, ast.AugAssign) and _is_number_added(above):
            yield Put(use, (read,), above.value, (_CHANGED,))

    def _below(self, use: ast.expr, read: Read, inner: ast.expr, hops: int) -> Iterator[Put]:
        """What is put into an entry of a container."""
        for put in self._puts(inner, hops):
            yield put._replace(holder=use, reads=(read, *put.reads))

    def _by_function(self, use: ast.expr, call: ast.Call, hops: int) -> Iterator[Put]:
        """What a function of the module puts into a container that it is given."""
        function = self._functions.function(call.func)
        if function is None:
            return
        for binding in self._bodies.parameters(function):
            if self._callers.argument(call, function, binding.name) is use:
                yield from (each._replace(holder=use) for each in self._put(binding, hops - 1))


def _stores(target: ast.expr, value: ast.expr, *, is_loop: bool = False) -> Iterator[Store]:
    for attribute, places in targets(target, ast.Attribute):
        yield Store(attribute, value, places, is_loop)


def _owned(known: _Owned[A], related: Collection[ast.ClassDef]) -> Iterator[A]:
    """What is surely of one of these classes, and what may be of any."""
    for owner in (*related, None):
        yield from known.get(owner, ())


def _is_number_added(statement: ast.AugAssign) -> bool:
    """`x *= 0.9`, `x += 1`: it holds another number then, not one of what is added to a list."""
    return isinstance(statement.value, ast.Constant) or not isinstance(statement.op, ast.Add)


def _is_declared(statement: ast.AnnAssign | ast.Assign) -> bool:
    return isinstance(statement, ast.AnnAssign)
