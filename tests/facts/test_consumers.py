"""Where pipelines end up."""

import ast
from collections.abc import Callable
from textwrap import dedent

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]

SOURCE = "import tensorflow as tf\nds = tf.data.Dataset.range(9).batch(3)\n"


def ends(source: str) -> list[tuple[str, str, str | None]]:
    file = File("example.py", dedent(source))
    found = file.tf.consumers.ends
    return [(each.into.value, ast.unparse(each.dataset), each.argument) for each in found]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("for x in ds: pass", [("a loop", "ds", None)]),
        ("for i, x in enumerate(tqdm(ds)): pass", [("a loop", "ds", None)]),
        ("for x in ds.take(2).as_numpy_iterator(): pass", [("a loop", "ds.take(2)", None)]),
        ("for x, y in zip(ds, ds): pass", [("a loop", "ds", None)] * 2),
        ("xs = [x for x in ds]", [("a loop", "ds", None)]),
        ("model.fit(ds)", [("training by Keras", "ds", "x")]),
        (
            "model.fit(x=ds, epochs=2, validation_data=ds.skip(1))",
            [
                ("training by Keras", "ds", "x"),
                ("training by Keras", "ds.skip(1)", "validation_data"),
            ],
        ),
        ("model.evaluate(ds)", [("evaluation by Keras", "ds", "x")]),
        ("model.predict(ds, verbose=0)", [("prediction by Keras", "ds", "x")]),
        ("x = next(iter(ds))", [("an iterator", "ds", None)]),
        ("x = next(ds.as_numpy_iterator())", [("an iterator", "ds", None)]),
        ("xs = list(ds)", [("a list", "ds", None)]),
        ("xs = sorted(list(enumerate(ds)))", [("a list", "ds", None)]),
        ("xs = list(ds.as_numpy_iterator())", [("a list", "ds", None)]),
        ("for x in list(ds): pass", [("a loop", "ds", None)]),
        ("both = ds.concatenate(ds)", [("another dataset", "ds", None)]),
        ("self.train = ds", [("an attribute", "ds", None)]),
        ("splits['train'] = ds", [("an attribute", "ds", None)]),
        ("strategy.experimental_distribute_dataset(ds)", [("unknown code", "ds", None)]),
        (
            "model.fit(x, ds)",
            [("unknown code", "ds", None)],
        ),
        ("def f():\n    return ds", [("a caller out of sight", "ds", None)]),
        ("def f():\n    return ds, 1", [("a caller out of sight", "ds", None)]),
    ],
)
def test_a_pipeline_ends_in(source: str, expected: list[tuple[str, str, str | None]]) -> None:
    assert ends(SOURCE + source) == expected


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("ds = ds.repeat()", id="goes on"),
        pytest.param("print(len(ds))", id="is looked at"),
        pytest.param("for x in range(9): pass", id="is not what is iterated"),
        pytest.param("def f(x): pass\nf(ds)", id="is taken by a function of the module"),
        pytest.param("for x in dss.batch(3): pass", id="may be something else"),
    ],
)
def test_a_pipeline_does_not_end_where_it(source: str) -> None:
    assert ends(SOURCE + source) == []


def test_a_pipeline_is_followed_through_helpers_to_its_end() -> None:
    source = """
        import tensorflow as tf

        def load():
            return tf.data.Dataset.range(9).batch(3)

        def train(model, data):
            model.fit(data.prefetch(1))

        train(make(), load())
    """
    file = File("example.py", dedent(source))
    [end] = file.tf.consumers.ends

    assert [chain.methods for chain in end.chains] == [("batch", "prefetch")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("with tf.GradientTape() as tape: pass", True),
        ("model.train_on_batch(x)", True),
        ("step(x)", True),
        ("strategy.run(step, args=(x,))", True),
        ("outer(x)", True),
        ("print(x)", False),
        ("evaluate(x)", False),
        ("model(x)", False),
    ],
)
def test_a_loop_trains_where_gradients_are_taken(body: str, expected: bool) -> None:
    functions = """
        def step(x):
            with tf.GradientTape() as tape:
                model(x)

        def outer(x):
            step(x)

        def evaluate(x):
            model(x)
    """
    file = File("example.py", f"{SOURCE}{dedent(functions)}for x in ds:\n    {body}\n")
    [end] = [each for each in file.tf.consumers.ends if isinstance(each.at, ast.For)]
    assert isinstance(end.at, ast.For)

    assert file.tf.consumers.trains(end.at) is expected
