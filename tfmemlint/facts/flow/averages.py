"""Averages of all that arrays hold: one number of NumPy, as wide as they make it."""

from __future__ import annotations

import ast

from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.sizes import ValueOf
from tfmemlint.facts.library.kinds import Kind, Value
from tfmemlint.facts.library.promotion import quotient
from tfmemlint.facts.syntax.names import Names

_AVERAGES = frozenset({"mean", "median", "nanmean", "nanstd", "std", "var"})


def averaged(names: Names, node: ast.AST | None) -> ast.expr | None:
    """The array of which `np.mean(x)` or `x.std()` is the average, if that is of all of it."""
    match node:
        case ast.Call(func=ast.Attribute(value=whole, attr=method), args=[], keywords=[]):
            return whole if method in _AVERAGES and names.qualified(node.func) is None else None
        case ast.Call(args=[whole], keywords=[]):
            module, _, last = (names.qualified(node.func) or "").rpartition(".")
            return whole if module == "numpy" and last in _AVERAGES else None
        case _:
            return None


def average(names: Names, call: ast.Call, frame: Frame | None, value: ValueOf) -> Value | None:
    """The number such a call gives."""
    of = averaged(names, call)
    whole = value(of, frame) if of is not None else None
    if whole is None or whole.kind is not Kind.ARRAY:
        return None
    return Value(Kind.ARRAY, dtype=quotient(whole.dtype), shape=(), origin=call)
