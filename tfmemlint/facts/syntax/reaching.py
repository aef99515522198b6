"""Which bindings of a name reach a place: what is made there before, on every way to it."""

from __future__ import annotations

import ast
from bisect import bisect_left

from tfmemlint.facts.syntax.tree import LOOPS, ScopeNode, Tree
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.facts.syntax.bindings import Binding

_BINDS = frozenset((*LOOPS, ast.AsyncWith, ast.ExceptHandler, ast.Try, ast.With, ast.match_case))
"""What may bind names for the code in it, or around it."""


class Reaching:
    """The ways through the statements of a file.

    `holders` says which nodes of a scope hold which bindings of a name: the same dictionary for the
    same name, since what is found is kept for it.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._indices: dict[int, dict[int, list[int]]] = {}
        self._made: dict[tuple[int, int], dict[int, tuple[list[Binding], bool]]] = {}

    def before(
        self, use: ast.AST, home: ScopeNode, holders: dict[ast.AST, list[Binding]]
    ) -> tuple[list[Binding], bool]:
        """What reaches a use in its own scope, and whether something surely does."""
        tree = self._tree
        found: list[Binding] = []
        below, above = use, tree.parent(use)
        while above is not None:
            block, index = tree.place(below) if isinstance(below, ast.stmt) else ([], 0)
            if index:
                made, sure = self.by(block, index, holders)
                found += [each for each in made if each not in found]
                if sure:
                    return found, True
            around = above.__class__ in _BINDS  # few do of the many that may be there: `elif`
            own = self._own(above, below, holders, found) if around else []
            if own:
                found += [each for each in own if each not in found]
                return found, True
            if above is home:
                break
            below, above = above, tree.parent(above)
        return found, False

    def _own(
        self,
        above: ast.AST,
        below: ast.AST,
        holders: dict[ast.AST, list[Binding]],
        found: list[Binding],
    ) -> list[Binding]:
        """What a node surely binds for the code in it; what it may bind is added to `found`."""
        if isinstance(above, LOOPS) and below in above.body:
            own = holders.get(above.target, []) if not isinstance(above, ast.While) else []
            if not own:  # what the rest of the body binds comes round again
                again = [each for stmt in above.body for each in holders.get(stmt, ())]
                found += [each for each in again if each not in found]
            return own
        if isinstance(above, ast.While) and below is above.test:
            again = [each for stmt in above.body for each in holders.get(stmt, ())]
            found += [each for each in again if each not in found]
        elif isinstance(above, (ast.With, ast.AsyncWith)) and isinstance(below, ast.stmt):
            return [each for item in above.items for each in holders.get(item, ())]
        elif isinstance(above, ast.ExceptHandler):
            return [each for each in holders.get(above, ()) if each.node is above]
        elif isinstance(above, ast.match_case) and isinstance(below, ast.stmt):
            return holders.get(above.pattern, [])
        elif isinstance(above, ast.Try) and below not in above.body:
            tried = [each for stmt in above.body for each in holders.get(stmt, ())]
            found += [each for each in tried if each not in found]
        return []

    def by(
        self, block: list[ast.stmt], end: int, holders: dict[ast.AST, list[Binding]]
    ) -> tuple[list[Binding], bool]:
        """What `block[:end]` binds that reaches its end, and whether it surely binds.

        What the first statements bind is known to all that stand behind them.
        """
        here = self._indices_in(block, holders)
        known = self._made.setdefault((id(holders), id(block)), {})
        number = bisect_left(here, end)
        waiting: list[tuple[list[Binding], bool]] = []
        found: list[Binding] = []
        sure = False
        while number and not sure:
            if number in known:
                found, sure = known[number]
                break
            number -= 1
            waiting.append(self._in(block[here[number]], holders))
            sure = waiting[-1][1]
        for made, binds in reversed(waiting):
            number += 1
            sure = sure or binds
            found = made if binds else made + [each for each in found if each not in made]
            known[number] = found, sure
        return [*found], sure

    def _indices_in(
        self, block: list[ast.stmt], holders: dict[ast.AST, list[Binding]]
    ) -> list[int]:
        """Which statements of a block are among those that hold bindings, in order."""
        blocks = self._indices.get(id(holders))
        if blocks is None:
            blocks = self._indices[id(holders)] = {}
            for statement in holders:
                if isinstance(statement, ast.stmt):
                    stands_in, index = self._tree.place(statement)
                    blocks.setdefault(id(stands_in), []).append(index)
            for indices in blocks.values():
                indices.sort()
        return blocks.get(id(block), [])

    def _in(
        self, statement: ast.stmt, holders: dict[ast.AST, list[Binding]]
    ) -> tuple[list[Binding], bool]:
        everything = holders.get(statement, [])
        branches: list[list[ast.stmt]]
        if isinstance(statement, ast.If):
            header = holders.get(statement.test, [])
            branches = [statement.body]
            while len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
                statement = statement.orelse[0]  # an elif; a chain of them may be long
                branches.append(statement.body)
            branches.append(statement.orelse)
            return self._by_branches(branches, header, holders)
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            found, sure = self.by(statement.body, len(statement.body), holders)
            own = [each for item in statement.items for each in holders.get(item, ())]
            return (found, True) if sure else (found + own, bool(own))
        if isinstance(statement, ast.Try):
            _, last = self.by(statement.finalbody, len(statement.finalbody), holders)
            whole = statement.body + statement.orelse
            _, tried = self.by(statement.body, len(statement.body), holders)
            _, after = self.by(statement.orelse, len(statement.orelse), holders)
            caught = all(
                _leaves(each.body) or self.by(each.body, len(each.body), holders)[1]
                for each in statement.handlers
            )
            sure = last or (bool(whole) and (tried or after) and caught)
            return list(reversed(everything)), sure
        if isinstance(statement, (*LOOPS, ast.Match)):
            return list(reversed(everything)), False
        return list(reversed(everything)), True

    def _by_branches(
        self,
        branches: list[list[ast.stmt]],
        header: list[Binding],
        holders: dict[ast.AST, list[Binding]],
    ) -> tuple[list[Binding], bool]:
        found: list[Binding] = []
        every = True
        for branch in branches:
            if _leaves(branch):
                continue
            made, sure = self.by(branch, len(branch), holders)
            found += [each for each in made if each not in found]
            every = every and sure
        if header and not every:
            return found + header, True
        return found, every


def _leaves(block: list[ast.stmt]) -> bool:
    """Whether control never runs off the end of this block."""
    return bool(block) and isinstance(block[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))
