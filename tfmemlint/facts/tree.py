"""The one walk over a file: parents, statements and the nodes other facts start from."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TypeVar, cast, overload

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ScopeNode = (
    ast.Module
    | ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.Lambda
    | ast.ClassDef
    | ast.ListComp
    | ast.SetComp
    | ast.DictComp
    | ast.GeneratorExp
)
LoopNode = ast.For | ast.AsyncFor | ast.While

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (ast.Module, *FUNCTIONS, ast.ClassDef, *COMPREHENSIONS)
LOOPS = (ast.For, ast.AsyncFor, ast.While)

A = TypeVar("A", bound=ast.AST)
B = TypeVar("B", bound=ast.AST)
C = TypeVar("C", bound=ast.AST)


class Tree:
    """Every node in source order, by type, with its parent: walked once, without recursion."""

    def __init__(self, module: ast.Module) -> None:
        self.module = module
        self._parents: dict[ast.AST, ast.AST] = {}
        self._by_type: dict[type[ast.AST], list[ast.AST]] = {}
        self._places: dict[ast.stmt, tuple[list[ast.stmt], int]] = {}
        parents, by_type = self._parents, self._by_type
        pending: list[ast.AST] = [module]
        while pending:
            node = pending.pop()
            kind = type(node)
            known = by_type.get(kind)
            if known is None:
                by_type[kind] = [node]
            else:
                known.append(node)
            children: list[ast.AST] = []
            for name in kind._fields:
                value: object = getattr(node, name, None)
                if isinstance(value, list):
                    items = cast("list[object]", value)
                    children += [child for child in items if isinstance(child, ast.AST)]
                elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                    children.append(value)
            for child in children:
                parents[child] = node
            children.reverse()
            pending += children

    @overload
    def all(self, kind: type[A], /) -> Iterator[A]: ...
    @overload
    def all(self, kind: type[A], other: type[B], /) -> Iterator[A | B]: ...
    @overload
    def all(self, kind: type[A], other: type[B], third: type[C], /) -> Iterator[A | B | C]: ...
    def all(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        """Every node of exactly these types, each type in source order."""
        for kind in kinds:
            yield from self._by_type.get(kind, ())

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that holds this one; None for the module."""
        return self._parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around this one, innermost first, up to the module."""
        parents = self._parents
        above = parents.get(node)
        while above is not None:
            yield above
            above = parents.get(above)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that is or holds `node`."""
        while not isinstance(node, ast.stmt):
            node = self._parents[node]
        return node

    def scope(self, node: ast.AST) -> ScopeNode:
        """The scope in which `node` is evaluated.

        Decorators, defaults, annotations and base classes belong to the scope around a definition,
        and so does the first iterable of a comprehension.
        """
        below, iterable_of = node, None
        for above in self.ancestors(node):
            if isinstance(above, SCOPES):
                first_iterable = isinstance(above, COMPREHENSIONS) and (
                    iterable_of is above.generators[0]
                )
                if not first_iterable and _evaluated_inside(below, above):
                    return above
                iterable_of = None
            elif isinstance(above, ast.comprehension) and below is above.iter:
                iterable_of = above
            below = above
        return self.module

    def function(self, node: ast.AST) -> FunctionNode | None:
        """The function whose body holds `node`; None at module and class level."""
        scope = self.scope(node)
        while not isinstance(scope, ast.Module):
            if isinstance(scope, FUNCTIONS):
                return scope
            scope = self.scope(scope)
        return None

    def loops(self, node: ast.AST) -> Iterator[LoopNode | ast.comprehension]:
        """The loops that repeat `node` within its own function, innermost first.

        A loop's iterable runs once and its `else` runs once: neither is repeated by it.
        """
        below = node
        for above in self.ancestors(node):
            if isinstance(above, LOOPS):
                if below in above.body or (isinstance(above, ast.While) and below is above.test):
                    yield above
            elif isinstance(above, COMPREHENSIONS):
                # A generator is repeated by those before it, the element by all of them.
                outer = above.generators
                if isinstance(below, ast.comprehension):
                    outer = outer[: outer.index(below)]
                yield from reversed(outer)
            elif isinstance(above, SCOPES):
                return
            below = above

    def place(self, statement: ast.stmt) -> tuple[list[ast.stmt], int]:
        """The block a statement stands in, and its index there."""
        if statement not in self._places:
            for block in blocks(self._parents[statement]):
                self._places.update((each, (block, i)) for i, each in enumerate(block))
        return self._places[statement]

    def inside(self, node: ast.AST, container: ast.AST) -> bool:
        """Whether `node` is `container` or stands within it."""
        return node is container or any(above is container for above in self.ancestors(node))


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements a compound statement holds."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def within(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Every node of these subtrees, without recursion, in source order."""
    pending = list(nodes)[::-1]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(list(ast.iter_child_nodes(node)))


def _evaluated_inside(below: ast.AST, scope: ast.AST) -> bool:
    if isinstance(scope, ast.Lambda):
        return below is scope.body
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return isinstance(below, ast.stmt)
    return True
