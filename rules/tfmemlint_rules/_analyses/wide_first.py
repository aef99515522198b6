"""Arrays that are made eight bytes wide, to be cast: `np.ones(shape).astype("float32")`."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import DIMENSIONS_AS_ARGUMENTS, DTYPE_BYTES, argument
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts.flow.frames import Frame

_FILLS = frozenset({"numpy.full", "numpy.ones"})
"""What takes a dtype, and gives the same with it; `zeros` takes no memory before it is written."""
_DRAWS = {
    "numpy.random.normal": ("standard_normal", (0, 1)),
    "numpy.random.rand": ("random", ()),
    "numpy.random.randn": ("standard_normal", ()),
    "numpy.random.random": ("random", ()),
    "numpy.random.random_sample": ("random", ()),
    "numpy.random.standard_normal": ("standard_normal", ()),
    "numpy.random.uniform": ("random", (0, 1)),
}
"""What draws float64 alone, by the name it has in a generator, and what it may be told before."""
_TAKES_FLOAT32 = frozenset({"random", "standard_normal"})
_GENERATOR = frozenset({"numpy.random.default_rng"})
_HOLDS = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint8": (0, 2**8 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
}
_FLOATS = frozenset({"float16", "half", "float32", "single"})
_MOST = 2048
"""What no type of floating-point numbers rounds, if it is whole."""
_MAKERS = _FILLS | frozenset(_DRAWS)


class WideFirst(NamedTuple):
    """One array that is made twice as wide as it is used, or wider."""

    cast: ast.Call
    """`….astype(np.float32)`."""
    made: ast.Call
    """What makes the wide array, there or before: it goes nowhere but to the cast."""
    dtype: ast.expr
    """What it is cast to, as it is written."""
    nbytes: int
    """What the wide array takes."""
    draws: str | None
    """What a generator calls it; None for what draws no numbers."""
    told: bool
    """Whether the call that makes the array takes a dtype itself."""
    shape: tuple[ast.expr, ...]
    """What it is told of the shape, if by several arguments or by one."""
    exact: bool
    """Whether the call surely makes the same numbers of another dtype."""
    several: bool
    """Whether each argument is one dimension, as of `np.random.rand`."""


class WidesFirst:
    """Such arrays in a file, those of known size."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._values = tf.values
        self._flow = tf.flow
        self._objects = tf.objects
        self._sources = tf.sources

    @cached_property
    def all(self) -> tuple[WideFirst, ...]:
        """Every one, in source order."""
        found = (self._of(call, method.value) for call, method in self._tree.methods("astype"))
        return tuple(each for each in found if each is not None)

    def _of(self, cast: ast.Call, wide: ast.expr) -> WideFirst | None:
        dtype = argument(cast, 0, "dtype")
        if dtype is None or len(cast.args + cast.keywords) != 1:
            return None
        made, _, frame = self._sources.same(wide)[-1]
        if not isinstance(made, ast.Call):
            return None
        name = self._names.one_of(made.func, _MAKERS)
        method = made.func.attr if isinstance(made.func, ast.Attribute) else ""
        generated = (
            name is None and method in _TAKES_FLOAT32 and self._is_generator(made.func, frame)
        )
        to = self._values.dtype(dtype)
        if not (name or generated) or DTYPE_BYTES.get(to or "", 8) >= 8:
            return None
        value = self._values.of(made, frame)
        if value.kind is not Kind.ARRAY or value.nbytes is None:
            return None
        if DTYPE_BYTES.get(value.dtype or "") != 8 or made is not self._objects.made_for(wide).node:
            return None
        if made is not wide:
            return WideFirst(cast, made, dtype, value.nbytes, method, False, (), False, False)
        if name in _FILLS:
            plain = len(made.args) == (1 if name == "numpy.ones" else 2) and not made.keywords
            exact = name == "numpy.ones" or (plain and _is_held(made.args[1], to or ""))
            return WideFirst(cast, made, dtype, value.nbytes, None, plain, (), exact, False)
        if to not in ("float32", "single"):
            return WideFirst(cast, made, dtype, value.nbytes, method, False, (), False, False)
        if name is None:
            plain = argument(made, 1, "dtype") is None and argument(made, 2, "out") is None
            return WideFirst(cast, made, dtype, value.nbytes, method, plain, (), False, False)
        instead, defaults = _DRAWS[name]
        several = name in DIMENSIONS_AS_ARGUMENTS
        shape = self._shape(made, defaults, several=several)
        return WideFirst(cast, made, dtype, value.nbytes, instead, False, shape, False, several)

    def _shape(
        self, made: ast.Call, defaults: tuple[int, ...], *, several: bool
    ) -> tuple[ast.expr, ...]:
        """What tells the shape; nothing where other things than the usual are told, too."""
        if several:
            return () if made.keywords else tuple(made.args)
        given = made.args[: len(defaults)]
        numbers = tuple(self._values.number(each) for each in given)
        others = [each for each in made.keywords if each.arg != "size"]
        if numbers != defaults[: len(given)] or others:
            return ()
        size = argument(made, len(defaults), "size")
        return () if size is None else (size,)

    def _is_generator(self, function: ast.expr, frame: Frame | None) -> bool:
        """Whether a method is that of a generator that `default_rng` made."""
        owner = function.value if isinstance(function, ast.Attribute) else None
        if owner is None:
            return False
        origins = self._flow.origins(owner, frame) or ()
        made = [owner] if isinstance(owner, ast.Call) else [each.value for each in origins]
        return bool(made) and all(self._names.call_of(each, _GENERATOR) for each in made)


def _is_held(filled: ast.expr, dtype: str) -> bool:
    """Whether a dtype takes a number, as it is written, for the same that a cast makes of it."""
    negative = isinstance(filled, ast.UnaryOp) and isinstance(filled.op, ast.USub)
    node = filled.operand if negative and isinstance(filled, ast.UnaryOp) else filled
    number = node.value if isinstance(node, ast.Constant) else None
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return False
    if dtype in _FLOATS:
        return number <= _MOST
    low, high = _HOLDS.get(dtype, (0, -1))
    return isinstance(number, int) and low <= (-number if negative else number) <= high
