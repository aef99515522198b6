"""How often Python runs the loops of traced code: as often as the graph gets their bodies."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.graphs.graph_loops import InGraph
from tfmemlint.facts.library import makers, traits
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.signatures import APIS
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.bodies import default
from tfmemlint.facts.syntax.nodes import called

_MAX_HOPS = 4
_MOST = 10**9
_COUNTS = frozenset({Over.EPOCHS, Over.OFFSETS, Over.RANGE})
_PIECES = {
    name: (1, row.told) for name, row in APIS.items() if row.told and row.traits & traits.PIECES
}
"""What cuts something into pieces, and which argument says into how many."""
_EMBEDS = frozenset({"keras.layers.Embedding"})


class TracedRounds:
    """The numbers of trips that are known while TensorFlow traces."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._callers = tf.callers
        self._flow = tf.flow
        self._values = tf.values
        self._loops = tf.loops
        self._tensors = tf.tensors
        self._graph_loops = tf.graph_loops

    def of(self, loop: Loop) -> int | None:
        """How many trips Python makes; None where the graph makes them or none can tell."""
        node = loop.node
        becomes = self._graph_loops.becomes(loop)
        if isinstance(node, ast.While):
            return loop.trips if becomes is InGraph.COPIES else None
        if becomes is InGraph.LOOP:
            return None
        if loop.over in _COUNTS and isinstance(loop.iterable, ast.Call):
            bounds = loop.iterable.args
            if any(map(self._tensors.is_tensor, bounds)) or _is_zipped(node.iter):
                return None
            return self._counted(bounds) if loop.trips is None else loop.trips
        if loop.over in _COUNTS:
            return None if _is_zipped(node.iter) else loop.trips  # a range that is held somewhere
        return self._pieces(node.iter, _MAX_HOPS)

    def _counted(self, bounds: list[ast.expr]) -> int | None:
        """How far `range` counts if callers out of sight leave out what has a default."""
        numbers = [self._number(each, _MAX_HOPS) for each in bounds]
        known = [each for each in numbers if each is not None]
        if len(known) < len(bounds) or not 1 <= len(known) <= 3 or known[2:] == [0]:
            return None
        return len(range(*known)) if max(map(abs, known)) <= _MOST else None

    def _number(self, bound: ast.expr, hops: int) -> int | None:
        number = self._values.number(bound)
        bound = self._flow.put_there(bound) or bound
        if number is not None or not isinstance(bound, ast.Name) or hops == 0:
            return number if isinstance(number, int) else None
        binding = self._bindings.only(bound)
        if binding is None or binding.how is not How.PARAMETER:
            return None
        given = self._callers.given_for(binding)
        given = given or [default(self._tree.taker(binding.node), bound.id)]
        found = [None if each is None else self._number(each, hops - 1) for each in given]
        known = [each for each in found if each is not None]
        return min(known) if known and len(known) == len(found) else None

    def _pieces(self, iterable: ast.expr, hops: int) -> int | None:
        """How many arrays an iterable holds that tracing does not know as one tensor."""
        if hops == 0:
            return None
        made = self._flow.same(iterable)[-1]
        if isinstance(made, ast.ListComp):
            return self._listed(made)
        if isinstance(made, ast.Call):
            if called(made) in ("enumerate", "zip"):
                counts = [self._pieces(each, hops - 1) for each in made.args]
                known = [each for each in counts if each is not None]
                return min(known) if known and len(known) == len(counts) else None
            if self._names.is_any(made.func, makers.WRAPS_ITERABLE) and made.args:
                return self._pieces(made.args[0], hops - 1)
            asked = _PIECES.get(self._names.qualified(made.func) or "")
            if asked is not None:
                number = self._values.number(makers.argument(made, *asked))
                return number if isinstance(number, int) else self._words(made)
        value = self._values.of(iterable)
        known_rows = value.kind is Kind.ARRAY and bool(value.shape) and self._is_ours(iterable)
        return value.shape[0] if known_rows and value.shape else None

    def _words(self, cut: ast.Call) -> int | None:
        """How many words an embedding says that texts have, cut into them: `unstack(x, axis=1)`."""
        axis = self._values.number(makers.argument(cut, 2, "axis"))
        whole = self._flow.same(cut.args[0])[-1] if cut.args and axis == 1 else None
        layer = self._values.of(whole.func).origin if isinstance(whole, ast.Call) else None
        if not isinstance(layer, ast.Call) or not self._names.is_any(layer.func, _EMBEDS):
            return None
        told = makers.argument(layer, None, "input_length")
        return self._number(told, _MAX_HOPS) if told is not None else None

    def _listed(self, made: ast.ListComp) -> int | None:
        loop = self._loops.loop(made.generators[0])
        plain = len(made.generators) == 1 and not made.generators[0].ifs
        is_data = self._values.of(made.elt).is_array and plain
        return loop.trips if is_data and loop.over in _COUNTS else None

    def _is_ours(self, array: ast.expr) -> bool:
        """Whether an array is no argument of traced code, where it would arrive as a tensor."""
        return not any(
            each.how is How.PARAMETER
            for name in ast.walk(array)
            if isinstance(name, ast.Name) and self._functions.instance_of(name) is None
            for each in self._bindings.reaching(name)
        )


def _is_zipped(iterable: ast.expr) -> bool:
    """Whether what is counted goes with something else: `zip(range(n), layers)`."""
    return any(isinstance(each, ast.Call) and called(each) == "zip" for each in ast.walk(iterable))
