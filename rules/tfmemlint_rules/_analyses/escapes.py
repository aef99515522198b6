"""What traced code puts into lists that outlive the trace: tensors, and with them their graphs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.graphs.tracing import KERAS_TRACED
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.members import body_values
from tfmemlint.facts.syntax.nodes import called
from tfmemlint.light_typing import NamedTuple
from tfmemlint_rules._analyses.symbolic import Symbolic

_MAX_HOPS = 4
_ADDS = {
    "add": 0,
    "append": 0,
    "appendleft": 0,
    "extend": 0,
    "extendleft": 0,
    "insert": 1,
}
"""Methods of lists, sets and deques that make them longer, and which argument they take in."""
_SHORTENS = frozenset({"clear", "discard", "pop", "popitem", "popleft", "remove"})
_LONG_LIVED = frozenset({"collections.defaultdict", "collections.deque"})
_BUILTIN = frozenset({"defaultdict", "deque", "dict", "list", "set"})
_EMPTIED_ELSEWHERE = frozenset({"__init__", "build"})
_ASKS_FOR_MODE = frozenset(
    {
        "tensorflow.compat.v1.executing_eagerly_outside_functions",
        "tensorflow.executing_eagerly",
        "tensorflow.init_scope",
        "tensorflow.inside_function",
    }
)


class Escape(NamedTuple):
    """A list that grows by a symbolic tensor each time some code is traced."""

    call: ast.Call
    holder: ast.expr
    """The list itself: `history`, `self.maps`, `logs["loss"]`."""
    value: ast.expr
    """What it is given."""


class Escapes:
    """The lists made outside traced code that traced code makes longer, and nothing shorter."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._callers = tf.callers
        self._members = tf.members
        self._tracing = tf.tracing
        self._objects = tf.objects
        self._symbolic = tf.of(Symbolic)

    @cached_property
    def all(self) -> tuple[Escape, ...]:
        """Every place where such a list grows, in source order."""
        if not self._tracing.functions:
            return ()
        found = [
            each
            for each in self._growths()
            if self._tracing.why(each.call) is not None
            and self._outlives(each.holder, _MAX_HOPS)
            and not self._is_eager(each.call)
            and self._symbolic.is_symbolic(each.value)
        ]
        return tuple(sorted(found, key=lambda each: (each.call.lineno, each.call.col_offset)))

    def _growths(self) -> Iterator[Escape]:
        for call, method in self._tree.methods(*_ADDS):
            place = _ADDS[method.attr]
            if len(call.args) == place + 1 and not call.keywords:
                yield Escape(call, method.value, call.args[place])

    # How long the list lives.

    def _outlives(self, holder: ast.expr, hops: int) -> bool:
        """Whether a list, or what it is an element of, is surely made outside traced code."""
        base = _container(holder)
        if isinstance(base, ast.Name) and self._name_outlives(base, hops):
            return True
        if isinstance(base, ast.Attribute) and self._attribute_outlives(base):
            return True
        return hops == _MAX_HOPS and self._object_outlives(holder)

    def _object_outlives(self, holder: ast.expr) -> bool:
        """Whether what makes a list stands outside traced code, and nothing takes elements out."""
        made = self._objects.made(holder)
        node = made[0].node if made is not None and len(made) == 1 else None
        if not isinstance(node, ast.expr) or not self._is_container(node):
            return False
        function = self._tree.function(node)
        owner = self._members.class_of(function) if function is not None else None
        maker = owner or function
        calls = self._callers.calls_of(maker) if maker is not None else ()
        if any(self._tracing.why(each) is not None for each in calls):
            return False
        uses = self._objects.uses(node) if self._tracing.why(node) is None else None
        return uses is not None and not any(map(self._is_shortened, uses))

    def _name_outlives(self, name: ast.Name, hops: int) -> bool:
        home = self._bindings.home(name.id, name)
        if home is None or hops == 0:
            return False
        given = [each for each in self._bindings.of(home, name.id) if each.how is not How.AUGMENTED]
        return bool(given) and all(self._is_made_outside(each, hops) for each in given)

    def _is_made_outside(self, binding: Binding, hops: int) -> bool:
        if binding.how is How.PARAMETER:
            given = self._callers.given_for(binding)
            return bool(given) and all(
                each is not None and (self._is_container(each) or self._outlives(each, hops - 1))
                for each in given
            )
        if binding.value is None or not binding.is_whole:
            return False
        made_outside = self._tracing.why(binding.node) is None
        return (
            made_outside
            and self._is_container(binding.value)
            and not any(map(self._is_shortened, self._bindings.readers(binding)))
        )

    def _attribute_outlives(self, attribute: ast.Attribute) -> bool:
        owner = self._functions.instance_of(attribute.value)
        if owner is None:
            found = self._functions.definition(attribute.value)
            owner = found if isinstance(found, ast.ClassDef) else None
        if owner is None or attribute.attr in self._given_again:
            return False
        made_in_graph = any(self._tracing.why(each) for each in self._callers.calls_of(owner))
        values = [*self._functions.attributes(owner, attribute.attr)]
        values += body_values(owner, attribute.attr)
        return bool(values) and not made_in_graph and all(map(self._is_container, values))

    @cached_property
    def _given_again(self) -> frozenset[str]:
        """The attributes that are emptied, or given another value than their first."""
        found: set[str] = set()
        for attribute in self._tree.all(ast.Attribute):
            function = self._tree.function(attribute)
            first = getattr(function, "name", "") in _EMPTIED_ELSEWHERE
            if isinstance(attribute.ctx, ast.Load):
                again = self._is_shortened(attribute)
            else:
                added = isinstance(self._tree.parent(attribute), ast.AugAssign)
                again = not first and not added
            if again:
                found.add(attribute.attr)
        return frozenset(found)

    def _is_shortened(self, use: ast.expr) -> bool:
        """Whether a use takes elements out of a list, or makes a model of them: `xs.clear()`."""
        above = self._tree.parent(use)
        if isinstance(above, ast.Attribute):
            return above.attr in _SHORTENS
        if isinstance(above, ast.Subscript):
            if isinstance(above.ctx, ast.Load):
                return self._is_shortened(above)
            return not isinstance(self._tree.parent(above), ast.AugAssign)
        while isinstance(above, (ast.List, ast.Tuple, ast.Dict, ast.keyword)):
            above = self._tree.parent(above)
        return isinstance(above, ast.Call) and self._names.qualified(above.func) == "keras.Model"

    def _is_container(self, value: ast.expr) -> bool:
        """Whether an expression makes a list, or a dict of lists, without a greatest length."""
        if isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp)):
            return True
        if isinstance(value, ast.BinOp):
            return isinstance(value.op, ast.Mult) and isinstance(value.left, ast.List)
        if not isinstance(value, ast.Call):
            return False
        bounded = len(value.args) > 1 or any(each.arg == "maxlen" for each in value.keywords)
        builtin = called(value) in _BUILTIN
        return (builtin or self._names.is_any(value.func, _LONG_LIVED)) and not bounded

    def _is_eager(self, node: ast.AST) -> bool:
        """Whether something around a place shows that it runs, or is to run, as plain Python."""
        for above in self._tree.ancestors(node):
            headers: list[ast.expr] = []
            if isinstance(above, (ast.If, ast.IfExp)):
                headers = [above.test]
            elif isinstance(above, ast.With):
                headers = [each.context_expr for each in above.items]
            if above in self._want_numbers or any(map(self._asks_for_mode, headers)):
                return True
        return False

    def _asks_for_mode(self, header: ast.expr) -> bool:
        calls = (each.func for each in ast.walk(header) if isinstance(each, ast.Call))
        return any(self._names.is_any(each, _ASKS_FOR_MODE) for each in calls)

    @cached_property
    def _want_numbers(self) -> frozenset[ast.AST]:
        """The functions that ask tensors for their values, which only plain Python can.

        And the classes with such methods that Keras would trace: all of these then run so.
        """
        found: set[ast.AST] = set()
        for call, _ in self._tree.methods("numpy"):
            function = self._tree.function(call)
            if function is not None:
                owner = self._members.class_of(function)
                traced = owner is not None and getattr(function, "name", "") in KERAS_TRACED
                found |= {function, owner} if owner is not None and traced else {function}
        return frozenset(found)


def _container(holder: ast.expr) -> ast.expr:
    """The outermost container of a list: `logs` for `logs["loss"]`, `logs.setdefault(key, [])`."""
    while True:
        if isinstance(holder, ast.Subscript):
            holder = holder.value
        elif (
            isinstance(holder, ast.Call)
            and isinstance(holder.func, ast.Attribute)
            and holder.func.attr == "setdefault"
        ):
            holder = holder.func.value
        else:
            return holder
