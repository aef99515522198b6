"""Numbers that are written down, and Python's arithmetic with them."""

from __future__ import annotations

import ast
from collections.abc import Callable

_MOST = 2.0**63
_LARGEST_EXPONENT = 64


def _power(left: float, right: float) -> float:
    """Of numbers that count something: what is larger would take long, and counts nothing."""
    if abs(right) > _LARGEST_EXPONENT or abs(left) > _MOST or (left < 0 and right % 1):
        raise OverflowError
    made: float = left**right
    return made


ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Div: lambda left, right: left / right,
    ast.Mod: lambda left, right: left % right,
    ast.Pow: _power,
    ast.LShift: lambda left, right: left * _power(2, right),
}


def constant(node: ast.expr) -> int | float | None:
    """The number a literal is."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = constant(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return None if isinstance(node.value, bool) or not is_amount(node.value) else node.value
    return None


def calculated(
    operation: Callable[[float, float], float], left: float, right: float
) -> int | float | None:
    """What two numbers make; None where that is no number of anything."""
    try:
        made = operation(left, right)
    except (ArithmeticError, ValueError):
        return None
    return made if is_amount(made) else None


def is_amount(number: float) -> bool:
    """Whether there can be so many of anything: infinity, and what is no number, are none."""
    return abs(number) < _MOST


def as_count(number: float | None) -> int | None:
    """A number as a number of things; None where it is not known, or none."""
    return int(number) if number is not None and is_amount(number) else None
