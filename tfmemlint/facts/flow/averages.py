"""Averages of all that arrays hold: one number of NumPy, as wide as they make it."""

from __future__ import annotations

import ast

from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.sizes import ValueOf
from tfmemlint.facts.library.kinds import Kind, Value
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.library.promotion import quotient

_AVERAGES = frozenset({"mean", "median", "nanmean", "nanstd", "std", "var"})


def average(name: str | None, call: ast.Call, frame: Frame | None, value: ValueOf) -> Value | None:
    """What `np.mean(x)` or `x.std()` gives, if it is that of all of an array."""
    module, _, last = (name or "").rpartition(".")
    method = call.func if isinstance(call.func, ast.Attribute) and name is None else None
    if (method.attr if method is not None else last) not in _AVERAGES or call.keywords:
        return None
    if method is None and (module != "numpy" or len(call.args) != 1):
        return None
    averaged = argument(call, 0, "a") if method is None else method.value
    whole = value(averaged, frame) if averaged and not (method and call.args) else None
    if whole is None or whole.kind is not Kind.ARRAY:
        return None
    return Value(Kind.ARRAY, dtype=quotient(whole.dtype), shape=(), origin=call)
