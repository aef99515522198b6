"""Lists that hold an array for each file of a data set, or each row of a text, filled by a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.applied import Applied, applied, column
from tfmemlint.facts.flow.files import Content, Contents
from tfmemlint.facts.flow.flow import Origin
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.iterables import MANY
from tfmemlint.facts.flow.loadable import may_load, may_parse
from tfmemlint.facts.flow.loops import Growth, Loop
from tfmemlint.facts.flow.solver import Question
from tfmemlint.facts.library.makers import given_back, given_to
from tfmemlint.facts.library.reading import READERS
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import called, holds, is_empty, names_in, nodes_of
from tfmemlint.facts.syntax.targets import element
from tfmemlint.light_typing import NamedTuple

_MAX_HOPS = 8
_MOST_LISTS = 3
"""Lists that are made of each other, one array for one."""


class Gathered(NamedTuple):
    """A list with an array for each of many files, or rows of a text."""

    files: ast.expr
    """What the loop goes over."""
    growth: Growth | None = None
    """How the list is filled, if by `append` and the like."""
    comprehension: ast.ListComp | ast.GeneratorExp | None = None
    """What makes the list, if a comprehension."""
    places: frozenset[int] = frozenset()
    """Where in each element the array stands, if elements are tuples or lists: `[image, label]`."""


class Loading:
    """The lists of a module that hold what a loop loads from files.

    With `anywhere` also those of code that is made to run again and again, as generators are.
    With `rows`, those that hold an image parsed from each row of a text instead.
    """

    def __init__(self, tf: TensorFlow, *, anywhere: bool, rows: bool = False) -> None:
        self._contents = Contents(tf)
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._callers = tf.callers
        self._flow = tf.flow
        self._growths = tf.growths
        self._imports = tf.imports
        self._loops = tf.loops
        self._objects = tf.objects
        self._iterables = tf.iterables
        self._per_batch = tf.per_batch
        self._anywhere = anywhere
        self._rows = rows
        self._counted_rounds = tf.counted_rounds
        self._numbers = tf.numbers
        self._values = tf.values
        self._solver = tf.solver
        self._question = Question(f"gathered, {anywhere=}, {rows=}", nothing=None, unknown=None)
        self._contents_of: dict[tuple[ast.AST, Content, frozenset[int]], Contents] = {}

    def gathered(self, expression: ast.expr) -> Gathered | None:
        """The list an expression is, if it holds an array for each file of a whole data set."""
        found = self._gathered(expression, (), None, _MAX_HOPS) if self._may_be_any else None
        return found if found is not None and self._runs_once(expression) else None

    @cached_property
    def _may_be_any(self) -> bool:
        """Whether the file has what makes such arrays at all."""
        if self._rows:
            return may_parse(self._tree, self._names)
        if may_load(self._tree, self._names):
            return True
        handed = any(map(self._is_handed, self._tree.all(ast.Call)))
        return handed and any(may_load(each.tree, each.names) for each in self._imports.importers)

    def _is_handed(self, call: ast.Call) -> bool:
        """Whether what is called is an argument of the function that calls it."""
        return any(each.how is How.PARAMETER for each in self._bindings.sharing(call.func))

    def _runs_once(self, node: ast.AST) -> bool:
        return self._anywhere or self._per_batch.runs_once(node)

    def loads_each(self, loop: ast.For) -> bool:
        """Whether a loop loads a file in every trip, by a path that it goes over."""
        calls = nodes_of(ast.Call, *loop.body)
        return any(self.contents(loop).of(each, None) is Content.ARRAY for each in calls)

    def loads_in(self, loop: Loop, nodes: Iterable[ast.expr]) -> bool:
        """Whether each round of a loop over many files reads one of these from its file."""
        if not isinstance(loop.node, ast.For) or not self._may_be_any:
            return False
        read = any(self.contents(loop.node).of(each, None) is Content.ARRAY for each in nodes)
        return read and not self._iterables.is_part(loop.node.iter)

    def _gathered(
        self, node: ast.expr, path: tuple[int, ...], frame: Frame | None, hops: int
    ) -> Gathered | None:
        found: Gathered | None = self._solver.ask(
            self._question, self._find_gathered, node, path, frame, hops
        )
        return found

    def _find_gathered(
        self, node: ast.expr, path: tuple[int, ...], frame: Frame | None, hops: int
    ) -> Gathered | None:
        node, path = element(column(node), path)
        if hops == 0:
            return None
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            loops = [self._loops.loop(each) for each in reversed(node.generators)]
            if path:
                return None
            made = self._files([node.elt], loops, node, frame)
            return made._replace(comprehension=node) if made else self._remade(node, frame, hops)
        if is_empty(node):
            return self._filled(node, frame) if not path else None
        if isinstance(node, (ast.List, ast.Tuple)) or _is_sum(node):
            parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else _operands(node)
            several = (
                self._gathered(each, path, frame, hops - 1)
                for each in parts
                if not isinstance(each, ast.Constant)
            )
            return next((each for each in several if each is not None), None)
        if isinstance(node, ast.Call):
            if called(node) in ("list", "tuple") and node.args:
                return self._gathered(node.args[0], path, frame, hops - 1)
            if called(node) == "zip" and path and isinstance(node.args[-1], ast.Starred):
                pairs = self._gathered(node.args[-1].value, (), frame, hops - 1)
                held = pairs.places if pairs is not None else ()
                return pairs._replace(places=frozenset()) if pairs and path[0] in held else None
            mapped = applied(node, self._names)
            if mapped is not None:
                return self._mapped(mapped, node, frame)
            given, inner = given_back(self._names.qualified(node.func), node, path) or (None, path)
            if given is not None:
                return self._gathered(given, inner, frame, hops - 1)
            returned = (
                self._gathered(each.value, path, each.frame, hops - 1)
                for each in self._flow.returned(node, frame)
            )
            return next((each for each in returned if each is not None), None)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            most = not path and self._values.keeps_most(node.value, node.slice, frame)
            if most:
                return self._gathered(node.value, path, frame, hops - 1)
        origins = self._flow.origins(node, frame) or ()
        found = (self._from_origin(each, path, hops) for each in origins)
        return next((each for each in found if each is not None), None)

    def _remade(
        self, made: ast.ListComp | ast.GeneratorExp, frame: Frame | None, hops: int
    ) -> Gathered | None:
        """`[image.reshape(-1) for image in images]`: as many arrays, made of those of a list."""
        (first, *others) = made.generators
        inner = self._gathered(first.iter, (), frame, hops - 1) if not others else None
        return self._kept(inner, first, [made.elt], frame) if inner is not None else None

    def _from_origin(self, origin: Origin, path: tuple[int, ...], hops: int) -> Gathered | None:
        if origin.how is not How.ASSIGNED:
            return None
        growths = self._loops.growths_of(origin.binding) if origin.binding is not None else ()
        for growth in growths:
            if not self._growths.is_emptied(growth):
                start = growth.start.node
                added = growth.elements or [growth.value]
                found = self._files(added, growth.loops, start, origin.frame)
                if found is not None:
                    return found._replace(growth=growth)
        return self._gathered(origin.value, (*origin.path, *path), origin.frame, hops - 1)

    def _filled(self, made: ast.expr, frame: Frame | None) -> Gathered | None:
        """A list that is filled where it has no name, or more than one."""
        for grown in self._growths.made_by(made):
            uses = self._objects.uses(made)
            if grown.named is not None or uses is None or self._growths.is_emptied(grown):
                continue
            added, inside = self._growths.run_at(grown, frame)
            start = made if self._tree.function(made) is self._tree.function(added) else added
            found = self._files(grown.elements or [grown.value], grown.loops, start, inside)
            if found is not None:
                return found
        return None

    def _mapped(self, mapped: Applied, call: ast.Call, frame: Frame | None) -> Gathered | None:
        """`map(load, paths)`."""
        contents = self.contents(mapped.each, self._gives(mapped.many, frame))
        if contents.of(mapped.made, frame) is not Content.ARRAY:
            return None
        return Gathered(mapped.many) if self._is_whole(mapped.many, call, frame) else None

    def _files(
        self, added: Iterable[ast.expr], loops: Iterable[Loop], start: ast.AST, frame: Frame | None
    ) -> Gathered | None:
        """The innermost loop that loads a file each trip, and goes over all of them."""
        elements, feeding, limited = tuple(added), list[ast.expr](), False
        places: frozenset[int] | None = None
        for loop in loops:
            if loop.iterable is None or isinstance(loop.node, ast.While):
                continue
            if self._stops_early(loop):
                limited = True
                continue
            before = self._loaded_before(elements, loop, frame)
            if before is not None:
                return before
            contents = self.contents(loop.node, self._gives(loop.node.iter, frame))
            # Of all folders, but some files of each: there the outer loop has to name the part.
            loaded = None if limited else contents.places_in(elements, frame)
            if loaded is not None or any(_mentions(each, loop.targets) for each in feeding):
                feeding.append(loop.node.iter)
                places = loaded if places is None else places
                if self._is_whole(loop.node.iter, start, frame):
                    zipped = _zipped(loop.node.iter)
                    files = zipped or self._iterables.counted(loop.iterable) or loop.iterable
                    return Gathered(files, places=places or frozenset())
                cut = not isinstance(loop.node.iter, (ast.List, ast.Tuple))  # columns of each row
                limited = limited or (cut and self._iterables.is_part(loop.node.iter, frame))
        return None

    def _loaded_before(
        self, elements: tuple[ast.expr, ...], loop: Loop, frame: Frame | None
    ) -> Gathered | None:
        """`for image in images: arrays.append(np.array(image))`: as many, made of those of a list.

        The list is one with an array for each file itself.
        """
        header = loop.node
        if not isinstance(header, ast.For):
            return None
        for source, listed in self._iterables.named_in(header, loop.body):
            found = self._gathered(listed, (), frame, _MOST_LISTS)
            kept = self._kept(found, source, elements, frame) if found is not None else None
            if kept is not None:
                return kept
        return None

    def _kept(
        self, gathered: Gathered, source: ast.AST, made: Iterable[ast.expr], frame: Frame | None
    ) -> Gathered | None:
        """A list whose elements are made of those of another, if they hold the arrays still."""
        gives = Content.PARTS if gathered.places else Content.ARRAY
        contents = self.contents(source, gives, gathered.places)
        places = contents.places_in(made, frame)
        return None if places is None else gathered._replace(places=places)

    def _stops_early(self, loop: Loop) -> bool:
        """Whether anything but counting to a large number leaves a loop before its end."""
        ends = self._counted_rounds.awaited(loop) if holds(ast.Break, loop.node) else ()
        numbers = [None if each is None else self._numbers.of(each).value for each in ends]
        return any(each is None or each <= MANY for each in numbers)

    def contents(
        self, source: ast.AST, gives: Content = Content.PATH, places: frozenset[int] = frozenset()
    ) -> Contents:
        """What expressions hold of what `source` gives."""
        about = source, gives, places
        if about not in self._contents_of:
            self._contents_of[about] = self._contents.given(*about)
        return self._contents_of[about]

    def _gives(self, iterable: ast.expr, frame: Frame | None) -> Content:
        """What a loop over something is taken to give: that it does shows in what becomes of it."""
        if not self._rows:
            return Content.PATH
        named = self._flow.origins(_seen_through(iterable), frame) or ()
        made = _seen_through(named[0].value if len(named) == 1 else iterable)
        is_reader = self._names.call_of(made, READERS) is not None
        return Content.FIELDS if is_reader else Content.TEXT

    def _lists_a_part(self, files: ast.expr, frame: Frame | None) -> bool:
        """Whether loops over but a part of something name the files: `for row in rows[:8]`."""
        starts = [each.binding for each in self._flow.origins(files, frame) or () if each.binding]
        named = [each for start in starts for each in self._loops.growths_of(start)]
        loops = [each.loops[0].node for each in named if each.elements]  # one file at a time
        return 0 < len(loops) == len(named) and all(
            not isinstance(each, ast.While) and self._iterables.is_part(each.iter, frame)
            for each in loops
        )

    def _is_whole(self, files: ast.expr, start: ast.AST, frame: Frame | None) -> bool:
        """Whether `files` are all there are, for a list begun at `start`."""
        is_part, runs_once = self._iterables.is_part, self._runs_once
        if is_part(files, frame) or self._per_batch.varies([files], start):
            return False
        if self._lists_a_part(files, frame) or self._iterables.belongs_to_one(files):
            return False
        function = self._tree.function(start)
        if function is None:
            return True
        if frame is not None and frame.function is function:
            return runs_once(frame.call) and not self._is_of_one(frame.call)
        calls = self._callers.calls_of(function)
        return not calls or any(
            not is_part(files, Frame(function, call, None))
            and runs_once(call)
            and not self._is_of_one(call)
            for call in calls
        )

    def _is_of_one(self, call: ast.Call) -> bool:
        """Whether a function is asked for what belongs to one of many: `load(patients[0])`."""
        return any(map(self._iterables.belongs_to_one, given_to(call)))


_SEEN_THROUGH = frozenset({"enumerate", "list", "tqdm"})


def _seen_through(node: ast.expr) -> ast.expr:
    """`rows` for `enumerate(rows)` and the like."""
    while isinstance(node, ast.Call) and node.args and called(node) in _SEEN_THROUGH:
        node = node.args[0]
    return node


def _is_sum(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)


def _operands(node: ast.expr) -> list[ast.expr]:
    return [node.left, node.right] if isinstance(node, ast.BinOp) else []


def _mentions(node: ast.expr, names: frozenset[str]) -> bool:
    return not names_in(node).isdisjoint(names)


def _zipped(node: ast.expr) -> ast.expr | None:
    """The whole `zip(names, paths)` that is gone over: which of them is read is not told apart."""
    while isinstance(node, ast.Call) and node.args and called(node) != "zip":
        node = node.args[0]
    return node if isinstance(node, ast.Call) and node.args else None
