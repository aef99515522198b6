"""Loops: what they go over, how often, and which lists grow in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.early_ends import EarlyEnds
from tfmemlint.facts.flow.entries import entries_of
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import RANGES, WRAPS_ITERABLE
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import called, is_empty, names_in, nodes_of, stored_in, within
from tfmemlint.facts.syntax.targets import targets
from tfmemlint.facts.syntax.tree import LOOPS, MAY_BE_LIST, LoopNode
from tfmemlint.light_typing import NamedTuple


class Over(Enum):
    """What a loop goes over."""

    EPOCHS = "epochs"
    """A range, or a condition, that speaks of an epoch: the whole data once per trip."""
    RANGE = "a range"
    OFFSETS = "offsets"
    """A range with a step, `range(0, n, size)`: a slice of the data per trip."""
    TENSOR = "a tensor"
    """A tensor or `tf.range`: traced code turns it into one graph loop."""
    ARRAY = "an array"
    DATASET = "a dataset"
    PATHS = "paths"
    LITERAL = "a literal"
    FOREVER = "no end"
    CONDITION = "a condition"
    UNKNOWN = "unknown"


class Loop(NamedTuple):
    """One loop statement or comprehension clause."""

    node: LoopNode | ast.comprehension
    over: Over
    iterable: ast.expr | None
    """What is iterated, without `enumerate`, `tqdm` and the like; the first one of a `zip`."""
    trips: int | None
    """How often the body runs, where literals and constants tell."""

    @property
    def targets(self) -> frozenset[str]:
        """The names that change with every trip because the loop binds them."""
        if isinstance(self.node, ast.While):
            return frozenset()
        return frozenset(name.id for name, _ in targets(self.node.target, ast.Name))

    @property
    def body(self) -> Iterator[ast.AST]:
        """The code of each round, if it is a statement's."""
        return within(self.node.body) if isinstance(self.node, LOOPS) else iter(())


