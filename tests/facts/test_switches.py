"""What a file sets for the whole program, and what is traced then."""

from __future__ import annotations

import ast

import pytest

from tfmemlint import File
from tfmemlint.facts import TensorFlow

IMPORTS = "import tensorflow as tf\n"
SWITCH = "tf.config.run_functions_eagerly(True)\n"
TRACED = """
class Model(tf.keras.Model):
    def call(self, x):
        return helper(x)
@tf.function
def step(x):
    return helper(x)
def helper(x):
    return x
def parse(x):
    return x
ds = tf.data.Dataset.range(9).map(parse)
"""


def facts(code: str) -> TensorFlow:
    return File("code.py", IMPORTS + code).tf


@pytest.mark.parametrize(
    "code",
    [
        SWITCH,
        f"if __name__ == '__main__':\n    {SWITCH}",
        f"def prepare():\n    {SWITCH}prepare()\n",
        "from tensorflow.config import run_functions_eagerly as eagerly\neagerly(True)\n",
    ],
)
def test_graphs_are_off_where_the_program_turns_them_off(code: str) -> None:
    assert facts(code).switches.are_on


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("", id="nothing does"),
        pytest.param("tf.config.run_functions_eagerly(False)\n", id="on"),
        pytest.param("tf.config.run_functions_eagerly(debug)\n", id="a setting decides"),
        pytest.param(f"if debug:\n    {SWITCH}", id="a test decides"),
        pytest.param(f"debug and {SWITCH}", id="a value decides"),
        pytest.param(f"{SWITCH}tf.config.run_functions_eagerly(False)\n", id="for a while"),
        pytest.param(f"def prepare():\n    {SWITCH}", id="nothing calls it"),
    ],
)
def test_graphs_are_not_surely_off_otherwise(code: str) -> None:
    assert not facts(code).switches.are_on


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (f"def prepare():\n    {SWITCH}", 0),
        (f"def prepare():\n    'Without graphs.'\n    {SWITCH}", 0),
        (f"def prepare():\n    {SWITCH}prepare()\n", 1),
        (f"def train():\n    {SWITCH}    step()\n", 1),
    ],
)
def test_a_helper_that_switches_and_is_not_called_leaves_nothing_on(
    code: str, expected: int
) -> None:
    assert len(facts(code).switches.left_on) == expected


@pytest.mark.parametrize(
    ("switch", "expected"),
    [
        ("", ["call", "helper", "parse", "step"]),
        (SWITCH, ["parse"]),
        ("os.environ['KERAS_BACKEND'] = 'jax'\n", ["helper", "parse", "step"]),
        ("tf.config.run_functions_eagerly(False)\n", ["call", "helper", "parse", "step"]),
    ],
)
def test_pipelines_alone_are_traced_where_graphs_are_off(switch: str, expected: list[str]) -> None:
    functions = facts(switch + TRACED).tracing.functions
    named = (each for each in functions if isinstance(each, ast.FunctionDef))

    assert sorted(each.name for each in named) == expected


@pytest.mark.parametrize(("switch", "expected"), [("", 1), (SWITCH, 0)])
def test_no_function_is_made_again_where_graphs_are_off(switch: str, expected: int) -> None:
    loop = "for i in range(50):\n    y = tf.function(lambda x: x * 2.0)(tf.ones(3))\n"

    assert len(facts(switch + loop).remade_functions.all) == expected


@pytest.mark.parametrize(
    ("code", "elsewhere"),
    [
        ("os.environ['KERAS_BACKEND'] = 'torch'\n", True),
        ("os.environ.setdefault('KERAS_BACKEND', 'jax')\n", True),
        ("from keras import config\nconfig.set_backend('jax')\n", True),
        ("os.environ['KERAS_BACKEND'] = 'tensorflow'\n", False),
        ("os.environ['KERAS_BACKEND'] = backend\n", False),
        ("os.environ['OTHER_BACKEND'] = 'torch'\n", False),
        ("print(os.environ['KERAS_BACKEND'] == 'torch')\n", False),
    ],
)
def test_it_is_seen_what_keras_runs_on(code: str, elsewhere: bool) -> None:
    assert facts(code).switches.keras_runs_elsewhere is elsewhere
