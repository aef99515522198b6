"""Lists that loops of traced code fill and that TensorFlow then takes for one tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.graphs.graph_loops import InGraph
from tfmemlint.facts.graphs.tracing import TracedBy
from tfmemlint.facts.library import traits
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.library.signatures import having
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.bodies import default
from tfmemlint.facts.syntax.nodes import called, same_code
from tfmemlint.light_typing import NamedTuple

_MAX_HOPS = 4

TAKES_LIST = having(traits.PACKS)
"""Functions that make one tensor of a list of tensors they are given first."""
_PYTHON = frozenset({"bool", "dict", "float", "int", "len", "max", "min", "round", "str", "sum"})
_AS_LIST = frozenset({"list", "reversed", "tuple"})
_COUNTS = frozenset({Over.EPOCHS, Over.OFFSETS, Over.RANGE})
_LITERALS = (ast.List, ast.Tuple)

Graphed = tuple[tuple[Loop, InGraph], ...]


class Accumulated(NamedTuple):
    """One place where a loop of traced code adds to a list, or a comprehension that makes one."""

    node: ast.expr | ast.stmt
    list: str | None
    """What the list is called; None for a comprehension."""
    elements: tuple[ast.expr, ...]
    loops: Graphed
    """The loops that add to it, innermost first, and what they are in the graph."""
    reads: tuple[ast.Call, ...]
    """Where TensorFlow takes the list for one tensor."""
    in_sight: bool = True
    """Whether one name has the list, from its beginning to its end."""


class Accumulations:
    """The lists of tensors that traced code accumulates."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._flow = tf.flow
        self._classes = tf.classes
        self._members = tf.members
        self._values = tf.values
        self._loops = tf.loops
        self._growths = tf.growths
        self._objects = tf.objects
        self._tracing = tf.tracing
        self._traced_rounds = tf.traced_rounds
        self._tensors = tf.tensors
        self._graph_loops = tf.graph_loops
        self._time_steps = tf.time_steps

    @cached_property
    def all(self) -> tuple[Accumulated, ...]:
        """Every such place, in source order."""
        if not self._tracing.functions:
            return ()
        found = [each for each in (*self._grown(), *self._made()) if each is not None]
        return tuple(sorted(found, key=lambda each: (each.node.lineno, each.node.col_offset)))

    def is_long(self, loop: Loop, few: int) -> bool:
        """Whether the trips are many, or as many as the data has steps or a caller asks for."""
        counted = self._flow.same(loop.iterable)[-1] if loop.iterable is not None else None
        if loop.trips is not None:
            counts = isinstance(loop.node, ast.While) or isinstance(counted, ast.Call)
            return counts and loop.trips > few
        if loop.over not in _COUNTS or not isinstance(counted, ast.Call):
            pieces = self._traced_rounds.of(loop)
            return self._takes_apart(loop) and (pieces is None or pieces > few)
        numbers = [each for bound in counted.args[:2] for each in _operands(bound)]
        return any(
            self._is_length_of_data(each, few) or self._is_asked_for(each, few) for each in numbers
        )

    # What adds to lists.

    def _grown(self) -> Iterator[Accumulated | None]:
        for call, method in self._tree.methods(*_ADDS):
            if call.args:
                place = 1 if method.attr == "insert" else 0
                value = call.args[place] if place < len(call.args) else None
                elements = [] if value is None else [value]
                if method.attr == "extend":
                    elements = value.elts if isinstance(value, _LITERALS) else []
                yield self._accumulated(method.value, call, elements)
        for augmented in self._tree.all(ast.AugAssign):
            if isinstance(augmented.op, ast.Add) and self._tracing.why(augmented) is not None:
                several = self._flow.same(augmented.value)[-1]
                if isinstance(several, _LITERALS):
                    yield self._accumulated(augmented.target, augmented, several.elts)
        for assignment in self._tree.all(ast.Assign):
            target = assignment.targets[0]
            added = _with_itself(target, assignment.value)
            yield self._accumulated(target, assignment, added)

    def _accumulated(
        self, grown: ast.expr, node: ast.Call | ast.stmt, elements: list[ast.expr]
    ) -> Accumulated | None:
        if not elements or self._tracing.why(node) is None:
            return None
        if not self._are_tensors(elements):
            return None
        start = self._start(grown) if isinstance(grown, (ast.Name, ast.Subscript)) else None
        if start is None:
            return self._accumulated_elsewhere(grown, node, elements)
        around = self._loops.around(node)
        function = self._tree.function(node)
        if function is not None and function is not self._tree.function(start.node):
            calls = self._callers.calls_of(function)
            around += tuple(loop for call in calls for loop in self._loops.around(call))
        loops = self._in_graph(
            [each for each in around if not self._tree.inside(start.node, each.node)]
        )
        reads = [
            call
            for use in (self._bindings.readers(start) if loops else ())
            for entry in self._entries(use, grown)
            for call in self._taken(entry, _MAX_HOPS)
        ]
        if not reads or self._is_recurrence(start, loops):
            return None
        return Accumulated(node, ast.unparse(grown), tuple(elements), loops, tuple(reads))

    def _accumulated_elsewhere(
        self, grown: ast.expr, node: ast.Call | ast.stmt, elements: list[ast.expr]
    ) -> Accumulated | None:
        """The same for a list that an attribute, an entry or another function has."""
        growth = next(iter(self._growths.at(node)), None)
        if growth is None:
            return None
        loops = self._in_graph([*growth.loops])
        uses = self._objects.uses(growth.made) if loops else None
        reads = dict.fromkeys(call for use in uses or () for call in self._taken(use, _MAX_HOPS))
        if not reads:
            return None
        return Accumulated(
            node, ast.unparse(grown), tuple(elements), loops, tuple(reads), in_sight=False
        )

    def _start(self, grown: ast.Name | ast.Subscript) -> Binding | None:
        """What gives its name to the list, or to the dictionary that holds it."""
        if isinstance(grown, ast.Subscript):
            owner = self._bindings.only(grown.value)
            value = owner.value if owner is not None and not owner.path else None
            if owner is None or not isinstance(value, ast.Dict):
                return None
            for key, entry in zip(value.keys, value.values, strict=True):
                same = key is not None and same_code(key, grown.slice)
                if same and self._is_list(entry, _MAX_HOPS):
                    return owner
            return None
        stored = not isinstance(grown.ctx, ast.Load)
        bindings = self._bindings.sharing(grown) if stored else self._bindings.reaching(grown)
        others = [each for each in bindings if not _continues(each)]
        value = others[0].value if len(others) == 1 and others[0].is_whole else None
        if value is None:
            return None
        return others[0] if self._is_list(value, _MAX_HOPS) else None

    def _is_recurrence(self, start: Binding, loops: Graphed) -> bool:
        """Whether terms make terms: `xs = [a, b]`, then `xs.append(2 * xs[-1] - xs[-2])`."""
        given = isinstance(start.value, _LITERALS) and start.value.elts
        return bool(given) and any(
            isinstance(self._tree.parent(use), ast.Subscript)
            for loop, _ in loops
            for use in self._bindings.readers(start)
            if self._tree.inside(use, loop.node)
        )

    def _entries(self, use: ast.Name, grown: ast.expr) -> Iterator[ast.expr]:
        """What stands for the list where its name, or that of its dictionary, is used."""
        above = self._tree.parent(use)
        if not isinstance(grown, ast.Subscript):
            yield use
        elif isinstance(above, ast.Subscript) and same_code(above.slice, grown.slice):
            yield above

    def _is_list(self, value: ast.expr, hops: int) -> bool:
        """Whether a list or a tuple is made here, be it by a function of the module."""
        if isinstance(value, _LITERALS):
            return True
        if not isinstance(value, ast.Call):
            return False
        if called(value) in ("list", "tuple"):
            return not value.args
        function = self._functions.function(value.func)
        returned = self._bodies.returns(function) if function is not None and hops else ()
        return len(returned) == 1 and self._is_list(returned[0], hops - 1)

    def _made(self) -> Iterator[Accumulated | None]:
        for made in self._tree.all(ast.ListComp, ast.GeneratorExp):
            if self._tracing.why(made) is None or not self._are_tensors([made.elt]):
                continue
            clauses = map(self._loops.loop, reversed(made.generators))
            loops = self._in_graph(list(clauses))
            reads = self._taken(made, _MAX_HOPS) if loops else ()
            if reads:
                yield Accumulated(made, None, (made.elt,), loops, tuple(reads))

    def _in_graph(self, loops: list[Loop]) -> Graphed:
        """The loops whose trips are alike but for the data."""
        found: list[tuple[Loop, InGraph]] = []
        for loop in loops:
            kind = self._graph_loops.becomes(loop)
            if kind is None and self._takes_apart(loop):
                kind = InGraph.COPIES
            if kind is InGraph.LOOP or (kind and not self._graph_loops.picks_python(loop)):
                found.append((loop, kind))
        return tuple(found)

    # Where lists go.

    def _taken(self, node: ast.expr, hops: int) -> list[ast.Call]:
        """The calls that make one tensor of a list, followed through names and functions."""
        parent = self._tree.parent(node)
        if isinstance(parent, ast.keyword):
            parent = self._tree.parent(parent)
        if hops == 0:
            return []
        if isinstance(parent, ast.Call):
            if self._names.is_any(parent.func, TAKES_LIST):
                return [parent] if self._tracing.why(parent) is not None else []
            again = called(parent) in _AS_LIST
            return self._taken(parent, hops - 1) if again else []
        if isinstance(parent, ast.Subscript):
            sliced = parent.value is node and isinstance(parent.slice, ast.Slice)
            return self._taken(parent, hops - 1) if sliced else []
        following: list[ast.expr] = []
        if isinstance(parent, ast.Return):
            following += self._callers.around(parent)
        elif isinstance(parent, ast.Assign):
            for target in parent.targets:
                following += self._bindings.read_of(target)
        found = (call for each in following for call in self._taken(each, hops - 1))
        return list(dict.fromkeys(found))

    # How long loops are, and of what.

    def _takes_apart(self, loop: Loop) -> bool:
        """Whether a loop goes over `tf.unstack` of a tensor, along the batch or the time axis."""
        made = self._flow.same(loop.iterable)[-1] if loop.iterable is not None else None
        if not isinstance(made, ast.Call):
            return False
        axis = argument(made, 2, "axis")
        number = 0 if axis is None else self._values.number(axis)
        return number in (0, 1) and self._names.qualified(made.func) == "tensorflow.unstack"

    def _is_length_of_data(self, number: ast.expr, few: int) -> bool:
        """Whether a number is the size of a tensor's batch or time axis, not of a weight's."""
        tensor, axis = self._tensors.size_of(number) or (None, -1)
        if not isinstance(tensor, ast.Name) or not self._tensors.is_tensor(tensor):
            return False
        if axis not in (0, 1) or self._values.of(tensor).kind is Kind.VARIABLE:
            return False
        known = [each for each in self._given_to_layer(tensor, axis) if each is not None]
        return not known or max(known) > few

    def _given_to_layer(self, tensor: ast.Name, axis: int) -> Iterator[int | None]:
        """How long what this module gives to a layer is, where `call` names it first."""
        function = self._tree.function(tensor)
        owner = self._members.class_of(function) if function is not None else None
        binding = self._bindings.only(tensor)
        if function is None or owner is None or binding is None:
            return
        first = function.args.args[1:2]
        if not first or binding.node is not first[0] or not self._classes.is_keras(owner):
            return
        for call in self._tree.all(ast.Call):
            made = call.func
            if not call.args:
                continue
            if isinstance(made, ast.Call) and self._functions.definition(made.func) is owner:
                yield self._time_steps.of(made) if axis == 1 else None
            elif self._functions.instance_of(made) is owner:
                shape = self._values.of(call.args[0]).shape
                yield shape[axis] if shape is not None and len(shape) > axis else None

    def _is_asked_for(self, number: ast.expr, few: int) -> bool:
        """Whether callers of a `tf.function` give the number, none of them a small one."""
        binding = self._bindings.only(number)
        function = self._tree.function(number)
        why = self._tracing.functions.get(function) if function is not None else None
        if binding is None or function is None or why is None or why.by is not TracedBy.TF_FUNCTION:
            return False
        calls = self._callers.calls_of(function)
        given = [self._callers.argument(each, function, binding.name) for each in calls]
        known = map(self._values.number, (*given, default(function, binding.name)))
        return binding.how is How.PARAMETER and all(each is None or each > few for each in known)

    def _are_tensors(self, elements: list[ast.expr]) -> bool:
        """Whether nothing says that these are Python's numbers, strings or lists, or NumPy's."""
        for each in elements:
            builtin = called(each) in _PYTHON
            if builtin or isinstance(each, (ast.Constant, ast.Dict, ast.JoinedStr, ast.Starred)):
                return False
            if self._is_of_host(each):
                return False
        kinds = {self._values.of(each).kind for each in elements}
        return kinds <= {Kind.ARRAY, Kind.TENSOR, Kind.UNKNOWN, Kind.VARIABLE}

    def _is_of_host(self, element: ast.expr) -> bool:
        """Whether NumPy makes a value, which it does not make of symbolic tensors."""
        element = self._bindings.assigned(element) or element
        return self._names.called(element).startswith(("math.", "numpy."))


_ADDS = frozenset({"append", "extend", "insert"})


def _operands(number: ast.expr) -> Iterator[ast.expr]:
    if isinstance(number, ast.BinOp):
        yield from (*_operands(number.left), *_operands(number.right))
    else:
        yield number


def _with_itself(target: ast.AST, value: ast.expr | None) -> list[ast.expr]:
    """What `xs = xs + [x]` and `xs = [*xs, x]` add."""
    if not isinstance(target, ast.Name):
        return []
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        same = isinstance(value.left, ast.Name) and value.left.id == target.id
        return value.right.elts if same and isinstance(value.right, _LITERALS) else []
    spread = value.elts[0] if isinstance(value, _LITERALS) and value.elts else None
    inner = spread.value if isinstance(spread, ast.Starred) else None
    same = isinstance(inner, ast.Name) and inner.id == target.id
    return value.elts[1:] if same and isinstance(value, _LITERALS) else []


def _continues(binding: Binding) -> bool:
    """Whether a binding only adds to the list the name had before."""
    return binding.how is How.AUGMENTED or bool(_with_itself(binding.node, binding.value))
