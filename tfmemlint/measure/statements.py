"""Has a program tell which of its statements it is at: calls put into the `ast` before running."""

from __future__ import annotations

import ast
import builtins
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

AT, ENTER, LEAVE = "_tfmemlint_at", "_tfmemlint_enter", "_tfmemlint_leave"
"""The names of the functions that are called: before a statement, and around a function's body."""


class Statement(NamedTuple):
    """Where a statement stands; of one that holds others, its head alone."""

    path: str
    line: int
    end: int
    function: str
    """The innermost function around it; empty at the top of a file."""


class Statements:
    """All statements of the user's that have been seen, by number and by place."""

    def __init__(self) -> None:
        self.all: list[Statement] = []
        self._numbers: dict[tuple[str, int], int] = {}

    def add(self, statement: Statement) -> int:
        """The number by which the statement is known from now on."""
        number = len(self.all)
        self.all.append(statement)
        for line in range(statement.line, statement.end + 1):
            self._numbers[statement.path, line] = number
        return number

    def at(self, path: str, line: int) -> int | None:
        """The number of the statement on a line; of several, the last."""
        return self._numbers.get((path, line))


def instrumented(source: bytes | str, path: str, statements: Statements) -> CodeType:
    """The program with a call of `AT` before every statement, and line numbers as they were."""
    tree = ast.parse(source, path)
    tree.body = _block(tree.body, _Place(path, "", None), statements)
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


def listen(
    folder: Path,
    statements: Statements,
    at: Callable[[int], None],
    enter: Callable[[], None],
    leave: Callable[[], None],
    imported: Mapping[str, Callable[[ModuleType], None]] | None = None,
) -> Callable[[], None]:
    """Be told by instrumented code, and instrument what is imported from the folder.

    Others may want to be told when a module has been `imported`, or at once if it has been, which
    is so in forks. What is returned ends it all.
    """
    finder = Finder(folder, statements, imported or {})
    for name, tell in (imported or {}).items():
        if name in sys.modules:
            tell(sys.modules[name])
    sys.meta_path.insert(0, finder)
    builtins.__dict__.update({AT: at, ENTER: enter, LEAVE: leave})

    def stop() -> None:
        sys.meta_path.remove(finder)
        for name in (AT, ENTER, LEAVE):
            del builtins.__dict__[name]

    return stop


class Finder(MetaPathFinder):
    """Instruments what a program imports from its own folder."""

    def __init__(
        self,
        folder: Path,
        statements: Statements,
        imported: Mapping[str, Callable[[ModuleType], None]] | None = None,
    ) -> None:
        self._folder = folder
        self._statements = statements
        self._imported = imported or {}

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The module's own specification, with a loader that instruments."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader:
            return None
        if fullname in self._imported:
            spec.loader = _Told(fullname, spec.loader.path, self._imported[fullname])
            return spec
        if not is_users(spec.loader.path, self._folder):
            return None
        spec.loader = _Loader(fullname, spec.loader.path, self._statements)
        return spec


def is_users(path: str, folder: Path) -> bool:
    """Whether the file belongs to the program in that folder, and was not installed there."""
    file = _resolved(path)
    installed = {"site-packages", "dist-packages"}
    return file.is_relative_to(folder) and installed.isdisjoint(file.relative_to(folder).parts)


def _resolved(path: str) -> Path:
    """As `Path.resolve` has it; thousands of modules stand in few folders, each looked at once."""
    if not os.path.isabs(path) or os.path.islink(path):  # noqa: PTH114, PTH117  as quick as can be
        return Path(path).resolve()
    folder, name = os.path.split(path)
    return _resolved_folder(folder) / name


@cache
def _resolved_folder(path: str) -> Path:
    return Path(path).resolve()


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, statements: Statements) -> None:
        super().__init__(fullname, path)
        self._statements = statements

    def get_code(self, fullname: str) -> CodeType:
        return instrumented(self.get_data(self.path), self.path, self._statements)


class _Told(SourceFileLoader):
    """Leaves a module as it is, and says when it is there."""

    def __init__(self, fullname: str, path: str, tell: Callable[[ModuleType], None]) -> None:
        super().__init__(fullname, path)
        self._tell = tell

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        self._tell(module)


class _Place(NamedTuple):
    """What is around a block."""

    path: str
    function: str
    loop: int | None


def _block(body: list[ast.stmt], place: _Place, statements: Statements) -> list[ast.stmt]:
    new: list[ast.stmt] = []
    for statement in body:
        if _stays_first(statement, new):
            new.append(statement)
            continue
        number = place.loop if isinstance(statement, ast.Continue) else None
        if number is None:
            number = statements.add(_statement(statement, place))
        new.append(_call(AT, statement, number))
        _instrument(statement, number, place, statements)
        new.append(statement)
    return new


def _stays_first(statement: ast.stmt, before: list[ast.stmt]) -> bool:
    """Whether it is a docstring or an import that Python wants at the top."""
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return True
    return not before and isinstance(statement, ast.Expr) and _is_string(statement.value)


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _statement(statement: ast.stmt, place: _Place) -> Statement:
    end = statement.end_lineno or statement.lineno
    inner = next(_blocks(statement), None)
    if inner:
        end = max(statement.lineno, inner[0].lineno - 1)
    return Statement(place.path, statement.lineno, end, place.function)


def _blocks(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        block: list[ast.stmt] = getattr(statement, field, [])
        if block:
            yield block
    for field in ("handlers", "cases"):
        for part in getattr(statement, field, []):
            yield from _blocks(part)


def _instrument(statement: ast.stmt, number: int, place: _Place, statements: Statements) -> None:
    """Instrument what a statement holds."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        inner = _Place(place.path, statement.name, None)
        statement.body = _block(statement.body, inner, statements)
        if isinstance(statement, ast.FunctionDef) and not _yields(statement):
            statement.body = _announced(statement.body)
        return
    if isinstance(statement, ast.ClassDef):
        place = place._replace(loop=None)
    is_loop = isinstance(statement, (ast.For, ast.AsyncFor, ast.While))
    for part in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        for field in ("body", "orelse", "finalbody"):
            block: list[ast.stmt] = getattr(part, field, [])
            if not block:
                continue
            looped = is_loop and field == "body"
            inner = place._replace(loop=number) if looped else place
            new = _block(block, inner, statements)
            if looped:  # what comes next is the loop's own doing: another element, or the condition
                new.append(_call(AT, block[-1], number))
            setattr(part, field, new)


def _announced(body: list[ast.stmt]) -> list[ast.stmt]:
    """A function's body that tells when it begins and, however it ends, when it is over."""
    first = 1 if _stays_first(body[0], []) else 0
    rest = body[first:]
    if not rest:
        return body
    guarded = ast.Try(rest, [], [], [_call(LEAVE, rest[-1])])
    ast.copy_location(guarded, rest[0])
    return [*body[:first], _call(ENTER, rest[0]), guarded]


def _yields(function: ast.FunctionDef) -> bool:
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            pending += ast.iter_child_nodes(node)
    return False


def _call(name: str, near: ast.stmt, *arguments: int) -> ast.stmt:
    call = ast.Call(
        ast.Name(name, ast.Load()), [ast.Constant(argument) for argument in arguments], []
    )
    return ast.copy_location(ast.Expr(call), near)
