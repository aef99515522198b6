"""Forwards: where a value ends up, through names and through the functions that return it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain, pairwise

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.decorators import Decorators
from tfmemlint.facts.syntax.nodes import called
from tfmemlint.facts.syntax.tree import FunctionNode

_MAX_HOPS = 8
_DISPLAYS = (ast.Dict, ast.List, ast.Tuple)
_TAKES_ARRAYS = ("keras.", "numpy.", "sklearn.", "tensorflow.")

Trail = tuple[ast.expr, ...]
"""The expressions that stand for a value in turn: what makes it, calls that return it, a name."""


class Uses:
    """The uses of values, as long as every one of them is in sight."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._objects = tf.objects
        self._decorators = tf.of(Decorators)

    def of(self, expression: ast.expr) -> tuple[Trail, ...] | None:
        """The way to each use of what an expression makes; None where one is out of sight.

        A use is where the value is neither just returned nor just given a name. Names that may
        hold another value as well, or that other functions read, are out of sight.
        """
        return self._of(expression, leaving=True)

    def here(self, expression: ast.expr) -> tuple[Trail, ...] | None:
        """As `of`, within one function: what is returned is used there."""
        return self._of(expression, leaving=False)

    def of_names_in(self, statement: ast.stmt) -> Iterator[ast.Name]:
        """Where the names that a statement binds are read."""
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield from self._bindings.read_of(node)

    def as_arrays(self, result: ast.expr) -> list[ast.Call] | None:
        """The calls of `numpy` on a tensor, wherever it goes, if an array would do in its place.

        None where something may need a tensor.
        """
        parent = self._tree.parent(result)
        if isinstance(parent, ast.Subscript) and parent.value is result:
            return self.as_arrays(parent)
        if isinstance(parent, ast.Attribute):
            call = self._tree.parent(parent)
            if parent.attr != "numpy" or not isinstance(call, ast.Call) or call.func is not parent:
                return None
            return [call]
        if isinstance(parent, ast.Call) and result in parent.args:
            name = self._names.qualified(parent.func)
            return [] if name is not None and name.startswith(_TAKES_ARRAYS) else None
        if not isinstance(parent, ast.Assign):
            return None
        uses = list(self.of_names_in(parent))
        if not all(isinstance(each, ast.Name) for each in parent.targets):
            return None
        if any(self._bindings.only(each) is None for each in uses):
            return None
        found = [self.as_arrays(each) for each in uses]
        whole = [each for each in found if each is not None]
        return [*chain.from_iterable(whole)] if len(whole) == len(found) else None

    def stays_open(self, trail: Trail) -> bool:
        """Whether a value stays inside every `with` it is in on its way: nothing is closed yet."""
        for earlier, later in pairwise(trail):
            here = self._tree.function(earlier) is self._tree.function(later)
            if not self._withs(earlier) <= (self._withs(later) if here else set()):
                return False
        return True

    def _withs(self, node: ast.expr) -> set[ast.AST]:
        """The `with` statements around a node, within its function."""
        function = self._tree.function(node)
        return {
            each
            for each in self._tree.ancestors(node)
            if isinstance(each, (ast.With, ast.AsyncWith)) and self._tree.function(each) is function
        }

    def _of(self, expression: ast.expr, *, leaving: bool) -> tuple[Trail, ...] | None:
        found: list[Trail] = []
        pending: list[Trail] = [(expression,)]
        while pending:
            trail = pending.pop()
            following = self._following(trail[-1], leaving)
            if following is None or len(trail) > _MAX_HOPS:
                return None
            if not following:
                found.append(trail)
            pending += [(*trail, each) for each in reversed(following)]
        return tuple(found)

    def _following(self, node: ast.expr, leaving: bool) -> list[ast.expr] | None:
        """What stands for the same value next; nothing at a use, None out of sight."""
        parent = self._tree.parent(node)
        if isinstance(parent, ast.Return):
            function = self._tree.function(parent)
            if function is None or not leaving:
                return []
            return self._calls(function)
        if isinstance(parent, (ast.Lambda, ast.Yield, ast.YieldFrom)):
            return None
        if not isinstance(parent, ast.Assign):
            return self._put_down(node) or []
        targets = parent.targets
        if len(targets) != 1 or not isinstance(targets[0], ast.Name):
            return self._put_down(node)
        name = targets[0]
        binding, readers = self._bindings.at(name), self._bindings.read_of(name)
        here = self._tree.function(name)
        sure = all(
            self._bindings.only(each) == binding and self._tree.function(each) is here
            for each in readers
        )
        return [*readers] if readers and sure else None

    def _put_down(self, node: ast.expr) -> list[ast.expr] | None:
        """Where a value is read that something holds which is read for what it holds alone.

        `box.step` behind `box.step = …`, `pair[0]`, `step` of `step, _ = pair`; None where what
        holds it goes elsewhere, too.
        """
        holder = node
        above = self._tree.parent(holder)
        while isinstance(above, ast.keyword) or (
            isinstance(above, (*_DISPLAYS, ast.Call)) and self._holds(above, holder)
        ):
            holder = above if isinstance(above, ast.expr) else holder
            above = self._tree.parent(above)
        readers = self._holders(holder, above)
        if readers is None or (holder is node and not isinstance(above, ast.Assign)):
            return None
        carried = self._objects.carried(node) or ()
        seen = all(self._is_looked_into(each, node) for each in readers)
        moved = [each for each in carried if not self._is_put_on(each)]
        return moved if moved and seen else None

    def _holds(self, made: ast.expr, held: ast.expr) -> bool:
        """Whether what is made holds something: a container, or an object of the module."""
        if not isinstance(made, ast.Call):
            return True
        if made.func is held:
            return False
        if called(made) == "zip":
            return True
        return isinstance(self._functions.definition(made.func), ast.ClassDef)

    def _holders(self, holder: ast.expr, above: ast.AST | None) -> list[ast.Name] | None:
        """Where what holds a value is read, as far as it has a name; None where that is unknown."""
        if isinstance(above, (ast.For, ast.comprehension)):
            return [] if above.iter is holder else None
        if isinstance(above, ast.Attribute):
            called = self._tree.parent(above)
            return [] if isinstance(called, ast.Call) and called.func is above else None
        if not isinstance(above, ast.Assign) or len(above.targets) != 1:
            return None
        (target,) = above.targets
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            only = self._bindings.only(target.value)
        elif isinstance(target, ast.Name):
            only = self._bindings.at(target)
        else:
            return [] if isinstance(target, (ast.List, ast.Tuple)) else None
        if only is None or only.how is not How.ASSIGNED:
            return None
        return self._bindings.readers(only)

    def _is_looked_into(self, holder: ast.Name, node: ast.expr) -> bool:
        """Whether what holds a value is but asked for something it holds, in the same function."""
        if self._tree.function(holder) is not self._tree.function(node):
            return False
        above = self._tree.parent(holder)
        if isinstance(above, ast.Assign):
            return isinstance(above.targets[0], (ast.List, ast.Tuple))
        if isinstance(above, ast.Subscript):
            return above.value is holder and isinstance(above.slice, ast.Constant)
        return isinstance(above, ast.Attribute)

    def _is_put_on(self, read: ast.expr) -> bool:
        """Whether a read but gives another name to a value, which is read in turn."""
        return isinstance(self._tree.parent(read), ast.Assign)

    def _calls(self, function: FunctionNode) -> list[ast.expr] | None:
        """The calls that get what a function returns, if nothing else can get it."""
        if not isinstance(function, ast.FunctionDef) or not self._decorators.leave(function):
            return None
        if len(self._bodies.returns(function)) != 1:
            return None
        calls = self._callers.calls_of(function)
        called = {call.func for call in calls}
        mentions = self._bodies.mentions(function)
        seen = all(each in called or self._leads_to(each, called) for each in mentions)
        return [*calls] if calls and seen else None

    def _leads_to(self, mention: ast.expr, called: set[ast.expr]) -> bool:
        """Whether a function that is put somewhere is called there, and nowhere else."""
        carried = self._objects.carried(mention)
        return bool(carried) and all(each in called for each in carried or ())
