"""Where names get their values: the bindings of each scope, and which of them reach a use."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import chain

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.nodes import names_in, same_code
from tfmemlint.facts.syntax.reaching import Reaching
from tfmemlint.facts.syntax.targets import element, targets
from tfmemlint.facts.syntax.tree import COMPREHENSIONS, FUNCTIONS, ScopeNode, Tree
from tfmemlint.light_typing import NamedTuple


class How(Enum):
    """The ways Python binds a name."""

    ASSIGNED = "assigned"
    AUGMENTED = "augmented"
    LOOPED = "looped over"
    ENTERED = "entered by with"
    IMPORTED = "imported"
    DEFINED = "defined"
    PARAMETER = "parameter"
    OTHER = "other"

    __hash__ = object.__hash__  # that of Enum takes a call of Python for each binding looked up


class Binding(NamedTuple):
    """One place where a name gets a value."""

    name: str
    how: How
    node: ast.AST
    """The target, alias, parameter or definition itself."""
    value: ast.expr | None = None
    """What is assigned, iterated or entered, before any unpacking."""
    path: tuple[int, ...] = ()
    """Which element of `value` the name gets: `a` in `b, (c, a) = value` gets (1, 1)."""

    @property
    def is_whole(self) -> bool:
        """Whether the name is assigned the value as it stands."""
        return self.how is How.ASSIGNED and not self.path


_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError"})


class Bindings:
    """Every binding of a file, and the ones that may give a use its value."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._ways = Reaching(tf.tree)
        self._named: defaultdict[str, list[Binding]] = defaultdict(list)
        self._scoped: dict[str, dict[ScopeNode, list[Binding]]] = {}
        self._homes: dict[tuple[ScopeNode, str], ScopeNode | None] = {}
        self._reaching: dict[ast.AST, tuple[Binding, ...]] = {}
        self._holders: dict[tuple[ScopeNode, str], dict[ast.AST, list[Binding]]] = {}
        self._readers: dict[tuple[ScopeNode, str], dict[Binding, list[ast.Name]]] = {}
        self._read: dict[str, list[ast.Name]] | None = None
        self._loads: dict[str, dict[ScopeNode | None, list[ast.Name]]] = {}
        elsewhere: dict[tuple[ScopeNode, str], ScopeNode] = {}
        for declaration in tf.tree.all(ast.Global, ast.Nonlocal):
            scope = tf.tree.scope(declaration)
            home = tf.tree.module if isinstance(declaration, ast.Global) else tf.tree.scope(scope)
            elsewhere.update({(scope, name): home for name in declaration.names})
        self._elsewhere = elsewhere
        for binding in _all_bindings(tf.tree):
            self._named[binding.name].append(binding)

    def named(self, name: str) -> tuple[Binding, ...]:
        """Every binding of a name in the file, whatever its scope."""
        return tuple(self._named.get(name, ()))

    def of(self, scope: ScopeNode, name: str) -> tuple[Binding, ...]:
        """Every binding of a name in one scope, in source order."""
        elsewhere = self._tree.elsewhere(scope)
        if elsewhere is not None:
            return elsewhere.bindings.of(scope, name)
        return tuple(self._scopes(name).get(scope, ()))

    def at_end(self, name: str) -> tuple[Binding, ...]:
        """The bindings that may give a name of the module its value once that has run."""
        home = self._tree.module
        if home not in self._scopes(name):
            return ()
        holders = self._holding(home, name)
        found, _ = self._ways.by(home.body, len(home.body), holders)
        return (*found, *(each for each in holders.get(home, ()) if each not in found))

    @property
    def all(self) -> Iterator[Binding]:
        """Every binding of the file."""
        return chain.from_iterable(self._named.values())

    def names(self, scope: ScopeNode) -> frozenset[str]:
        """The names a scope binds."""
        return frozenset(name for name in self._named if scope in self._scopes(name))

    def is_own(self, name: ast.Name, code: Iterable[ast.AST]) -> bool:
        """Whether a name is bound within functions themselves: made anew with each call."""
        home = self.home(name.id, name)
        return home is not None and any(self._tree.inside(home, each) for each in code)

    def home(self, name: str, at: ast.AST) -> ScopeNode | None:
        """The scope whose binding of `name` is seen from `at`; None for the unknown."""
        elsewhere = self._tree.elsewhere(at)
        if elsewhere is not None:
            return elsewhere.bindings.home(name, at)
        if not self._elsewhere and name not in self._named:
            return None
        scope = self._tree.scope(at)
        key = (scope, name)
        if key not in self._homes:
            self._homes[key] = self._home(name, scope)
        return self._homes[key]

    def _home(self, name: str, scope: ScopeNode) -> ScopeNode | None:
        tree = self._tree
        scopes = self._scopes(name)
        first = True
        while True:
            if (scope, name) in self._elsewhere:
                return self._elsewhere[scope, name]
            seen = first or not isinstance(scope, ast.ClassDef)
            if seen and scope in scopes:
                return scope
            if isinstance(scope, ast.Module):
                return None
            first = first and isinstance(scope, COMPREHENSIONS)
            scope = tree.scope(scope)

    def reaching(self, use: ast.Name) -> tuple[Binding, ...]:
        """The bindings that may give this use its value, nearest first."""
        found = self._reaching.get(use)
        if found is None:
            elsewhere = self._tree.elsewhere(use)
            found = elsewhere.bindings.reaching(use) if elsewhere else self._reached(use)
            self._reaching[use] = found
        return found

    def _reached(self, use: ast.Name) -> tuple[Binding, ...]:
        home = self.home(use.id, use)
        return () if home is None else tuple(self._reach(use, use.id, home))

    def only(self, use: ast.AST | None) -> Binding | None:
        """The one binding that gives a name its value there, if it is a name and has just one."""
        found = self.reaching(use) if isinstance(use, ast.Name) else ()
        return found[0] if len(found) == 1 else None

    def sharing(self, name: ast.AST | None) -> tuple[Binding, ...]:
        """Every binding of the variable that a name means; none of what is no name."""
        home = self.home(name.id, name) if isinstance(name, ast.Name) else None
        return self.of(home, name.id) if home is not None and isinstance(name, ast.Name) else ()

    def at(self, target: ast.AST) -> Binding | None:
        """The binding by which a target gets a value, if it is a name."""
        return next((each for each in self.sharing(target) if each.node is target), None)

    def read_of(self, target: ast.AST) -> list[ast.Name]:
        """Where the value is read that a target gets, if it is a name."""
        binding = self.at(target)
        return self.readers(binding) if binding is not None else []

    def assigned(self, name: ast.expr | None) -> ast.expr | None:
        """What a name is assigned, if that alone gives it a value here, and is not taken apart."""
        binding = self.only(name)
        return binding.value if binding is not None and binding.is_whole else None

    def same(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether two expressions are spelled alike and every name in them is bound alike."""
        if not same_code(one, other):
            return False
        pairs = zip(ast.walk(one), ast.walk(other), strict=True)
        return all(
            self.reaching(left) == self.reaching(right)
            for left, right in pairs
            if isinstance(left, ast.Name) and isinstance(right, ast.Name)
        )

    def loads(self, scope: ScopeNode, name: str) -> list[ast.Name]:
        """Every read of the name as bound in this scope, from nested functions too."""
        elsewhere = self._tree.elsewhere(scope)
        if elsewhere is not None:
            return elsewhere.bindings.loads(scope, name)
        if self._read is None:
            self._read = {}
            for use in self._tree.all(ast.Name):
                if isinstance(use.ctx, ast.Load):
                    self._read.setdefault(use.id, []).append(use)
        if name not in self._loads:
            found = self._loads[name] = {}
            for use in self._read.get(name, ()):
                found.setdefault(self.home(name, use), []).append(use)
        return self._loads[name].get(scope, [])

    def readers(self, binding: Binding) -> list[ast.Name]:
        """The uses this binding may give their value."""
        elsewhere = self._tree.elsewhere(binding.node)
        if elsewhere is not None:
            return elsewhere.bindings.readers(binding)
        scope = self._scope_bound_in(binding.node)
        scope = self._elsewhere.get((scope, binding.name), scope)
        key = (scope, binding.name)
        if key not in self._readers:
            self._readers[key] = {}
            for use in self.loads(scope, binding.name):
                for each in dict.fromkeys(self.reaching(use)):
                    self._readers[key].setdefault(each, []).append(use)
        return self._readers[key].get(binding, [])

    def _scopes(self, name: str) -> dict[ScopeNode, list[Binding]]:
        """The scopes that bind a name, each with its bindings: of most names nobody asks."""
        if name not in self._scoped:
            found: dict[ScopeNode, list[Binding]] = {}
            for binding in self._named.get(name, ()):
                scope = self._scope_bound_in(binding.node)
                found.setdefault(self._elsewhere.get((scope, name), scope), []).append(binding)
            self._scoped[name] = found
        return self._scoped[name]

    def _scope_bound_in(self, node: ast.AST) -> ScopeNode:
        tree = self._tree
        if isinstance(node, ast.arg):
            function = tree.parent(tree.parent(node) or node)
            assert isinstance(function, FUNCTIONS)
            return function
        scope = tree.scope(node)
        if isinstance(scope, COMPREHENSIONS) and isinstance(tree.parent(node), ast.NamedExpr):
            while isinstance(scope, COMPREHENSIONS):  # := binds outside comprehensions
                scope = tree.scope(scope)
        return scope

    def _reach(self, use: ast.AST, name: str, home: ScopeNode) -> list[Binding]:
        bindings = self._scopes(name).get(home, [])
        if len(bindings) == 1 or isinstance(home, (ast.Lambda, *COMPREHENSIONS)):
            return list(bindings)
        tree = self._tree
        holders = self._holding(home, name)
        strangers = holders.get(tree.module, [])
        scope, at = tree.scope(use), use
        deferred = False
        while scope is not home:
            deferred = deferred or isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef))
            at, scope = scope, tree.scope(scope)
        if deferred or isinstance(home, ast.ClassDef):
            body = home.body
            found, sure = self._ways.by(body, len(body), holders)
        else:
            found, sure = self._ways.before(at, home, holders)
        if not sure:
            found += [each for each in bindings if each.how is How.PARAMETER]
        found += [each for each in strangers if each not in found]
        return found

    def _holding(self, home: ScopeNode, name: str) -> dict[ast.AST, list[Binding]]:
        """For each statement of `home` that holds bindings of `name`, those bindings.

        Bindings made from inside another function (`global name`) are kept under the module:
        they may reach any use.
        """
        key = (home, name)
        if key not in self._holders:
            holders: dict[ast.AST, list[Binding]] = {}
            for binding in self._scopes(name)[home]:
                trail: list[ast.AST] = [binding.node]
                for above in self._tree.ancestors(binding.node):
                    if above is home:
                        break
                    trail.append(above)
                defined_here = binding.how is How.DEFINED
                if any(isinstance(each, FUNCTIONS) for each in trail[1 if defined_here else 0 :]):
                    trail = [self._tree.module]
                for each in trail:
                    holders.setdefault(each, []).append(binding)
            self._holders[key] = holders
        return self._holders[key]


def _all_bindings(tree: Tree) -> Iterator[Binding]:
    for statement in tree.all(ast.Import, ast.ImportFrom):
        for alias in statement.names:
            name = alias.asname or alias.name.partition(".")[0]
            yield Binding(name, How.IMPORTED, alias)
    for assignment in tree.all(ast.Assign):
        missing = _missing(assignment, tree)
        for target in assignment.targets:
            if isinstance(target, ast.Name):
                if target.id in missing:
                    continue
                yield Binding(target.id, How.ASSIGNED, target, assignment.value)
            else:
                yield from _bind(target, How.ASSIGNED, assignment.value)
    for field in tree.all(ast.AnnAssign):
        if field.value is not None:
            yield from _bind(field.target, How.ASSIGNED, field.value)
    for walrus in tree.all(ast.NamedExpr):
        yield from _bind(walrus.target, How.ASSIGNED, walrus.value)
    for augmented in tree.all(ast.AugAssign):
        yield from _bind(augmented.target, How.AUGMENTED, augmented.value)
    for loop in tree.all(ast.For, ast.AsyncFor, ast.comprehension):
        yield from _bind(loop.target, How.LOOPED, loop.iter)
    for item in tree.all(ast.withitem):
        if item.optional_vars is not None:
            yield from _bind(item.optional_vars, How.ENTERED, item.context_expr)
    for definition in tree.all(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
        yield Binding(definition.name, How.DEFINED, definition)
    for parameter in tree.all(ast.arg):
        yield Binding(parameter.arg, How.PARAMETER, parameter)
    for pattern in tree.all(ast.ExceptHandler, ast.MatchAs, ast.MatchStar):
        if pattern.name is not None:
            yield Binding(pattern.name, How.OTHER, pattern)
    for mapping in tree.all(ast.MatchMapping):
        if mapping.rest is not None:
            yield Binding(mapping.rest, How.OTHER, mapping)


def _missing(assignment: ast.Assign, tree: Tree) -> frozenset[str]:
    """The names that get None where their import fails: code that uses them runs elsewhere."""
    value = assignment.value
    handler = tree.parent(assignment)
    if not isinstance(value, ast.Constant) or value.value is not None:
        return frozenset()
    if not isinstance(handler, ast.ExceptHandler) or handler.type is None:
        return frozenset()
    caught = names_in(handler.type)
    tried = tree.parent(handler)
    if caught.isdisjoint(_IMPORT_ERRORS) or not isinstance(tried, ast.Try):
        return frozenset()
    imports = [each for each in tried.body if isinstance(each, (ast.Import, ast.ImportFrom))]
    aliases = (alias for each in imports for alias in each.names)
    return frozenset(each.asname or each.name.partition(".")[0] for each in aliases)


def _bind(target: ast.expr, how: How, value: ast.expr) -> Iterator[Binding]:
    for name, path in targets(target, ast.Name):
        found, rest = element(value, path) if how is How.ASSIGNED else (value, path)
        yield Binding(name.id, how, name, found, rest)
