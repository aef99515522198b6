"""Arrays that loops make longer: `out = tf.concat([out, y], 0)`, round after round."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from itertools import takewhile

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.graphs.tapes import Tape
from tfmemlint.facts.library import makers, traits
from tfmemlint.facts.library.signatures import APIS, having
from tfmemlint.facts.syntax.nodes import called, nodes_of, same_code, within
from tfmemlint.facts.syntax.tree import FunctionNode, ScopeNode
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts.flow.frames import Frame

_MAX_HOPS = 3

_Target = ast.Name | ast.Attribute | ast.Subscript

_OF_LIST = {name: row.of for name, row in APIS.items() if row.of and row.traits & traits.JOINS}
"""Functions that join the arrays of a list, and what they call it."""
_OF_TWO = {
    "keras.ops.append": ("x1", "x2"),
    "numpy.append": ("arr", "values"),
    "tensorflow.experimental.numpy.append": ("arr", "values"),
}
_JOINS = having(traits.JOINS | traits.JOINS_TWO)
_HOLDERS = frozenset({"types.SimpleNamespace", "zip"})
_SIZES = frozenset({"dtype", "ndim", "shape", "size"})
_LOOP_OPTIONS = "tensorflow.autograph.experimental.set_loop_options"
_MEASURES = makers.SHAPE_OF | {"numpy.size", "tensorflow.rank", "tensorflow.size", _LOOP_OPTIONS}


class Joined(NamedTuple):
    """An array that a loop gives back to its name longer than before, and does not read."""

    target: _Target
    """The name, `self.name`, or `history["name"]`."""
    node: ast.Assign
    call: ast.Call
    """What joins: `tf.concat(...)`, or the call of a function of the module that does."""
    function: str
    """The canonical name of what joins in the end."""
    added: tuple[ast.expr, ...]
    """What is joined to it in a round."""
    appended: bool
    """Whether what is added comes behind what was there."""
    is_direct: bool
    """Whether the array stands in the call itself, not something that surely is it."""
    loops: tuple[Loop, ...]
    """The loops in which it only ever grows and is not read, innermost first."""

    @property
    def is_numpy(self) -> bool:
        """Whether NumPy does the joining."""
        return self.function.startswith("numpy.")


class _Join(NamedTuple):
    call: ast.Call
    function: str
    added: tuple[ast.expr, ...]
    appended: bool
    mention: ast.expr
    """Where the array is named that is joined to more."""

    @property
    def is_direct(self) -> bool:
        """Whether that is in the call."""
        return any(each is self.mention for each in ast.walk(self.call))


class Joins:
    """The arrays of a file that grow by being joined to more."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._flow = tf.flow
        self._sources = tf.sources
        self._loops = tf.loops
        self._tapes = tf.tapes
        self._grown: dict[tuple[str, ScopeNode | None, ast.AST], tuple[bool, bool]] = {}

    @cached_property
    def all(self) -> tuple[Joined, ...]:
        """Every such statement, in source order."""
        if not self._names.mentions(_JOINS):
            return ()
        found = (
            self._joined(each)
            for each in self._tree.all(ast.Assign)
            if isinstance(each.value, (ast.Call, ast.IfExp))
        )
        return tuple(each for each in found if each is not None)

    def tape(self, joined: Joined) -> Tape | None:
        """The tape that records all rounds of the innermost loop, here or around a call."""
        return self._recording(joined.loops[0].node)

    def alike(self, joined: Joined) -> tuple[Joined, ...]:
        """All that joins more to the same array in the outermost of its loops."""
        found = (each for each in self.all if _is_spelled(each.target, joined.target))
        outermost = joined.loops[-1].node
        return tuple(each for each in found if self._tree.inside(each.node, outermost))

    def _recording(self, node: ast.AST) -> Tape | None:
        if not self._tapes.all:
            return None
        leading = self._callers.leading_to(node, _MAX_HOPS)
        return next((tape for each in leading for tape in self._tapes.recording(each)), None)

    def _joined(self, node: ast.Assign) -> Joined | None:
        target = node.targets[0]
        if len(node.targets) != 1 or not isinstance(target, _Target):
            return None
        for value in _alternatives(node):
            join = self._join(value, target)
            loops = self._growing(target, node) if join is not None else ()
            if join is not None and not loops and not self._loops.around(node):
                loops = self._growing_in_callers(target, node, _MAX_HOPS)
            if join is not None and loops:
                return Joined(target, node, *join[:4], join.is_direct, loops)
        return None

    def _join(self, value: ast.expr, target: _Target) -> _Join | None:
        """How a call joins the array to more, be it in a function of the module."""
        if not isinstance(value, ast.Call):
            return None
        name = self._names.qualified(value.func)
        if name is not None:
            return self._join_of(value, value, name, target, None) if name in _JOINS else None
        frame = self._flow.enter(value, None)
        returned = self._bodies.returns(frame.function) if frame is not None else ()
        inner = returned[0] if len(returned) == 1 else None
        name = self._names.one_of(inner.func, _JOINS) if isinstance(inner, ast.Call) else None
        if name is None or not isinstance(inner, ast.Call):
            return None
        return self._join_of(value, inner, name, target, frame)

    def _join_of(
        self, call: ast.Call, inner: ast.Call, name: str, target: _Target, frame: Frame | None
    ) -> _Join | None:
        parts = self._parts(inner, name)
        found = [(each, self._meant(each, call, target, frame)) for each in parts]
        own = [mention for _, mention in found if mention is not None]
        added = tuple(part for part, mention in found if mention is None)
        if len(own) != 1 or not added:
            return None
        if inner is call:
            return _Join(call, name, added, found[0][1] is not None, own[0])
        given = makers.given_to(call)
        added = tuple(each for each in given if each is not own[0]) or added
        return _Join(call, name, added, False, own[0])

    def _meant(
        self, part: ast.expr, call: ast.Call, target: _Target, frame: Frame | None
    ) -> ast.expr | None:
        """Where the array is named that a part of a join is, as this round finds it."""
        if frame is None and _is_spelled(part, target):
            return part
        around = self._loops.around(call)
        within = around[0].node if around else self._tree.function(call)
        for each in self._sources.same(part, frame):
            node = each.node
            named = isinstance(node, _Target) and _is_spelled(node, target)
            if named and within is not None and self._tree.inside(node, within):
                assert isinstance(node, ast.expr)
                return node
        return None

    def _parts(self, call: ast.Call, name: str) -> list[ast.expr]:
        """The arrays that a call joins, in order."""
        if name in _OF_TWO:
            found = [makers.argument(call, at, each) for at, each in enumerate(_OF_TWO[name])]
            return [each for each in found if each is not None]
        joined = makers.argument(call, 0, _OF_LIST[name]) if name in _OF_LIST else None
        return joined.elts if isinstance(joined, (ast.List, ast.Tuple)) else []

    # How long it only grows.

    def _growing(self, target: _Target, node: ast.Assign) -> tuple[Loop, ...]:
        """The loops around a join, up to the first that reads the array or makes it anew."""
        found: list[Loop] = []
        name, home = ast.unparse(target), None
        if isinstance(target, ast.Name):
            home = self._bindings.home(target.id, target)
        for loop in self._loops.around(node):
            key = name, home, loop.node
            if key not in self._grown:  # many statements of a loop may join to one array
                self._grown[key] = self._grows(target, loop)
            only_grows, begins = self._grown[key]
            if not only_grows:
                break
            found.append(loop)
            if begins:
                break
        return tuple(found)

    def _growing_in_callers(self, target: _Target, at: ast.AST, hops: int) -> tuple[Loop, ...]:
        """The loops around calls of a method, `buffer.add(row)`, in which its array only grows."""
        function = self._tree.function(at)
        if function is None or not isinstance(target, ast.Attribute) or not hops:
            return ()
        for call in self._callers.calls_of(function):
            if isinstance(call.func, ast.Attribute):
                found = self._growing_around(target, call, call.func.value, hops)
                if found:
                    return found
        return ()

    def _growing_around(
        self, target: ast.Attribute, call: ast.Call, holder: ast.expr, hops: int
    ) -> tuple[Loop, ...]:
        around = self._loops.around(call)
        if not around:
            is_own = ast.unparse(holder) == ast.unparse(target.value)
            return self._growing_in_callers(target, call, hops - 1) if is_own else ()
        stays = self._loops.invariant
        return tuple(
            takewhile(lambda each: stays(holder, each) and self._only_grows(target, each), around)
        )

    def _only_grows(self, target: ast.Attribute, loop: Loop) -> bool:
        """Whether neither a loop nor what it calls does anything else with such an attribute."""
        named = (each for each in within([loop.node]) if isinstance(each, ast.Attribute))
        mentions = [each for each in named if each.attr == target.attr]
        return all(
            self._leaves_alone(each, target) for each in (*mentions, *self._mentions(target, loop))
        )

    def _grows(self, target: _Target, loop: Loop) -> tuple[bool, bool]:
        """Whether an array only grows in a loop, and whether it begins each time that begins."""
        mentions = [*self._mentions(target, loop)]
        if not all(self._leaves_alone(each, target) for each in mentions):
            return False, False
        statements = [*map(self._tree.statement, mentions)]
        if any(self._is_begun_in(each, target, loop) for each in statements):
            return False, False
        branches = map(self._tree.parent, statements)
        counters = {_counter(each) for each in branches if isinstance(each, ast.If)}
        return True, bool(counters & loop.targets)  # `if i == 0`

    def _is_begun_in(self, start: ast.stmt, target: _Target, loop: Loop) -> bool:
        """Whether a loop sets the flag again by which the array begins."""
        flag = self._flag(start)
        if flag is None or not isinstance(start, ast.Assign):
            return False
        if any(self._join(each, target) for each in _alternatives(start)):
            return False
        name, wanted = flag
        return any(
            value is wanted and self._tree.inside(node, loop.node)
            for node, value in self._told(name)
        )

    def _flag(self, start: ast.stmt) -> tuple[ast.Name, bool] | None:
        """`first`, and True, for `if first: out = y`."""
        branch = self._tree.parent(start)
        if not isinstance(branch, ast.If):
            return None
        test, wanted = branch.test, start in branch.body
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, wanted = test.operand, not wanted
        return (test, wanted) if isinstance(test, ast.Name) else None

    def _told(self, flag: ast.Name) -> tuple[tuple[ast.AST, object], ...]:
        """Where a flag is given a value, and which."""
        return tuple(
            (each.node, each.value.value if isinstance(each.value, ast.Constant) else None)
            for each in self._bindings.sharing(flag)
        )

    def _mentions(self, target: _Target, loop: Loop) -> Iterator[ast.expr]:
        called: list[FunctionNode] = []
        for each in within([loop.node]):
            if isinstance(each, _Target) and _is_spelled(each, target):
                yield each
            called += self._called(each, called)
        for function in called:
            for each in self._bodies.body(function):
                if self._is_the_same(each, target):
                    assert isinstance(each, _Target)
                    yield each
                called += self._called(each, called)

    def _called(self, node: ast.AST, known: list[FunctionNode]) -> list[FunctionNode]:
        function = self._functions.function(node.func) if isinstance(node, ast.Call) else None
        return [] if function is None or function in known else [function]

    def _is_the_same(self, node: ast.AST, target: _Target) -> bool:
        """Whether a function that a loop calls means the array by this name or attribute."""
        if isinstance(target, ast.Subscript):
            return isinstance(node, ast.Subscript) and same_code(node.slice, target.slice)
        if isinstance(target, ast.Attribute):
            return isinstance(node, ast.Attribute) and node.attr == target.attr
        if not isinstance(node, ast.Name) or node.id != target.id:
            return False
        home = self._bindings.home(node.id, node)
        local = home is self._tree.function(node)  # if that calls itself, there are two
        return not local and home is self._bindings.home(target.id, target)

    def _leaves_alone(self, mention: ast.expr, target: _Target) -> bool:
        """Whether a mention of the array makes it longer or asks for its size, nothing else."""
        above = self._tree.parent(mention)
        if isinstance(above, ast.Assign) and mention in above.targets:
            longer = any(self._join(each, target) for each in _alternatives(above))
            return longer or self._is_first(above, target)
        if isinstance(above, ast.Attribute):
            return above.attr in _SIZES
        if isinstance(above, ast.Compare):
            return all(isinstance(each, (ast.Is, ast.IsNot)) for each in above.ops)
        while isinstance(above, (ast.List, ast.Tuple)):
            above = self._tree.parent(above)
        if isinstance(above, ast.keyword):
            above = self._tree.parent(above)
        if isinstance(above, ast.Call):
            if called(above) == "len":
                return True
            if self._names.is_any(above.func, _MEASURES):
                return True
            assigned = self._tree.parent(above)
            if isinstance(assigned, ast.IfExp):
                assigned = self._tree.parent(assigned)
            given_back = isinstance(assigned, ast.Assign) and _is_spelled(
                assigned.targets[0], target
            )
            if given_back and self._join(above, target) is not None:
                return True
        return self._is_carried(mention, target, _MAX_HOPS)

    def _is_carried(self, mention: ast.expr, target: _Target, hops: int) -> bool:
        """Whether a mention of the array only takes it to where it is joined to more."""
        statement = self._tree.statement(mention)
        if not isinstance(statement, (ast.Assign, ast.For)) or not hops:
            return False
        if isinstance(statement, ast.Assign):
            joins = [self._join(each, target) for each in _alternatives(statement)]
            found = [each.mention for each in joins if each is not None]
            if found and _is_spelled(statement.targets[0], target):
                return mention in found or not _is_spelled(mention, target)
        if not self._is_only_held(mention):
            return False
        readers = [*self._readers(statement)]
        return bool(readers) and all(self._is_carried(each, target, hops - 1) for each in readers)

    def _is_only_held(self, mention: ast.expr) -> bool:
        """Whether a statement puts something somewhere, as it is."""
        above = self._tree.parent(mention)
        if isinstance(above, ast.For):
            return False  # its rows are gone over
        while not isinstance(above, ast.stmt):
            called = above.func if isinstance(above, ast.Call) else None
            holds = isinstance(above, (ast.Dict, ast.List, ast.Tuple, ast.keyword))
            if called is not None and called is not mention:
                name = self._names.qualified(called) or getattr(called, "id", "")
                given = self._functions.definition(called)
                holds = name in _HOLDERS or isinstance(given, ast.ClassDef)
            if not holds:
                return False
            above = self._tree.parent(above) if above is not None else None
        return True

    def _readers(self, statement: ast.Assign | ast.For) -> Iterator[ast.Name]:
        """Where what a statement gives names, or puts into what they hold, is read."""
        given = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for name in (each for one in given for each in ast.walk(one)):
            if isinstance(name, ast.Name):
                if isinstance(name.ctx, ast.Store):
                    yield from self._bindings.read_of(name)
                    continue
                for each in self._bindings.reaching(name):
                    readers = self._bindings.readers(each)
                    yield from (one for one in readers if one is not name)

    def _is_first(self, start: ast.Assign, target: _Target) -> bool:
        """Whether only the first round gives a name this value: `if out is None: out = y`."""
        branch, flag = self._tree.parent(start), self._flag(start)
        if flag is not None:  # `if first: out, first = y, False`
            values = {value for _, value in self._told(flag[0])}
            return values == {True, False}
        if not isinstance(branch, ast.If):
            return False
        test, wanted = branch.test, start in branch.body
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, wanted = test.operand, not wanted
        if isinstance(test, ast.Call):
            asks = called(test) == "hasattr"
            return (asks or self._is_size(test, target)) and not wanted
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return False
        first = (ast.Eq, ast.Is, ast.NotIn) if wanted else (ast.Gt, ast.In, ast.IsNot, ast.NotEq)
        return isinstance(test.ops[0], first) and (
            _is_spelled(test.left, target)
            or isinstance(test.left, ast.Constant)  # "out" in locals()
            or self._is_size(test.left, target)
            or _counter(branch) is not None
        )

    def _is_size(self, node: ast.expr, target: _Target) -> bool:
        """Whether an expression only asks how large the array is: `len(out)`, `out.shape[0]`."""
        mentions = [*nodes_of(ast.expr, node)]
        own = [each for each in mentions if _is_spelled(each, target)]
        return bool(own) and all(self._leaves_alone(each, target) for each in own)


def _alternatives(node: ast.Assign) -> tuple[ast.expr, ...]:
    """What an assignment gives: both of `y if out is None else tf.concat([out, y], 0)`."""
    value = node.value
    return (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)


def _counter(branch: ast.If) -> str | None:
    """`i` for `if i == 0:`."""
    test = branch.test
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name):
        number = test.comparators[0]
        zero = isinstance(number, ast.Constant) and number.value == 0
        return test.left.id if zero else None
    return None


def _is_spelled(node: ast.AST, target: _Target) -> bool:
    """Whether a name, `self.name` or `history["name"]` is the one meant."""
    if isinstance(node, ast.Name):
        return isinstance(target, ast.Name) and node.id == target.id
    if isinstance(node, ast.Attribute) and isinstance(target, ast.Attribute):
        same = node.attr == target.attr and isinstance(node.value, ast.Name)
        owner = target.value
        return same and isinstance(owner, ast.Name) and same_code(node.value, owner)
    if isinstance(node, ast.Subscript) and isinstance(target, ast.Subscript):
        literal = isinstance(target.slice, ast.Constant)
        holds = literal and isinstance(target.value, (ast.Attribute, ast.Name))
        return holds and same_code(node.slice, target.slice) and same_code(node.value, target.value)
    return False
