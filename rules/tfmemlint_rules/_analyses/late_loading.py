"""What generators load before they give anything, and could as well load as they go."""

from __future__ import annotations

import ast
from enum import Enum

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Growth
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import called, holds, names_in, nodes_of, root
from tfmemlint_rules._analyses.generators import Held, Hoard


class Late(Enum):
    """How everything can be loaded when its turn comes, and given in the same order."""

    BY_ROW = "rows of a file that stays open"
    LAZILY = "a generator expression in place of the list"
    AT_ONCE = "given where it was added to the list"


class LateLoading:
    """When what the generators of a module load may be loaded."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._bodies = tf.bodies

    def of(self, hoard: Hoard) -> Late | None:
        """How it can be loaded late; None where something may be missed, or is not known."""
        loaded, gathered = hoard.loaded, hoard.gathered
        if hoard.held is Held.HDF5:
            stays = self._stays_open(hoard) and not self._is_closed(hoard)
            return Late.BY_ROW if stays else None
        if gathered is None:
            return None
        if isinstance(loaded, ast.ListComp) and gathered.comprehension is loaded:
            lazily = self._is_read_once(hoard) and self._stays_open(hoard)
            return Late.LAZILY if lazily and not self._may_change(hoard) else None
        passed_on = gathered.growth is not None and self._is_passed_on(hoard, gathered.growth)
        return Late.AT_ONCE if passed_on else None

    # Files that are open.

    def _stays_open(self, hoard: Hoard) -> bool:
        """Whether no `with` or `try` around the loading ends before all is given."""
        above = self._tree.ancestors(hoard.loaded)
        opened = (each for each in above if isinstance(each, (ast.With, ast.AsyncWith, ast.Try)))
        return all(self._tree.inside(hoard.giving, each) for each in opened)

    def _is_closed(self, hoard: Hoard) -> bool:
        """Whether the file may be closed by hand before the loop is over.

        As far as is known it may, where the data set was put elsewhere before.
        """
        opened = root(hoard.loaded)
        binding = self._bindings.only(opened)
        made = binding.value if binding is not None else None
        if not isinstance(made, ast.Call) or self._names.qualified(made.func) is None:
            return True
        readers = self._bindings.readers(binding) if binding is not None else []
        end = hoard.giving.end_lineno or 0
        return any(
            getattr(self._tree.parent(each), "attr", "") == "close"
            and (self._tree.function(each) is not hoard.generator or each.lineno <= end)
            for each in readers
        )

    # Lists that comprehensions make.

    def _is_read_once(self, hoard: Hoard) -> bool:
        """Whether one loop goes over the data itself, once, and nothing else reads it."""
        data, giving = hoard.data, hoard.giving
        if isinstance(data, ast.Name):
            binding = self._bindings.only(data)
            if binding is None or self._bindings.readers(binding) != [data]:
                return False
        iterable = giving.iter if isinstance(giving, ast.For) else giving.value
        calls = nodes_of(ast.Call, iterable)
        if iterable is not data and any(called(each) == "len" for each in calls):
            return False
        again = self._tree.loops(self._tree.statement(giving))
        return all(self._tree.inside(hoard.loaded, each) for each in again)

    def _may_change(self, hoard: Hoard) -> bool:
        """Whether what a list is made of is spoken of between it and the end of the loop."""
        made, giving = hoard.loaded, hoard.giving
        names = nodes_of(ast.Name, made)
        read = {each.id for each in names if self._comes_from_outside(each, made)}
        start, end = (made.end_lineno or 0, made.end_col_offset or 0), giving.end_lineno or 0
        return any(
            isinstance(each, ast.Name)
            and each.id in read
            and (each.id == "self" or each.id in self._bindings.names(self._tree.scope(each)))
            and start < (each.lineno, each.col_offset)
            and each.lineno <= end
            and not (isinstance(giving, ast.For) and self._tree.inside(each, giving.iter))
            for each in self._bodies.body(hoard.generator)
        )

    def _comes_from_outside(self, name: ast.Name, made: ast.expr) -> bool:
        """Whether a name in a comprehension stands for a value that other code may change."""
        return not any(
            self._tree.inside(each.node, made) or each.how in (How.DEFINED, How.IMPORTED)
            for each in self._bindings.reaching(name)
        )

    # Lists that loops fill.

    def _is_passed_on(self, hoard: Hoard, growth: Growth) -> bool:
        """Whether one loop does nothing but fill the list, and the next one but give it."""
        filling = growth.loops[-1].node if growth.loops else None
        if not isinstance(filling, ast.For) or filling.orelse or not _gives_as_is(hoard.giving):
            return False
        tree = self._tree
        block, place = tree.place(filling)
        start, giving = tree.statement(growth.start.node), tree.statement(hoard.giving)
        return (
            len(growth.elements) == 1
            and block[place - 1 : place + 2] == [start, filling, giving]
            and len(self._bindings.readers(growth.start)) == 2
            and not self._may_leave(growth, filling)
            and not self._is_changed_later(growth, filling)
            and not self._is_asked_for_last(hoard)
        )

    def _may_leave(self, growth: Growth, filling: ast.For) -> bool:
        """Whether the loop leaves the function, or catches what goes wrong as it adds."""
        above = (each for each in self._tree.ancestors(growth.node) if isinstance(each, ast.Try))
        caught = any(self._tree.inside(each, filling) for each in above)
        return caught or holds(ast.Return, filling)

    def _is_changed_later(self, growth: Growth, filling: ast.For) -> bool:
        """Whether an element is spoken of again once it is in the list, or made but once."""
        (element,) = growth.elements
        made = self._bindings.reaching(element) if isinstance(element, ast.Name) else ()
        if not all(self._tree.inside(each.node, filling) for each in made):
            return True
        names = names_in(element)
        after = growth.node.end_lineno or 0
        return any(
            isinstance(each, ast.Name) and each.id in names and each.lineno > after
            for each in ast.walk(filling)
        )

    def _is_asked_for_last(self, hoard: Hoard) -> bool:
        """Whether something reads what the giving loop left in its variable."""
        target = hoard.giving.target if isinstance(hoard.giving, ast.For) else None
        return isinstance(target, ast.Name) and any(
            not self._tree.inside(each, hoard.giving)
            for binding in self._bindings.of(hoard.generator, target.id)
            if binding.node is target
            for each in self._bindings.readers(binding)
        )


def _gives_as_is(giving: ast.For | ast.YieldFrom) -> bool:
    """`for image in images: yield image`, or `yield from images`."""
    match giving:
        case ast.YieldFrom(value=ast.Name()):
            return True
        case ast.For(
            target=ast.Name(id=each),
            iter=ast.Name(),
            body=[ast.Expr(value=ast.Yield(value=ast.Name(id=given)))],
            orelse=[],
        ):
            return each == given
        case _:
            return False