def added_elements(growth: ast.AST, value: ast.expr) -> list[ast.expr]:
    """What `xs.append(x)`, `xs.extend([x])` or `xs += [x]` adds, where that is written there."""
    function = growth.func if isinstance(growth, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr == "append":
        return [value]
    return value.elts if isinstance(value, ast.List) else []


class Growth(NamedTuple):
    """A list that starts empty and gets elements in a loop: `xs = []`, then `xs.append(x)`."""

    name: str
    start: Binding
    """Where the empty list is made."""
    node: ast.Call | ast.AugAssign | ast.Assign
    """The `append`, `extend` or `+=`, or the whole of `xs = xs + [x]`."""
    value: ast.expr
    """What is added: the element, or the list that `extend` and `+` take."""
    loops: tuple[Loop, ...]
    """The loops around the growth that do not also make the list anew, innermost first."""

    @property
    def elements(self) -> list[ast.expr]:
        """What is added, element by element; empty where a whole list is, made elsewhere."""
        return added_elements(self.node, self.value)


class Loops:
    """The loops of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._flow = tf.flow
        self._sources = tf.sources
        self._values = tf.values
        self._early_ends = EarlyEnds(tf)
        self._known: dict[ast.AST, Loop] = {}

    def around(self, node: ast.AST) -> tuple[Loop, ...]:
        """The loops that repeat `node` within its function, innermost first.

        What goes over one thing written there, `for x, _ in zip([y], [z])`, repeats nothing.
        """
        found = map(self.loop, self._tree.loops(node))
        return tuple(each for each in found if each.over is not Over.LITERAL or each.trips != 1)

    def loop(self, node: LoopNode | ast.comprehension) -> Loop:
        """What is known of one loop."""
        if node not in self._known:
            found = self._describe(node)
            most = self._early_ends.rounds(node) if isinstance(node, LOOPS) else None
            if most is not None and (found.trips is None or most < found.trips):
                found = found._replace(trips=most)
            self._known[node] = found
        return self._known[node]

    def is_seldom(self, node: ast.AST, loop: Loop) -> bool:
        """Whether a remainder tells in which rounds code runs: `if step % 500 == 0:`."""
        return any(
            isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mod)
            for test, _ in self._tree.tests(node, loop.node)
            for each in ast.walk(test)
        )

    def extent(self, loop: Loop) -> ast.AST:
        """The code a loop runs, and its header."""
        if isinstance(loop.node, ast.comprehension):
            return self._tree.parent(loop.node) or loop.node
        return loop.node

    def invariant(self, expression: ast.expr, loop: Loop) -> bool:
        """Whether an expression reads no name that the loop binds, in its header or its body."""
        bound = self._bound_by(loop)
        return names_in(expression).isdisjoint(bound)

    def unvarying(self, expression: ast.expr, loop: Loop, hops: int = 3) -> bool:
        """Whether an expression gives the same object in every round, wherever it is put there."""
        if self.invariant(expression, loop):
            return True
        if hops == 0 or not isinstance(expression, (ast.Name, ast.Attribute, ast.Subscript)):
            return False
        origins = self._flow.origins(expression) or ()
        return bool(origins) and all(
            each.is_whole
            and isinstance(each.value, (ast.Name, ast.Attribute, ast.Subscript))
            and each.value is not expression
            and self.unvarying(each.value, loop, hops - 1)
            for each in origins
        )

    def is_closed(self, loop: Loop) -> bool:
        """Whether no trip leaves names behind that the next trip or other code reads."""
        tree, bindings = self._tree, self._bindings
        bound, scope = self._bound_by(loop), tree.scope(loop.node)
        for name in ast.walk(loop.node):
            if not isinstance(name, ast.Name) or name.id not in bound:
                continue
            touched: list[ast.AST] = []
            if isinstance(name.ctx, ast.Load) or isinstance(tree.parent(name), ast.AugAssign):
                touched += (each.node for each in bindings.reaching(name))
            if isinstance(name.ctx, ast.Store):
                if bindings.home(name.id, name) is not scope:
                    return False
                touched += bindings.read_of(name)
            if not all(tree.inside(each, loop.node) for each in touched):
                return False
        return True

    @cached_property
    def growths(self) -> tuple[Growth, ...]:
        """The lists that grow in loops, in source order of the growth, each by its first start."""
        return tuple({each.node: each for each in reversed(self._started)}.values())[::-1]

    @cached_property
    def _started(self) -> tuple[Growth, ...]:
        """As `growths`, for each place where the list may start that grows there."""
        found: list[Growth] = []
        for call, method in self._tree.methods("append", "extend"):
            if len(call.args) == 1:
                found += self._growth(method.value, call, call.args[0])
        for augmented in self._tree.all(ast.AugAssign):
            if isinstance(augmented.op, ast.Add) and isinstance(augmented.value, MAY_BE_LIST):
                found += self._growth(augmented.target, augmented, augmented.value)
        for assignment in self._tree.all(ast.Assign):
            added = _sum_with_itself(assignment.targets[0], assignment.value)
            if added is not None:
                found += self._growth(added.left, assignment, added.right)
        return tuple(sorted(found, key=lambda each: (each.node.lineno, each.node.col_offset)))

    def growths_of(self, start: Binding) -> tuple[Growth, ...]:
        """Where the list that starts at one binding grows, in source order."""
        home = self._tree.elsewhere(start.node)
        if home is not None:
            return home.loops.growths_of(start)
        return tuple(self._growths_by_start.get(start, ()))

    @cached_property
    def _growths_by_start(self) -> Mapping[Binding, list[Growth]]:
        found: dict[Binding, list[Growth]] = {}
        for growth in self._started:
            found.setdefault(growth.start, []).append(growth)
        return found

    def _growth(
        self, grown: ast.expr, node: ast.Call | ast.AugAssign | ast.Assign, value: ast.expr
    ) -> list[Growth]:
        if not isinstance(grown, ast.Name):
            return []
        outside = self._bindings.home(grown.id, grown) is not self._tree.scope(grown)
        shared = outside or not isinstance(grown.ctx, ast.Load)
        bindings = self._bindings.sharing(grown) if shared else self._bindings.reaching(grown)
        starts = [each for each in bindings if each.how is How.ASSIGNED and is_empty(each.value)]
        others = [each for each in bindings if not _continues(each)]
        if outside:  # when that runs, nobody knows, but what is made of the list comes after it
            others = [each for each in others if not _is_made_of(each, grown.id)]
        if len(starts) != len(others) or (len(starts) > 1 and not outside):
            return []
        around = self.around(node)
        found: list[Growth] = []
        for start in starts:
            kept = [each for each in around if not self._tree.inside(start.node, each.node)]
            if kept and (len(starts) == 1 or len(kept) == len(around)):
                found.append(Growth(grown.id, start, node, value, tuple(kept)))
        return found

    def _bound_by(self, loop: Loop) -> frozenset[str]:
        return frozenset(stored_in(loop.node))

    def _describe(self, node: LoopNode | ast.comprehension) -> Loop:
        if isinstance(node, ast.While):
            endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
            over, bounds = Over.FOREVER if endless else Over.CONDITION, self._bounds(node)
            if any("epoch" in each.id.lower() for each in nodes_of(ast.Name, node.test)):
                over = Over.EPOCHS
            elif bounds is not None:
                over = Over.RANGE
            return Loop(node, over, None, None if bounds is None else self._trips(bounds))
        iterable = self._bare(node.iter)
        if isinstance(iterable, ast.Call):
            name = self._names.qualified(iterable.func)
            if name == "tensorflow.range":
                return Loop(node, Over.TENSOR, iterable, self._trips(iterable.args))
            if called(iterable) in RANGES:
                return Loop(node, self._range(node, iterable), iterable, self._trips(iterable.args))
        count = entries_of(iterable, self._tree, self._bindings)
        if count is not None or isinstance(iterable, (ast.Tuple, ast.List, ast.Set)):
            return Loop(node, Over.UNKNOWN if count is None else Over.LITERAL, iterable, count)
        held = self._held_range(iterable)
        if held is not None:
            call, frame = held
            return Loop(node, self._range(node, call), iterable, self._trips(call.args, frame))
        value = self._values.of(iterable)
        over = {
            Kind.DATASET: Over.DATASET,
            Kind.PATHS: Over.PATHS,
            Kind.ARRAY: Over.ARRAY,
            Kind.TENSOR: Over.TENSOR,
        }.get(value.kind, Over.UNKNOWN)
        if over is Over.UNKNOWN and value.kind is Kind.LIST and value.shape:
            over = Over.LITERAL
        if value.kind is Kind.FRAME and isinstance(getattr(iterable, "slice", None), ast.Constant):
            over = Over.ARRAY  # a column
        return Loop(node, over, iterable, value.shape[0] if value.shape else None)

    def _bounds(self, node: ast.While) -> list[ast.expr] | None:
        """The range that a number counts through: `while i < 400: ...; i += 1`."""
        match node.test:
            case ast.Compare(ast.Name() as counter, [ast.Lt()], [bound]):
                pass
            case ast.Compare(ast.Name() as counter, [ast.LtE()], [bound]):
                bound = ast.BinOp(bound, ast.Add(), ast.Constant(1))
            case _:
                return None
        bindings = self._bindings.reaching(counter)
        inside = [each for each in bindings if self._tree.inside(each.node, node)]
        starts = [each for each in bindings if each not in inside]
        if len(inside) != 1 or len(starts) != 1 or not starts[0].is_whole:
            return None
        added, first = self._tree.statement(inside[0].node), starts[0].value
        if not isinstance(added, ast.AugAssign) or not isinstance(added.op, ast.Add):
            return None
        return [first, bound, added.value] if first and added in node.body else None

    def _bare(self, iterable: ast.expr) -> ast.expr:
        while isinstance(iterable, ast.Call) and iterable.args:
            function = iterable.func
            builtin = isinstance(function, ast.Name) and function.id in _SEEN_THROUGH
            if not builtin and not self._names.is_any(function, WRAPS_ITERABLE):
                break
            iterable = iterable.args[0]
        return iterable

    def _range(self, node: ast.For | ast.AsyncFor | ast.comprehension, call: ast.Call) -> Over:
        words = [each.id for part in (node.target, *call.args) for each in nodes_of(ast.Name, part)]
        inner = (each for part in call.args for each in ast.walk(part))
        words += [each.attr for each in inner if isinstance(each, ast.Attribute)]
        if any("epoch" in word.lower() for word in words):
            return Over.EPOCHS
        return Over.OFFSETS if len(call.args) == 3 else Over.RANGE

    def _held_range(self, iterable: ast.expr) -> tuple[ast.Call, Frame | None] | None:
        """The `range` that something stands for, and the call within which it is made."""
        if isinstance(iterable, ast.Call) and self._names.qualified(iterable.func) is not None:
            return None
        origins = self._flow.origins(iterable) or ()
        only = origins[0] if len(origins) == 1 and origins[0].how is How.ASSIGNED else None
        if only is None or only.path:
            return None
        made, _, frame = self._sources.same(only.value, only.frame)[-1]
        if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Name):
            return None
        return (made, frame) if made.func.id in RANGES else None

    def _trips(self, bounds: list[ast.expr], frame: Frame | None = None) -> int | None:
        numbers = [self._values.number(each, frame) for each in bounds]
        if not numbers or any(not isinstance(each, int) for each in numbers):
            return None
        known = [each for each in numbers if isinstance(each, int)]
        try:
            return len(range(*known))
        except (TypeError, ValueError, OverflowError):
            return None


_SEEN_THROUGH = frozenset({"enumerate", "list", "reversed", "sorted", "tqdm", "tuple", "zip"})


def _continues(binding: Binding) -> bool:
    """Whether a binding only adds to the list that its name had."""
    return binding.how is How.AUGMENTED or bool(_sum_with_itself(binding.node, binding.value))


def _is_made_of(binding: Binding, name: str) -> bool:
    """`xs = np.array(xs)`."""
    return binding.value is not None and name in names_in(binding.value)


def _sum_with_itself(target: ast.AST, value: ast.expr | None) -> ast.BinOp | None:
    """`xs + [x]`, or `xs + more`, about to be given to `xs` again."""
    if not (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add)):
        return None
    if not (isinstance(value.left, ast.Name) and isinstance(value.right, MAY_BE_LIST)):
        return None
    return value if isinstance(target, ast.Name) and target.id == value.left.id else None
