"""What traced code puts into lists that outlive the trace."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.escapes import Escapes

HEAD = "import collections\nimport tensorflow as tf\n"


def escapes(source: str) -> list[str]:
    found = File("example.py", HEAD + dedent(source)).tf.of(Escapes).all
    return [ast.unparse(each.call) for each in found]


@pytest.mark.parametrize(
    "made",
    [
        "[]",
        "list()",
        "[None] * 3",
        "collections.deque()",
        "collections.deque([])",
        "collections.defaultdict(list)",
        "{'a': []}",
    ],
)
def test_a_list_made_outside_keeps_what_is_traced(made: str) -> None:
    source = f"kept = {made}\n@tf.function\ndef f(x):\n    kept.append(tf.norm(x))\n"

    assert escapes(source) == ["kept.append(tf.norm(x))"]


@pytest.mark.parametrize(
    "made",
    ["collections.deque(maxlen=4)", "collections.deque([], 4)", "Recorder()", "None", "read()"],
)
def test_what_is_bounded_or_unknown_is_no_such_list(made: str) -> None:
    source = f"kept = {made}\n@tf.function\ndef f(x):\n    kept.append(tf.norm(x))\n"

    assert escapes(source) == []


@pytest.mark.parametrize(
    ("statement", "escapes_it"),
    [
        ("kept.insert(0, y)", True),
        ("kept.extend([y, y])", True),
        ("kept['a'].append(y)", True),
        ("kept.setdefault('a', []).append(y)", True),
        ("kept.add(y.ref())", True),
        ("kept.append((1, y))", True),
        ("kept.append(y, 1)", False),
        ("kept['a'] = y", False),
        ("kept.append(y.shape)", False),
        ("kept.append(1)", False),
        ("kept.append(tf.Variable(1.0))", False),
        ("kept.append(tf.keras.layers.Dense(1))", False),
        ("if tf.executing_eagerly():\n        kept.append(y)", False),
        ("with tf.init_scope():\n        kept.append(y)", False),
        ("kept.append(y.numpy())\n    kept.append(y)", False),
    ],
)
def test_only_symbolic_tensors_are_kept(statement: str, escapes_it: bool) -> None:
    source = f"kept = []\n@tf.function\ndef f(x):\n    y = tf.norm(x)\n    {statement}\n"

    assert bool(escapes(source)) == escapes_it


@pytest.mark.parametrize(
    "after", ["kept.clear()", "kept.pop()", "kept[:] = []", "del kept[0]", "kept['a'].clear()"]
)
def test_a_list_that_is_made_shorter_somewhere_is_none_that_only_grows(after: str) -> None:
    source = "kept = []\n@tf.function\ndef f(x):\n    kept.append(tf.norm(x))\n"

    assert escapes(source) == ["kept.append(tf.norm(x))"]
    assert escapes(source + after) == []
    assert escapes(source + "kept['a'] += [1]") == ["kept.append(tf.norm(x))"]


LAYER = """
    class Layer(tf.keras.layers.Layer):
        shared = []

        def __init__(self):
            self.kept = []

        def call(self, x):
            self.kept.append(x)
            {more}
            return x

        {method}
"""


@pytest.mark.parametrize(
    ("more", "method"),
    [
        ("self.kept.clear()", ""),
        ("self.kept = []", ""),
        ("", "def reset(self):\n            self.kept = []"),
        ("", "def call_again(self):\n            return self.kept.pop()"),
        ("", "def test_step(self, data):\n            return {'a': data.numpy()}"),
    ],
)
def test_so_is_an_attribute(more: str, method: str) -> None:
    assert escapes(LAYER.format(more="", method="")) == ["self.kept.append(x)"]
    assert escapes(LAYER.format(more=more, method=method)) == []


def test_a_list_of_a_class_is_one_for_all_its_instances() -> None:
    source = LAYER.format(more="Layer.shared.append(x)", method="")

    assert escapes(source) == ["self.kept.append(x)", "Layer.shared.append(x)"]


def test_outputs_of_a_second_model_are_wanted_symbolic() -> None:
    source = dedent(LAYER.format(more="", method="")) + "layer = Layer()\n"

    assert escapes(source + "tf.keras.Model(1, layer.kept)\n") == []
    assert escapes(source + "tf.keras.Model(1, [2, layer.kept[0]])\n") == []
    assert escapes(source + "print(layer.kept)\n") == ["self.kept.append(x)"]


@pytest.mark.parametrize(
    ("place", "outlives"),
    [
        ("def make(kept):\n    {}\nmake([])", True),
        ("def make(kept):\n    {}\nx = []\nmake(x)", True),
        ("def make():\n    kept = []\n    {}", True),
        ("def make(kept):\n    {}", False),
        ("def make(kept):\n    {}\nmake([])\nmake(Recorder())", False),
    ],
)
def test_a_list_is_followed_to_where_it_was_made(place: str, outlives: bool) -> None:
    function = "@tf.function\n    def f(x):\n        kept.append(tf.norm(x))"

    assert bool(escapes(place.format(function))) == outlives


@pytest.mark.parametrize(
    "source",
    [
        "kept = []\ndef f(x):\n    kept.append(tf.norm(x))",
        "@tf.function\ndef f(x):\n    kept = []\n    kept.append(tf.norm(x))",
        "@tf.function\ndef f(x):\n    kept = []\n    def g(y):\n        kept.append(tf.norm(y))\n"
        "    g(x)",
        "class Scratch:\n    def __init__(self):\n        self.kept = []\n"
        "    def put(self, x):\n        self.kept.append(tf.norm(x))\n"
        "@tf.function\ndef f(x):\n    scratch = Scratch()\n    scratch.put(x)",
        "kept = []\n@tf.function\ndef f(x):\n    global kept\n    kept = []\n"
        "    kept.append(tf.norm(x))",
    ],
)
def test_eager_code_and_lists_of_the_trace_keep_no_graph(source: str) -> None:
    assert escapes(source) == []
