"""What code says values are."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from tfmemlint import File

HEAD = """\
from typing import Annotated, Optional, Union
import keras
import tensorflow as tf
from tensorflow.keras.models import Model
"""
MODELS = frozenset({"keras.Model", "keras.Sequential"})


def says(code: str) -> bool:
    """Whether what is given to `ask` is said to be a model."""
    file = File("example.py", HEAD + dedent(code))
    asked = next(
        each
        for each in file.tf.tree.all(ast.Call)
        if isinstance(each.func, ast.Name) and each.func.id == "ask"
    )
    return file.tf.annotations.is_one_of(asked.args[0], MODELS)


@pytest.mark.parametrize(
    "said",
    [
        "Model",
        "tf.keras.Model",
        "Model | None",
        "None | keras.Sequential",
        "Optional[Model]",
        "Union[Model, keras.Sequential, None]",
        "Annotated[Model, 'frozen']",
    ],
)
def test_parameters_names_fields_and_results_may_be_said_to_be_models(said: str) -> None:
    assert says(f"def f(x: {said}):\n    ask(x)")
    assert says(f"def f(*, x: {said} = None):\n    ask(x)")
    assert says(f"x: {said} = made()\nask(x)")
    assert says(f"def made() -> {said}: ...\nask(made())")
    assert says(f"def made() -> {said}: ...\nx = made()\nask(x)")
    assert says(f"class A:\n    x: {said}\n    def f(self):\n        ask(self.x)")
    assert says(
        f"class A:\n    def __init__(self):\n        self.x: {said} = made()\n"
        "    def f(self):\n        ask(self.x)"
    )
    assert says(
        f"class A:\n    def __init__(self, x: {said}):\n        self.x = x\n"
        "    def f(self):\n        ask(self.x)"
    )


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    ask(x)",
        "def f(x: object):\n    ask(x)",
        "def f(x: 'a model'):\n    ask(x)",
        "def f(x: None):\n    ask(x)",
        "def f(x: Model | tf.Tensor):\n    ask(x)",
        "def f(x: list[Model]):\n    ask(x)",
        "def f(x: Model):\n    ask(x.layers)",
        "def f(x: Model):\n    if x.built:\n        x = x.layers\n    ask(x)",
        "def made() -> tuple[Model, int]: ...\nx, y = made()\nask(x)",
        "async def made() -> Model: ...\nask(made())",
        "class A:\n    x: Model\nclass B:\n    def f(self):\n        ask(self.x)",
    ],
)
def test_what_is_said_of_others_or_not_surely_is_not(code: str) -> None:
    assert not says(code)
