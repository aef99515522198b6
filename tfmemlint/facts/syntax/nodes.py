"""What nodes are by themselves, wherever they stand."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, TypeVar

    A = TypeVar("A", bound=ast.AST)


def is_remainder(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)


def is_quotient(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)


def is_negated(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


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
        pending += children(node)[::-1]


def nodes_of(kind: type[A], *nodes: ast.AST) -> Iterator[A]:
    """The nodes of a type in these subtrees, in source order."""
    return (each for each in within(nodes) if isinstance(each, kind))


def holds(kind: type[ast.AST] | tuple[type[ast.AST], ...], *nodes: ast.AST) -> bool:
    """Whether any node of these subtrees is of a type."""
    return any(isinstance(each, kind) for each in within(nodes))


def names_in(*nodes: ast.AST) -> set[str]:
    """The names that code mentions."""
    return {each.id for each in nodes_of(ast.Name, *nodes)}


def stored_in(*nodes: ast.AST) -> set[str]:
    """The names that code gives values."""
    return {each.id for each in nodes_of(ast.Name, *nodes) if isinstance(each.ctx, ast.Store)}


def called(node: ast.AST | None) -> str:
    """The bare name that a call calls, as `open` or `map`; empty for all else."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def is_none(node: ast.AST | None) -> bool:
    """Whether a node is the literal `None`."""
    return is_literal(node, None)


def is_literal(node: ast.AST | None, value: object) -> bool:
    """Whether a node is this literal: `None`, `True`, `False` or `...`."""
    return isinstance(node, ast.Constant) and node.value is value


def is_empty(value: ast.expr | None) -> bool:
    """Whether an expression makes a list with nothing in it."""
    if isinstance(value, ast.List):
        return not value.elts
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id == "list" and not value.args
    return False


def root(node: ast.AST) -> ast.AST:
    """What an expression is an attribute or element of, be it over several steps; or itself."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node


def root_name(node: ast.AST) -> str:
    """The name that an expression is, or is an attribute or element of; empty if there is none."""
    node = root(node)
    return node.id if isinstance(node, ast.Name) else ""


def same_code(one: ast.AST, other: ast.AST) -> bool:
    """Whether two nodes are the same but for where they stand."""
    # `ast.dump` would do, but leaves cycles behind, and spells out what differs at once.
    pending: list[tuple[Any, Any]] = [(one, other)]
    while pending:
        left, right = pending.pop()
        if left.__class__ is not right.__class__:
            return False
        if isinstance(left, ast.AST):
            pending += [
                (getattr(left, each, None), getattr(right, each, None)) for each in left._fields
            ]
        elif left.__class__ is list:
            if len(left) != len(right):
                return False
            pending += zip(left, right, strict=True)
        elif repr(left) != repr(right):
            return False
    return True


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, in source order: all but operators and contexts."""
    found: list[ast.AST] = []
    for name in reversed(FIELDS[node.__class__]):
        value: Any = getattr(node, name, None)
        if value.__class__ is list:
            found += [each for each in value if each is not None]
        elif value is not None:
            found.append(value)
    return found


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a type that may hold nodes, the last one first: what a stack wants."""
    if issubclass(kind, _LEAVES):
        return ()
    named = ("name",) if kind.__name__ == "TypeAlias" else ()  # of the others it is a string
    return tuple(
        name for name in reversed(kind._fields) if name not in _HOLD_NO_NODE or name in named
    )


_LEAVES = (ast.Constant, ast.Global, ast.MatchSingleton, ast.Name, ast.Nonlocal, ast.alias)
_HOLD_NO_NODE = frozenset(
    (
        "arg",
        "attr",
        "conversion",
        "ctx",
        "is_async",
        "kwd_attrs",
        "level",
        "module",
        "name",
        "op",
        "ops",
        "rest",
        "simple",
        "str",
        "type_comment",
        "type_ignores",
    )
)
FIELDS = {
    kind: _fields(kind)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
