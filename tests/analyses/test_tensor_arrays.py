"""What could take the place of lists that traced code accumulates."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.accumulations import Accumulations
from tfmemlint_rules._analyses.tensor_arrays import ArrayInLoop, MappedRange, TensorArrays

IMPORTS = "import keras\nimport tensorflow as tf\n"


def arrays(body: str, options: str = "") -> tuple[ArrayInLoop, ...]:
    """Those for the lists of the one loop of a traced function."""
    code = (
        f"@tf.function({options})\ndef f(x):\n    x = tf.exp(x)\n{indent(dedent(body), '    ')}\n"
    )
    tf = File("code.py", IMPORTS + code).tf
    (loop,) = map(tf.loops.loop, tf.tree.all(ast.For))
    kind = tf.graph_loops.becomes(loop)
    assert kind is not None
    return tf.of(TensorArrays).in_loop(loop, kind)


LIST = "xs = []\nfor t in {over}:\n    {statement}\n{behind}"


def only_array(
    statement: str = "xs.append(x[t])", behind: str = "return tf.stack(xs)", over: str = "range(99)"
) -> ArrayInLoop | None:
    found = arrays(LIST.format(over=over, statement=statement, behind=behind))
    return found[0] if found else None


@pytest.mark.parametrize(
    ("statement", "behind"),
    [
        ("xs.append(x[t])", "return tf.stack(xs)"),
        ("xs += [x[t]]", "return tf.stack(values=xs)"),
    ],
)
def test_a_list_that_is_filled_and_read_once_can_be_an_array(statement: str, behind: str) -> None:
    array = only_array(statement, behind)

    assert array is not None
    assert (array.counter, array.size and ast.unparse(array.size)) == ("t", "99")
    assert isinstance(array.dtype, ast.Name)
    assert array.dtype.id == "x"


@pytest.mark.parametrize(
    ("statement", "behind"),
    [
        ("xs.append(x[t])", "return tf.stack(xs), len(xs)"),
        ("xs.append(x[t]); xs.append(x)", "return tf.stack(xs)"),
        ("xs.append(x[t]); f(tf.stack(xs))", "return x"),
        ("xs.append(x[t])", "return tf.stack(xs[::-1])"),
        ("if t: xs.append(x[t])", "return tf.stack(xs)"),
        ("xs.append(keras.layers.Dense(1)(x[t]))", "return tf.stack(xs)"),
        ("xs.append(x[:t])", "return tf.stack(xs)"),
    ],
)
def test_a_list_with_other_uses_or_of_unknown_dtype_cannot(statement: str, behind: str) -> None:
    assert only_array(statement, behind) is None


@pytest.mark.parametrize(
    ("read", "place", "joined", "axis"),
    [
        ("tf.stack(xs)", "tf.stack(xs)", False, 0),
        ("tf.stack(xs, axis=-1)", "tf.stack(xs, axis=-1)", False, -1),
        ("tf.convert_to_tensor(xs)", "tf.convert_to_tensor(xs)", False, 0),
        ("tf.concat(xs, 0)", "tf.concat(xs, 0)", True, 0),
        ("tf.reduce_sum(xs, axis=1)", "xs", False, 0),
    ],
)
def test_a_read_says_what_becomes_of_the_array(
    read: str, place: str, joined: bool, axis: int
) -> None:
    array = only_array(behind=f"return {read}")

    assert array is not None
    assert ast.unparse(array.reading.place) == place
    assert array.reading[1:] == (joined, axis)


@pytest.mark.parametrize(
    "read",
    [
        "tf.stack(xs, axis=n)",
        "tf.stack(xs, name='xs')",
        "tf.concat(xs, -1)",
        "tf.add_n(xs)",
        "tf.reduce_sum(input_tensor=xs)",
    ],
)
def test_what_says_more_than_the_axis_is_not_read_from_an_array(read: str) -> None:
    assert only_array(behind=f"return {read}") is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("xs = []\ny = tf.exp(x)\nfor t in range(99):\n    xs.append(y[t])", True),
        ("y = tf.exp(x)\nxs = []\nfor t in range(99):\n    xs.append(y[t])", False),
    ],
)
def test_an_array_is_made_below_what_its_dtype_comes_from(body: str, expected: bool) -> None:
    (array,) = arrays(f"{body}\nreturn tf.stack(xs)")

    assert (array.loop is not None) is expected


def test_all_lists_of_a_loop_can_be_arrays_or_none() -> None:
    both = "xs, ys = [], []\nfor t in range(99):\n    xs.append(x[t])\n    ys.append({})\n"
    reads = "return tf.stack(xs), tf.stack(ys)"

    assert arrays(both.format("x[t]") + "return tf.stack(xs), ys") == ()
    assert arrays(both.replace("xs, ys = [], []", "xs = []\nys = []").format("2 * x") + reads)


@pytest.mark.parametrize(
    ("options", "over", "can"),
    [
        ("", "range(99)", True),
        ("autograph=False", "range(99)", False),
        ("", "tf.range(99)", True),
        ("jit_compile=True", "range(99)", True),
        ("jit_compile=True", "x", False),
        ("", "x", True),
    ],
)
def test_the_loop_must_be_one_that_a_graph_can_have(options: str, over: str, can: bool) -> None:
    body = LIST.format(over=over, statement="xs.append(2 * x)", behind="return tf.stack(xs)")

    assert bool(arrays(body, options)) is can


def mapped(returned: str) -> MappedRange | None:
    code = f"@tf.function\ndef f(x):\n    x = tf.exp(x)\n    return {returned}\n"
    tf = File("code.py", IMPORTS + code).tf
    (found,) = tf.of(Accumulations).all
    return tf.of(TensorArrays).mapped(found)


@pytest.mark.parametrize(
    ("returned", "axis"),
    [
        ("tf.stack([x[:, t] for t in range(99)])", 0),
        ("tf.stack([x[:, t] for t in range(1, 99)], axis=1)", 1),
        ("tf.convert_to_tensor([tf.cast(t, x.dtype) * x for t in range(99)])", 0),
    ],
)
def test_a_comprehension_over_a_range_can_be_a_map(returned: str, axis: int) -> None:
    found = mapped(returned)

    assert found is not None
    assert found.reading.axis == axis


@pytest.mark.parametrize(
    "returned",
    [
        pytest.param("tf.concat([x[:, t] for t in range(99)], 0)", id="joined"),
        pytest.param("tf.stack([x[:, t] for t in range(99) if t])", id="a condition"),
        pytest.param("tf.stack([x[:, t] * t for t in range(99)])", id="a number of Python"),
        pytest.param("tf.stack([f(x[:, t]) for t in range(99)])", id="an unknown dtype"),
        pytest.param("tf.stack(list([x[:, t] for t in range(99)]))", id="a list of it"),
        pytest.param("tf.stack([x[a, b] for a in range(99) for b in range(99)])", id="two clauses"),
    ],
)
def test_other_comprehensions_cannot(returned: str) -> None:
    assert mapped(returned) is None
