"""Objects: what makes the one that an expression holds, and where else it is held.

Backwards, `Sources` says what makes an object. Forwards, everything it may reach by assignment, by
being put somewhere, handed on or returned is gathered roughly, and asked whether it is the object.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import chain

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.paths import End
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import is_none
from tfmemlint.facts.syntax.targets import targets
from tfmemlint.facts.syntax.tree import FUNCTIONS

_MOST_CARRIERS = 200
_MOST_HOPS = 6


class Objects:
    """Which expressions hold the same object."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._functions = tf.functions
        self._callers = tf.callers
        self._members = tf.members
        self._names = tf.names
        self._sources = tf.sources
        self._reads: dict[str, dict[ast.ClassDef | None, list[ast.Attribute]]] = {}
        self._uses: dict[ast.AST, tuple[ast.expr, ...] | None] = {}

    def made(self, expression: ast.expr, frame: Frame | None = None) -> tuple[End, ...] | None:
        """What may make the object that an expression holds; None where something is out of sight.

        A list that is added to stays the one it was, be it by `+=` or by `xs = xs + [x]`.
        """
        found: dict[End, None] = {}
        pending = [(expression, frame)]
        seen: set[ast.AST] = set()
        for node, inside in pending:
            if node in seen:
                continue
            seen.add(node)
            ends = self._sources.of(node, inside)
            if not ends.complete or len(seen) > _MOST_HOPS:
                return None
            for end in ends.found:
                before = self._before_growing(end)
                if before is None:
                    found[end] = None
                else:
                    pending += ((each, end.frame) for each in before)
        return tuple(found) or None

    def made_once(self, expression: ast.expr) -> End | None:
        """What makes the object that an expression holds, if it is one place alone, or `None`."""
        found = [each for each in self.made(expression) or () if not is_none(each.node)]
        return found[0] if len(found) == 1 else None

    def uses(self, made: ast.AST) -> tuple[ast.expr, ...] | None:
        """Every other place where the object may stand that an expression makes, in source order.

        None where there are too many to tell.
        """
        if made not in self._uses:
            self._uses[made] = self._find_uses(made)
        return self._uses[made]

    def named(self, made: ast.AST) -> tuple[ast.expr, ...]:
        """Where the object stands under the name it is given first, whoever else has it."""
        return tuple(each for each in self._next(made) if self._may_be(each, made))

    def made_for(self, expression: ast.expr) -> End:
        """What makes the object that an expression holds, if for that alone.

        It stands nowhere else, or is what the expression is itself.
        """
        way = self._sources.same(expression)
        if len(way) == 1 or not isinstance(way[-1].node, ast.Call):
            return way[0]
        uses, between = self.uses(way[-1].node), {each.node for each in way}
        alone = uses is not None and all(
            each in between or isinstance(each, (ast.Dict, ast.List, ast.Tuple)) for each in uses
        )
        return way[-1] if alone else way[0]

    def carried(self, held: ast.expr) -> tuple[ast.expr, ...] | None:
        """Where else what an expression holds is surely read; None where there is too much."""
        carriers = self._carriers(held)
        if carriers is None:
            return None
        reads = (each for each in carriers if isinstance(each, _READS) and each is not held)
        same = self._sources.same
        return tuple(each for each in reads if any(end.node is held for end in same(each)))

    def _find_uses(self, made: ast.AST) -> tuple[ast.expr, ...] | None:
        carriers = self._carriers(made)
        if carriers is None:
            return None
        found = [each for each in carriers if each is not made and self._may_be(each, made)]
        return tuple(sorted(found, key=lambda each: (each.lineno, each.col_offset)))

    def _carriers(self, made: ast.AST) -> dict[ast.expr, None] | None:
        """All that may hold what an expression makes, or something that holds it."""
        carriers: dict[ast.expr, None] = {}
        pending = [*self._next(made)]
        for each in pending:
            if each in carriers:
                continue
            if len(carriers) == _MOST_CARRIERS:
                return None
            carriers[each] = None
            pending += self._next(each)
        return carriers

    def _may_be(self, carrier: ast.expr, made: ast.AST) -> bool:
        if isinstance(carrier, ast.BinOp):
            return False  # the longer list: what it is given to is
        if not isinstance(getattr(carrier, "ctx", ast.Load()), ast.Load):
            return False
        ends = self.made(carrier)
        return ends is not None and any(each.node is made for each in ends)

    def _before_growing(self, end: End) -> tuple[ast.expr, ...] | None:
        """What the list was that an end only makes longer; None for other ends."""
        node = end.node
        if end.path:
            return None
        if isinstance(node, ast.BinOp):
            is_list = isinstance(node.op, ast.Add) and isinstance(node.right, ast.List)
            return (node.left,) if is_list else None
        if not isinstance(node, ast.Name):
            return None
        bindings = self._bindings.reaching(node)
        if not any(each.how is How.AUGMENTED for each in bindings):
            return None
        found: list[ast.expr] = []
        for each in bindings:
            if each.how is How.AUGMENTED and isinstance(each.node, ast.expr):
                found.append(each.node)
            elif each.how is How.ASSIGNED and each.value is not None and not each.path:
                found.append(each.value)
            else:
                return None
        return tuple(found)

    # Forwards, one step at a time.

    def _next(self, node: ast.AST) -> Iterator[ast.expr]:
        """Expressions that may hold what this one does, or something that holds it."""
        above = self._tree.parent(node)
        if isinstance(above, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            given = above.targets if isinstance(above, ast.Assign) else [above.target]
            for target in given if above.value is node else ():
                yield from self._given_to(target)
            if isinstance(above, ast.NamedExpr):
                yield above
        elif isinstance(above, (ast.For, ast.AsyncFor, ast.comprehension)):
            if above.iter is node:
                yield from self._given_to(above.target)
        elif isinstance(above, ast.withitem) and above.optional_vars is not None:
            yield from self._given_to(above.optional_vars)
        elif isinstance(above, (ast.Return, ast.Yield)):
            function = self._tree.function(above)
            if isinstance(function, FUNCTIONS):
                yield from self._callers.calls_of(function)
        elif isinstance(above, ast.Attribute):
            called = self._tree.parent(above)
            is_called = isinstance(called, ast.Call) and called.func is above
            yield called if is_called and isinstance(called, ast.Call) else above
        elif isinstance(above, ast.keyword):
            call = self._tree.parent(above)
            if isinstance(call, ast.Call):
                yield from self._handed(node, call, above.arg)
        elif isinstance(above, ast.Call):
            yield from self._handed(node, above, None)
        elif isinstance(above, _CARRIES) and not isinstance(above, ast.stmt):
            yield above

    def _given_to(self, target: ast.expr) -> Iterator[ast.expr]:
        for name, _ in targets(target, ast.Name):
            yield from self._bindings.read_of(name)
        for attribute, _ in targets(target, ast.Attribute):
            yield from self._read_as(attribute.attr, attribute.value)
        for item, _ in targets(target, ast.Subscript):
            yield from self._holding(item.value)

    def _read_as(self, name: str, holder: ast.expr | None = None) -> Iterator[ast.expr]:
        """Where attributes of a name are read: those of `holder` or, without one, of anything."""
        known = self._attributes_read(name)
        owner = self._members.receiver_named(holder) if holder is not None else None
        if owner is None:
            yield from chain.from_iterable(known.values())
            return
        related = (*self._functions.lineage(owner), *self._functions.heirs(owner))
        for each in dict.fromkeys((*related, None)):
            yield from known.get(each, ())

    def _attributes_read(self, name: str) -> Mapping[ast.ClassDef | None, list[ast.Attribute]]:
        """Where attributes of a name are read, those of `self` by its class."""
        if name not in self._reads:
            found = self._reads[name] = {}
            for each in self._tree.attributes.get(name, ()):
                if isinstance(each.ctx, ast.Load):
                    owner = self._members.receiver_named(each.value)
                    found.setdefault(owner, []).append(each)
        return self._reads[name]

    def _holding(self, holder: ast.expr) -> Iterator[ast.expr]:
        """Where what an expression holds is held, too: by whoever hands it over, above all."""
        pending, seen = [holder], set[Binding]()
        for each in pending:
            while isinstance(each, ast.Subscript):
                each = each.value
            if isinstance(each, ast.Attribute):
                yield from self._read_as(each.attr, each.value)
            for binding in self._bindings.reaching(each) if isinstance(each, ast.Name) else ():
                if binding in seen:
                    continue
                seen.add(binding)
                yield from self._bindings.readers(binding)
                if binding.how is How.PARAMETER:  # what is put into it is put into what is given
                    given = self._callers.given_for(binding)
                    pending += [one for one in given if isinstance(one, (ast.Name, ast.Attribute))]

    def _handed(self, node: ast.AST, call: ast.Call, name: str | None) -> Iterator[ast.expr]:
        definition = self._functions.definition(call.func)
        function = definition
        if isinstance(definition, ast.ClassDef):
            function = self._functions.method(definition, "__init__")
            if function is None:  # a field
                for field in definition.body:
                    if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                        yield from self._read_as(field.target.id)
        if isinstance(function, FUNCTIONS):
            taken = self._callers.taken_as(node, call, function)
            yield from self._bindings.readers(taken) if taken is not None else ()
        if definition is not None:
            return
        yield call
        if name is not None:
            yield from self._read_as(name)
        # A function of a library keeps nothing in the module that it comes from.
        if isinstance(call.func, ast.Attribute) and self._names.qualified(call.func) is None:
            yield from self._holding(call.func.value)


_READS = (ast.Attribute, ast.Name, ast.Subscript)
_CARRIES = (
    ast.Await,
    ast.BinOp,
    ast.BoolOp,
    ast.Dict,
    ast.DictComp,
    ast.GeneratorExp,
    ast.IfExp,
    ast.List,
    ast.ListComp,
    ast.Set,
    ast.SetComp,
    ast.Starred,
    ast.Subscript,
    ast.Tuple,
)
