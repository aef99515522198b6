"""What amounts are called: by the code that gives them, where that is short."""

from __future__ import annotations

import ast

from tfmemlint.facts.sizes.amounts import UNKNOWN, Amount, named

_LONGEST = 40
"""Characters of an expression that can stand for itself in a product."""


def spoken(node: ast.expr) -> Amount:
    """A number that is known by its code alone."""
    text = ast.unparse(node)
    return named(text) if len(text) <= _LONGEST else UNKNOWN


def length_of(node: ast.expr) -> Amount:
    """A length that is known by its code alone."""
    text = f"len({ast.unparse(node)})"
    return named(text) if len(text) <= _LONGEST else UNKNOWN


def short(call: ast.Call) -> str:
    """A call, or the beginning of a long one."""
    text = ast.unparse(call)
    return text if len(text) <= _LONGEST else f"{ast.unparse(call.func)}(...)"[:_LONGEST]
