"""Lists that a loop over a pipeline fills with the inputs it gives, element by element."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.files import Content
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.growths import Grown
from tfmemlint.facts.flow.loops import Growth, Loop
from tfmemlint.facts.pipelines.chains import Chain, From
from tfmemlint.facts.pipelines.held import Held, Several, nbytes, tensors
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import nodes_of
from tfmemlint.light_typing import NamedTuple

FEW = 1024
"""Elements, or bytes of one, that are no matter."""
_WHOLE = -1
"""In place of a part's key: all of an element."""
_MOST_STEPS = 16
"""Assignments on the way from an element to what is added."""
_GIVES_ITERATOR = "as_numpy_iterator"
_AS_NUMPY = "tensorflow_datasets.as_numpy"
_SEEN_THROUGH = frozenset({"enumerate", "iter", "tqdm"})


class _Read(NamedTuple):
    """A read of an element of a pipeline, or of a part of it."""

    node: ast.expr
    key: int | str


class Collection(NamedTuple):
    """A pipeline, all of which a list holds."""

    dataset: ast.expr
    is_decoded: bool
    """Whether the loop itself decodes the records that the pipeline gives."""


class Collected:
    """The lists of a module that hold every element of a pipeline."""

    def __init__(self, tf: TensorFlow) -> None:
        self._loading = tf.loading
        self._datasets = tf.datasets
        self._elements = tf.elements
        self._flow = tf.flow
        self._lengths = tf.lengths
        self._growths = tf.growths
        self._loops = tf.loops
        self._iterables = tf.iterables
        self._names = tf.names
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._counted_rounds = tf.counted_rounds
        self._numbers = tf.numbers

    def of(self, listed: ast.expr) -> Collection | None:
        """The pipeline whose elements, or their inputs, a list holds, all of them."""
        if not self._datasets.any_certain:
            return None
        for grown in self._growths.filling(listed, None):
            found = self._filled(grown, None) if isinstance(grown, Grown) else None
            if found is not None:
                return found
        for origin in self._flow.origins(listed, None) or ():
            if origin.binding is None or not origin.is_whole:
                continue
            for growth in self._loops.growths_of(origin.binding):
                found = self._filled(growth, origin.frame)
                if found is not None:
                    return found
        return None

    def _filled(self, growth: Growth | Grown, frame: Frame | None) -> Collection | None:
        if self._growths.is_emptied(growth):
            return None
        within = list[Loop]()
        for loop in growth.loops:
            ends = self._counted_rounds.awaited(loop)
            if not isinstance(loop.node, ast.For) or not all(map(self._is_late, ends)):
                return None
            dataset, target = self._gone_over(loop.node.iter, loop.node.target)
            chains = self._datasets.of(dataset, frame)
            if not chains or not all(each.is_certain for each in chains):
                within.append(loop)
                continue
            whole = not any(True for _ in self._tree.tests(growth.node, loop.node))
            if whole and self._decodes(growth, loop) and all(map(self._is_long, chains)):
                return Collection(dataset, True)
            kept = whole and self._keeps(growth, loop, target, chains, within)
            return Collection(dataset, False) if kept else None
        return None

    def _is_late(self, end: ast.expr | None) -> bool:
        """Whether a loop goes on for many rounds before it ends by counting to a number."""
        rounds = self._numbers.of(end).value if end is not None else None
        return rounds is not None and rounds > FEW

    def _decodes(self, growth: Growth | Grown, loop: Loop) -> bool:
        """Whether what is added is decoded in the loop, of records as they are read."""
        contents = self._loading.contents(loop.node, Content.FILE)
        added = growth.elements or [growth.value]
        return any(contents.of(each, None) is Content.ARRAY for each in added)

    def _gone_over(self, iterable: ast.expr, target: ast.expr) -> tuple[ast.expr, ast.expr]:
        """The pipeline that a loop goes over, and what the loop calls its elements."""
        while isinstance(iterable, ast.Call):
            function, given = iterable.func, iterable.args
            name = function.id if isinstance(function, ast.Name) else None
            if isinstance(function, ast.Attribute) and function.attr == _GIVES_ITERATOR:
                iterable = function.value
            elif given and (name in _SEEN_THROUGH or self._names.is_any(function, _WRAPS)):
                if name == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
                    target = target.elts[1]
                iterable = given[0]
            else:
                break
        return iterable, target

    def _keeps(
        self,
        growth: Growth | Grown,
        loop: Loop,
        target: ast.expr,
        chains: tuple[Chain, ...],
        within: list[Loop],
    ) -> bool:
        """Whether what is added is an element, or its inputs, and there are many that are large.

        Or one of a batch after the other, which loops `within` go over.
        """
        added = growth.elements or [growth.value]
        for listed, source in chain(((each, None) for each in added), self._one_by_one(within)):
            reads = self._reads(listed, loop, target)
            keys = {each.key for each in reads or ()}
            if len(keys) == 1 and reads and all(self._is_much(each, *keys) for each in chains):
                sources = [each.node for each in reads] if source is None else [source]
                for contents in (self._loading.contents(each, Content.ARRAY) for each in sources):
                    if any(contents.of(each, None) is Content.ARRAY for each in added):
                        return True
        return False

    def _one_by_one(self, loops: list[Loop]) -> Iterator[tuple[ast.expr, ast.AST]]:
        """What loops go over, and what stands for each of it."""
        for loop in loops:
            if isinstance(loop.node, ast.For):
                for source, listed in self._iterables.named_in(loop.node, loop.body):
                    yield listed, source

    def _reads(self, added: ast.expr, loop: Loop, target: ast.expr) -> list[_Read] | None:
        """What is read of an element for what is added, step by step; None if that is not clear."""
        bound = dict(_named(target))
        pending, reads = [added], list[_Read]()
        for each in pending:
            for name in [*nodes_of(ast.Name, each)]:
                before = self._bindings.reaching(name)
                keys = [bound[one.node] for one in before if one.node in bound]
                if keys:
                    reads.append(self._read(name, keys[0]))
                    continue
                inside = [one for one in before if self._tree.inside(one.node, loop.node)]
                parts = [one for one in inside if one.path]
                if parts:
                    whole = {bound.get(before.node) for one in parts for before in self._named(one)}
                    (place, *deeper), *others = [one.path for one in parts]
                    if others or deeper or whole != {_WHOLE}:
                        return None
                    reads.append(_Read(name, place))
                    continue
                pending += [one.value for one in inside if one.value and one.value not in pending]
                if len(pending) > _MOST_STEPS:
                    return None
        return reads

    def _named(self, part: Binding) -> tuple[Binding, ...]:
        """What `batch` is in `images, labels = batch`."""
        if part.how is not How.ASSIGNED or not isinstance(part.value, ast.Name):
            return ()
        return self._bindings.reaching(part.value)

    def _read(self, name: ast.Name, key: int) -> _Read:
        """A read of an element under the name of all of it, or of a part."""
        above = self._tree.parent(name)
        index = above.slice if isinstance(above, ast.Subscript) else None
        named = index.value if isinstance(index, ast.Constant) else None
        if key == _WHOLE and isinstance(above, ast.Subscript) and isinstance(named, (int, str)):
            return _Read(above, named)
        return _Read(name, key)

    def _is_long(self, chain: Chain) -> bool:
        most = (self._lengths.at_most(chain), self._lengths.at_most(chain._replace(steps=())))
        return all(bound is None or bound > FEW for bound in most)

    def _is_much(self, chain: Chain, key: int | str) -> bool:
        """Whether what is kept of many elements is large, as far as one sees."""
        elements = self._elements
        is_data = key in (0, _WHOLE) or isinstance(key, str)
        if not is_data or not self._is_long(chain):
            return False
        if chain.source.kind is From.UNSEEN and not chain.source.declared and not chain.steps:
            return False
        held = elements.entering(chain, len(chain.steps))
        part: Held | None = held if key == _WHOLE else None
        if key != _WHOLE and isinstance(held, Several) and key in held.keys:
            part = held.part(key)
        if part is None:
            return key == 0  # the inputs of inputs and targets
        size, found = nbytes(part), tuple(tensors(part))
        if all(each.is_path or each.dtype == "string" for each in found):
            return False
        named = not isinstance(key, str) or any(each.is_image for each in found)
        return named and (size is None or size >= FEW)


_WRAPS = frozenset({_AS_NUMPY, "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.tqdm"})


def _named(target: ast.expr) -> Iterator[tuple[ast.AST, int]]:
    """The names that a loop gives an element, or its parts, and which part each is."""
    if isinstance(target, ast.Name):
        yield target, _WHOLE
    for place, each in enumerate(target.elts if isinstance(target, ast.Tuple) else ()):
        yield from ((name, place) for name in ast.walk(each) if isinstance(name, ast.Name))
