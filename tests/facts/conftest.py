"""How the fact tests point at code: `see(x)` marks `x` as the expression asked about."""

import ast
from collections.abc import Callable
from textwrap import dedent

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]


@pytest.fixture
def look() -> Look:
    def read(source: str) -> tuple[File, list[ast.expr]]:
        file = File("example.py", dedent(source))
        calls = [
            call
            for call in file.tf.tree.all(ast.Call)
            if isinstance(call.func, ast.Name) and call.func.id == "see"
        ]
        return file, [call.args[0] for call in sorted(calls, key=lambda call: call.lineno)]

    return read
