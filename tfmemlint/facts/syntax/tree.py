"""The one walk over a file: parents, statements and the nodes other facts start from."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.annotated import Annotated, as_assignments
from tfmemlint.facts.syntax.nodes import FIELDS, blocks, children
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, TypeVar, overload
    from weakref import ReferenceType

    A = TypeVar("A", bound=ast.AST)
    B = TypeVar("B", bound=ast.AST)
    C = TypeVar("C", bound=ast.AST)

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
MAY_BE_LIST = (ast.Attribute, ast.Call, ast.List, ast.ListComp, ast.Name)
LEAVES = (ast.Break, ast.Raise, ast.Return)
"""Statements that end the loop they stand in."""


class Forest:
    """What is known of the nodes of several files, each in a tree of its own."""

    def __init__(self) -> None:
        self.parents: dict[ast.AST, ast.AST] = {}
        self.places: dict[ast.stmt, tuple[list[ast.stmt], int]] = {}
        self.scopes: dict[ast.AST, ScopeNode] = {}
        self.functions: dict[ScopeNode, FunctionNode | None] = {}
        self.modules: dict[ScopeNode, ast.Module] = {}
        self.facts: dict[ast.Module, ReferenceType[TensorFlow]] = {}
        """The facts of each file, kept elsewhere: see `facts_of`."""

    def facts_of(self, modules: Iterable[ast.Module]) -> tuple[TensorFlow, ...]:
        """What is known of files, to be asked for anew each time.

        If files that import each other kept it, none of the forest would ever be freed.
        """
        found = (self.facts[each]() for each in modules)
        return tuple(each for each in found if each is not None)


class Tree:
    """Every node in source order, by type, with its parent: walked once, without recursion.

    What stands around a node can be asked for nodes of other files of the same forest, too.
    """

    def __init__(self, module: ast.Module, forest: Forest | None = None) -> None:
        self.module = module
        self.forest = forest = forest or Forest()
        self._parents = forest.parents
        self._by_type: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        self._places = forest.places
        self._scopes = forest.scopes
        self._functions = forest.functions
        self._scopes[module] = forest.modules[module] = module
        self._functions[module] = None
        self._own: set[ScopeNode] = {module}
        """Scopes that are known to be of this file: most of what is asked for is."""
        parents, by_type, fields = self._parents, self._by_type, FIELDS
        pending: list[ast.AST] = [module]
        while pending:
            node = pending.pop()
            kind = node.__class__
            by_type[kind].append(node)
            held = node.__dict__
            for name in fields[kind]:
                value: Any = held[name]
                if not value:
                    continue
                if value.__class__ is list:
                    for child in value[::-1]:
                        if child is not None:  # as the keys of `{**d}` are
                            parents[child] = node
                            pending.append(child)
                else:
                    parents[value] = node
                    pending.append(value)
            if kind in _SCOPED:
                self._open_scope(node)
        if ast.AnnAssign in by_type or Annotated in by_type:
            self._annotated()

    if TYPE_CHECKING:

        @overload
        def all(self, kind: type[A], /) -> Iterator[A]: ...
        @overload
        def all(self, kind: type[A], other: type[B], /) -> Iterator[A | B]: ...
        @overload
        def all(self, kind: type[A], other: type[B], third: type[C], /) -> Iterator[A | B | C]: ...

    def all(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        """Every node of exactly these types, each type in source order."""
        return chain.from_iterable(self._by_type.get(kind, ()) for kind in kinds)

    def calls(self, names: Iterable[str]) -> list[ast.Call]:
        """The calls of anything spelled so, `name(x)` or `a.name(x)`, in source order.

        What is called by no name at all, as in `f(x)(y)`, has the name "".
        """
        known = self._called
        found = [each for name in known.keys() & names for each in known[name]]
        return [call for _, call in sorted(found)]

    def methods(self, *names: str) -> Iterator[tuple[ast.Call, ast.Attribute]]:
        """The calls `a.name(x)`, in source order, each with what it calls."""
        for call in self.calls(names):
            if isinstance(call.func, ast.Attribute):
                yield call, call.func

    @cached_property
    def _called(self) -> Mapping[str, list[tuple[int, ast.Call]]]:
        """The calls by the name of what is called, each with its place among all calls."""
        found: dict[str, list[tuple[int, ast.Call]]] = {}
        for place, call in enumerate(self.all(ast.Call)):
            callee = call.func
            if isinstance(callee, ast.Attribute):
                name = callee.attr
            else:
                name = callee.id if isinstance(callee, ast.Name) else ""
            found.setdefault(name, []).append((place, call))
        return found

    @cached_property
    def attributes(self) -> Mapping[str, list[ast.Attribute]]:
        """The attributes by name, in source order."""
        found: dict[str, list[ast.Attribute]] = {}
        for attribute in self.all(ast.Attribute):
            found.setdefault(attribute.attr, []).append(attribute)
        return found

    def _annotated(self) -> None:
        """Take annotated assignments for what they are, wherever they are no fields."""
        by_type, scopes = self._by_type, self._scopes
        declared = [*self.all(ast.AnnAssign)]
        found = as_assignments(declared, self._parents)
        by_type[ast.AnnAssign] = [each for each in declared if each not in found]
        by_type[Annotated] += found.values()
        assigned = [*self.all(ast.Assign, Annotated)]
        assigned.sort(key=lambda each: (each.lineno, each.col_offset))
        by_type[ast.Assign] = [*assigned]
        for each in found.keys() & scopes.keys():
            scopes[found[each]] = scopes.pop(each)

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
        return self._scopes.get(node) or self._find_scope(node)

    def _find_scope(self, node: ast.AST) -> ScopeNode:
        known, parents = self._scopes, self._parents
        passed = [node]
        above = parents.get(node, self.module)
        while above not in known:
            passed.append(above)
            above = parents.get(above, self.module)
        found = known[above]
        for each in passed:
            known[each] = found
        return found

    def elsewhere(self, node: ast.AST) -> TensorFlow | None:
        """The facts of the file that a node stands in, where that is another one."""
        forest = self.forest
        if len(forest.facts) < 2:
            return None
        scopes = self._scopes
        scope = scopes[node] if node in scopes else self._find_scope(node)
        if scope in self._own:
            return None
        module = self._module_of(scope)
        if module is self.module:
            self._own.add(scope)
            return None
        return forest.facts[module]()

    def _module_of(self, scope: ScopeNode) -> ast.Module:
        known = self.forest.modules
        if scope not in known:
            known[scope] = self._module_of(self.scope(self._parents[scope]))
        return known[scope]

    def _open_scope(self, node: ast.AST) -> None:
        """Note what is evaluated inside a node that opens a scope: not all that it holds is."""
        scopes = self._scopes
        if isinstance(node, ast.comprehension):
            around = self._parents[node]
            if isinstance(around, COMPREHENSIONS) and node is around.generators[0]:
                scopes[node.iter] = self.scope(around)
        elif isinstance(node, ast.Lambda):
            scopes[node.body] = node
        elif isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            scopes.update(dict.fromkeys(node.body, node))
        elif isinstance(node, COMPREHENSIONS):
            scopes.update(dict.fromkeys(children(node), node))

    def function(self, node: ast.AST) -> FunctionNode | None:
        """The function whose body holds `node`; None at module and class level."""
        scope = self._scopes.get(node) or self._find_scope(node)
        known = self._functions
        if scope not in known:
            known[scope] = scope if isinstance(scope, FUNCTIONS) else self.function(scope)
        return known[scope]

    def taker(self, parameter: ast.AST) -> FunctionNode:
        """The function that takes a parameter."""
        return next(each for each in self.ancestors(parameter) if isinstance(each, FUNCTIONS))

    def put_into(self, node: ast.AST) -> ast.AST | None:
        """What has a node in it, beyond the literals and the keyword that hold it."""
        above = self.parent(node)
        while isinstance(above, (ast.Dict, ast.List, ast.Tuple, ast.keyword)):
            above = self.parent(above)
        return above

    def is_conditional(self, node: ast.AST) -> bool:
        """Whether a test stands between `node` and its loop or function: `if step is None:`.

        So does an error, where an `except` has it run.
        """
        below = node
        for above in self.ancestors(node):
            if isinstance(above, (ast.If, ast.IfExp)) and below is not above.test:
                return True
            if isinstance(above, (ast.ExceptHandler, ast.match_case)):
                return True
            if isinstance(above, (*FUNCTIONS, *LOOPS)):
                return False
            below = above
        return False

    def tests(self, node: ast.AST, outer: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
        """The tests between `node` and what is around it, and whether it runs where they hold."""
        below, parents = node, self._parents
        while (above := parents.get(below)) is not None and above is not outer:
            if isinstance(above, ast.If):
                if below is not above.test:
                    yield above.test, below in above.body
            elif isinstance(above, ast.IfExp) and below is not above.test:
                yield above.test, below is above.body
            below = above

    def loops(self, node: ast.AST) -> Iterator[LoopNode | ast.comprehension]:
        """The loops that repeat `node` within its own function, innermost first.

        A loop's iterable runs once and its `else` runs once: neither is repeated by it.
        """
        below = node
        for above in self.ancestors(node):
            if above.__class__ not in _ROUNDS_OR_SCOPES:
                pass  # as most are
            elif isinstance(above, LOOPS):
                if below in above.body or (isinstance(above, ast.While) and below is above.test):
                    yield above
            elif isinstance(above, COMPREHENSIONS):
                # A generator is repeated by those before it, the element by all of them.
                outer = above.generators
                if isinstance(below, ast.comprehension):
                    outer = outer[: outer.index(below)]
                yield from reversed(outer)
            else:
                return
            below = above

    def place(self, statement: ast.stmt) -> tuple[list[ast.stmt], int]:
        """The block a statement stands in, and its index there."""
        if statement not in self._places:
            for block in blocks(self._parents[statement]):
                self._places.update((each, (block, i)) for i, each in enumerate(block))
        return self._places[statement]

    def runs_with(self, statement: ast.stmt, earlier: ast.stmt) -> bool:
        """Whether a statement runs once whenever an earlier one has: only `with` is between."""
        outer: ast.AST | None = statement
        while isinstance(outer, ast.stmt) and self.place(outer)[0] is not self.place(earlier)[0]:
            outer = self.parent(outer)
            outer = outer if isinstance(outer, ast.With) else None
        return outer is not None

    def inside(self, node: ast.AST, container: ast.AST) -> bool:
        """Whether `node` is `container` or stands within it."""
        return node is container or any(above is container for above in self.ancestors(node))


def positional(function: FunctionNode) -> list[ast.arg]:
    """What a function can be given by place, in order."""
    return [*function.args.posonlyargs, *function.args.args]


def parameters(function: FunctionNode) -> list[ast.arg]:
    """What a function can be given, by name or place, in order."""
    return [*positional(function), *function.args.kwonlyargs]


_SCOPED = frozenset({*SCOPES, ast.comprehension})
_ROUNDS_OR_SCOPES = frozenset({*LOOPS, *SCOPES})
