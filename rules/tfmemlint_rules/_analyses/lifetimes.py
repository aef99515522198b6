"""How long lists of tensors live: for one pass over the data, or longer."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Over
from tfmemlint.facts.pipelines.chains import Chain
from tfmemlint_rules._analyses.kept import Kept

_PUTS_AWAY = frozenset({"add", "append", "appendleft", "extend", "insert", "update"})
_ONCE = frozenset({Over.ARRAY, Over.DATASET, Over.OFFSETS, Over.UNKNOWN})
"""What a loop goes over once, from its beginning to its end."""


class Lifetimes:
    """When the lists of a module are dropped."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._loops = tf.loops
        self._datasets = tf.datasets
        self._callers = tf.callers

    def is_one_pass(self, kept: Kept) -> bool:
        """Whether a list is filled in one pass over the data, as an epoch is, and then dropped."""
        if len(kept.growth.loops) > 1 or any(map(self._is_put_away, kept.reads)):
            return False
        made, loop = kept.growth.made, kept.loop
        around = {each.node for each in self._loops.around(kept.at)}
        if self._loops.around(made) or around - {each.node for each in kept.growth.loops}:
            return True  # the next round has another list
        if not kept.stays:  # of an object, as long as that lives, or until it is set anew
            return getattr(self._tree.function(made), "name", "__init__") != "__init__"
        if loop.over not in _ONCE:
            return False
        chains = self._datasets.of(loop.iterable) if loop.iterable is not None else ()
        return not any(map(repeats, chains))

    def _is_put_away(self, read: ast.expr) -> bool:
        """Whether a list becomes part of what lives longer: returned, an attribute, an element."""
        above = self._tree.parent(read)
        while isinstance(above, (ast.List, ast.Tuple, ast.Dict, ast.keyword, ast.IfExp)):
            above = self._tree.parent(above)
        if isinstance(above, ast.Return):
            return self._is_called_in_loop(above)
        if isinstance(above, ast.Yield):
            return True
        if isinstance(above, ast.Assign):
            return any(isinstance(each, (ast.Attribute, ast.Subscript)) for each in above.targets)
        if isinstance(above, ast.Call):
            method = above.func if isinstance(above.func, ast.Attribute) else None
            return method is not None and method.attr in _PUTS_AWAY
        return False

    def _is_called_in_loop(self, node: ast.Return) -> bool:
        function = self._tree.function(node)
        calls = self._callers.calls_of(function) if function is not None else ()
        return any(map(self._loops.around, calls))


def repeats(chain: Chain) -> bool:
    """Whether a pipeline goes over its data again, and on: `repeat`, and no `take` behind it."""
    cut = [each.method for each in chain.steps if each.method in ("repeat", "take")]
    return cut[-1:] == ["repeat"]
