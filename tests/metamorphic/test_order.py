"""What is found does not depend on who asks first, nor on the order of functions in a file."""

from __future__ import annotations

import ast
import random
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tfmemlint import File, registry, screen
from tfmemlint.lines import Lines
from tfmemlint.linting import lint

RULES = registry.load()
FIXTURES = registry.folder(next(iter(RULES.values()))).parent
PATHS = [each for each in sorted(FIXTURES.rglob("*.py")) if ".fixed" not in each.name]
SAMPLE = sorted({*PATHS[::3], FIXTURES / "TFM303" / "cases" / "handed_over.py"})
"""A part, and a program whose functions are handed over to others that call them."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

AT_FIRST = {"TFM105"}
"""What is told of an array once, at the first function that reads it."""

each_path = pytest.mark.parametrize(
    "path", SAMPLE, ids=lambda path: str(path.relative_to(FIXTURES))
)


def said(file: File, codes: list[str]) -> set[tuple[str, int, str]]:
    """What rules say of a file that remembers what it was asked before."""
    return {
        (code, each.span.start, each.message) for code in codes for each in RULES[code].check(file)
    }


def read(path: Path) -> File:
    return File("example.py", path.read_bytes().decode())


@cache
def expected(path: Path) -> set[tuple[str, int, str]]:
    """What all rules say in their order; several tests compare with that."""
    return said(read(path), [*RULES])


def shuffled(tree: ast.Module, seed: str) -> bool:
    """Puts functions that stand side by side in another order; False where there are none."""
    order = random.Random(seed)
    changed = False
    for node in ast.walk(tree):
        block = getattr(node, "body", None)
        if not isinstance(node, (ast.Module, ast.ClassDef)) or not isinstance(block, list):
            continue
        start = 0
        while start < len(block):
            end = start
            names: set[str] = set()
            while end < len(block) and may_swap(block[end], names):
                names.add(block[end].name)
                end += 1
            run = block[start:end]
            order.shuffle(run)
            changed |= run != block[start:end]
            block[start:end] = run
            start = end + 1
    return changed


def may_swap(statement: ast.stmt, names: set[str]) -> bool:
    """Whether a definition needs none of these when it is made, and is not one of them again."""
    if not isinstance(statement, FUNCTIONS) or statement.name in names:
        return False
    arguments = statement.args
    made_of = [*statement.decorator_list, *arguments.defaults, *filter(None, arguments.kw_defaults)]
    return not any(
        isinstance(each, ast.Name) and each.id in names for one in made_of for each in ast.walk(one)
    )


@each_path
def test_rules_may_be_asked_in_any_order(path: Path) -> None:
    codes = [*RULES]
    random.Random(path.name).shuffle(codes)

    assert said(read(path), codes) == expected(path)
    assert said(read(path), [*reversed(codes)]) == expected(path)


@each_path
def test_a_rule_says_alone_what_it_says_among_others(path: Path) -> None:
    words = screen.words(b" ".join(screen.code(path.read_bytes())))
    asked = {each.code for each in screen.awaited(RULES.values(), words)}  # no other is ever run

    assert {each for code in asked for each in said(read(path), [code])} == expected(path)


@each_path
def test_asking_twice_changes_nothing(path: Path) -> None:
    file = read(path)

    assert said(file, [*RULES]) == expected(path)
    assert said(file, [*RULES]) == expected(path)


@pytest.mark.slow
def test_functions_may_stand_in_any_order() -> None:
    tried = 0
    for path in PATHS:
        tree = ast.parse(path.read_bytes())
        numbers = {node: number for number, node in enumerate(ast.walk(tree))}
        plain = ast.unparse(tree)
        if not shuffled(tree, path.name):
            continue
        tried += 1
        mixed = ast.unparse(tree)
        old = [*ast.walk(ast.parse(plain))]
        rows: dict[int, int] = {}
        for after, before in zip(ast.walk(ast.parse(mixed)), ast.walk(tree), strict=True):
            twin = old[numbers[before]]
            if isinstance(after, (ast.stmt, ast.expr)) and isinstance(twin, (ast.stmt, ast.expr)):
                rows.setdefault(after.lineno, twin.lineno)

        now = [(code, rows[row]) for code, row in found(mixed)]
        before_it = found(plain)
        assert Counter(code for code, _ in now) == Counter(code for code, _ in before_it), path
        assert {each for each in now if each[0] not in AT_FIRST} == {
            each for each in before_it if each[0] not in AT_FIRST
        }, path
    assert tried > 60


def found(text: str) -> list[tuple[str, int]]:
    """The rules that speak of a program, and the lines where they do."""
    lines = Lines(text)
    return [
        (each.code, lines.position(each.diagnostic.span.start)[0])
        for each in lint("example.py", text, RULES.values())
    ]
