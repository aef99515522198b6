"""What gives an attribute its value."""

import ast
from collections.abc import Callable
from textwrap import indent

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]


@pytest.mark.parametrize(
    ("body", "values"),
    [
        pytest.param("self.x = 1\nself.x = 2\nsee(self.x)", ["2"], id="the last assignment"),
        pytest.param("self.x = 1\nif a:\n    see(self.x)", ["1"], id="seen from a block"),
        pytest.param("self.x = 1\nsee(self.x)\nself.x = 2", ["1"], id="given another value later"),
        pytest.param(
            "self.x = 1\nif a:\n    self.x = 2\nsee(self.x)", ["1", "2"], id="perhaps in a branch"
        ),
        pytest.param(
            "self.x = 1\nself.x = 2\nif a:\n    self.x = 3\nsee(self.x)\nself.x = 4",
            ["2", "3"],
            id="perhaps in a branch, and another value later",
        ),
        pytest.param(
            "self.x = 1\nfor i in a:\n    see(self.x)\n    self.x = 2",
            ["1", "2"],
            id="a loop comes round again",
        ),
        pytest.param(
            "self.x = 1\nfor i in a:\n    self.x = 2\n    see(self.x)",
            ["2"],
            id="in a loop, before its use",
        ),
        pytest.param(
            "self.x = 1\nself.x = 2\n\ndef second():\n    see(self.x)",
            ["1", "2"],
            id="in another function",
        ),
    ],
)
def test_an_attribute_has_what_it_was_given_last(look: Look, body: str, values: list[str]) -> None:
    file, seen = look("class P:\n    def first(self):\n" + indent(body, "        "))

    origins = file.tf.flow.origins(seen[0]) or ()

    assert [ast.unparse(each.value) for each in origins] == values
