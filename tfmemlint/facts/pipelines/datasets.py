"""tf.data pipelines: what they are made of, wherever in the module their steps stand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.flow import Origin
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.solver import Question
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.pipelines.chains import (
    METHODS,
    ONLY_TF_DATA,
    ONLY_TF_DATA_KEYWORDS,
    SOURCES,
    Chain,
    From,
    Source,
    Step,
)
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.targets import element
from tfmemlint.facts.syntax.tree import FunctionNode

_MAX_ALTERNATIVES = 8
"""Ways through `if` branches and callers that are kept apart for one pipeline."""
_MAX_STEPS = 50
"""Steps of one pipeline: what has more begins out of sight."""
_MAX_PARTS = 30
"""Pipelines that one is mixed of, and those that they are mixed of: of more, none is known."""
_MAX_HOPS = 30
_CHAINS = Question("chains", (), ())


class Datasets:
    """The tf.data pipelines of a module."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._flow = tf.flow
        self._conditions = tf.conditions
        self._solver = tf.solver

    @cached_property
    def any_certain(self) -> bool:
        """Whether any pipeline of the file can be certain: where none is, none need be followed."""
        attributes = self._tree.attributes.keys()
        if not attributes.isdisjoint({*ONLY_TF_DATA, "as_dataset"}):
            return True
        if not attributes.isdisjoint(METHODS) and any(
            each.arg in ONLY_TF_DATA_KEYWORDS for each in self._tree.all(ast.keyword)
        ):
            return True
        if self._names.mentions(_SOURCE_NAMES):
            return True
        return self._names.mentions(_DATASET) and any(map(self._declares, self._tree.all(ast.arg)))

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """Every pipeline, as far forwards as its steps are in sight, one for each way through it.

        A chain that another one continues is not listed by itself.
        """
        if not self.any_certain:
            return ()
        found: list[Chain] = []
        for call, _ in self._tree.methods(*METHODS):
            found += self.of(call)
        certain = [chain for chain in dict.fromkeys(found) if chain.is_certain]
        numbers: dict[tuple[int, ast.Call], int] = {}  # of calls one behind the other
        continued: set[tuple[ast.expr | None, int]] = set()
        whole: list[int] = []
        for chain in certain:
            number = 0
            for call in chain.calls:
                continued.update(((None, number), (chain.source.node, number)))
                number = numbers.setdefault((number, call), len(numbers) + 1)
            whole.append(number)
        return tuple(
            chain
            for chain, number in zip(certain, whole, strict=True)
            if (_beginning(chain), number) not in continued
        )

    def of(self, expression: ast.expr, frame: Frame | None = None) -> tuple[Chain, ...]:
        """The pipelines an expression may be; none if it is not a dataset.

        A chain that begins out of sight is a dataset only if `is_certain` says so.
        """
        if not isinstance(expression, _EVALUATED):
            return ()
        found: tuple[Chain, ...] = self._solver.ask(_CHAINS, self._answer, expression, frame)
        return found

    def _answer(self, expression: ast.expr, frame: Frame | None) -> tuple[Chain, ...]:
        alternatives = dict.fromkeys(self._evaluate(expression, frame))
        return tuple(alternatives)[:_MAX_ALTERNATIVES]

    def is_dataset(self, expression: ast.expr, frame: Frame | None = None) -> bool:
        """Whether an expression is surely a tf.data dataset."""
        if not self.any_certain:
            return False
        chains = self.of(expression, frame)
        return bool(chains) and all(chain.is_certain for chain in chains)

    def function(self, step: Step) -> FunctionNode | None:
        """The function of this module that a `map`, `filter` or the like is given."""
        for name in ("map_func", "predicate", "scan_func"):
            given = step.argument(name)
            if given is not None:
                return self._functions.function(given)
        return None

    @cached_property
    def leave_out_failures(self) -> bool:
        """Whether the file has pipelines go on where an element cannot be made.

        Then steps before that count elements that steps behind it never see.
        """
        imported = any(each.name == "ignore_errors" for each in self._tree.all(ast.alias))
        return imported or "ignore_errors" in self._tree.attributes

    def _evaluate(self, node: ast.expr, frame: Frame | None) -> Iterator[Chain]:
        if isinstance(node, ast.Call):
            yield from self._call(node, frame)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            yield from self._named(node, frame)
        elif isinstance(node, ast.IfExp):
            yield from self._any_of([(node.body, frame), (node.orelse, frame)])
        elif isinstance(node, ast.NamedExpr):
            yield from self.of(node.value, frame)
        elif isinstance(node, ast.Subscript):  # `tfds.load(name)["train"]`
            put = self._flow.put_there(node)
            if put is not None:  # `ds["train"] = ds["train"].batch(32)`
                yield from self.of(put, frame)
                return
            chains = self.of(node.value, frame)
            ready = (each for each in chains if each.source.kind is From.CATALOGUE)
            for each in ready:
                yield each._replace(source=each.source._replace(split=node.slice))
            if not chains:
                yield from self._named(node, frame)

    def _call(self, node: ast.Call, frame: Frame | None) -> Iterator[Chain]:
        kind = SOURCES.get(self._names.qualified(node.func) or "")
        if kind is not None:
            parts = tuple(self._parts(node, frame)) if kind is From.MIXED else ()
            few = sum(map(_mixed, parts)) <= _MAX_PARTS
            yield Chain(Source(kind, node, parts if few else ()))
            return
        if self._functions.definitions(node.func):
            returned = self._flow.returned(node, frame)
            yield from self._any_of([(each.value, each.frame) for each in returned])
        elif isinstance(node.func, ast.Attribute) and not self._is_library(node.func):
            yield from self._method(node, node.func, frame)

    def _method(
        self, node: ast.Call, callee: ast.Attribute, frame: Frame | None
    ) -> Iterator[Chain]:
        step = Step(callee.attr, node, frame)
        if not step.fits:
            built = self._flow.meant(callee.value) if callee.attr == "as_dataset" else None
            maker = self._names.qualified(built.func) if isinstance(built, ast.Call) else None
            if maker is not None and maker.startswith("tensorflow_datasets."):
                yield Chain(Source(From.CATALOGUE, node))
            return
        applied = self._applied(step, callee, frame)
        if applied is not None:
            yield from applied
            return
        steps = self._taken_apart(step)
        for before in self._any_of([(callee.value, frame)], guess=True):
            if node in before.calls:  # a loop is followed once
                continue
            if len(before.steps) == _MAX_STEPS:
                yield Chain(Source(From.UNSEEN, node))
                continue
            here = [each.call for each in before.steps if each.frame == frame]
            function = self._tree.function(node)
            beside = (each for each in here if self._tree.function(each) is function)
            if not self._conditions.exclude(node, beside):
                yield before._replace(steps=(*before.steps, *steps))

    def _taken_apart(self, step: Step) -> tuple[Step, ...]:
        """The steps of `ds.apply(tf.data.experimental.shuffle_and_repeat(n))`, or the one it is."""
        given = step.argument("transformation_func") if step.method == "apply" else None
        home, _, name = self._names.called(given).rpartition(".")
        fused = methods.FUSED.get(name) if home in _TRANSFORMS else None
        if fused is None or not isinstance(given, ast.Call):
            return (step,)
        return tuple(step._replace(method=each, fused=(given, fused)) for each in fused.methods)

    def _applied(
        self, step: Step, callee: ast.Attribute, frame: Frame | None
    ) -> Iterator[Chain] | None:
        """`ds.apply(f)` is `f(ds)`, where `f` is in sight."""
        given = step.argument("transformation_func") if step.method == "apply" else None
        function = self._functions.function(given) if given is not None else None
        if given is None or function is None:
            return None
        as_call = ast.Call(func=given, args=[callee.value], keywords=[])
        inner = Frame(function, as_call, frame)
        return self._any_of([(value, inner) for value in self._bodies.returns(function)])

    def _named(
        self, node: ast.Name | ast.Attribute | ast.Subscript, frame: Frame | None
    ) -> Iterator[Chain]:
        if self._is_library(node):
            return
        origins = self._flow.origins(node, frame)
        if origins is None:
            if isinstance(node, ast.Name) and self._is_declared(node):
                yield Chain(Source(From.UNSEEN, node, declared=True))
            return
        whole = [(each.value, each.frame) for each in origins if each.is_whole]
        yield from self._any_of(whole)
        for origin in origins:
            if origin.path and origin.how is How.ASSIGNED and isinstance(origin.value, ast.Call):
                yield from self._unpacked(origin.value, origin)

    def _any_of(
        self, alternatives: list[tuple[ast.expr, Frame | None]], *, guess: bool = False
    ) -> Iterator[Chain]:
        """The chains of all alternatives.

        Where some are datasets (or `guess` is set, since a dataset method is called on them), those
        whose making is out of sight are taken for datasets as well.
        """
        found = [(node, self.of(node, frame)) for node, frame in alternatives]
        for node, chains in found:
            yield from chains
            wanted = not chains and (guess or any(others for _, others in found))
            if wanted and self._may_be_dataset(node, _MAX_HOPS):
                yield Chain(Source(From.UNSEEN, node))

    def _may_be_dataset(self, node: ast.expr, hops: int) -> bool:
        """Whether what an expression gives is out of sight, so that it could be a dataset."""
        if hops == 0:
            return False
        if isinstance(node, ast.Call):
            if self._functions.definition(node.func) is not None or self._is_library(node.func):
                return False
            if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
                return self._may_be_dataset(node.func.value, hops - 1)
            return True
        if isinstance(node, ast.Name):
            bindings = self._bindings.reaching(node)
            return all(
                each.how in _OUT_OF_SIGHT
                if each.value is None or each.how is not How.ASSIGNED
                else self._may_be_dataset(each.value, hops - 1)
                for each in bindings
            )
        if isinstance(node, ast.Attribute):
            return not self._is_library(node)
        return isinstance(node, ast.Subscript)

    def _is_library(self, node: ast.expr) -> bool:
        name = self._names.qualified(node) or ""
        return name.startswith(_LIBRARIES) and name not in SOURCES

    def _is_declared(self, node: ast.Name) -> bool:
        """Whether a name is a parameter annotated as a dataset."""
        binding = self._bindings.only(node)
        parameter = binding.node if binding is not None else None
        return isinstance(parameter, ast.arg) and self._declares(parameter)

    def _declares(self, parameter: ast.arg) -> bool:
        return self._names.is_any(parameter.annotation, _DATASET)

    def _unpacked(self, call: ast.Call, origin: Origin) -> Iterator[Chain]:
        """`train, test = load()`: one of several datasets that a call gives."""
        kind = SOURCES.get(self._names.qualified(call.func) or "")
        if kind in (From.CATALOGUE, From.DIRECTORY):
            split, rest = element(argument(call, 1, "split") or call, origin.path[-1:])
            yield Chain(Source(kind, call, split=None if rest else split))
        for returned in self._flow.returned(call, origin.frame):
            value, rest = element(returned.value, origin.path)
            if not rest:
                yield from self.of(value, returned.frame)

    def _parts(self, node: ast.Call, frame: Frame | None) -> Iterator[Chain]:
        for first in node.args[:1]:
            several = first.elts if isinstance(first, (ast.Tuple, ast.List)) else node.args
            for each in several:
                yield from self.of(each, frame)


_SOURCE_NAMES = frozenset(SOURCES)
_EVALUATED = (ast.Attribute, ast.Call, ast.IfExp, ast.Name, ast.NamedExpr, ast.Subscript)
_DATASET = frozenset({"tensorflow.data.Dataset"})
_TRANSFORMS = frozenset({"tensorflow.contrib.data", "tensorflow.data.experimental"})
_OUT_OF_SIGHT = frozenset({How.PARAMETER, How.IMPORTED, How.LOOPED})
_LIBRARIES = ("tensorflow.", "keras.", "numpy.", "pandas.", "jax.", "torch.")


def _beginning(chain: Chain) -> ast.expr | None:
    """What a chain begins with; None where another one may go on from it that knows better."""
    return None if chain.source.kind is From.UNSEEN else chain.source.node


def _mixed(chain: Chain) -> int:
    """How many pipelines make up one."""
    return 1 + sum(map(_mixed, chain.source.parts))
