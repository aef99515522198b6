"""What makes traced functions for other files."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint.facts.graphs.factories import Factory

IMPORT = "import tensorflow as tf\n"


def factories(source: str) -> dict[str, Factory]:
    found = File("example.py", IMPORT + dedent(source)).tf.factories.all
    return {function.name: factory for function, factory in found.items()}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (
            "def make(model):\n    return tf.function(model)",
            {"make": Factory(True, ("model",), ("model",), None)},
        ),
        (
            "def make(f, model, rate):\n    @tf.function\n    def g(x):\n"
            "        return model(x) * rate\n    return g",
            {"make": Factory(True, ("model",), ("f", "model", "rate"), None)},
        ),
        (
            "def run(model, x):\n    step = tf.function(model)\n    for y in x:\n        step(y)",
            {"run": Factory(False, ("model",), ("model", "x"), None)},
        ),
        (
            "class Net:\n    def make(self, x):\n        return tf.function(self.call)",
            {"make": Factory(True, ("self",), ("x",), "self")},
        ),
        (
            "class Net:\n    @staticmethod\n    def make(f):\n        return tf.function(f)",
            {"make": Factory(True, ("f",), ("f",), None)},
        ),
        (
            "def make(size):\n    sizes = range(size)\n    return tf.function(lambda x: x * size)",
            {"make": Factory(True, (), ("size",), None)},
        ),
    ],
)
def test_what_gives_or_calls_another_function_each_time(
    source: str, found: dict[str, Factory]
) -> None:
    assert factories(source) == found


@pytest.mark.parametrize(
    "source",
    [
        "make = tf.function(f)",
        "@tf.function\ndef make(x):\n    return x",
        "def make():\n    model = build()\n    return tf.function(model)",
        "def make(model):\n    self.step = tf.function(model)\n    return self.step",
        "def make(model):\n    if model not in MADE:\n        MADE[model] = tf.function(model)",
        "def make(model):\n    if model:\n        return tf.function(model)",
        "def make(model):\n    return tf.function(model), model",
        "@cache\ndef make(model):\n    return tf.function(model)",
        "class Net:\n    def __init__(self):\n        self.call = tf.function(self.step)",
        "def outer():\n    def make(model):\n        return tf.function(model)",
        "def make(model):\n    return 1\ndef make(model):\n    return tf.function(model)",
        "def run(x):\n    return tf.function(f)(x)",  # found where it stands
    ],
)
def test_what_keeps_a_function_or_makes_what_it_is_for_is_no_factory(source: str) -> None:
    assert factories(source) == {}


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("make(a, b)", ["a", "b"]),
        ("make(b=b, a=a)", ["a", "b"]),
        ("make(a)", ["a"]),
        ("make(a, **options)", ["a", None]),
        ("make(*both)", [None]),
    ],
)
def test_what_a_factory_is_given(call: str, given: list[str | None]) -> None:
    made = Factory(True, ("a", "b"), ("a", "b"), None)
    found = ast.parse(call, mode="eval").body
    assert isinstance(found, ast.Call)

    assert [each and ast.unparse(each) for each in made.given(found)] == given
