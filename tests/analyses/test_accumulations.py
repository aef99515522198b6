"""Lists that loops of traced code fill and TensorFlow takes for one tensor."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.accumulations import Accumulated, Accumulations

IMPORTS = "import keras\nimport numpy as np\nimport tensorflow as tf\n"


def found(body: str, around: str = "") -> tuple[Accumulated, ...]:
    traced = f"@tf.function\ndef traced(x):\n{indent(dedent(body), '    ')}\n"
    return File("code.py", IMPORTS + dedent(around) + traced).tf.of(Accumulations).all


def added(body: str, around: str = "") -> list[tuple[str | None, list[str]]]:
    return [
        (each.list, [ast.unparse(one) for one in each.elements]) for each in found(body, around)
    ]


@pytest.mark.parametrize(
    ("start", "statement", "elements"),
    [
        pytest.param("xs = []", "xs.append(x[t])", ["x[t]"], id="append"),
        pytest.param("xs = list()", "xs.insert(0, x[t])", ["x[t]"], id="insert"),
        pytest.param("xs = []", "xs.extend((x[t], x))", ["x[t]", "x"], id="extend"),
        pytest.param("xs = ()", "xs += (x[t],)", ["x[t]"], id="a tuple"),
        pytest.param("xs = []", "xs = xs + [x[t]]", ["x[t]"], id="a sum"),
        pytest.param("xs = []", "xs = [*xs, x[t]]", ["x[t]"], id="a list spread out"),
        pytest.param("xs = [x[0]]", "xs.append(x[t])", ["x[t]"], id="a list with a start"),
        pytest.param("n, xs = 1, []", "xs.append(x[t])", ["x[t]"], id="two names at once"),
    ],
)
def test_a_list_is_added_to_by(start: str, statement: str, elements: list[str]) -> None:
    body = f"{start}\nfor t in range(99):\n    {statement}\nreturn tf.stack(xs)"

    assert added(body) == [("xs", elements)]


@pytest.mark.parametrize(
    ("start", "statement"),
    [
        pytest.param("xs = []", "xs.append(float(t))", id="numbers of Python"),
        pytest.param("xs = []", "xs.append(np.sin(t))", id="numbers of NumPy"),
        pytest.param("xs = []", "y = np.ones(t); xs.append(y)", id="arrays of NumPy"),
        pytest.param("xs = []", "xs.extend(x[t])", id="what may be any list"),
        pytest.param("xs = []", "xs.remove(x[t])", id="another method"),
        pytest.param("xs = []", "ys = xs + [x[t]]", id="another name"),
        pytest.param("xs = given()", "xs.append(x[t])", id="a list out of sight"),
        pytest.param("xs = [x, x]", "xs.append(x + xs[-1])", id="a term made of terms"),
        pytest.param("xs = []", "xs = []; xs.append(x[t])", id="a new list in each trip"),
    ],
)
def test_a_list_is_not_added_to_by(start: str, statement: str) -> None:
    assert added(f"{start}\nfor t in range(99):\n    {statement}\nreturn tf.stack(xs)") == []


@pytest.mark.parametrize(
    ("read", "is_read"),
    [
        ("tf.concat(xs, 0)", True),
        ("tf.concat(axis=0, values=xs)", True),
        ("tf.transpose(xs[::-1])", True),
        ("tf.stack(list(reversed(xs)))", True),
        ("keras.layers.concatenate(xs)", True),
        ("xs", False),
        ("xs[0]", False),
        ("tf.constant(len(xs))", False),
        ("tf.stack(xs[-1])", False),
    ],
)
def test_a_list_is_taken_for_one_tensor_by(read: str, is_read: bool) -> None:
    body = f"xs = []\nfor t in range(99):\n    xs.append(x[t])\nreturn {read}"

    assert bool(found(body)) == is_read


def test_a_list_may_be_an_entry_of_a_dictionary() -> None:
    body = """\
        every = {"a": [], "b": []}
        for t in range(99):
            every["a"].append(x[t])
            every["b"].append(t)
        return tf.stack(every["%s"])
        """
    assert added(body % "a") == [("every['a']", ["x[t]"])]
    assert added(body % "b") == []


UNROLL = """\
    def unroll(x):
        xs = []
        for t in range(99):
            xs.append(x[t])
        return xs
    """


def test_a_list_may_be_returned_to_traced_code_that_takes_it() -> None:
    assert added("return tf.stack(unroll(x))", UNROLL) == [("xs", ["x[t]"])]
    assert added("return unroll(x)", UNROLL + "tf.stack(unroll(1))\n") == []


def test_a_function_within_may_add_and_one_of_the_module_may_begin() -> None:
    body = """\
        xs = begin()
        def add(t):
            xs.append(x[t])
        for t in range(99):
            add(t)
        return tf.stack(xs)
        """
    assert added(body, "def begin(): return []\n") == [("xs", ["x[t]"])]
    assert added(body, "def begin(): return {}\n") == []


def test_a_comprehension_counts_each_of_its_clauses() -> None:
    (made,) = found("return tf.stack([x[a, b] for a in range(3) for b in range(99)])")

    assert made.list is None
    assert [loop.trips for loop, _ in made.loops] == [99, 3]


@pytest.mark.parametrize(
    ("header", "long"),
    [
        ("for t in range(17)", True),
        ("for t in range(16)", False),
        ("for t in range(x.shape[0])", True),
        ("for t in range(x.shape[-1])", False),
        ("for t in tf.unstack(x)", True),
        ("for t in tf.unstack(x, axis=-1)", False),
        ("for t in layers", False),
    ],
)
def test_loops_are_long_by_their_number_or_that_of_the_data(header: str, long: bool) -> None:
    code = f"@tf.function\ndef traced(x):\n    {header}: f(x[0, 0])\n"
    file = File("code.py", IMPORTS + code)
    (loop,) = map(file.tf.loops.loop, file.tf.tree.all(ast.For))

    assert file.tf.of(Accumulations).is_long(loop, 16) == long


LAYER = """
class Steps(keras.layers.Layer):
    def call(self, inputs, other):
        for t in range({over}.shape[1]): f(inputs[:, t])
steps = Steps()
"""


@pytest.mark.parametrize(
    ("over", "given", "long"),
    [
        ("inputs", "", True),
        ("inputs", "steps(tf.zeros([2, 16, 3]))", False),
        ("inputs", "steps(tf.zeros([2, 17, 3]))", True),
        ("inputs", "steps(tf.zeros([2, 16, 3]))\nsteps(tf.zeros([2, 17, 3]))", True),
        ("inputs", "steps(rows)", True),
        ("inputs", "Steps()(keras.Input([16, 3]))", False),
        ("inputs", "Steps()(keras.layers.Dense(3)(keras.Input([17, 3])))", True),
        ("other", "steps(tf.zeros([2, 16, 3]), y)", True),
    ],
)
def test_a_layer_loops_over_what_it_is_given(over: str, given: str, long: bool) -> None:
    file = File("code.py", IMPORTS + LAYER.format(over=over) + given)
    (loop,) = map(file.tf.loops.loop, file.tf.tree.all(ast.For))

    assert file.tf.of(Accumulations).is_long(loop, 16) == long
