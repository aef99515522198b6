"""Lists that a loop over a pipeline fills with the inputs it gives, element by element."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.files import Content, Contents
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.growths import Grown
from tfmemlint.facts.flow.loops import Growth, Loop
from tfmemlint.facts.pipelines.chains import Chain, From
from tfmemlint.facts.pipelines.held import Held, Several, nbytes, tensors
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.light_typing import NamedTuple

FEW = 1024
"""Elements, or bytes of one, that are no matter."""
_MOST_STEPS = 16
"""Assignments on the way from an element to what is added."""
_GIVES_ITERATOR = "as_numpy_iterator"
_AS_NUMPY = "tensorflow_datasets.as_numpy"
_SEEN_THROUGH = frozenset({"enumerate", "iter", "tqdm"})


class Collection(NamedTuple):
    """A pipeline, all of which a list holds."""

    dataset: ast.expr
    is_decoded: bool
    """Whether the loop itself decodes the records that the pipeline gives."""


class Collected:
    """The lists of a module that hold every element of a pipeline."""

    def __init__(self, tf: TensorFlow) -> None:
        self._datasets = tf.datasets
        self._elements = tf.elements
        self._flow = tf.flow
        self._functions = tf.functions
        self._lengths = tf.lengths
        self._growths = tf.growths
        self._loops = tf.loops
        self._names = tf.names
        self._tree = tf.tree
        self._values = tf.values
        self._bindings = tf.bindings

    def of(self, listed: ast.expr) -> Collection | None:
        """The pipeline whose elements, or their inputs, a list holds, all of them."""
        if not self._datasets.any_certain:
            return None
        for grown in self._growths.filling(listed, None):
            found = self._filled(grown, None) if isinstance(grown, Grown) else None
            if found is not None:
                return found
        for origin in self._flow.origins(listed, None) or ():
            if origin.how is not How.ASSIGNED or origin.binding is None or origin.path:
                continue
            for growth in self._loops.growths_of(origin.binding):
                found = self._filled(growth, origin.frame)
                if found is not None:
                    return found
        return None

    def _filled(self, growth: Growth | Grown, frame: Frame | None) -> Collection | None:
        for loop in growth.loops:
            if not isinstance(loop.node, ast.For) or any(_ends_early(loop)):
                return None
            dataset, target = self._gone_over(loop.node.iter, loop.node.target)
            chains = self._datasets.of(dataset, frame)
            if not chains or not all(chain.is_certain for chain in chains):
                continue
            whole = not any(True for _ in self._tree.tests(growth.node, loop.node))
            if whole and self._decodes(growth, loop) and all(map(self._is_long, chains)):
                return Collection(dataset, True)
            kept = whole and self._keeps(growth, loop, target, chains)
            return Collection(dataset, False) if kept else None
        return None

    def _decodes(self, growth: Growth | Grown, loop: Loop) -> bool:
        """Whether what is added is decoded in the loop, of records as they are read."""
        contents = self._contents(loop.node, Content.FILE)
        added = growth.elements or [growth.value]
        return any(contents.of(each, None) is Content.ARRAY for each in added)

    def _contents(self, source: ast.AST, given: Content) -> Contents:
        return Contents(
            self._tree, self._names, self._functions, self._flow, self._values, source, given
        )

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
        self, growth: Growth | Grown, loop: Loop, target: ast.expr, chains: tuple[Chain, ...]
    ) -> bool:
        """Whether what is added is an element, or its inputs, and there are many that are large."""
        first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
        if not isinstance(first, ast.Name):
            return False
        contents = self._contents(loop.node, Content.ARRAY)
        elements = growth.elements or [growth.value]
        added = [self._picked(each, first, target) for each in elements]
        kept = any(
            key is not None and contents.of(each, None) is Content.ARRAY for each, key in added
        )
        keys = [key for _, key in added if key is not None]
        if not keys and any(self._is_made_of_first(each, loop, target) for each in elements):
            kept, keys = True, [0]
        return kept and all(self._is_much(chain, key) for chain in chains for key in keys)

    def _is_made_of_first(self, added: ast.expr, loop: Loop, target: ast.expr) -> bool:
        """Whether names lead from the inputs of an element, `pair[0]`, to an array that is added.

        And from nothing else of the element.
        """
        pending, reads = [added], list[ast.expr]()
        bound = [each for each in ast.walk(target) if isinstance(each, ast.Name)]
        for each in pending:
            for name in [one for one in ast.walk(each) if isinstance(one, ast.Name)]:
                before = self._bindings.reaching(name)
                if any(one.node in bound for one in before):
                    reads.append(name)
                    continue
                inside = [one for one in before if self._tree.inside(one.node, loop.node)]
                pending += [one.value for one in inside if one.value and one.value not in pending]
                if len(pending) > _MOST_STEPS or any(one.path for one in inside):
                    return False
        if not isinstance(target, ast.Name) or not reads or not all(map(self._is_first, reads)):
            return False
        inputs = [self._tree.parent(each) for each in reads]
        found = (self._contents(each, Content.ARRAY) for each in inputs if each is not None)
        return any(each.of(added, None) is Content.ARRAY for each in found)

    def _is_first(self, read: ast.expr) -> bool:
        above = self._tree.parent(read)
        index = above.slice if isinstance(above, ast.Subscript) else None
        return isinstance(index, ast.Constant) and index.value == 0

    def _picked(
        self, added: ast.expr, first: ast.Name, target: ast.expr
    ) -> tuple[ast.expr, int | str | None]:
        """What is added, as if its part were all there is, and which part of an element it is.

        No part where it is made of anything but the first.
        """
        names = {each.id for each in ast.walk(added) if isinstance(each, ast.Name)}
        bound = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
        if names & bound != {first.id}:
            return added, None
        if first is not target:
            return added, 0
        inner = added
        while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
            inner = inner.func.value
        if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name):
            key = inner.slice.value if isinstance(inner.slice, ast.Constant) else None
            if isinstance(key, str):
                return added, key
            return (inner.value, 0) if key == 0 else (added, None)
        return added, -1

    def _is_long(self, chain: Chain) -> bool:
        most = (self._lengths.at_most(chain), self._lengths.at_most(chain._replace(steps=())))
        return all(bound is None or bound > FEW for bound in most)

    def _is_much(self, chain: Chain, key: int | str) -> bool:
        """Whether what is kept of many elements is large, as far as one sees."""
        elements = self._elements
        if not self._is_long(chain):
            return False
        if chain.source.kind is From.UNSEEN and not chain.source.declared and not chain.steps:
            return False
        held = elements.entering(chain, len(chain.steps))
        part: Held | None = held if key == -1 else None
        if key != -1 and isinstance(held, Several) and key in held.keys:
            part = held.part(key)
        if part is None:
            return key == 0  # the inputs of inputs and targets
        size, found = nbytes(part), tuple(tensors(part))
        if all(each.is_path or each.dtype == "string" for each in found):
            return False
        named = not isinstance(key, str) or any(each.is_image for each in found)
        return named and (size is None or size >= FEW)


_WRAPS = frozenset({_AS_NUMPY, "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.tqdm"})


def _ends_early(loop: Loop) -> list[ast.AST]:
    return [each for each in loop.body if isinstance(each, (ast.Break, ast.Return))]
