"""Pipelines whose elements are surely the same whenever they are made, and who sees them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import given_to
from tfmemlint.facts.pipelines.chains import BATCHING, METHODS, Chain, From, Step
from tfmemlint.facts.sure.readers import STEPS, ZIPS, Readers

_AT_HAND = frozenset({From.RANGE, From.SLICES, From.TENSORS})
_PLAIN_OPTIONS = frozenset({"inject_prefetch"})
_ORDERED = STEPS - {"shuffle"}
_FUNCTIONS = frozenset({"map_func", "predicate", "key_func", "reduce_func", "scan_func"})
_LOADS = frozenset({"tensorflow_datasets.load"})
_LOADED_BY = frozenset(
    {"as_supervised", "batch_size", "download", "name", "shuffle_files", "split", "with_info"}
)
"""Places that a pipeline is followed to."""


class Pipelines:
    """What is sure of the pipelines of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._values = tf.values
        self._datasets = tf.datasets
        self._constants = tf.constants
        self._code = tf.code
        self._readers = tf.of(Readers)

    def is_steady(self, chain: Chain, end: int | None = None, *, in_order: bool = False) -> bool:
        """Whether the first steps of a pipeline surely give the same, whenever they are run.

        What they begin with is at hand, and the functions that they are given compute, and nothing
        else; `in_order`, nothing shuffles them either.
        """
        steps = chain.steps[:end]
        known = _ORDERED if in_order else STEPS
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

    def is_only_read(self, call: ast.expr) -> bool:
        """Whether all that is ever done with a pipeline is to add steps, and to go over it."""
        return self._readers.only_go_over(call)

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
        """Whether a step is given nothing that does more than compute.

        What a name stands for is the same wherever in an expression it is read.
        """
        pure = all(self._code.of(each).is_pure for each in self._given(step.call))
        return pure and self._takes_plain(step, or_names=True)

    def takes_plain(self, step: Step) -> bool:
        """Whether it is all one when the arguments of a step are evaluated."""
        return self._takes_plain(step)

    def _takes_plain(self, step: Step, *, or_names: bool = False) -> bool:
        functions = self._given(step.call)
        return all(
            isinstance(each, (ast.Name, ast.Attribute, ast.Lambda))
            if each in functions
            else (or_names and isinstance(each, ast.Name)) or self._is_count(each)
            for each in given_to(step.call)
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
        if name in ZIPS and source.parts:
            return all(self.is_steady(each, in_order=in_order) for each in source.parts)
        if name in _LOADS:
            return self._is_loaded_plainly(source.node)
        return source.kind in _AT_HAND and name != "tensorflow.data.Dataset.random"

    def _is_loaded_plainly(self, call: ast.Call) -> bool:
        """Whether these are the files of a known data set, which nobody changes, in their order."""
        shuffles = [each.value for each in call.keywords if each.arg == "shuffle_files"]
        return (
            _LOADED_BY.issuperset(each.arg or "**" for each in call.keywords)
            and all(isinstance(each, ast.Constant) and not each.value for each in shuffles)
            and not any(isinstance(each, ast.Starred) for each in call.args)
        )

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
