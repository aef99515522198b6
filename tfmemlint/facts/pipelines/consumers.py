"""Where pipelines end up: in loops, in Keras, in other datasets, or out of sight."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cached_property
from itertools import chain

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import WRAPS_ITERABLE, given_to
from tfmemlint.facts.library.training import STEPS
from tfmemlint.facts.pipelines.chains import METHODS, SOURCES, Chain, From
from tfmemlint.facts.syntax.nodes import called, within
from tfmemlint.facts.syntax.tree import FunctionNode, LoopNode
from tfmemlint.light_typing import NamedTuple

_MAX_CALLS = 5


class Into(Enum):
    """What a pipeline ends in."""

    LOOP = "a loop"
    FIT = "training by Keras"
    EVALUATE = "evaluation by Keras"
    PREDICT = "prediction by Keras"
    ITERATOR = "an iterator"
    LIST = "a list"
    DATASET = "another dataset"
    ATTRIBUTE = "an attribute"
    """Of an object, or an element of a container; what reads it is in sight only at times."""
    CALLER = "a caller out of sight"
    UNKNOWN = "unknown code"


class End(NamedTuple):
    """One place where a pipeline ends up."""

    into: Into
    dataset: ast.expr
    """The expression that stands for the pipeline there."""
    at: LoopNode | ast.comprehension | ast.Call | ast.stmt | ast.expr
    """The loop, call, assignment or `return` that takes it."""
    chains: tuple[Chain, ...]
    """The pipelines it may be, each followed back to its beginning."""
    argument: str | None = None
    """The name of the argument that Keras takes it as."""


class Consumers:
    """Who takes the pipelines of a file, pipelines being followed through the module's functions.

    What a function of the module takes, or gives to callers in sight, has not ended there.
    """

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._datasets = tf.datasets

    @cached_property
    def ends(self) -> tuple[End, ...]:
        """Every place where a pipeline surely of tf.data ends up, in source order."""
        given_on = self._found(chain(self._given_on(), self._statements()))
        return tuple(sorted((*self.gone_over, *given_on), key=_position))

    @cached_property
    def gone_over(self) -> tuple[End, ...]:
        """Those where loops, lists and iterators take its elements; of others fewer are asked."""
        return self._found(chain(self._loops(), self._calls()))

    def _found(self, places: Iterable[_Place]) -> tuple[End, ...]:
        found: list[End] = []
        for into, dataset, at, argument in places if self._datasets.any_certain else ():
            chains = self._datasets.of(dataset)
            if chains and all(each.is_certain for each in chains):
                found.append(End(into, dataset, at, chains, argument))
        return tuple(sorted(found, key=_position))

    def trains(self, loop: LoopNode | ast.comprehension) -> bool:
        """Whether a loop's body takes gradients, itself or in functions of the module it runs."""
        if isinstance(loop, ast.comprehension):
            return False
        return any(map(self._takes_gradients, self.run_by(loop.body)))

    def run_by(self, code: Iterable[ast.AST]) -> Iterator[ast.AST]:
        """The nodes of code, and those of the module's functions that it runs in turn."""
        pending: list[tuple[Iterable[ast.AST], int]] = [(within(code), _MAX_CALLS)]
        seen: set[FunctionNode] = set()
        for nodes, hops in pending:
            for node in nodes:
                yield node
                if not isinstance(node, ast.Call):
                    continue
                for each in (node.func, *node.args):  # `strategy.run(step)` runs a step, too
                    function = self._functions.function(each)
                    if function is not None and function not in seen and hops:
                        seen.add(function)
                        pending.append((self._bodies.body(function), hops - 1))

    def _takes_gradients(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        method = node.func.attr if isinstance(node.func, ast.Attribute) else None
        return method in STEPS or self._names.qualified(node.func) == "tensorflow.GradientTape"

    def _loops(self) -> Iterator[_Place]:
        for loop in self._tree.all(ast.For, ast.AsyncFor, ast.comprehension):
            for dataset in self._iterated(loop.iter):
                yield Into.LOOP, dataset, loop, None

    def _iterated(self, iterable: ast.expr) -> Iterator[ast.expr]:
        """What a loop goes over, seen through `enumerate`, `zip`, `tqdm` and the like."""
        if isinstance(iterable, ast.Call):
            if called(iterable) in _PASSES_ON or self._names.is_any(iterable.func, _WRAPS):
                for each in iterable.args:
                    yield from self._iterated(each)
                return
            if isinstance(iterable.func, ast.Attribute) and iterable.func.attr in _GIVES_ITERATOR:
                yield iterable.func.value
                return
        yield iterable

    def _calls(self) -> Iterator[_Place]:
        for call in self._tree.all(ast.Call):
            into, datasets = self._taken(call) or (Into.LIST, ())
            yield from ((into, each, call, None) for each in datasets)

    def _taken(self, call: ast.Call) -> tuple[Into, Sequence[ast.expr]] | None:
        """What a call itself goes over; None where it may give what it is given to others."""
        callee, builtin = call.func, called(call)
        if builtin == "zip" and len(call.args) == 1 and isinstance(call.args[0], ast.Starred):
            return Into.LIST, [*self._iterated(call.args[0].value)]
        if builtin in _LOOKS or self._is_iterated(call):
            return Into.LIST, []
        if isinstance(callee, ast.Attribute) and callee.attr in _GIVES_ITERATOR:
            return Into.ITERATOR, [callee.value]
        if builtin in _LISTS:
            return Into.LIST, [each for given in call.args for each in self._iterated(given)]
        return (Into.ITERATOR, call.args) if builtin == "iter" else None

    def _given_on(self) -> Iterator[_Place]:
        for call in self._tree.all(ast.Call):
            if self._taken(call) is None and self._functions.definition(call.func) is None:
                yield from self._given(call) if self._takes_a_pipeline(call) else ()

    def _takes_a_pipeline(self, call: ast.Call) -> bool:
        given = given_to(call)
        return any(map(self._datasets.of, given))

    def _given(self, call: ast.Call) -> Iterator[_Place]:
        """What a function out of sight is given."""
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        mixes = SOURCES.get(self._names.qualified(call.func) or "") is From.MIXED
        other = Into.DATASET if mixes or method in METHODS else Into.UNKNOWN
        keras = _KERAS.get(method)
        named = [("x" if place == 0 else None, each) for place, each in enumerate(call.args)]
        named += [(each.arg, each.value) for each in call.keywords]
        for name, given in named:
            if keras is not None and name in _DATA:
                yield keras, given, call, name
            else:
                yield other, given, call, None

    def _is_iterated(self, call: ast.Call) -> bool:
        """Whether a loop or a list goes over what a call gives."""
        below, above = call, self._tree.parent(call)
        while isinstance(above, ast.Call) and below in above.args:
            if called(above) in _LISTS:
                return True
            wraps = self._names.is_any(above.func, _WRAPS)
            if not wraps and called(above) not in _PASSES_ON:
                return False
            below, above = above, self._tree.parent(above)
        if isinstance(above, (ast.For, ast.AsyncFor, ast.comprehension)):
            return above.iter is below
        return False

    def _statements(self) -> Iterator[_Place]:
        for statement in self._tree.all(ast.Return, ast.Yield):
            function = self._tree.function(statement)
            followed = isinstance(statement, ast.Return) and function is not None
            if followed and function is not None and self._callers.calls_of(function):
                continue
            for each in _elements(statement.value):
                yield Into.CALLER, each, statement, None
        for assignment in self._tree.all(ast.Assign):
            for target in assignment.targets:
                if isinstance(target, (ast.Attribute, ast.Subscript)):
                    yield Into.ATTRIBUTE, assignment.value, assignment, None


_Place = tuple[
    Into, ast.expr, LoopNode | ast.comprehension | ast.Call | ast.stmt | ast.expr, str | None
]

_KERAS = {
    "fit": Into.FIT,
    "fit_generator": Into.FIT,
    "evaluate": Into.EVALUATE,
    "predict": Into.PREDICT,
}
_DATA = frozenset({"generator", "validation_data", "x"})
_LISTS = frozenset({"list", "sorted", "tuple"})
_PASSES_ON = _LISTS | {"enumerate", "iter", "reversed", "tqdm", "zip"}
_GIVES_ITERATOR = frozenset({"as_numpy_iterator", "make_initializable_iterator"})
_WRAPS = WRAPS_ITERABLE | {"tensorflow_datasets.as_numpy"}
_LOOKS = frozenset(
    {"getattr", "hasattr", "id", "isinstance", "len", "print", "repr", "str", "type"}
) | (_PASSES_ON - _LISTS - {"iter"})


def _position(end: End) -> tuple[int, int]:
    return end.dataset.lineno, end.dataset.col_offset


def _elements(value: ast.expr | None) -> Iterator[ast.expr]:
    """What a `return` gives back, each by itself."""
    if isinstance(value, (ast.Tuple, ast.List)):
        yield from value.elts
    elif isinstance(value, ast.Dict):
        yield from value.values
    elif value is not None:
        yield value
