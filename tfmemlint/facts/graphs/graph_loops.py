"""Python loops in traced code: what each is in the graph."""

from __future__ import annotations

import ast
from enum import Enum

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.graphs.tracing import TracedBy
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import called, is_literal

_MAX_HOPS = 4
_UNROLLED = frozenset({Over.RANGE, Over.EPOCHS, Over.OFFSETS})


class InGraph(Enum):
    """What a loop of traced code is in the graph."""

    LOOP = "one loop"
    COPIES = "a copy of its body for every trip"


class GraphLoops:
    """The loops of traced code."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._callers = tf.callers
        self._values = tf.values
        self._tracing = tf.tracing
        self._tensors = tf.tensors

    def autograph(self, node: ast.AST) -> bool:
        """Whether AutoGraph surely rewrites the loops of the code at `node`.

        It does where `tf.function` or tf.data trace the code. Keras 3 runs `call` and `train_step`
        without it: Python is all the control flow they have.
        """
        roots = self._tracing.roots(node)
        return bool(roots) and all(
            root.by is not TracedBy.KERAS and not _says(root.at, "autograph", False)
            for root in roots
        )

    def compiled(self, node: ast.AST) -> bool:
        """Whether XLA is asked to compile the code at `node`: there sizes have to be known."""
        return any(_says(root.at, "jit_compile", True) for root in self._tracing.roots(node))

    def becomes(self, loop: Loop) -> InGraph | None:
        """What a loop is in the graph; None outside traced code and where it cannot be told."""
        node = loop.node
        if self._tracing.why(node) is None:
            return None
        if isinstance(node, ast.While):
            if self._on_tensor(node.test):
                return self._loop_at(node)
            return None if loop.trips is None else InGraph.COPIES
        if loop.over is Over.DATASET:
            return self._loop_at(node)
        iterable = loop.iterable
        if loop.over in _UNROLLED and _is_reversed(node.iter, iterable):
            return InGraph.COPIES
        if iterable is None or iterable is not node.iter:
            return None
        if loop.over in _UNROLLED and isinstance(iterable, ast.Call):
            on_tensor = any(self._tensors.is_tensor(bound) for bound in iterable.args)
            return self._loop_at(node) if on_tensor else InGraph.COPIES
        if loop.over is Over.LITERAL or loop.over in _UNROLLED:
            return InGraph.COPIES
        return self._loop_at(node) if self._tensors.is_tensor(iterable) else None

    def picks_python(self, loop: Loop) -> bool:
        """Whether the loop's variable chooses among Python's own: `layers[i]`, `f"block_{i}"`."""
        if isinstance(loop.node, ast.While):
            return False
        scope = self._tree.scope(loop.node.target)
        return any(
            self._picks(use, _MAX_HOPS)
            for binding in self._bindings.of(scope, getattr(loop.node.target, "id", ""))
            if binding.node is loop.node.target
            for use in self._bindings.readers(binding)
        )

    def _picks(self, use: ast.Name, hops: int) -> bool:
        below: ast.AST = use
        formatted = False
        for above in self._tree.ancestors(use):
            if isinstance(above, ast.Subscript) and above.slice is below:
                plain = not isinstance(below, ast.Slice)
                return formatted or (plain and self._holds_python(above))
            if isinstance(above, ast.Call):
                if self._picks_in(above, below, hops):
                    return True
                builtin = called(above)
                shown = builtin == "print" or self._names.called(above) == "tensorflow.print"
                method = above.func.attr if isinstance(above.func, ast.Attribute) else ""
                formats = builtin in ("getattr", "str") or method == "format"
                formatted = (formatted or formats) and not shown
            if isinstance(above, ast.stmt):
                break
            formatted = formatted or isinstance(above, ast.JoinedStr) or _is_formatting(above)
            below = above
        return formatted

    def _picks_in(self, call: ast.Call, given: ast.AST, hops: int) -> bool:
        """Whether a function of the module does so with what it is given: `self.block(x, i)`."""
        function = self._functions.function(call.func) if hops else None
        if function is None or given is call.func:
            return False
        given = given.value if isinstance(given, ast.keyword) else given
        taken = self._callers.taken_as(given, call, function)
        readers = self._bindings.readers(taken) if taken is not None else ()
        return any(self._picks(use, hops - 1) for use in readers)

    def _holds_python(self, element: ast.Subscript) -> bool:
        """Whether `xs[i]` may be anything but a row: arguments are data unless they are called."""
        if self._tensors.is_tensor(element) or self._tensors.is_tensor(element.value):
            return False
        if self._values.of(element.value).kind is Kind.ARRAY:
            return False
        parent = self._tree.parent(element)
        called = isinstance(parent, ast.Attribute) or (
            isinstance(parent, ast.Call) and parent.func is element
        )
        given = isinstance(element.value, ast.Name) and self._bindings.only(element.value)
        return called or not given or given.how is not How.PARAMETER

    def counted(self, loop: Loop) -> tuple[str, ast.expr] | None:
        """The variable that counts a loop's trips from zero in int32, and their number.

        `i` and `n` for `range(n)`, and for `tf.range(n)` where `n` is surely no int64.
        """
        node, call = loop.node, loop.iterable
        if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name):
            return None
        if call is not node.iter or not isinstance(call, ast.Call) or call.keywords:
            return None
        if len(call.args) != 1 or loop.over not in (Over.EPOCHS, Over.RANGE, Over.TENSOR):
            return None
        number, name = call.args[0], node.target.id
        if loop.over is Over.TENSOR and self._names.qualified(call.func) != "tensorflow.range":
            return None
        counts_tensor = loop.over is Over.TENSOR or self._tensors.is_tensor(number)
        if counts_tensor and loop.trips is None and self._tensors.size_of(number) is None:
            return None
        bound = self._bindings.of(self._tree.scope(node), name)
        again = [each for each in bound if self._tree.inside(each.node, node)]
        return (name, number) if len(again) == 1 and name != "_" else None

    def _loop_at(self, node: ast.AST) -> InGraph | None:
        rewritten = isinstance(node, ast.stmt) and self.autograph(node)
        return InGraph.LOOP if rewritten else None

    def _on_tensor(self, test: ast.expr) -> bool:
        parts = [each for each in ast.walk(test) if isinstance(each, (ast.Name, ast.Call))]
        return any(self._tensors.is_tensor(each) for each in parts)


def _is_reversed(iterated: ast.expr, iterable: ast.expr | None) -> bool:
    given = iterated.args if isinstance(iterated, ast.Call) else []
    return called(iterated) == "reversed" and given == [iterable]


def _is_formatting(node: ast.AST) -> bool:
    """`"block_%d" % i`."""
    text = node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) else None
    return isinstance(text, ast.Constant) and isinstance(text.value, str)


def _says(call: ast.AST, keyword: str, value: object) -> bool:
    """Whether a call is given this constant for a keyword."""
    return isinstance(call, ast.Call) and is_literal(argument(call, None, keyword), value)
