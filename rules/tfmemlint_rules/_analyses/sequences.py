"""Python lists of a length that only a run will know: that grow, or hold the words of a text."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import called

_MAX_HOPS = 8
_ADDS = frozenset({"append", "extend", "insert"})
_TAKES_OUT = frozenset({"clear", "pop", "remove"})
_NUMBERS = frozenset({"float", "int"})


class Sequences:
    """How long lists get."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies

    def grows(self, listed: ast.Name, loop: Loop) -> bool:
        """Whether a list made before a loop is only ever added to, and is so in the loop."""
        bound = self._bindings.sharing(listed)
        starts = [each for each in bound if each.how is not How.AUGMENTED]
        uses = [use for each in bound for use in self._bindings.readers(each)]
        if len(starts) != 1 or not _is_list(starts[0]) or any(map(self._takes_out, uses)):
            return False
        inside = [each for each in bound if self._tree.inside(each.node, loop.node)]
        return starts[0] not in inside and (
            bool(inside) or any(self._adds(use, loop) for use in uses)
        )

    def is_of_text(self, listed: ast.expr, hops: int = _MAX_HOPS) -> bool:
        """Whether a list has one element for each word of a text.

        Not for each field of a line: where these are numbers, or a sign stands between them, lines
        have as many.
        """
        if hops == 0:
            return False
        if isinstance(listed, ast.Name):
            binding = self._bindings.only(listed)
            value = binding.value if binding is not None and binding.is_whole else None
            if binding is None or value is None:
                return False
            filled = any(map(self._is_added_to, self._bindings.readers(binding)))
            return not filled and self.is_of_text(value, hops - 1)
        if isinstance(listed, ast.Starred):
            return self.is_of_text(listed.value, hops - 1)
        if isinstance(listed, (ast.List, ast.Tuple)):
            return any(self.is_of_text(each, hops - 1) for each in listed.elts)
        if isinstance(listed, ast.BinOp) and isinstance(listed.op, ast.Add):
            sides = (listed.left, listed.right)
            padded = any(isinstance(each, ast.BinOp) and _repeats(each) for each in sides)
            return not padded and any(self.is_of_text(each, hops - 1) for each in sides)
        if isinstance(listed, (ast.ListComp, ast.GeneratorExp)):
            called = listed.elt.func if isinstance(listed.elt, ast.Call) else None
            reads_number = isinstance(called, ast.Name) and called.id in _NUMBERS
            reads_number = reads_number or self._is_of_numpy(called)
            return not reads_number and self.is_of_text(listed.generators[0].iter, hops - 1)
        return isinstance(listed, ast.Call) and self._is_text(listed, hops)

    def _is_of_numpy(self, called: ast.expr | None) -> bool:
        """`np.float32`, of a word."""
        name = self._names.qualified(called) if called is not None else None
        return name is not None and name.startswith("numpy.")

    def _is_text(self, call: ast.Call, hops: int) -> bool:
        function = self._functions.function(call.func)
        if function is not None:
            returned = self._bodies.returns(function)
            return bool(returned) and all(self.is_of_text(each, hops - 1) for each in returned)
        if isinstance(call.func, ast.Name):
            listed = call.args[0] if call.func.id in ("list", "tuple") and call.args else None
            return listed is not None and self.is_of_text(listed, hops - 1)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        space = [each.value for each in call.args if isinstance(each, ast.Constant)] == [" "]
        words = method == "split" and not call.keywords and (not call.args or space)
        of_library = self._names.qualified(call.func) is not None
        return (words or method == "texts_to_sequences") and not of_library

    def _adds(self, use: ast.Name, loop: Loop) -> bool:
        return self._is_added_to(use) and self._tree.inside(use, loop.node)

    def _is_added_to(self, use: ast.Name) -> bool:
        """Whether this is the `xs` of `xs.append(x)`."""
        above = self._tree.parent(use)
        return isinstance(above, ast.Attribute) and above.attr in _ADDS

    def _takes_out(self, use: ast.Name) -> bool:
        """Whether this is the `xs` of `xs.pop(0)`, `del xs[0]`."""
        above = self._tree.parent(use)
        if isinstance(above, ast.Subscript) and above.value is use:
            return not isinstance(above.ctx, ast.Load)
        return isinstance(above, ast.Attribute) and above.attr in _TAKES_OUT


def _repeats(node: ast.BinOp) -> bool:
    """`[0] * (size - len(xs))`, with which lists are made as long as others."""
    return isinstance(node.op, ast.Mult)


def _is_list(start: Binding) -> bool:
    value = start.value if start.is_whole else None
    return isinstance(value, (ast.List, ast.ListComp)) or (called(value) == "list")
