"""One program in several files: its functions in a module or a package, its numbers in another."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tests.metamorphic.programs import NotTheSame
from tests.metamorphic.shapes import Renamed, begun, names_in

Split = Callable[[ast.Module], dict[str, str]]
_DEFINITIONS = (ast.AsyncFunctionDef, ast.ClassDef, ast.FunctionDef)
PROGRAM = "train.py"


def split(text: str, how: Split) -> dict[str, str]:
    """The files of a program; raises NotTheSame where they would be another program."""
    return how(ast.parse(text))


def _written(body: list[ast.stmt]) -> str:
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, []))) + "\n"


def _apart(tree: ast.Module) -> tuple[list[ast.stmt], list[ast.stmt], list[ast.stmt]]:
    """What stands at the top, the definitions, and the rest."""
    top, rest = begun(tree)
    definitions: list[ast.stmt] = [each for each in rest if isinstance(each, _DEFINITIONS)]
    run = [each for each in rest if each not in definitions]
    shared = any(isinstance(each, ast.Global) for each in ast.walk(tree))
    if not definitions or not run or shared or names_in(run, stored=True) & names_in(definitions):
        raise NotTheSame
    return top, definitions, run


def _defined(definitions: list[ast.stmt], run: list[ast.stmt]) -> list[str]:
    names = [each.name for each in definitions if isinstance(each, _DEFINITIONS)]
    if len(set(names)) < len(names) or names_in(run, stored=True).intersection(names):
        raise NotTheSame
    return names


def _module(tree: ast.Module) -> dict[str, str]:
    top, definitions, run = _apart(tree)
    names = ", ".join(_defined(definitions, run))
    brought = ast.parse(f"from helpers import {names}").body
    return {
        "helpers.py": _written([*top, *definitions]),
        PROGRAM: _written([*top, *brought, *run]),
    }


def _by_its_module(tree: ast.Module) -> dict[str, str]:
    top, definitions, run = _apart(tree)
    named = Renamed(set(_defined(definitions, run)), "helpers.{}")
    return {
        "helpers.py": _written([*top, *definitions]),
        PROGRAM: _written([*top, ast.Import([ast.alias("helpers")]), *map(named.visit, run)]),
    }


def _package(tree: ast.Module) -> dict[str, str]:
    top, definitions, run = _apart(tree)
    names = ", ".join(_defined(definitions, run))
    brought = ast.parse(f"from tools import {names}").body
    return {
        "tools/__init__.py": f"from .parts import {names}\n",
        "tools/parts.py": _written([*top, *definitions]),
        PROGRAM: _written([*top, *brought, *run]),
    }


def _numbers(tree: ast.Module) -> dict[str, str]:
    top, rest = begun(tree)
    numbers: list[ast.stmt] = [each for each in top if isinstance(each, ast.Assign)]
    names = names_in(numbers, stored=True)
    if not numbers or names_in(rest, stored=True) & names:
        raise NotTheSame
    named = Renamed(names, "config.{}")
    others = [each for each in top if each not in numbers]
    brought = ast.Import([ast.alias("config")])
    return {
        "config.py": _written(numbers),
        PROGRAM: _written([*others, brought, *map(named.visit, rest)]),
    }


SPLITS: dict[str, Split] = {
    "module": _module,
    "by its module": _by_its_module,
    "numbers": _numbers,
    "package": _package,
}
