"""Who sees a pipeline, and not only its elements."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.pipelines.chains import BATCHING
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode

ZIPS = frozenset({"tensorflow.data.Dataset.zip"})
STEPS = BATCHING | {
    "assert_cardinality",
    "cache",
    "concatenate",
    "enumerate",
    "filter",
    "map",
    "prefetch",
    "repeat",
    "shard",
    "shuffle",
    "skip",
    "take",
    "take_while",
    "unbatch",
    "window",
    "with_options",
    "zip",
}
"""Steps that are the same for whoever goes over what they give."""
_ASKED = frozenset({"cardinality", "element_spec"})
_ASKS = frozenset({"tensorflow.data.experimental.cardinality"})
_KERAS = frozenset({"evaluate", "fit", "predict"})
_GOES_OVER = frozenset({"enumerate", "iter", "len", "list", "next", "sum", "tuple", "zip"})
_MOST = 200


class Readers:
    """What becomes of the pipelines of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._callers = tf.callers
        self._members = tf.members
        self._values = tf.values
        self._datasets = tf.datasets
        self._constants = tf.constants

    def only_go_over(self, call: ast.expr) -> bool:
        """Whether all that is ever done with a pipeline is to add steps, and to go over it."""
        pending, seen = [call], set[ast.AST]()
        for node in pending:
            if node in seen:
                continue
            seen.add(node)
            if self._tree.elsewhere(node) is not None:
                return False
            following = self._following(node)
            if following is None or len(pending) > _MOST:
                return False
            pending += following
        return True

    def _following(self, node: ast.expr) -> list[ast.expr] | None:
        """What stands for a pipeline next; nothing where it is gone over; None out of sight."""
        above = self._tree.parent(node)
        if isinstance(above, ast.Attribute) and above.value is node:
            return self._asked(above)
        if isinstance(above, (ast.For, ast.comprehension)) and above.iter is node:
            return []
        if isinstance(above, ast.Assign) and above.value is node:
            return self._named(above.targets)
        if isinstance(above, ast.Expr):
            return []
        if isinstance(above, ast.Return):
            function = self._tree.function(above)
            return self._calls(function) if function is not None else None
        if isinstance(above, (ast.Tuple, ast.List)):
            call = self._tree.parent(above)
            if isinstance(call, ast.Return):
                function = self._tree.function(call)
                return self._unpacked(function, above.elts.index(node), len(above.elts))
            zipped = self._names.call_of(call, ZIPS)
            return [zipped] if zipped is not None else None
        if isinstance(above, ast.keyword):
            call = self._tree.parent(above)
            return self._taken(call, node, above.arg) if isinstance(call, ast.Call) else None
        return self._taken(above, node, None) if isinstance(above, ast.Call) else None

    def _asked(self, attribute: ast.Attribute) -> list[ast.expr] | None:
        call = self._tree.parent(attribute)
        if attribute.attr in _ASKED and isinstance(attribute.ctx, ast.Load):
            return []
        if not isinstance(call, ast.Call) or call.func is not attribute:
            return None
        if attribute.attr == "as_numpy_iterator":
            return []
        return [call] if attribute.attr in STEPS else None

    def _named(self, targets: list[ast.expr]) -> list[ast.expr] | None:
        """The reads of a name that is given a pipeline, wherever they stand in its scope."""
        if len(targets) != 1 or not isinstance(targets[0], ast.Name):
            return None
        home = self._bindings.home(targets[0].id, targets[0])
        if home is None or isinstance(home, ast.ClassDef):
            return None
        if isinstance(home, ast.Module) and self._constants.is_touched(targets[0].id):
            return None
        return [*self._bindings.loads(home, targets[0].id)]

    def _unpacked(
        self, function: FunctionNode | None, place: int, number: int
    ) -> list[ast.expr] | None:
        """The reads of the names that are given one of several things that a function returns."""
        calls = self._calls(function) if function is not None else None
        found: list[ast.expr] = []
        for call in calls or ():
            above = self._tree.parent(call)
            target = above.targets[0] if isinstance(above, ast.Assign) else None
            if not isinstance(target, ast.Tuple) or len(target.elts) != number:
                return None
            if any(isinstance(each, ast.Starred) for each in target.elts):
                return None
            reads = self._named([target.elts[place]])
            if reads is None:
                return None
            found += reads
        return found if calls else None

    def _calls(self, function: FunctionNode) -> list[ast.expr] | None:
        """The calls that get what a function returns, if nothing else can."""
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return None
        if self._members.class_of(function) is not None:
            return None
        scope = self._tree.scope(function)
        if isinstance(scope, ast.Module) and self._constants.is_touched(function.name):
            return None
        loads = self._bindings.loads(scope, function.name)
        calls = [self._tree.parent(each) for each in loads]
        if len(self._bindings.of(scope, function.name)) != 1:
            return None
        found = [
            call
            for call, each in zip(calls, loads, strict=True)
            if isinstance(call, ast.Call) and call.func is each
        ]
        return [*found] if len(found) == len(loads) else None

    def _taken(
        self, call: ast.AST | None, node: ast.expr, keyword: str | None
    ) -> list[ast.expr] | None:
        """What becomes of a pipeline that a function is given."""
        if not isinstance(call, ast.Call):
            return None
        callee = call.func
        if isinstance(callee, ast.Name) and self._constants.is_builtin(callee):
            return self._given_to_builtin(call, callee.id)
        if self._names.is_any(callee, _ASKS):
            return []
        if self._names.is_any(callee, ZIPS):
            return [call]
        if isinstance(callee, ast.Attribute) and callee.attr in ("concatenate", "zip"):
            return [call] if self._datasets.is_dataset(callee.value) else None
        if isinstance(callee, ast.Attribute) and callee.attr in _KERAS:
            return (
                [] if self._is_keras(callee) and keyword in (None, "x", "validation_data") else None
            )
        function = self._functions.function(callee)
        if isinstance(function, FUNCTIONS):
            return self._parameter(call, function, node)
        return None

    def _given_to_builtin(self, call: ast.Call, name: str) -> list[ast.expr] | None:
        if name not in _GOES_OVER:
            return None
        if name != "iter":
            return []
        above = self._tree.parent(call)
        if isinstance(above, ast.Call) and above.func is not call:
            return [] if self._is_next(above) else None
        if not isinstance(above, ast.Assign):
            return None
        uses = self._named(above.targets)
        parents = [self._tree.parent(each) for each in uses or ()]
        fine = all(isinstance(each, ast.For) or self._is_next(each) for each in parents)
        return [] if uses is not None and fine else None

    def _is_next(self, call: ast.AST | None) -> bool:
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return False
        return call.func.id == "next" and self._constants.is_builtin(call.func)

    def _is_keras(self, method: ast.Attribute) -> bool:
        """Whether this is the method of a Keras model, and not one that the file gives it."""
        value = self._values.of(method.value)
        owner = self._functions.instance_of(method.value)
        own = owner is not None and self._functions.method(owner, method.attr) is not None
        return value.kind is Kind.MODEL and not own

    def _parameter(
        self, call: ast.Call, function: FunctionNode, node: ast.expr
    ) -> list[ast.expr] | None:
        """The reads of the parameter that a function takes a pipeline as."""
        if self._tree.elsewhere(function) is not None:
            return None
        taken = self._callers.taken_as(node, call, function)
        if taken is None or self._bindings.home(taken.name, _first(function)) is not function:
            return None
        return [*self._bindings.loads(function, taken.name)]


def _first(function: FunctionNode) -> ast.AST:
    return function.body if isinstance(function, ast.Lambda) else function.body[0]
