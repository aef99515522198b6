"""What each round of a loop, or each request, has code see for the first time."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import called, nodes_of

_MAX_HOPS = 8
_SERVES = frozenset({"get", "post", "put", "route"})


class Novelty:
    """What expressions are about that run again and again."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings

    def is_of_request(self, part: ast.expr, at: ast.AST) -> bool:
        """Whether code runs for every request, `@app.post("/")`, and reads what it has of it."""
        function = self._tree.function(at)
        names = nodes_of(ast.Name, part)
        return self.serves(function) and any(
            self._bindings.home(each.id, each) is function for each in names
        )

    def serves(self, function: ast.AST | None) -> bool:
        """Whether a server runs a function for every request: `@app.post("/")`."""
        decorators: list[ast.expr] = getattr(function, "decorator_list", [])
        methods = (each.func for each in decorators if isinstance(each, ast.Call))
        return any(isinstance(each, ast.Attribute) and each.attr in _SERVES for each in methods)

    def is_new(self, part: ast.expr, loop: Loop, hops: int = _MAX_HOPS) -> bool:
        """Whether an expression reads what the loop goes over, or what each round fetches anew."""
        nodes = list(ast.walk(part))
        if any(isinstance(each, ast.Call) and _fetches(each) for each in nodes):
            return True
        names = (each for each in nodes if isinstance(each, ast.Name))
        bound = [each for name in names for each in self._bindings.reaching(name)]
        return any(
            self._gets_new(each, loop, hops)
            for each in bound
            if self._tree.inside(each.node, loop.node)
        )

    def _gets_new(self, binding: Binding, loop: Loop, hops: int) -> bool:
        if binding.how is How.LOOPED and not isinstance(loop.node, ast.While):
            return self._tree.inside(binding.node, loop.node.target)
        value = binding.value if binding.how is How.ASSIGNED and hops else None
        return binding.how is How.AUGMENTED or (
            value is not None and self.is_new(value, loop, hops - 1)
        )


def _fetches(call: ast.Call) -> bool:
    """`input()`, `requests.get()`: something else each time, whatever it is asked of."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in ("get", "popleft", "readline", "recv") and not call.keywords
    return called(call) in ("input", "next")
