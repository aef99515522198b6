"""Of all that is put into one place of an object or a container, what a use may still find."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tfmemlint.facts.flow.paths import Read
from tfmemlint.facts.flow.stores import Put, Store
from tfmemlint.facts.syntax.nodes import holds, nodes_of, same_code
from tfmemlint.facts.syntax.tree import FunctionNode, Tree


def still_there(
    tree: Tree, use: ast.expr, puts: Iterable[Put], read: Read
) -> tuple[list[Put], bool]:
    """What may be found in a place at a use, and whether that surely is all.

    `box.x = a`, then `box.x = b`: behind both, it is `b` alone, as it would be of a name.
    """
    puts = [*puts]
    here = [each for each in puts if each.reads == (read,) and _is_assigned(tree, each)]
    function, at = tree.function(use), tree.statement(use)
    if not here or any(tree.function(each.holder) is not function for each in here):
        return puts, False
    statements = {each: tree.statement(each.holder) for each in here}
    before = [each for each in here if _is_before(statements[each], at)]
    before.sort(key=lambda each: (statements[each].lineno, statements[each].col_offset))
    surely = [each for each in before if _is_behind(tree, use, statements[each])]
    last = surely[-1] if surely else None
    reaching = {*(before if last is None else before[before.index(last) :])}
    loops = tree.loops(use)
    if last is not None:
        loops = (each for each in loops if not tree.inside(statements[last], each))
    around = [*loops]
    for each in here:  # what comes later comes round again
        if each not in before and any(tree.inside(statements[each], loop) for loop in around):
            reaching.add(each)
    return [each for each in puts if each not in here or each in reaching], last is not None


def outlasting(tree: Tree, stores: Iterable[Store], reader: FunctionNode | None) -> Iterator[Store]:
    """Of what is given to an attribute, what there still is when the methods that do so are done.

    `self.x = load()`, then `self.x = self.x / 255`: other methods find the second one alone.
    """
    stores = [*stores]
    for each in stores:
        function = tree.function(each.target)
        here = function is reader or not isinstance(function, ast.FunctionDef)
        if here or not any(_replaces(tree, other, each, function) for other in stores):
            yield each


def _replaces(tree: Tree, store: Store, earlier: Store, method: FunctionNode | None) -> bool:
    """Whether a method surely gives an attribute another value, before others may read it."""
    last, first = tree.statement(store.target), tree.statement(earlier.target)
    if tree.function(store.target) is not method or not isinstance(last, ast.Assign):
        return False
    if not isinstance(method, ast.FunctionDef) or last not in method.body:
        return False
    if not same_code(store.target.value, earlier.target.value) or not _is_before(first, last):
        return False
    held = store.target.value
    return isinstance(held, ast.Name) and all(
        each.end_lineno is None or each.end_lineno < first.lineno or _is_quiet(tree, each, held.id)
        for each in method.body[: method.body.index(last) + 1]
    )


def _is_quiet(tree: Tree, statement: ast.stmt, name: str) -> bool:
    """Whether a statement neither leaves a method nor shows others the object it belongs to."""
    if holds(ast.Return, statement):
        return False
    shown = (each for each in nodes_of(ast.Name, statement) if each.id == name)
    for each in shown:
        above = tree.parent(each)
        around = tree.parent(above) if above is not None else None
        is_called = isinstance(around, ast.Call) and around.func is above
        if not isinstance(above, ast.Attribute) or is_called:
            return False
    return True


def _is_assigned(tree: Tree, put: Put) -> bool:
    """Whether an assignment puts something right there: nothing of what was there stays."""
    place = tree.parent(put.holder)
    stored = isinstance(place, (ast.Attribute, ast.Subscript)) and isinstance(place.ctx, ast.Store)
    return stored and isinstance(tree.statement(put.holder), ast.Assign)


def _is_before(statement: ast.stmt, at: ast.stmt) -> bool:
    return (statement.lineno, statement.col_offset) < (at.lineno, at.col_offset)


def _is_behind(tree: Tree, use: ast.expr, statement: ast.stmt) -> bool:
    """Whether a use stands where a statement has surely run."""
    block, place = tree.place(statement)
    for each in tree.ancestors(use):
        if isinstance(each, ast.stmt) and tree.place(each)[0] is block:
            return tree.place(each)[1] > place
    return False
