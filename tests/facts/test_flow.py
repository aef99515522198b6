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


HANDS_ON = """
class Base:
    def __init__(self, first, second=2, *, third=3):
        see(first)
        see(second)
        see(third)
class Heir(Base):
    def __init__(self, own, *args, **kwargs):
        BODY
"""


@pytest.mark.parametrize(
    ("body", "made", "values"),
    [
        pytest.param(
            "super().__init__(*args, **kwargs)",
            "Heir(0, 'a', 'b', third='c')",
            ["'a'", "'b'", "'c'"],
            id="all",
        ),
        pytest.param(
            "super().__init__(own, *args)", "Heir('a', 'b')", ["own", "'b'", "3"], id="by place"
        ),
        pytest.param(
            "super().__init__(*args, **kwargs)",
            "Heir(0, first='a', second='b')",
            ["'a'", "'b'", None],
            id="by name",
        ),
        pytest.param(
            "kwargs['second'] = own\n        super().__init__(*args, **kwargs)",
            "Heir(0, 'a', second='b')",
            [None, None, None],
            id="changed",
        ),
        pytest.param(
            "super().__init__(*own, **kwargs)", "Heir(0, 'a')", [None, None, None], id="another"
        ),
    ],
)
def test_constructors_hand_on_what_they_are_given(
    look: Look, body: str, made: str, values: list[str | None]
) -> None:
    file, seen = look(HANDS_ON.replace("BODY", body) + made)

    found = [file.tf.flow.origins(each) for each in seen]

    assert [ast.unparse(each[0].value) if each else None for each in found] == values


def test_what_is_called_is_the_receiver_of_its_own_method(look: Look) -> None:
    file, [seen] = look(
        "class Held:\n    def __init__(self, x):\n        self.x = x\n    def __call__(self):\n"
        "        return self.x\nclass Holder:\n    def __init__(self):\n        self.x = 1\n"
        "        self.first, self.second = Held(2), Held(3)\n    def all(self):\n"
        "        see(self.second())"
    )

    assert [ast.unparse(each.node) for each in file.tf.sources.of(seen).found] == ["3"]


@pytest.mark.parametrize(
    ("given", "values"),
    [
        pytest.param("Held(1)", ["1"], id="an object, later"),
        pytest.param("[Held(1), Held(2)][0]", ["1"], id="an entry, later"),
        pytest.param("a", ["a"], id="what is out of sight, later"),
    ],
)
def test_nothing_is_read_of_none(look: Look, given: str, values: list[str]) -> None:
    file, [seen] = look(
        "class Held:\n    def __init__(self, x):\n        self.x = x\n"
        "class Holder:\n    def __init__(self):\n        self.held = None\n"
        f"    def build(self):\n        self.held = {given}\n"
        "    def use(self):\n        see(self.held.x)"
    )

    assert [ast.unparse(each.node) for each in file.tf.sources.of(seen).found] == values
