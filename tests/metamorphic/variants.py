"""Which findings are still there when their values go another way."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.metamorphic.moves import MOVES
from tests.metamorphic.programs import NotTheSame, Program
from tfmemlint import Rule
from tfmemlint.lines import Lines
from tfmemlint.linting import lint


class Place(NamedTuple):
    """A finding of a fixture that has not been rewritten."""

    rule: Rule
    path: Path
    text: str
    node: int
    """Which of the nodes that `ast.walk` gives the finding is at."""
    rows: tuple[int, ...]
    """Where the rule speaks in the file as `ast` writes it."""


class Variant(NamedTuple):
    """A program whose value goes another way."""

    move: str
    place: Place
    text: str
    row: int
    """Where the finding is now."""

    @property
    def is_kept(self) -> bool:
        """Whether the rule speaks there, or elsewhere instead."""
        rows = spoken(self.text, self.place.rule)
        return self.row in rows or len(rows) >= len(self.place.rows)


def spoken(text: str, rule: Rule) -> tuple[int, ...]:
    """The lines where a rule reports something."""
    lines = Lines(text)
    found = lint("example.py", text, [rule])
    return tuple(lines.position(each.diagnostic.span.start)[0] for each in found)


def places(rule: Rule, path: Path) -> list[Place]:
    """The findings of a fixture, at their nodes."""
    text = path.read_bytes().decode()
    tree, lines = ast.parse(text), Lines(text)
    rows = spoken(ast.unparse(tree), rule)
    found: list[Place] = []
    for each in lint(str(path), text, [rule]):
        span = each.diagnostic.span
        around: list[tuple[int, bool, int]] = []
        for number, node in enumerate(ast.walk(tree)):
            if not isinstance(node, (ast.expr, ast.stmt, ast.keyword)):
                continue
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            start = lines.offset(node.lineno, node.col_offset)
            end = lines.offset(node.end_lineno, node.end_col_offset)
            if start <= span.start and span.end <= end:
                around.append((end - start, isinstance(node, ast.stmt), number))
        found.append(Place(rule, path, text, min(around)[2], rows))
    return found


def moved(place: Place, move: str) -> Variant:
    """The program after a move; NotTheSame where that would be another program."""
    tree = ast.parse(place.text)
    program = Program(tree, [*ast.walk(tree)][place.node])
    MOVES[move](program)
    ast.fix_missing_locations(tree)
    text = ast.unparse(tree)
    for old, new in zip(ast.walk(tree), ast.walk(ast.parse(text)), strict=True):
        assert type(old) is type(new)
        if old is program.flagged:
            assert isinstance(new, (ast.expr, ast.stmt, ast.keyword))
            return Variant(move, place, text, new.lineno)
    raise AssertionError("the finding's node stays in the program")


def variants(all_places: list[Place]) -> Iterator[Variant | tuple[str, Place, str]]:
    """Every move of every place, or why it is none."""
    for place in all_places:
        for move in MOVES:
            try:
                yield moved(place, move)
            except NotTheSame as reason:
                yield move, place, str(reason)


def kept(found: list[Variant]) -> tuple[Counter[str], Counter[str]]:
    """How many variants there are, and of how many the finding stays, by rule and by move."""
    tried, stay = Counter[str](), Counter[str]()
    for each in found:
        for key in (each.place.rule.code, each.move):
            tried[key] += 1
            stay[key] += each.is_kept
    return tried, stay
