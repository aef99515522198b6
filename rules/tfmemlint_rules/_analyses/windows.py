"""Lists of the windows of a series, each a step or a few behind the one before."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.loops import Growth, Loop
from tfmemlint.facts.syntax.bodies import default
from tfmemlint.facts.syntax.nodes import names_in, stored_in
from tfmemlint.light_typing import NamedTuple

_MAX_HOPS = 8
_MAX_STEPS = 24
"""Statements that prepare a table, one after another."""
_READS_A_TABLE = (
    *("numpy.genfromtxt", "numpy.loadtxt", "pandas.read_", "pandas_datareader.", "tushare."),
    "yfinance.",
)
_SCALES = frozenset({"concat", "fit_transform", "inverse_transform", "transform"})
"""Methods that give back what they are given, in other units."""


class Windows(NamedTuple):
    """`series[i : i + width]`, or `series[i - width : i]`, for each `i` of a range."""

    part: ast.Subscript
    """One window."""
    series: ast.expr
    width: ast.expr
    other_axes: list[ast.expr]
    """What is taken of the axes behind the first: the 0 of `series[i : i + width, 0]`."""
    begins_at: bool
    """Whether windows begin at `i`, not end there."""
    bounds: list[ast.expr]
    """What the range is given."""
    growth: Growth | None
    """How a loop fills the list; None where a comprehension makes it."""


_HOLDS = (ast.Attribute, ast.Call, ast.ListComp, ast.Name, ast.Subscript)


class WindowLists:
    """The lists of windows in a module."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._bindings = tf.bindings
        self._flow = tf.flow
        self._loops = tf.loops
        self._growths = tf.growths
        self._values = tf.values

    def of(self, listed: ast.expr, hops: int = _MAX_HOPS) -> Windows | None:
        """The windows that a list holds, if it holds nothing else."""
        if isinstance(listed, ast.ListComp):
            plain = len(listed.generators) == 1 and not listed.generators[0].ifs
            loop = self._loops.loop(listed.generators[0])
            return self._taken(listed.elt, loop, None) if plain else None
        binding = self._bindings.only(listed)
        if not hops:
            return None
        if binding is None or binding.value is None or binding.path:
            return self._of_elsewhere(listed, hops)
        grown = self._loops.growths_of(binding)
        if not grown:
            return self.of(binding.value, hops - 1)
        growth = grown[0]
        if len(grown) > 1 or len(growth.elements) != 1 or len(growth.loops) != 1:
            return None
        return self._taken(growth.elements[0], growth.loops[0], growth)

    def _of_elsewhere(self, listed: ast.expr, hops: int) -> Windows | None:
        """The same of a list in an attribute, an entry or another name."""
        before = self._flow.meant(listed)
        if isinstance(before, _HOLDS) and before is not listed:
            return self.of(before, hops - 1)
        grown = self._growths.of(listed)
        if len(grown) != 1 or len(grown[0].elements) != 1 or len(grown[0].loops) != 1:
            return None
        return self._taken(grown[0].elements[0], grown[0].loops[0], None)

    def _taken(
        self, element: ast.expr, loop: Loop, growth: Growth | None, hops: int = _MAX_HOPS
    ) -> Windows | None:
        """The windows, if what is taken of a series begins or ends at the variable of the loop."""
        if isinstance(element, ast.Name):
            binding = self._bindings.only(element)
            given = binding.value if binding is not None and not binding.path else None
            inside = given is not None and self._tree.inside(given, loop.node)
            return self._taken(given, loop, growth, hops - 1) if given and inside and hops else None
        match element:
            case ast.Subscript(value=series, slice=ast.Slice() as part):
                others: list[ast.expr] = []
            case ast.Subscript(value=series, slice=ast.Tuple(elts=[ast.Slice() as part, *others])):
                pass
            case _:
                return None
        match loop.node, loop.iterable:
            case (
                ast.For(target=ast.Name(id=variable))
                | ast.comprehension(target=ast.Name(id=variable)),
                ast.Call(func=ast.Name(id="range"), args=bounds, keywords=[]),
            ):
                width = _width(part, variable)
            case _:
                return None
        mentioned = [each.id for each in ast.walk(part) if isinstance(each, ast.Name)]
        if width is None or mentioned.count(variable) != 2:
            return None
        if not all(self._loops.invariant(each, loop) for each in (series, width)):
            return None
        begins_at = isinstance(part.lower, ast.Name)
        return Windows(element, series, width, others, begins_at, bounds, growth)

    def steps(self, windows: Windows) -> int | float | None:
        """How wide the windows are at most: by callers, or by the default a function has."""
        width = windows.width
        known = self._values.number(width)
        if known:
            return known
        origins = self._flow.origins(width) or ()
        told = [self._values.number(each.value, each.frame) for each in origins if not each.path]
        if told and len(told) == len(origins) and None not in told:
            return max(each for each in told if each is not None)
        binding = self._bindings.only(width)
        function = self._tree.function(width)
        if binding is None or function is None or not isinstance(binding.node, ast.arg):
            return None
        value = default(function, binding.name)
        return self._values.number(value) if value is not None else None

    def series(self, windows: Windows) -> tuple[tuple[ast.expr, Frame | None], ...]:
        """All that the windows may be cut from: what callers give, or what stands there itself."""
        origins = self._flow.origins(windows.series) or ()
        if not origins or not all(each.is_whole for each in origins):
            return ((windows.series, None),)
        return tuple((each.value, each.frame) for each in origins)

    def is_a_table(self, node: ast.expr, frame: Frame | None, hops: int = _MAX_STEPS) -> bool:
        """Whether something holds what was read as a table, or the columns of one."""
        if not hops:
            return False
        if isinstance(node, (ast.List, ast.Tuple)):  # side by side
            return any(self.is_a_table(each, frame, hops - 1) for each in node.elts)
        if isinstance(node, ast.Call):
            if (self._names.qualified(node.func) or "").startswith(_READS_A_TABLE):
                return True
            first = node.args[0] if node.args else None
            if isinstance(node.func, ast.Attribute):
                inside = first if node.func.attr in _SCALES else node.func.value
                name = self._names.qualified(node.func)
                inside = first if name is not None and name.startswith("numpy.") else inside
                return inside is not None and self.is_a_table(inside, frame, hops - 1)
            given_back = self._flow.returned(node, frame)
            return any(self.is_a_table(each.value, each.frame, hops - 1) for each in given_back)
        if isinstance(node, (ast.Name, ast.Attribute)):
            origins = self._flow.origins(node, frame) or ()
            for each in origins:
                if each.value is not node and self.is_a_table(each.value, each.frame, hops - 1):
                    return True
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return self.is_a_table(node.value, frame, hops - 1)
        return False

    def fillers(self, windows: Windows, reader: ast.expr) -> list[ast.stmt] | None:
        """The statements that only fill the list, and that nothing but `reader` needs.

        None where something else does, or if `reader` could not take the same windows from the
        series itself.
        """
        growth = windows.growth
        if growth is None:
            return [] if isinstance(reader, ast.ListComp) else None
        tree, loop = self._tree, growth.loops[0].node
        match growth.node:
            case ast.Call(func=ast.Attribute(value=grown), args=[value]) if value is windows.part:
                append = tree.parent(growth.node)
            case _:
                return None
        if not isinstance(loop, ast.For) or loop.orelse or append not in loop.body:
            return None
        block, place = tree.place(loop)
        behind, used = block[place + 1 :], tree.statement(reader)
        if used not in behind or {*self._bindings.readers(growth.start)} != {grown, reader}:
            return None
        if self._are_changed(windows, [loop, *behind[: behind.index(used)]]):
            return None
        filler: ast.stmt = tree.statement(growth.node)
        if len(loop.body) == 1:
            filler = loop
            if not self._loops.is_closed(growth.loops[0]):
                return None
        start = tree.statement(growth.start.node)
        is_start = isinstance(start, ast.Assign) and start.targets == [growth.start.node]
        return [filler, start] if is_start else [filler]

    def _are_changed(self, windows: Windows, statements: list[ast.stmt]) -> bool:
        """Whether statements give another value to a name that tells what the windows are."""
        parts = (windows.series, windows.width, *windows.bounds)
        return not names_in(*parts).isdisjoint(stored_in(*statements))


def _width(part: ast.Slice, variable: str) -> ast.expr | None:
    """How long `i : i + width`, `i : width + i` or `i - width : i` is."""
    match part:
        case ast.Slice(
            lower=ast.Name(id=start), upper=ast.BinOp(left, ast.Add(), right), step=None
        ) if start == variable:
            return right if ast.unparse(left) == variable else left
        case ast.Slice(
            lower=ast.BinOp(ast.Name(id=start), ast.Sub(), width),
            upper=ast.Name(id=stop),
            step=None,
        ) if start == stop == variable:
            return width
        case _:
            return None
