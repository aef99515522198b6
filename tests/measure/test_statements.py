"""Programs that tell where they are, and are otherwise what they were."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tfmemlint.measure.statements import (
    AT,
    ENTER,
    LEAVE,
    Statements,
    instrumented,
    is_users,
    listen,
)

Told = list[tuple[str, int]]


def run(source: str, path: str = "toy.py") -> tuple[Told, dict[str, Any]]:
    """What a program told, in lines of its own, and what it left in its variables."""
    statements = Statements()
    told: Told = []

    def at(number: int) -> None:
        told.append(("at", statements.all[number].line))

    names: dict[str, Any] = {
        "__name__": "toy",
        AT: at,
        ENTER: lambda: told.append(("enter", 0)),
        LEAVE: lambda: told.append(("leave", 0)),
    }
    exec(instrumented(source, path, statements), names)
    return told, names


def lines(source: str) -> list[int]:
    return [line for what, line in run(source)[0] if what == "at"]


def test_every_statement_tells_its_line_before_it_is_run() -> None:
    assert lines("a = 1\n\nb = (\n    2\n)\nc = 3\n") == [1, 3, 6]


def test_a_loop_tells_its_own_line_again_before_each_further_element() -> None:
    assert lines("for i in range(2):\n    a = i\n") == [1, 2, 1, 2, 1]
    assert lines("n = 2\nwhile n:\n    n -= 1\nelse:\n    b = 1\n") == [1, 2, 3, 2, 3, 2, 5]


def test_where_a_loop_is_continued_its_own_line_comes_next() -> None:
    source = "for i in range(2):\n    if i == 0:\n        continue\n    b = i\n"
    assert lines(source) == [1, 2, 1, 2, 4, 1]


def test_branches_handlers_and_cases_tell_only_what_is_run() -> None:
    assert lines("if 0:\n    a = 1\nelif 1:\n    a = 2\nelse:\n    a = 3\n") == [1, 3, 4]
    caught = "try:\n    1 / 0\nexcept ZeroDivisionError:\n    a = 1\nfinally:\n    b = 2\n"
    assert lines(caught) == [1, 2, 4, 6]
    assert lines("match 2:\n    case 1:\n        a = 1\n    case _:\n        a = 2\n") == [1, 5]


def test_a_function_tells_that_it_begins_and_however_it_ends_that_it_is_over() -> None:
    source = (
        "def f(n):\n    if n:\n        return n\n    raise KeyError\n\n"
        "f(1)\ntry:\n    f(0)\nexcept KeyError:\n    pass\n"
    )
    told, _ = run(source)
    assert told == [
        ("at", 1),
        ("at", 6),
        ("enter", 0),
        ("at", 2),
        ("at", 3),
        ("leave", 0),
        ("at", 7),
        ("at", 8),
        ("enter", 0),
        ("at", 2),
        ("at", 4),
        ("leave", 0),
        ("at", 10),
    ]


def test_a_generator_does_not_tell_that_it_begins_for_it_is_left_in_the_middle() -> None:
    told, names = run("def g():\n    yield 1\n    yield 2\nfound = list(g())\n")
    assert names["found"] == [1, 2]
    assert {what for what, _ in told} == {"at"}


def test_a_function_that_only_holds_a_generator_does_tell() -> None:
    told, _ = run("def f():\n    def g():\n        yield 1\n    return list(g())\nf()\n")
    assert told.count(("enter", 0)) == told.count(("leave", 0)) == 1


def test_docstrings_future_imports_and_global_statements_keep_their_meaning() -> None:
    source = (
        '"""Page."""\nfrom __future__ import annotations\nx = 0\n'
        'class C:\n    """About C."""\n    y: Missing\n'
        'def f():\n    """About f."""\n    global x\n    x = 1\n'
        'def g():\n    """Nothing but this."""\n'
        "f()\ng()\n"
    )
    _, names = run(source)
    assert names["__doc__"] == "Page."
    assert names["C"].__doc__ == "About C."
    assert names["C"].__annotations__ == {"y": "Missing"}
    assert names["f"].__doc__ == "About f."
    assert names["g"].__doc__ == "Nothing but this."
    assert names["x"] == 1


def test_super_closures_and_decorators_work_as_before() -> None:
    source = (
        "def twice(f):\n    def g(*a):\n        return f(*a) * 2\n    return g\n"
        "class A:\n    def n(self):\n        return 1\n"
        "class B(A):\n    @twice\n    def n(self):\n        return super().n() + 1\n"
        "n = B().n()\n"
    )
    assert run(source)[1]["n"] == 4


def test_the_source_of_a_function_is_found_where_it_was(tmp_path: Path) -> None:
    source = "x = 1\n\n\ndef f(n):\n    m = n\n    return m\n"
    path = tmp_path / "toy_with_source.py"
    path.write_text(source, encoding="utf-8")
    _, names = run(source, str(path))
    assert inspect.getsource(names["f"]) == "def f(n):\n    m = n\n    return m\n"


def test_a_traceback_names_the_lines_of_the_program() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run("def f():\n    a = 1\n    return a / 0\n\n\nf()\n")
    assert [entry.lineno + 1 for entry in caught.traceback[-2:]] == [6, 3]


def test_a_program_that_is_not_python_is_refused_as_python_would() -> None:
    with pytest.raises(SyntaxError):
        instrumented("def f(:\n", "toy.py", Statements())


def test_a_line_leads_to_the_innermost_statement_on_it() -> None:
    statements = Statements()
    instrumented("def f():\n    return (\n        1\n    )\nif 1: x = 2\n", "toy.py", statements)
    number = statements.at("toy.py", 3)
    assert number is not None
    assert statements.all[number] == ("toy.py", 2, 4, "f")
    inner = statements.at("toy.py", 5)
    assert inner is not None
    assert statements.at("toy.py", 6) is None
    assert statements.at("other.py", 3) is None


def test_the_head_of_a_statement_ends_where_its_body_begins() -> None:
    statements = Statements()
    instrumented("for i in (\n    1, 2\n):\n    a = i\n    b = i\n", "toy.py", statements)
    assert [(each.line, each.end) for each in statements.all] == [(1, 3), (4, 4), (5, 5)]


@pytest.fixture
def importing(tmp_path: Path) -> Iterator[Callable[[str], ModuleType]]:
    """Import modules from a folder as a program in it would."""
    before, known = sys.path.copy(), set(sys.modules)
    sys.path.insert(0, str(tmp_path))

    def load(name: str) -> ModuleType:
        return __import__(name)

    yield load
    sys.path[:] = before
    for name in set(sys.modules) - known:
        del sys.modules[name]


def test_what_a_program_imports_from_its_folder_tells_too_and_nothing_else_does(
    tmp_path: Path, importing: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.joinpath("toy_helper.py").write_text("import colorsys\na = 1\n", encoding="utf-8")
    installed = tmp_path / "env" / "site-packages"
    installed.mkdir(parents=True)
    installed.joinpath("toy_installed.py").write_text("a = 1\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(installed), *sys.path])
    statements = Statements()
    told: list[int] = []
    stop = listen(tmp_path, statements, told.append, lambda: None, lambda: None)
    try:
        importing("toy_helper")
        importing("toy_installed")
    finally:
        stop()
    assert [statements.all[number].line for number in told] == [1, 2]
    assert {Path(each.path).name for each in statements.all} == {"toy_helper.py"}


def test_installed_code_is_not_the_users(tmp_path: Path) -> None:
    assert is_users(str(tmp_path / "a" / "b.py"), tmp_path)
    assert not is_users(str(tmp_path / "env" / "site-packages" / "b.py"), tmp_path)
    assert not is_users(str(tmp_path.parent / "b.py"), tmp_path)
