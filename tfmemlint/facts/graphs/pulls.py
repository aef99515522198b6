"""Python that takes the elements of datasets one by one while a graph is traced.

AutoGraph turns `for x in dataset` into one loop of the graph. Where something of Python's own
stands between the two, Python asks for the next element itself, gets a symbol, and asks again: no
symbol says that it was the last.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library import makers, traits
from tfmemlint.facts.library.signatures import having
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import called, children, is_none, within
from tfmemlint.facts.syntax.tree import COMPREHENSIONS, LEAVES, LOOPS, SCOPES
from tfmemlint.light_typing import NamedTuple

PROGRESS = having(traits.PROGRESS)
"""What shows how far a loop has come."""

_MAX_HOPS = 5
_DATASETS = frozenset({"tensorflow.data.Dataset", "tensorflow.distribute.DistributedDataset"})
_OF_DATASETS = frozenset({"interleave", "padded_batch", "prefetch", "unbatch"})
"""Methods that of all that may be gone over only datasets have."""
_BUFFERS = {"batch": "batch_size", "shuffle": "buffer_size"}
_ENDLESS = having(traits.ENDLESS)
_DISTRIBUTES = frozenset({"distribute_datasets_from_function", "experimental_distribute_dataset"})

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Pull(NamedTuple):
    """One place where Python goes over a dataset in code that is traced."""

    node: ast.Call | Comprehension
    """The call that wraps the dataset, or the comprehension over it."""
    dataset: ast.expr
    limit: ast.expr | None
    """How many elements are asked for; None where there is no end."""
    loop: ast.For | None
    """The loop that goes over `node` itself."""

    @property
    def by(self) -> str | None:
        """What is called to wrap the dataset; None for a comprehension."""
        return ast.unparse(self.node.func) if isinstance(self.node, ast.Call) else None


class Pulls:
    """Where datasets are gone over as tracing goes on, not by the graph."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._annotations = tf.annotations
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._flow = tf.flow
        self._datasets = tf.datasets
        self._rewritten = tf.graph_loops.autograph
        self._tensors = tf.tensors
        self._values = tf.values

    @cached_property
    def all(self) -> tuple[Pull, ...]:
        """Every such place in code that AutoGraph rewrites, in source order."""
        found = {each.node: each for each in self._pulls()}.values()
        return tuple(sorted(found, key=lambda each: (each.node.lineno, each.node.col_offset)))

    def _pulls(self) -> Iterator[Pull]:
        rewritten = self._rewritten
        for loop in filter(rewritten, self._tree.all(ast.For)):
            pull = self._wrapped(loop.iter)
            if pull is not None and not self._is_left(loop):
                yield pull._replace(loop=loop if pull.node is loop.iter else None)
        for clause in filter(rewritten, self._tree.all(ast.comprehension)):
            node = self._tree.parent(clause)
            if isinstance(node, COMPREHENSIONS):
                pull = self._wrapped(clause.iter)
                if pull is not None:
                    yield pull
                elif self._is_dataset(clause.iter):
                    yield Pull(node, clause.iter, None, None)
        for call in self._tree.calls(("list", "tuple")):
            one = call.args[0] if isinstance(call.func, ast.Name) and len(call.args) == 1 else None
            if one is not None and rewritten(call) and self._is_dataset(one):
                yield Pull(call, one, None, None)

    def _is_left(self, loop: ast.For) -> bool:
        """Whether Python leaves a loop early: a `break`, unless a tensor has to hold for it."""
        pending: list[ast.AST] = [*loop.body]
        for node in pending:
            if isinstance(node, LEAVES):
                tests = (test for test, _ in self._tree.tests(node, loop))
                if not any(map(self._reads_tensor, tests)):
                    return True
            if isinstance(node, LOOPS):  # whose own end a `break` is
                pending += [each for each in within(node.body) if isinstance(each, ast.Return)]
            elif not isinstance(node, (*SCOPES, ast.expr)):
                pending += children(node)
        return False

    def _reads_tensor(self, test: ast.expr) -> bool:
        parts = (each for each in ast.walk(test) if isinstance(each, (ast.Name, ast.Call)))
        return any(map(self._tensors.is_tensor, parts))

    def _wrapped(self, iterable: ast.expr, hops: int = _MAX_HOPS) -> Pull | None:
        """What stands between a loop and a dataset, if it is nothing that AutoGraph knows."""
        for each in self._flow.same(iterable) if hops else ():
            if isinstance(each, ast.Call) and self._rewritten(each):
                pull = self._by_call(each, hops)
                if pull is not None:
                    return pull
        return None

    def _by_call(self, iterable: ast.Call, hops: int) -> Pull | None:
        if not iterable.args:
            return None
        builtin = called(iterable)
        if builtin in ("enumerate", "zip"):
            inner = (self._wrapped(each, hops - 1) for each in iterable.args)
            known = next((each for each in inner if each is not None), None)
            return known or (self._zipped(iterable) if builtin == "zip" else None)
        name = self._names.qualified(iterable.func) or ""
        if name in PROGRESS or name.startswith("itertools."):
            for argument in iterable.args:
                if self._is_dataset(argument):
                    limit = _limit(iterable) if name == "itertools.islice" else None
                    return Pull(iterable, argument, limit, None)
            return None
        return self._generated(iterable, hops - 1)

    def _zipped(self, call: ast.Call) -> Pull | None:
        """`zip(itertools.count(), dataset)`: AutoGraph knows `zip` of datasets alone."""
        datasets = [each for each in call.args if self._is_dataset(each)]
        others = [each for each in call.args if each not in datasets]
        endless = all(
            isinstance(made := self._flow.same(each)[-1], ast.Call)
            and self._names.is_any(made.func, _ENDLESS)
            for each in others
        )
        return Pull(call, datasets[0], None, None) if datasets and others and endless else None

    def _generated(self, call: ast.Call, hops: int) -> Pull | None:
        """A call of a generator of this module that goes over a dataset to its end."""
        function = self._flow.called(call)
        if not isinstance(function, ast.FunctionDef):
            return None
        own = list(self._bodies.body(function))
        if not any(isinstance(each, ast.Yield) for each in own):
            return None
        if any(isinstance(each, LEAVES) for each in own):
            return None
        for loop in own:
            if isinstance(loop, ast.For):
                given = next((each for each in call.args if self._is_dataset(each)), None)
                inner = self._wrapped(loop.iter, hops)
                if given is not None and (inner or self._is_dataset(_bare(loop.iter))):
                    return Pull(call, given, None, None)
        return None

    def _is_dataset(self, expression: ast.expr) -> bool:
        if self._datasets.is_dataset(expression):
            return True
        return any(map(self._is_used_as_dataset, self._flow.same(expression)))

    def _is_used_as_dataset(self, expression: ast.expr) -> bool:
        """Whether it is made, declared or treated as what is out of sight, and a dataset."""
        origins = self._flow.origins(expression) or ()
        if origins and all(_is_distributed(each.value) for each in origins):
            return True
        if any(self._is_buffered(each.value) for each in origins):
            return True
        return self._annotations.is_one_of(expression, _DATASETS) or self._is_treated(expression)

    def _is_buffered(self, value: ast.expr) -> bool:
        """Whether this is `dataset.shuffle(1000)`: nothing else in graphs is asked for that."""
        function = value.func if isinstance(value, ast.Call) else None
        if not isinstance(function, ast.Attribute) or function.attr not in _BUFFERS:
            return False
        if self._names.qualified(function) or self._functions.definition(function):
            return False
        assert isinstance(value, ast.Call)
        size = self._values.number(makers.argument(value, 0, _BUFFERS[function.attr]))
        return size is not None and size > 1

    def _is_treated(self, expression: ast.expr) -> bool:
        """Whether a parameter is used as only a dataset is: `dataset.prefetch(2)`."""
        binding = self._bindings.only(expression)
        if binding is None or binding.how is not How.PARAMETER:
            return False
        for use in self._bindings.readers(binding):
            method = self._tree.parent(use)
            call = self._tree.parent(method) if isinstance(method, ast.Attribute) else None
            if not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call):
                continue
            if call.func is method and method.attr in _OF_DATASETS:
                return True
        return False


def _bare(iterable: ast.expr) -> ast.expr:
    """What `enumerate` counts."""
    given = iterable.args if isinstance(iterable, ast.Call) else []
    return given[0] if called(iterable) == "enumerate" else iterable


def _limit(islice: ast.Call) -> ast.expr | None:
    stop = makers.argument(islice, 1 if len(islice.args) == 2 else 2, "")
    return None if is_none(stop) else stop


def _is_distributed(value: ast.expr) -> bool:
    function = value.func if isinstance(value, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in _DISTRIBUTES
