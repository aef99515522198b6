"""How many elements pipelines have, as far as numbers and shapes tell."""

from __future__ import annotations

import ast
import re
from math import ceil, prod

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.entries import ADDS
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.library.kinds import UNKNOWN
from tfmemlint.facts.library.known_data import CATALOGUE, SKLEARN_DATASETS
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.pipelines.chains import BATCHING, Chain, From, Source
from tfmemlint.facts.pipelines.parts import Parts
from tfmemlint.facts.syntax.nodes import called
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


_SHARE = re.compile(r"(?P<number>-?\d+)(?P<percent>%)?")
_MAKES_MORE = methods.having(methods.MORE)
"""The steps that may make more elements of fewer; `repeat` only gives the same ones again."""


class Lengths:
    """Bounds for the number of different elements that pipelines give."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._datasets = tf.datasets
        self._read_batches = tf.read_batches
        self._parts = tf.of(Parts)
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._loops = tf.loops
        self._values = tf.values

    def at_most(self, chain: Chain, end: int | None = None) -> int | None:
        """How many elements, or examples in batches, a pipeline surely has at most.

        At a place, if one is given: before the step that stands there.
        """
        return self._counted(chain, end)[0]

    def elements(self, chain: Chain) -> int | None:
        """How many elements there are at the most, be they batches; None where nothing says so."""
        bound, each, taken = self._counted(chain, None)
        if bound is not None:
            bound = bound if not each else -(-bound // each)
        return min((most for most in (bound, taken) if most is not None), default=None)

    def _counted(self, chain: Chain, end: int | None) -> tuple[int | None, int | None, int | None]:
        """How many examples there are at the most, how many an element is, and elements taken."""
        bound = self._of_source(chain.source)
        size = self._read_batches.size(chain.source)
        each: int | None = 1 if size is None else self._number(size)
        few: int | None = None
        for step in chain.steps[:end]:
            if step.method in _MAKES_MORE:
                bound = None
            elif step.method == "concatenate":
                more = self._of_any(step.argument("dataset"), step.frame)
                bound = None if bound is None or more is None else bound + more
            elif step.method == "take":
                taken = self._number(step.argument("count"), step.frame)
                if taken is not None and taken >= 0:
                    few = taken if few is None else min(few, taken)
                    if each is not None:
                        bound = taken * each if bound is None else min(bound, taken * each)
            elif step.method in BATCHING:
                more = self._number(step.argument("batch_size"), step.frame)
                each = None if each is None or more is None else each * more
            if step.method in _MAKES_MORE:
                each = 1
            if step.method in _MAKES_MORE | {"concatenate", "repeat"}:
                few = None
        return bound, each, few

    def _of_any(self, dataset: ast.expr | None, frame: Frame | None) -> int | None:
        chains = self._datasets.of(dataset, frame) if dataset is not None else ()
        bounds = [self.at_most(each) for each in chains]
        known = [each for each in bounds if each is not None]
        return max(known) if known and len(known) == len(bounds) else None

    def _of_source(self, source: Source) -> int | None:
        if source.kind is From.TENSORS:
            return 1
        if not isinstance(source.node, ast.Call):
            return None
        name = self._names.qualified(source.node.func) or ""
        if name == "tensorflow_datasets.load":
            given = argument(source.node, 0, "name")
            known = CATALOGUE.get(str(given.value)) if isinstance(given, ast.Constant) else None
            split = source.split or argument(source.node, 1, "split")
            return None if known is None else _loaded(known[0], split)
        if name.endswith(".zip"):
            zipped = map(self.at_most, source.parts)
            return min((each for each in zipped if each is not None), default=None)
        if source.kind is From.RANGE:
            bounds = source.node.args[1:2] or source.node.args[:1]
            return self._number(bounds[0]) if bounds else None
        if source.kind is From.SLICES:
            return self._rows(argument(source.node, 0, "tensors"))
        if source.kind is From.GENERATOR:
            return self._yields(argument(source.node, 0, "generator"))
        return None

    def _rows(self, tensors: ast.expr | None) -> int | None:
        """How many rows the first of these has, however they are nested."""
        tensors = self._parts.first(tensors)
        if isinstance(tensors, ast.Name) and self._may_grow(tensors):
            return None
        value = self._values.of(tensors) if tensors is not None else UNKNOWN
        if value.shape:
            made = value.origin.func if isinstance(value.origin, ast.Call) else None
            whole = SKLEARN_DATASETS.get(self._names.qualified(made) or "", (None,))
            return whole[0] if value.shape[0] is None else value.shape[0]
        part = tensors.slice if isinstance(tensors, ast.Subscript) else None
        return self._cut(part) if isinstance(part, ast.Slice) else None

    def _may_grow(self, rows: ast.Name) -> bool:
        """Whether a list gets more elements than stand where it is made."""
        binding = self._bindings.only(rows)
        if binding is None or not isinstance(binding.value, ast.List):
            return False
        uses = map(self._tree.parent, self._bindings.readers(binding))
        return any(isinstance(use, ast.Attribute) and use.attr in ADDS for use in uses)

    def _cut(self, part: ast.Slice) -> int | None:
        """How many of anything a slice leaves at most: 50 for `xs[50:100]`."""
        start = self._number(part.lower) if part.lower is not None else 0
        end = self._number(part.upper)
        if start is None or end is None or not 0 <= start <= end:
            return None
        return end - start

    def _yields(self, generator: ast.expr | None) -> int | None:
        """How many elements come of `lambda: iter(rows)`, where the rows stand in the code.

        Or of a function, where literals tell how often the loops around its `yield` run.
        """
        function = self._functions.function(generator) if generator is not None else None
        if isinstance(function, ast.FunctionDef):
            counts = [
                0 if isinstance(each, ast.YieldFrom) else self._rounds(each)
                for each in self._bodies.body(function)
                if isinstance(each, (ast.Yield, ast.YieldFrom))
            ]
            return sum(counts) if counts and all(counts) else None
        made = generator.body if isinstance(generator, ast.Lambda) else None
        if isinstance(made, ast.Call) and len(made.args) == 1:
            is_iterator = called(made) == "iter"
            made = made.args[0] if is_iterator else None
        return self._rows(made) if isinstance(made, (ast.Name, ast.List)) else None

    def _rounds(self, node: ast.AST) -> int:
        """How often code runs at most, in a call of its function; zero where that is not known."""
        return prod(loop.trips or 0 for loop in self._loops.around(node))

    def _number(self, expression: ast.expr | None, frame: Frame | None = None) -> int | None:
        number = self._values.number(expression, frame)
        return number if isinstance(number, int) else None


def _loaded(parts: Mapping[str, int], split: ast.expr | None) -> int:
    """How many elements a split of a data set has at most: `train[:10%]`, `train+test`."""
    if not isinstance(split, ast.Constant):
        return sum(parts.values())
    found = 0
    for each in str(split.value).split("+"):
        name, _, cut = each.strip().partition("[")
        whole = parts.get(name, sum(parts.values()))
        start, end = (_place(text, whole) for text in f"{cut.rstrip(']')}:".split(":")[:2])
        found += max(0, (whole if end is None else end) - (start or 0))
    return found


def _place(text: str, whole: int) -> int | None:
    """An end of a part, in elements or as a share; None where none is told."""
    share = _SHARE.fullmatch(text.strip())
    if share is None:
        return None
    place = int(share["number"])
    place = ceil(place * whole / 100) if share["percent"] else place
    return min(whole, whole + place if place < 0 else place)
