"""Pipelines whose elements are surely the same whenever they are made, and who sees them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import given_to
from tfmemlint.facts.pipelines.chains import BATCHING, METHODS, Chain, From, Step
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.facts import TensorFlow

_AT_HAND = frozenset({From.RANGE, From.SLICES, From.TENSORS})
_ZIPS = frozenset({"tensorflow.data.Dataset.zip"})
_STEPS = BATCHING | {
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
_PLAIN_OPTIONS = frozenset({"inject_prefetch"})
_ORDERED = _STEPS - {"shuffle"}
_FUNCTIONS = frozenset({"map_func", "predicate", "key_func", "reduce_func", "scan_func"})
_KERAS = frozenset({"evaluate", "fit", "predict"})
_GOES_OVER = frozenset({"enumerate", "iter", "len", "list", "next", "sum", "tuple", "zip"})
_ASKED = frozenset({"cardinality", "element_spec"})
_MOST = 200
"""Places that a pipeline is followed to."""


class Pipelines:
    """What is sure of the pipelines of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._values = tf.values
        self._datasets = tf.datasets
        self._constants = tf.constants
        self._code = tf.code

    def is_steady(self, chain: Chain, end: int | None = None, *, in_order: bool = False) -> bool:
        """Whether the first steps of a pipeline surely give the same, whenever they are run.

        What they begin with is at hand, and the functions that they are given compute, and nothing
        else; `in_order`, nothing shuffles them either.
        """
        steps = chain.steps[:end]
        known = _ORDERED if in_order else _STEPS
        made = [*([chain.source.node] if chain.source.node else ()), *(each.call for each in steps)]
        if any(self._tree.elsewhere(each) is not None for each in made):
            return False
        return (
            self._begins_steadily(chain, in_order)
            and known.issuperset(step.method for step in steps)
            and all(self._is_steady(chain, place) for place in range(len(steps)))
        )

    def never_fails(self, chain: Chain, end: int | None = None) -> bool:
        """Whether the first steps surely give something of each element: no error is told late."""
        sized = True
        for step in chain.steps[:end]:
            given = self._given(step.call)
            fails = not sized or not all(self._code.of(each).never_fails for each in given)
            if given and fails:
                return False
            sized = sized and step.method not in BATCHING and step.method not in ("unbatch", "zip")
            if step.method in ("assert_cardinality", "concatenate", "padded_batch"):
                return False
            counts = [each for each in step.call.args if each not in given]
            counts += [each.value for each in step.call.keywords if each.value not in given]
            if not all(map(self._is_count, counts)):
                return False
        return chain.source.kind in _AT_HAND

    def may_be_early(self, call: ast.Call) -> bool:
        """Whether it is all one when, and how far ahead, the elements of a step are made."""
        passing = [chain for chain in self._datasets.chains if call in chain.calls]
        steady = all(self.is_steady(chain, chain.calls.index(call) + 1) for chain in passing)
        return bool(passing) and steady and self.is_only_read(call)

    def may_be_reordered(self, chain: Chain, first: int, last: int) -> bool:
        """Whether steps up to `last` surely give the same, however often, and nobody sees them.

        So they may change places where those places make no difference to the elements.
        """
        moved = chain.steps[first : last + 1]
        return (
            self.is_steady(chain, last + 1)
            and self.never_fails(chain, last + 1)
            and all(map(self.takes_plain, moved))
            and self.is_only_read(moved[-1].call)
        )

    def computes(self, step: Step) -> bool:
        """Whether a step is given nothing that does more than compute."""
        given = self._given(step.call)
        return self.takes_plain(step) and all(self._code.of(each).is_pure for each in given)

    def takes_plain(self, step: Step) -> bool:
        """Whether it is all one when the arguments of a step are evaluated."""
        call = step.call
        functions = self._given(call)
        given = given_to(call)
        return all(each in functions or self._is_count(each) for each in given) and all(
            isinstance(each, (ast.Name, ast.Attribute, ast.Lambda)) for each in functions
        )

    def _is_count(self, node: ast.expr) -> bool:
        """Whether an argument is a number in sight, that a step can do with."""
        if not self._constants.value(node):
            return False
        number = self._values.number(node)
        return number is None or number > 0 or number == -1 or isinstance(node, ast.Constant)

    def _begins_steadily(self, chain: Chain, in_order: bool) -> bool:
        source = chain.source
        if not isinstance(source.node, ast.Call):
            return False
        name = self._names.qualified(source.node.func) or ""
        if name in _ZIPS and source.parts:
            return all(self.is_steady(each, in_order=in_order) for each in source.parts)
        return source.kind in _AT_HAND and name != "tensorflow.data.Dataset.random"

    def _is_steady(self, chain: Chain, place: int) -> bool:
        step = chain.steps[place]
        if step.argument("deterministic") is not None or any(
            each.arg is None for each in step.call.keywords
        ):
            return False
        if step.method == "cache" and not step.caches_in_memory:
            return False
        if step.method == "with_options" and not self._has_plain_options:
            return False
        if step.method in ("concatenate", "zip"):
            return self._are_steady(step.call.args)
        given = self._given(step.call)
        wants = step.method in ("map", "filter", "take_while")
        return bool(given) == wants and all(self._code.of(each).is_pure for each in given)

    def _are_steady(self, datasets: Iterable[ast.expr]) -> bool:
        found = [self._datasets.of(each) for each in datasets]
        return all(bool(chains) and all(map(self.is_steady, chains)) for chains in found)

    @property
    def _has_plain_options(self) -> bool:
        """Whether no options are set but those that change neither elements nor their order."""
        made = [call for call, _ in self._names.calls(frozenset({"tensorflow.data.Options"}))]
        stored = [each for each in self._tree.all(ast.Attribute) if isinstance(each.ctx, ast.Store)]
        return len(made) == 1 and all(each.attr in _PLAIN_OPTIONS for each in stored)

    def _given(self, call: ast.Call) -> list[ast.expr]:
        """The functions that a step is given."""
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        parameters = METHODS.get(method, ())
        found = [
            each for each, name in zip(call.args, parameters, strict=False) if name in _FUNCTIONS
        ]
        return found + [each.value for each in call.keywords if each.arg in _FUNCTIONS]

    # Who sees a pipeline, and not only its elements.

    def is_only_read(self, call: ast.expr) -> bool:
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
            zips = isinstance(call, ast.Call) and self._names.is_any(call.func, _ZIPS)
            return [call] if zips and isinstance(call, ast.Call) else None
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
        return [call] if attribute.attr in _STEPS else None

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

    def _calls(self, function: FunctionNode) -> list[ast.expr] | None:
        """The calls that get what a function returns, if nothing else can."""
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return None
        if self._functions.class_of(function) is not None:
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
        if self._names.is_any(callee, _ZIPS):
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
        parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        for parameter in parameters:
            if self._functions.argument(call, function, parameter.arg) is node:
                inside = self._bindings.home(parameter.arg, _first(function))
                if inside is not function:
                    return None
                return [*self._bindings.loads(function, parameter.arg)]
        return None


def _first(function: FunctionNode) -> ast.AST:
    return function.body if isinstance(function, ast.Lambda) else function.body[0]
