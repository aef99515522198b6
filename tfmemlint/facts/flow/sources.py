"""Where values come from: backwards through names, attributes, containers, arguments and results.

A value is looked for together with what is to be read from it: `.model` of an object, one entry or
any element of a container. Each step goes from an expression to those that may have given it its
value, and takes something off this path or adds to it, until there is nothing to see through any
more: a call of a library, a literal, a definition, a parameter that nobody gives a value.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.attributes import Attributes, is_super
from tfmemlint.facts.flow.containers import through
from tfmemlint.facts.flow.frames import Frame, entered, frame_at
from tfmemlint.facts.flow.overwritten import still_there
from tfmemlint.facts.flow.paths import ANY, Classes, End, Ends, Path, Ways, is_entry, unpacked
from tfmemlint.facts.flow.solver import Question
from tfmemlint.facts.flow.steps import STEPS
from tfmemlint.facts.flow.stores import Put
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.imports import Place
from tfmemlint.facts.syntax.nodes import is_none
from tfmemlint.facts.syntax.tree import FUNCTIONS
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import ClassVar

_LONGEST_PATH = 5
_LONGEST_WAY = 24
_MOST_STATES = 60
_MOST_CALLERS = 24

_ENDS = Question("ends", Ends(), Ends(complete=False))
_READ = Question("read", Ends(), Ends(complete=False))


class Sources:
    """What may give expressions their values, followed as far back as it can be."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._members = tf.members
        self._stores = tf.stores
        self._imports = tf.imports
        self._solver = tf.solver
        self._attributes = tf.of(Attributes)
        self._meant: dict[Ends, Ends] = {}

    def of(self, node: ast.AST, frame: Frame | None = None, path: Path = ()) -> Ends:
        """The ends of all ways back from an expression."""
        found: Ends = self._solver.ask(_ENDS, self._to_the_end, node, frame, path)
        return found

    def read(self, node: ast.AST, frame: Frame | None = None, path: Path = ()) -> Ends:
        """The next expressions on the way back that give the same value as it stands."""
        found: Ends = self._solver.ask(_READ, self._until_read, node, frame, path)
        return found

    def same(self, node: ast.AST, frame: Frame | None = None) -> tuple[End, ...]:
        """An expression and all before it that surely give the same; what is empty gives none."""
        state = End(node, (), frame)
        found: dict[End, None] = {state: None}
        for _ in range(_LONGEST_WAY):
            ways = dict.fromkeys(self._step(state) or ())
            ways = {each: None for each in ways if len(ways) == 1 or self._step(each) != []}
            if len(ways) != 1 or state.path[_LONGEST_PATH:]:
                break
            (state,) = ways
            if state in found:
                break
            if not state.path:
                found[state] = None
        return tuple(found)

    def classes(self, node: ast.expr) -> Classes:
        """The classes of the module that an expression is an instance of."""
        if isinstance(node, ast.Attribute) and not self._members.may_be_held(node):
            return Classes(sure=False)
        ends = self.of(node)
        classes: dict[ast.ClassDef, None] = {}
        sure = ends.complete
        for end in ends.found:
            owner = self._class_of(end)
            if owner is not None:
                classes[owner] = None
            elif not is_none(end.node):
                sure = False
        return Classes(tuple(classes), sure)

    def constant(self, node: ast.expr, frame: Frame | None = None) -> ast.Constant | None:
        """The literal that an expression surely is, wherever it was written."""
        if isinstance(node, ast.Constant):
            return node
        ends = self.of(node, frame)
        found = [each.node for each in ends.found if not each.path]
        literals = [each for each in found if isinstance(each, ast.Constant)]
        same = len({repr(each.value) for each in literals}) == 1
        return literals[0] if same and ends.complete and len(literals) == len(ends.found) else None

    def definitions(self, callee: ast.expr, frame: Frame | None = None) -> Ends:
        """The functions, lambdas and classes of the module that an expression may mean."""
        if isinstance(callee, ast.Attribute) and not self._members.may_be_held(callee):
            return Ends(complete=False)
        ends = self.of(callee, frame)
        if ends in self._meant:
            return self._meant[ends]
        found: dict[End, None] = {}
        complete = ends.complete
        for end in ends.found:
            node = end.node
            if isinstance(node, ast.Call):  # `tf.function(f)`, `partial(f, …)`, `Class()`
                node = self._functions.named(node) or node
            if not end.path and isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                found[end._replace(node=node)] = None
            else:
                complete = False
        meant = self._meant[ends] = Ends(tuple(found), complete)
        return meant

    def _class_of(self, end: End) -> ast.ClassDef | None:
        if end.path:
            return None
        if isinstance(end.node, ast.Call):
            made = self._functions.definition(end.node.func)
            return made if isinstance(made, ast.ClassDef) else None
        if isinstance(end.node, ast.Name):
            return self._members.receiver_named(end.node)
        if isinstance(end.node, ast.arg):
            owner, said = self._members.receiver(end.node), end.node.annotation
            declared = self._functions.definition(said) if said and owner is None else None
            return declared if isinstance(declared, ast.ClassDef) else owner
        return None

    # One question: a worklist of states.

    def _to_the_end(self, node: ast.AST, frame: Frame | None, path: Path) -> Ends:
        return self._followed(End(node, path, frame))

    def _until_read(self, node: ast.AST, frame: Frame | None, path: Path) -> Ends:
        return self._followed(End(node, path, frame), until_read=True)

    def _followed(self, start: End, *, until_read: bool = False) -> Ends:
        states: dict[End, None] = {}
        found: dict[End, None] = {}
        complete = True
        pending = [start]
        for state in pending:
            if state in states:
                continue
            if len(states) == _MOST_STATES or len(state.path) > _LONGEST_PATH:
                complete = False
                break
            states[state] = None
            if until_read and not state.path and state is not start:
                found[state] = None
                continue
            following = self._step(state)
            if following is None:
                found[state] = None
            else:
                pending += following
        return Ends(tuple(found), complete)

    def _step(self, state: End) -> Ways:
        """The states that may give this one its value; None where it is an end."""
        node, path, frame = state
        kind = node.__class__
        step = self._steps.get(kind)
        if step is not None:
            return step(self, node, path, frame)
        plain = STEPS.get(kind)
        return None if plain is None else plain(node, path, frame)

    def _name(self, node: ast.Name, path: Path, frame: Frame | None) -> Ways:
        bindings = self._bindings.reaching(node)
        if not bindings:
            return self._at(self._imports.of(node), path)
        if any(each.how is How.OTHER for each in bindings):
            return None
        found: list[End] = []
        use = node if len(bindings) == 1 else None
        for binding in bindings[:_MOST_STATES]:  # of more, not all are followed
            ways = self._bound(binding, path, frame, use)
            if ways is None:
                return None
            found += ways
        return found

    def _bound(
        self, binding: Binding, path: Path, frame: Frame | None, use: ast.Name | None = None
    ) -> Ways:
        """What gives a binding its value, as one use of it finds that."""
        if binding.how is How.PARAMETER:
            return self._parameter(binding, path, frame)
        if binding.how is How.DEFINED:
            return [End(binding.node, path)]
        if isinstance(binding.node, ast.alias):
            return self._at(self._imports.of_alias(binding.node), path)
        value = binding.value
        if value is None:
            return None
        frame = frame_at(self._tree, binding.node, frame)
        if binding.how is How.AUGMENTED:
            before = binding.node
            return [End(value, path, frame), End(before, path, frame)] if path else None
        taken = unpacked(binding.path, path)
        if taken is None:
            return None
        if binding.how is How.LOOPED:
            taken = (ANY, *taken)
        found = [End(value, taken, frame)]
        if path and not binding.path:
            puts: Iterable[Put] = self._stores.read_from(binding, path[0])
            if use is not None and puts and path[0] != ANY:
                puts, sure = still_there(self._tree, use, puts, path[0])
                found = [] if sure else found
            found += self._stores.back(puts, path, frame)
        return found

    def _at(self, place: Place | None, path: Path) -> Ways:
        """What another file gives a name."""
        if place is None:
            return None
        return [End(place.module, (*(f".{name}" for name in place.names), *path))]

    def _module(self, node: ast.Module, path: Path, frame: Frame | None) -> Ways:
        """What is read from a file that is imported."""
        if not path or path[0][0] != ".":
            return None
        found: list[End] = []
        for binding in self._imports.home(Place(node)).inside(str(path[0])[1:]):
            ways = self._bound(binding, path[1:], None)
            if ways is None:
                return None
            found += ways
        return found or None

    def _parameter(self, binding: Binding, path: Path, frame: Frame | None) -> Ways:
        function = self._tree.parent(self._tree.parent(binding.node) or binding.node)
        assert isinstance(function, FUNCTIONS)
        while frame is not None and frame.function is not function:
            frame = frame.outer  # a function that is defined inside the one that is followed
        owner = self._members.receiver(binding.node)
        if owner is not None:
            return self._attributes.of_receiver(owner, function, path, frame)
        calls = [frame.call] if frame is not None else self._callers.calls_of(function)
        outer = frame.outer if frame is not None else None
        if not calls and path:
            return self._attributes.methods_of(binding.node, path)
        if not calls or len(calls) > _MOST_CALLERS:
            return None
        found: list[End] = []
        for call in calls:
            value = self._callers.argument(call, function, binding.name)
            if value is not None:
                found.append(End(value, path, outer))
                continue
            around = outer if outer and outer.function is self._tree.function(call) else None
            run_by, before = (around.call, around.outer) if around else (None, None)
            handed_on = self._callers.handed_on(call, function, binding.name, run_by)
            if not handed_on:
                return None
            found += (End(each, path, before) for each in handed_on)
        if path:
            found += self._stores.back(self._stores.into(binding), path, frame)
        return found

    def _attribute(self, node: ast.Attribute, path: Path, frame: Frame | None) -> Ways:
        if self._names.qualified(node) is not None:
            return None
        place = self._imports.of(node)
        if place is not None:
            return self._at(place, path)
        if is_super(node.value):
            owner = self._members.enclosing_class(node)
            bases = self._functions.lineage(owner)[1:] if owner is not None else ()
            read = (f".{node.attr}", *path)
            return self._attributes.of(bases[:1], read, None, None) if bases else None
        return [End(node.value, (f".{node.attr}", *path), frame)]

    # Calls.

    def _call(self, node: ast.Call, path: Path, frame: Frame | None) -> Ways:
        callee = node.func
        name = self._names.qualified(callee)
        if name is None and isinstance(callee, ast.Name) and not self._bindings.reaching(callee):
            name = f"builtins.{callee.id}"
        if name is not None:
            return through(name, node, path, frame)
        found: list[End] = []
        for each in self._called(callee, frame):
            ways = self._entered(each, node, path, frame)
            if ways is None:
                return None
            found += ways
        if not found and isinstance(callee, ast.Attribute):
            return through(f".{callee.attr}", node, path, frame)
        return found or None

    def _called(self, callee: ast.expr, frame: Frame | None) -> tuple[ast.AST, ...]:
        definition = self._functions.definition(callee)
        if definition is not None:
            return (definition,)
        return tuple(each.node for each in self.definitions(callee, frame).found)

    def _entered(
        self, definition: ast.AST, node: ast.Call, path: Path, frame: Frame | None
    ) -> Ways:
        """What a call to a function or a class of the module gives back."""
        if isinstance(definition, ast.ClassDef):
            if not path:
                return None
            if path[0][0] == ".":
                return self._attributes.of((definition,), path, node, frame)
            lineage = self._functions.lineage(definition)
            value = self._stores.placed(node, lineage, path[0])
            return [End(value, path[1:], frame)] if value is not None else None
        inner = entered(definition, node, frame) if isinstance(definition, FUNCTIONS) else None
        if inner is None or not isinstance(definition, FUNCTIONS):
            return None
        found = [End(each, path, inner) for each in self._bodies.returns(definition)]
        if path and is_entry(path[0]):
            yielded = self._bodies.yields(definition)
            found += (End(each, path[1:], inner) for each in yielded)
        return found or None

    def _definition(self, node: ast.AST, path: Path, frame: Frame | None) -> Ways:
        if isinstance(node, ast.ClassDef) and path and path[0][0] == ".":
            return self._attributes.of((node,), path, None, None)
        return None

    _steps: ClassVar[Mapping[type[ast.AST], Callable[..., Ways]]] = {
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Call: _call,
        ast.ClassDef: _definition,
        ast.Module: _module,
    }
