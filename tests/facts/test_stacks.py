"""Functions that copy the elements of a list into one array."""

import pytest

from tfmemlint import File

IMPORTS = "import keras\nimport numpy as np\nimport tensorflow as tf\n"


def stacked(source: str) -> list[tuple[str, str]]:
    """What is called, and the list it is given."""
    file = File("example.py", IMPORTS + source)
    return [(each.name, file.source(each.listed)) for each in file.tf.stacks.all]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("np.array(xs)", "numpy.array"),
        ("np.asarray(a=xs)", "numpy.asarray"),
        ("np.vstack(tup=xs)", "numpy.vstack"),
        ("tf.concat(values=xs, axis=0)", "tensorflow.concat"),
        ("tf.stack(axis=1, values=xs)", "tensorflow.stack"),
        ("keras.ops.stack(xs, -1)", "keras.ops.stack"),
        ("from numpy import stack as together\ntogether(xs)", "numpy.stack"),
    ],
)
def test_a_call_that_makes_an_array_of_a_list_is_known(source: str, name: str) -> None:
    assert stacked(source) == [(name, "xs")]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("np.array()", id="no list"),
        pytest.param("np.array(*xs)", id="any number of lists"),
        pytest.param("np.array(dtype=int)", id="a dtype alone"),
        pytest.param("np.zeros(xs)", id="an array of a shape"),
        pytest.param("xs.stack(xs)", id="a method of something"),
        pytest.param("def stack(xs): ...\nstack(xs)", id="a function of the module"),
    ],
)
def test_other_calls_are_left_out(source: str) -> None:
    assert stacked(source) == []


def test_every_call_is_found_in_source_order() -> None:
    source = "def f(xs):\n    return np.array(xs)\ntf.stack([np.stack(ys)])"

    assert [name for name, _ in stacked(source)] == [
        "numpy.array",
        "tensorflow.stack",
        "numpy.stack",
    ]


@pytest.mark.parametrize(
    ("source", "joins", "is_plain"),
    [
        ("np.array(xs)", False, True),
        ("np.array(object=xs)", False, False),
        ("np.array(xs, np.float32)", False, False),
        ("tf.stack(xs, axis=1)", False, False),
        ("np.concatenate(xs)", True, True),
        ("np.vstack(xs)", True, True),
        ("tf.concat(xs, 0)", True, False),
    ],
)
def test_what_a_stack_does_besides_is_known(source: str, joins: bool, is_plain: bool) -> None:
    (stack,) = File("example.py", IMPORTS + source).tf.stacks.all

    assert (stack.joins, stack.is_plain) == (joins, is_plain)
