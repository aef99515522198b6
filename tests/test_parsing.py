"""A long text is parsed piece by piece, and nobody can tell."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfmemlint import registry
from tfmemlint.parsing import parse, refuse

FIXTURES = registry.folder(next(iter(registry.load().values()))).parent
PARTS = [
    "import os\n\n\n",
    "def f(x):\n    return x\n\n\n",
    "@decorated\n\n\nclass C:\n\n    def f(self): ...\n\n",
    "async def g():\n    await f('\u00e9')\n\n",
    "text = '''\n\ndef f(\n\n'''\n\n",
    'class D:\n    """Words\n\nclass E(\n\nof more."""\n\n',
    "x = (\n\n1,\n\n2)\n\n",
    "if x:\n    pass\n\nelse:\n\n    y = 2\n\n",
    "z = 1 + \\\n\n",
    "@wrong\n\n",
    "def h(:\n\n",
    "\r\n\r\ndef i(): ...\r\n\r\n",
]
FILLER = "# filler\n" * 2_000


def said(work: Callable[[str, str], object], text: str) -> object:
    try:
        tree = work(text, "a.py")
    except SyntaxError as error:
        return error.msg, error.lineno, error.offset
    return ast.dump(tree, include_attributes=True) if isinstance(tree, ast.Module) else None


def test_a_long_file_has_the_tree_that_python_gives_it() -> None:
    programs = [path.read_text("utf-8") for path in sorted(Path(FIXTURES).glob("*/*.py"))]
    text = "\n\n".join(each for each in programs if "__future__" not in each)

    assert len(text) > 200_000
    assert ast.dump(parse(text, "a.py"), include_attributes=True) == ast.dump(
        ast.parse(text), include_attributes=True
    )


@settings(deadline=None, database=None)
@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=6))
def test_what_looks_like_a_definition_is_not_taken_for_one(parts: list[str]) -> None:
    text = FILLER.join(["", *parts, ""]) + FILLER * 3

    assert said(parse, text) == said(ast.parse, text)
    assert (said(refuse, text) is None) == (not isinstance(said(ast.parse, text), tuple))


@pytest.mark.parametrize("place", [0, 300, 599])
def test_a_mistake_in_a_long_file_is_where_python_finds_it(place: int) -> None:
    lines = ["def f(x):\n    return [x, x, x, x, x, x, x, x, x, x, x, x, x, x]\n\n\n"] * 600
    lines[place] = "def f(:\n    pass\n\n\n"
    text = "import os\n\n\n" + "".join(lines) + FILLER

    assert said(parse, text) == said(refuse, text) == said(ast.parse, text)
    assert said(parse, text) == ("invalid syntax", 4 + 4 * place, 7)
