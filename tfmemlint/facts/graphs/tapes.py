"""Gradient tapes: where they record, and what is asked of them."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.syntax.tree import COMPREHENSIONS, FUNCTIONS, LOOPS
from tfmemlint.light_typing import NamedTuple

_TAPE = frozenset({"tensorflow.GradientTape"})
_ASKED = frozenset({"gradient", "jacobian", "batch_jacobian"})


class Tape(NamedTuple):
    """One `with tf.GradientTape() as tape:`."""

    block: ast.With | ast.AsyncWith
    call: ast.Call
    name: str | None
    """What the tape is called; None where it is not named."""
    persistent: bool
    asked: tuple[ast.Call, ...]
    """The calls of `gradient`, `jacobian` and `batch_jacobian` on it, in source order."""
    watched: tuple[ast.expr, ...]
    """What `tape.watch(...)` is given."""
    escapes: bool
    """Whether the tape itself is passed on, returned or kept."""
    uses: tuple[ast.Name, ...] = ()
    """Everything that reads its name."""


class Tapes:
    """The gradient tapes of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._sources = tf.sources
        self._objects = tf.objects
        self._imports = tf.imports

    @cached_property
    def all(self) -> tuple[Tape, ...]:
        """Every tape that a `with` statement opens, in source order."""
        found: list[Tape] = []
        for block in self._tree.all(ast.With, ast.AsyncWith):
            for item in block.items:
                call = self._opened(item.context_expr)
                if call is not None:
                    found.append(self._tape(block, call, item.optional_vars))
        return tuple(found)

    @cached_property
    def lent(self) -> tuple[tuple[TensorFlow, Tape], ...]:
        """The tapes that are made here for the `with` of another file, with what is known there.

        Of each that has a name there, all are in sight, or none is told.
        """
        made = [each for each, _ in self._names.calls(_TAPE) if self._is_returned(each)]
        homes = self._imports.importers if made else ()
        found = [(home, tape) for home in homes for tape in home.tapes.all if tape.call in made]
        opened = [tape.call for _, tape in found]
        own = {each.call for each in self.all}
        return tuple(
            each for each in found if opened.count(each[1].call) == 1 and each[1].call not in own
        )

    def _is_returned(self, made: ast.Call) -> bool:
        return isinstance(self._tree.parent(made), ast.Return)

    def _opened(self, expression: ast.expr) -> ast.Call | None:
        """The call that makes the tape a `with` opens, wherever it stands."""
        if self._makes(expression):
            assert isinstance(expression, ast.Call)
            return expression
        if not self._may_be_made or self._names.qualified(expression) is not None:
            return None
        if isinstance(expression, ast.Call) and self._names.qualified(expression.func) is not None:
            return None
        ends = self._sources.of(expression)
        only = ends.only
        if only is None or only.path or not self._makes(only.node):
            return None
        assert isinstance(only.node, ast.Call)
        return only.node

    def _makes(self, node: ast.AST) -> bool:
        return self._names.call_of(node, _TAPE) is not None

    @cached_property
    def _may_be_made(self) -> bool:
        return self._names.mentions(_TAPE) or self._imports.any

    def is_one(self, expression: ast.expr) -> bool:
        """Whether something surely is a tape, wherever that was put on the way."""
        ends = self._sources.of(expression)
        made = [self._makes(each.node) for each in ends.found]
        return ends.complete and bool(made) and all(made)

    def is_direct(self, tape: Tape) -> bool:
        """Whether a `with` makes its tape itself."""
        return any(each.context_expr is tape.call for each in tape.block.items)

    def others(self, tape: Tape) -> list[Tape] | None:
        """The tapes that the same call makes for other `with` statements.

        None where something else than a `with` has the tape.
        """
        if self.is_direct(tape):
            return []
        parents = map(self._tree.parent, self._objects.uses(tape.call) or ())
        names = {id(self._tree.parent(each)) for each in tape.uses}
        if any(isinstance(each, ast.Attribute) and id(each) not in names for each in parents):
            return None
        return [each for each in self.all if each.call is tape.call and each is not tape]

    def recording(self, node: ast.AST) -> tuple[Tape, ...]:
        """The tapes in whose blocks a node stands, innermost first."""
        if not self.all:
            return ()
        around = (self._by_block.get(each, ()) for each in (node, *self._tree.ancestors(node)))
        return tuple(tape for tapes in around for tape in reversed(tapes))

    def only_asked(self, tape: Tape) -> ast.Call | None:
        """The one `gradient` that a tape is asked for, each time that it has recorded.

        None where a tape that is not persistent could not answer, or is used for more.
        """
        if tape.escapes or len(tape.asked) != 1:
            return None
        call, tree = tape.asked[0], self._tree
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "gradient":
            return None
        again = list(tree.loops(call)) != list(tree.loops(tape.block))
        if again or tree.function(call) is not tree.function(tape.block):
            return None
        for use in tape.uses:
            method = getattr(tree.parent(use), "attr", "")
            before = (use.lineno, use.col_offset) < (call.lineno, call.col_offset)
            watched = method == "watched_variables" and (before or not self._goes_on(tape, call))
            if method != "gradient" and not watched and not (method == "watch" and before):
                return None
        return call

    def _goes_on(self, tape: Tape, call: ast.Call) -> bool:
        """Whether code that a persistent tape would record follows a call in its block."""
        last = tape.block.body[-1]
        return self._tree.inside(call, tape.block) and not self._tree.inside(call, last)

    def is_fresh(self, tape: Tape, call: ast.Call) -> bool:
        """Whether a tape surely has just recorded when it is asked, and is asked but once.

        The statement that asks stands behind the recording, in the same block and in no loop of its
        own, or is the last one of the recording; and nothing else ever names the tape.
        """
        name, tree = tape.name or "", self._tree
        scope = self._bindings.home(name, tape.block)
        if scope is None or isinstance(scope, ast.ClassDef) or name in self._declared:
            return False
        if isinstance(scope, ast.Module) and self._imports.is_imported:
            return False
        statement = self._behind(call, tape.block)
        if statement is None:
            return False
        between = self._between(tape.block, statement)
        if any(
            tree.inside(each.node, one)
            for each in self._bindings.of(scope, name)
            for one in between
        ):
            return False
        for use in self._bindings.loads(scope, name):
            if tree.function(use) is not tree.function(call) or self._is_in_scope_of_its_own(use):
                return False
            method = tree.parent(use)
            if method is call.func:
                continue
            if tree.inside(use, tape.block):
                watches = getattr(method, "attr", "") == "watch" and tree.inside(use, tape.block)
                if not watches or tree.inside(use, statement):
                    return False
            elif not self._is_of_another(use, tape):
                return False
        return True

    def _behind(self, call: ast.Call, block: ast.stmt) -> ast.stmt | None:
        """The statement that asks, where it runs at most once behind each recording."""
        tree = self._tree
        body, place = tree.place(block)
        below: ast.AST = call
        for above in tree.ancestors(call):
            if isinstance(above, (*COMPREHENSIONS, *FUNCTIONS, *LOOPS, ast.ClassDef, ast.Try)):
                return None
            if above is block:
                last = getattr(block, "body", [])[-1:]
                simple = isinstance(below, (ast.Assign, ast.Expr)) and last == [below]
                return below if simple and isinstance(below, ast.stmt) else None
            if isinstance(above, ast.stmt) and above in body[place + 1 :]:
                return above
            below = above
        return None

    def _between(self, block: ast.stmt, statement: ast.stmt) -> list[ast.stmt]:
        """All that runs from a recording to a statement, that one included."""
        body, place = self._tree.place(block)
        return body[place + 1 : body.index(statement) + 1] if statement in body else [statement]

    def _is_in_scope_of_its_own(self, use: ast.AST) -> bool:
        return any(isinstance(each, COMPREHENSIONS) for each in self._tree.ancestors(use))

    def _is_of_another(self, use: ast.Name, tape: Tape) -> bool:
        """Whether a name surely stands for what another `with` before it has recorded."""
        for other in self.all:
            if other.name != tape.name or other.block is tape.block:
                continue
            body, place = self._tree.place(other.block)
            behind = any(self._tree.inside(use, each) for each in body[place + 1 :])
            if self._tree.inside(use, other.block) or behind:
                found = self._bindings.only(use)
                return found is not None and found.value is other.call
        return False

    @cached_property
    def _declared(self) -> frozenset[str]:
        """The names that some function may bind in a scope around it."""
        found = self._tree.all(ast.Global, ast.Nonlocal)
        return frozenset(name for each in found for name in each.names)

    @cached_property
    def _by_block(self) -> dict[ast.AST, list[Tape]]:
        found: dict[ast.AST, list[Tape]] = {}
        for tape in self.all:
            found.setdefault(tape.block, []).append(tape)
        return found

    def _tape(
        self, block: ast.With | ast.AsyncWith, call: ast.Call, target: ast.expr | None
    ) -> Tape:
        told = argument(call, None, "persistent")
        persistent = isinstance(told, ast.Constant) and bool(told.value)
        if not isinstance(target, ast.Name):
            return Tape(block, call, None, persistent, (), (), target is not None)
        asked: list[ast.Call] = []
        watched: list[ast.expr] = []
        escapes = False
        uses = tuple(self._bindings.read_of(target))
        for use in uses:
            method = self._tree.parent(use)
            asked_by = self._tree.parent(method) if isinstance(method, ast.Attribute) else None
            if not (isinstance(method, ast.Attribute) and isinstance(asked_by, ast.Call)):
                escapes = escapes or not self._is_deleted(use)
            elif asked_by.func is not method:
                escapes = True
            elif method.attr in _ASKED:
                asked.append(asked_by)
            elif method.attr == "watch":
                watched += asked_by.args[:1]
        return Tape(block, call, target.id, persistent, tuple(asked), tuple(watched), escapes, uses)

    def _is_deleted(self, use: ast.Name) -> bool:
        return isinstance(self._tree.parent(use), ast.Delete)
