"""Code that is seen to run many times."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]


@pytest.mark.parametrize(
    "code",
    [
        "for x in xs:\n    see(x)",
        "while True:\n    see(1)",
        "[see(x) for x in xs]",
        "def f():\n    see(1)\nfor x in xs:\n    f()",
        "def f():\n    see(1)\ndef g():\n    f()\nwhile True:\n    g()",
    ],
)
def test_loops_here_or_around_a_call_run_code_again(look: Look, code: str) -> None:
    file, (seen,) = look(code)

    assert file.tf.per_batch.runs_again(seen)


@pytest.mark.parametrize(
    "code",
    [
        "see(1)",
        "for x in xs:\n    pass\nelse:\n    see(1)",
        "def f():\n    see(1)\nf()",
        "def f():\n    see(1)",
        "def f():\n    see(1)\n    f()",
    ],
)
def test_code_in_no_loop_is_not_seen_to_run_again(look: Look, code: str) -> None:
    file, (seen,) = look(code)

    assert not file.tf.per_batch.runs_again(seen)
