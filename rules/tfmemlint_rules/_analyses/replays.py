"""Memories of what was seen, step by step: deques, lists and arrays that hold pictures."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import FILLED, argument, given_to
from tfmemlint.facts.syntax.nodes import called, is_none
from tfmemlint.facts.syntax.tree import FunctionNode
from tfmemlint.light_typing import NamedTuple
from tfmemlint_rules._analyses.pictures import DEQUE, Picture, Pictures, Sort

_ARRAYS = frozenset({"numpy.empty", "numpy.ones", "numpy.zeros"})
_SAMPLES = frozenset({"random.choice", "random.choices", "random.sample"})
_PLACES = frozenset({"numpy.random.choice", "numpy.random.randint", "random.randint"})
_FEW = 64
"""Pictures that are no memory: the last few."""
_FEWEST_AXES = 2
_FEWEST_NUMBERS = 1024
"""In one row: a small picture, one line of pixels behind the other."""


class Memory(NamedTuple):
    """What keeps pictures, one step after the other."""

    holder: ast.expr
    made: ast.AST
    at: ast.expr
    """What the finding is about: the code that adds a step, or that makes the array."""
    pictures: tuple[Picture, ...]
    """What is kept of each step, those that are the same object once."""
    parts: tuple[ast.expr, ...]
    """The code of these, as it stands where they are put there."""
    most: ast.expr | None = None
    """How many steps it holds, where code says so."""
    arrays: tuple[ast.Call, ...] = ()
    """Where it is arrays: what makes each of them."""

    @property
    def widest(self) -> Picture:
        """The picture that says most of what it costs."""
        return max(self.pictures, key=lambda each: (each.is_stacked, each.width or 0))


class _Filled(NamedTuple):
    """An array that gets a picture at a place that comes round."""

    holder: ast.expr
    made: ast.Call
    value: ast.expr
    picture: Picture


class Replays:
    """The memories of a file that hold pictures."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._functions = tf.functions
        self._sources = tf.sources
        self._objects = tf.objects
        self._values = tf.values
        self._pictures = tf.of(Pictures)

    @cached_property
    def all(self) -> tuple[Memory, ...]:
        """Every one, in source order."""
        if not self._pictures.are_there:
            return ()
        found = [*self._of_objects(), *self._of_arrays()]
        found.sort(key=lambda each: (each.at.lineno, each.at.col_offset))
        return tuple(found)

    # Deques and lists.

    def _of_objects(self) -> Iterator[Memory]:
        if not self._names.mentions(DEQUE | _SAMPLES | _PLACES) and not self._may_be_cut:
            return
        seen: set[ast.AST] = set()
        told: list[frozenset[ast.AST]] = []
        for holder, added, at in self._added():
            made = self._made(holder)
            if made is None or made in seen:
                continue
            parts = [*self._parts(added)]
            if not self._is_memory(made, is_step=len(parts) > 1):
                continue
            kept = self._kept(parts)
            if kept:
                seen.add(made)
                by = frozenset[ast.AST]().union(*(self._pictures.made(each) for each, _ in kept))
                if any(by <= each or each <= by for each in told):
                    continue  # the same objects, in two lists
                told.append(by)
                is_deque = isinstance(made, ast.Call) and self._names.is_any(made.func, DEQUE)
                most = argument(made, 1, "maxlen") if isinstance(made, ast.Call) else None
                code, pictures = zip(*kept, strict=True)
                yield Memory(holder, made, at, pictures, code, most if is_deque else None)

    def _added(self) -> Iterator[tuple[ast.expr, ast.expr, ast.expr]]:
        """What something is added to, what is, and the code that does it."""
        for call, method in self._tree.methods("append", "appendleft"):
            if len(call.args) == 1:
                yield method.value, call.args[0], call
        for assignment in self._tree.all(ast.Assign):
            target = assignment.targets[0]
            if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant):
                yield target.value, assignment.value, target

    def _parts(self, added: ast.expr) -> Iterator[ast.expr]:
        """The values that a step is made of."""
        if isinstance(added, (ast.List, ast.Tuple)):
            yield from added.elts
        elif isinstance(added, ast.Dict):
            yield from added.values
        elif isinstance(added, ast.Name) and (whole := self._step(added)) is not None:
            yield from self._parts(whole)
        elif isinstance(added, ast.Call) and self._is_record(added.func):
            yield from (each for each in given_to(added) if not isinstance(each, ast.Starred))
        else:
            yield added

    def _step(self, added: ast.Name) -> ast.expr | None:
        """The tuple or the record that a name stands for."""
        only = self._sources.of(added).only
        if only is None or only.path or only.frame is not None:
            return None
        if isinstance(only.node, (ast.List, ast.Tuple, ast.Dict)):
            return only.node
        is_record = isinstance(only.node, ast.Call) and self._is_record(only.node.func)
        return only.node if is_record and isinstance(only.node, ast.Call) else None

    def _is_record(self, callee: ast.expr) -> bool:
        """Whether this makes a named tuple, or an instance of a class without methods."""
        definition = self._functions.definition(callee)
        if isinstance(definition, ast.ClassDef):
            return self._functions.method(definition, "__init__") is None
        for end in self._sources.of(callee).found:
            made = end.node.func if isinstance(end.node, ast.Call) else None
            if self._names.qualified(made) == "collections.namedtuple":
                return True
        return False

    def _kept(self, parts: list[ast.expr]) -> list[tuple[ast.expr, Picture]]:
        """The pictures among the values of a step, without those that the next step has, too."""
        found: list[tuple[ast.expr, Picture]] = []
        made: list[frozenset[ast.AST]] = []
        for each in parts:
            picture = self._pictures.of(each)
            if picture.sort is not Sort.PICTURE:
                continue
            by = self._pictures.made(each)
            if not any(by <= other or other <= by for other in made):
                found.append((each, picture))
                made.append(by)
        return found

    def _made(self, holder: ast.expr) -> ast.AST | None:
        made = self._objects.made_once(holder)
        return made.node if made is not None and not made.path else None

    def _is_memory(self, made: ast.AST, *, is_step: bool) -> bool:
        """Whether steps stay in it for long: so many of them, or until they are drawn.

        Nobody knows how many: steps may be. Pictures alone may be the last few, unless drawn.
        """
        if isinstance(made, ast.Call) and self._names.is_any(made.func, DEQUE):
            most = argument(made, 1, "maxlen")
            if most is None or is_none(most):
                return self._is_drawn_from(made) or self._is_cut(made)
            number = self._values.number(most)
            if number is None:
                return is_step or self._is_drawn_from(made)
            return number > _FEW
        if isinstance(made, (ast.List, ast.BinOp)) or self._is_list(made):
            return self._is_drawn_from(made) or self._is_cut(made)
        return False

    def _is_list(self, made: ast.AST) -> bool:
        if not isinstance(made, ast.Call):
            return False
        plain = called(made) == "list"
        told = argument(made, 1, "dtype")
        is_objects = isinstance(told, ast.Name) and told.id == "object"
        return plain or (is_objects and self._names.is_any(made.func, _ARRAYS))

    def _is_drawn_from(self, made: ast.AST) -> bool:
        """Whether a few of its steps are taken by chance."""
        for use in self._uses(made):
            above = self._tree.parent(use)
            if isinstance(above, ast.Call) and use in above.args:
                if self._names.is_any(above.func, _SAMPLES | _PLACES):
                    return True
                length = called(above) == "len"
                if length and self._is_place(above):
                    return True
        return False

    def _is_cut(self, made: ast.AST) -> bool:
        """Whether the oldest steps go when there are more than so many: `del xs[:1]`."""
        for use in self._uses(made):
            above = self._tree.parent(use)
            cut = isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Del)
            takes = isinstance(above, ast.Attribute) and above.attr in ("pop", "popleft")
            if (cut or takes) and self._is_for_many(use):
                return True
        return False

    def _uses(self, made: ast.AST) -> tuple[ast.expr, ...]:
        uses = self._objects.uses(made)
        return self._objects.named(made) if uses is None else uses

    def _is_for_many(self, use: ast.expr) -> bool:
        """Whether a test around this asks for more than the last few."""
        for test, _ in self._tree.tests(use, self._tree.module):
            sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else []
            numbers = [self._values.number(each) for each in sides]
            if any(each is not None and each > _FEW for each in numbers):
                return True
        return False

    def _is_place(self, length: ast.Call) -> bool:
        """Whether a length tells how far a number that is drawn may go."""
        for above in self._tree.ancestors(length):
            if isinstance(above, ast.Call) and self._names.is_any(above.func, _PLACES | _SAMPLES):
                return True
            if isinstance(above, ast.stmt):
                break
        return False

    @cached_property
    def _may_be_cut(self) -> bool:
        taken = self._tree.methods("pop", "popleft")
        return next(taken, None) is not None or next(self._tree.all(ast.Delete), None) is not None

    # Arrays.

    def _of_arrays(self) -> Iterator[Memory]:
        groups: dict[FunctionNode | None, list[_Filled]] = {}
        if not self._names.mentions(_ARRAYS):
            return
        for assignment in self._tree.all(ast.Assign):
            target = assignment.targets[0]
            if not isinstance(target, ast.Subscript) or not self._comes_round(target.slice):
                continue
            made = self._made(target.value)
            if not isinstance(made, ast.Call) or not self._names.is_any(made.func, _ARRAYS):
                continue
            picture = self._pictures.of(assignment.value)
            if picture.sort is not Sort.PICTURE or self._is_short(made):
                continue
            group = groups.setdefault(self._tree.function(made), [])
            if all(each.made is not made for each in group):
                group.append(_Filled(target.value, made, assignment.value, picture))
        for group in groups.values():
            first = group[0]
            yield Memory(
                first.holder,
                first.made,
                first.made,
                tuple(self._cast(each.made, each.picture) for each in group),
                tuple(each.value for each in group),
                arrays=tuple(each.made for each in group),
            )

    def _cast(self, made: ast.Call, picture: Picture) -> Picture:
        """A picture as an array holds it."""
        name = self._names.qualified(made.func) or ""
        told = argument(made, FILLED[name].dtype_place, "dtype")
        dtype = "float64" if told is None else self._values.dtype(told)
        return picture._replace(dtype=dtype)

    def _is_short(self, made: ast.Call) -> bool:
        shape = argument(made, 0, "shape")
        if not isinstance(shape, (ast.List, ast.Tuple, ast.BinOp)):
            return True
        if isinstance(shape, ast.BinOp):
            return False
        if len(shape.elts) < _FEWEST_AXES:
            return True
        rows, *others = map(self._values.number, shape.elts)
        spread = isinstance(shape.elts[-1], ast.Starred)
        is_vector = len(others) == 1 and not spread and (others[0] or 0) < _FEWEST_NUMBERS
        return is_vector or (rows is not None and rows <= _FEW)

    def _comes_round(self, index: ast.expr) -> bool:
        """Whether a place is counted on and begins again: `self.next % size`, an attribute."""
        if isinstance(index, ast.Tuple):
            index = index.elts[0] if index.elts else index
        if isinstance(index, ast.BinOp):
            return isinstance(index.op, ast.Mod)
        if isinstance(index, ast.Attribute):
            return True
        ends = self._sources.of(index) if isinstance(index, ast.Name) else None
        if ends is None:
            return False
        nodes = [each.node for each in ends.found]
        return any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mod) for each in nodes)
