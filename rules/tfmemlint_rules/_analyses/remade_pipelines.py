"""Pipelines that a loop makes anew, or longer, in every round."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import run_at
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.flow.paths import End
from tfmemlint.facts.library.makers import given_to
from tfmemlint.facts.pipelines.chains import METHODS, Chain, From
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import holds, nodes_of, root_name, same_code
from tfmemlint.facts.syntax.tree import LOOPS
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts.flow.frames import Frame

_LENGTHENS = METHODS.keys() - {"apply", "concatenate", "shard", "skip", "take"}
_MOST_HOPS = 3
_HELD = (ast.Attribute, ast.Name, ast.Subscript)
_Held = ast.Attribute | ast.Name
_FROM_ARGUMENTS = frozenset({From.RECORDS, From.SLICES, From.TENSORS})


class Rebuilt(NamedTuple):
    """An assignment in a loop that gives a name a pipeline, the same in every round but for this.

    The loop goes over the pipeline, or hands it on, in each round.
    """

    assignment: ast.Assign
    loop: Loop
    chains: tuple[Chain, ...]
    steps: tuple[ast.Call, ...]
    """The calls that are added in each round, if it begins with the pipeline of the last one."""

    @property
    def is_lengthened(self) -> bool:
        """Whether each round adds to the pipeline of the last one."""
        return bool(self.steps)


class RemadePipelines:
    """The pipelines that depend on nothing that changes with the rounds of a loop around them."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._datasets = tf.datasets
        self._flow = tf.flow
        self._sources = tf.sources
        self._loops = tf.loops
        self._functions = tf.functions
        self._callers = tf.callers
        self._consumers = tf.consumers

    @cached_property
    def all(self) -> tuple[Rebuilt, ...]:
        """Every such assignment, in source order."""
        if not self._datasets.any_certain:
            return ()
        return tuple(each for each in map(self._rebuilt, self._tree.all(ast.Assign)) if each)

    def can_be_lifted(self, rebuilt: Rebuilt) -> bool:
        """Whether the assignment runs in each round, and its name gets nothing else there.

        And whether it reads nothing else that is bound there: a function, say.
        """
        assignment, loop = rebuilt.assignment, rebuilt.loop.node
        if not isinstance(loop, LOOPS) or not isinstance(assignment.targets[0], ast.Name):
            return False
        begun = _added(assignment.value)[1] if isinstance(assignment.value, ast.Call) else None
        if rebuilt.is_lengthened and not isinstance(begun, ast.Name):
            return False  # it is put where it is read from in the loop
        begins = {each.source.node for each in rebuilt.chains}
        if not rebuilt.is_lengthened and begins != {begun}:
            return False
        others = [each for each in self._given(rebuilt) if self._tree.inside(each.node, loop)]
        read = (
            each for each in nodes_of(ast.Name, assignment.value) if isinstance(each.ctx, ast.Load)
        )
        own = all(
            self._tree.inside(each.node, assignment) or not self._tree.inside(each.node, loop)
            for name in read
            for each in self._bindings.reaching(name)
        )
        return assignment in loop.body and len(others) == 1 and own

    def is_bound_once(self, rebuilt: Rebuilt) -> bool:
        """Whether the name is given nothing else outside the loop, either, that could be seen."""
        return len(self._given(rebuilt)) == 1

    def _given(self, rebuilt: Rebuilt) -> tuple[Binding, ...]:
        return self._bindings.sharing(rebuilt.assignment.targets[0])

    def _rebuilt(self, assignment: ast.Assign) -> Rebuilt | None:
        around = self._loops.around(assignment)
        if not around or len(assignment.targets) != 1 or not isinstance(assignment.value, ast.Call):
            return None
        loop, value = around[0], assignment.value
        if loop.over is Over.LITERAL:
            return None
        chains = self._datasets.of(value)
        if not chains or not all(chain.is_certain for chain in chains):
            return None
        added, root = self._followed(value, loop)
        if not all(self._is_steady(each, loop) for each in added):
            return None
        calls = [each.node for each in added if isinstance(each.node, ast.Call)]
        if self._comes_back(assignment.targets[0], root, loop):
            if not _LENGTHENS.issuperset(map(_method, calls)):
                return None
            steps = tuple(calls)
        elif self._is_made_here(root, chains, loop):
            steps = ()
        else:
            return None
        last = calls[0] if calls else value
        taken = self._is_taken(last, assignment, loop)
        return Rebuilt(assignment, loop, chains, steps) if taken else None

    def _followed(self, value: ast.Call, loop: Loop) -> tuple[list[End], End]:
        """The method calls of a pipeline, the last one first, and what it begins with.

        As far back as each round makes it anew, be it in functions or put somewhere in between.
        """
        added: list[End] = []
        at = self._fluent(value)
        for _ in range(_MOST_HOPS):
            calls, root = _added(at.node) if isinstance(at.node, ast.Call) else ([], value)
            added += (End(each, (), at.frame) for each in calls)
            at = End(root, (), at.frame)
            earlier = (
                each
                for each in self._sources.same(root, at.frame)
                if isinstance(each.node, ast.Call) and self._is_of_round(each, loop)
            )
            before = next((each for each in earlier if _steps(each.node)), None)
            if before is None or before.node is root or self._is_named(before.node):
                break
            at = before
        return added, at

    def _is_named(self, made: ast.AST) -> bool:
        """Whether an assignment of its own gives a pipeline a name: that tells of it."""
        above = self._tree.parent(made)
        return isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name)

    def _is_of_round(self, made: End, loop: Loop) -> bool:
        """Whether each round runs an expression, in the loop itself or in a function it calls."""
        return self._tree.inside(run_at(made.node, made.frame), loop.node)

    def _fluent(self, value: ast.Call) -> End:
        """The call of a pipeline's method that an assignment gives, be it in a function."""
        if not _added(value)[0]:
            for each in self._sources.same(value):
                if isinstance(each.node, ast.Call) and _added(each.node)[0]:
                    return each
        return End(value)

    def _is_steady(self, step: End, loop: Loop) -> bool:
        """Whether a method is given the same in every round."""
        given = given_to(step.node) if isinstance(step.node, ast.Call) else []
        if step.frame is None:
            return all(self._loops.invariant(each, loop) for each in given)
        return all(self._read(each, step.frame, loop) is not None for each in given)

    def _comes_back(self, target: ast.expr, root: End, loop: Loop) -> bool:
        """As `_comes_round`, through whatever surely gives the same pipeline back."""
        here = root.frame is None and isinstance(root.node, ast.expr)
        if here and isinstance(root.node, ast.expr) and self._comes_round(target, root.node, loop):
            return True
        way = self._sources.same(root.node, root.frame)
        back = [each.node for each in way if each.frame is None and each.node is not root.node]
        named = (each for each in back if isinstance(each, (ast.Attribute, ast.Name)))
        return any(
            self._tree.inside(each, loop.node) and self._comes_round(target, each, loop)
            for each in named
        )

    def _comes_round(
        self, target: ast.expr, root: ast.expr, loop: Loop, hops: int = _MOST_HOPS
    ) -> bool:
        """Whether a pipeline begins with what its own assignment gave in the round before."""
        if isinstance(target, ast.Name) and isinstance(root, ast.Name):
            if any(each.node is target for each in self._bindings.reaching(root)):
                return True
        elif isinstance(root, type(target)) and ast.unparse(root) == ast.unparse(target):
            return self._loops.invariant(root, loop)
        if not isinstance(root, (ast.Name, ast.Attribute, ast.Subscript)) or hops == 0:
            return False
        return any(
            each.how is How.ASSIGNED
            and not each.path
            and self._tree.inside(each.value, loop.node)
            and self._comes_round(target, each.value, loop, hops - 1)
            for each in self._flow.origins(root) or ()
        )

    def _is_made_here(self, root: End, chains: tuple[Chain, ...], loop: Loop) -> bool:
        """Whether a pipeline begins here, with nothing the loop may change under its name."""
        if len(chains) != 1 or chains[0].source.kind not in _FROM_ARGUMENTS:
            return False
        source = chains[0].source.node
        way = self._sources.same(root.node, root.frame)
        made = next((each for each in way if each.node is source), None)
        if made is None or not isinstance(source, ast.Call) or not self._is_of_round(made, loop):
            return False
        if source is not root.node and self._is_named(source):
            return False
        read = [self._read(each, made.frame, loop) for each in given_to(source)]
        held = [each for parts in read for each in parts or ()]
        return None not in read and not any(self._is_touched(each, held, loop) for each in held)

    def _is_touched(self, one: _Held, held: list[_Held], loop: Loop) -> bool:
        """Whether a loop mentions something elsewhere, too, or calls what does."""
        if isinstance(one, ast.Name):
            others = (each for each in nodes_of(ast.Name, loop.node) if each not in held)
            return any(each.id == one.id for each in others)
        for each in nodes_of(ast.Attribute, loop.node):
            method = self._functions.function(each)
            if each not in held and same_code(each, one):
                return True
            if method is not None and any(
                other.attr == one.attr for other in nodes_of(ast.Attribute, method)
            ):
                return True
        return any(
            each.id == root_name(one) and not isinstance(self._tree.parent(each), ast.Attribute)
            for each in nodes_of(ast.Name, loop.node)
        )

    def _read(self, given: ast.expr, frame: Frame | None, loop: Loop) -> list[_Held] | None:
        """What holds data outside a loop; None where the round may have made it."""
        for each in self._sources.same(given, frame) if isinstance(given, _HELD) else ():
            if isinstance(each.node, ast.Constant):
                return []
            node = each.node if isinstance(each.node, _HELD) else None
            if node is not None and self._is_outside(node, each.frame, loop):
                return [node] if isinstance(node, ast.Attribute) else [*nodes_of(ast.Name, node)]
        if isinstance(given, (*_HELD, ast.Call)):
            return None
        parts = [each for each in ast.iter_child_nodes(given) if isinstance(each, ast.expr)]
        read = [self._read(each, frame, loop) for each in parts]
        return None if None in read else [name for each in read for name in each or ()]

    def _is_outside(self, held: ast.expr, frame: Frame | None, loop: Loop) -> bool:
        """Whether a name, or what was put elsewhere under one, has the same in every round."""
        if holds(ast.Call, held) or not self._loops.invariant(held, loop):
            return False
        if holds(ast.Attribute, held):
            return frame is None and self._is_set_outside(held, loop)
        inside = frame.function if frame is not None else None
        homes = (self._bindings.home(each.id, each) for each in nodes_of(ast.Name, held))
        return inside is None or all(each is not inside for each in homes)

    def _is_set_outside(self, held: ast.expr, loop: Loop) -> bool:
        """Whether an attribute is given one value, by code that the loop does not run."""
        if self._flow.put_there(held) is not None:
            return True
        given = self._flow.one_before(held)
        function = None if given is None else self._tree.function(given.value)
        if given is None or not isinstance(held, ast.Attribute) or function is None:
            return False
        return not any(
            self._tree.inside(each, loop.node) for each in self._callers.calls_of(function)
        )

    def _is_taken(self, value: ast.Call, at: ast.Assign, loop: Loop) -> bool:
        """Whether the pipeline ends in the loop, or in a function that it is handed to there."""
        here = self._tree.function(at)
        for end in self._consumers.ends:
            passes = any(step.call is value for each in end.chains for step in each.steps)
            passes = passes or any(each.source.node is value for each in end.chains)
            elsewhere = self._tree.function(end.dataset) is not here
            if passes and (elsewhere or self._tree.inside(end.dataset, loop.node)):
                return True
        return False


def _added(value: ast.Call) -> tuple[list[ast.Call], ast.expr]:
    """The method calls of a fluent chain, the last one first, and what it begins with."""
    calls: list[ast.Call] = []
    node: ast.expr = value
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr not in METHODS:
            break
        calls.append(node)
        node = node.func.value
    return calls, node


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _steps(node: ast.AST) -> list[ast.Call]:
    return _added(node)[0] if isinstance(node, ast.Call) else []
