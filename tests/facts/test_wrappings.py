"""Traced functions as code makes them."""

import ast

import pytest

from tfmemlint import File
from tfmemlint.facts.graphs.wrappings import Made

IMPORT = "import tensorflow as tf\n"


def wrapped(source: str) -> tuple[File, Made]:
    """The one function that is traced."""
    file = File("example.py", IMPORT + source)
    (made,) = file.tf.wrappings.all
    return file, made


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("@tf.function\ndef f(x): ...", [2]),
        ("@tf.function(jit_compile=True)\nasync def f(x): ...", [2]),
        ("f = tf.function(g)\nh = tf.function(func=g)", [2, 3]),
        ("wrap = tf.function(jit_compile=True)\nf = wrap(g)", [3]),
        ("class A:\n    @tf.function\n    def f(self): ...", []),
        ("f = tf.function(*given)", []),
        ("f = trace(g)", []),
    ],
)
def test_every_function_that_is_wrapped_is_found(source: str, lines: list[int]) -> None:
    made = File("example.py", IMPORT + source).tf.wrappings.all

    assert [min(each.lineno, *_decorated(each)) for each in made] == lines


def _decorated(made: Made) -> list[int]:
    lines = [each.lineno for each in getattr(made, "decorator_list", [])]
    return lines or [made.lineno]


@pytest.mark.parametrize(
    ("source", "in_sight"),
    [
        ("@tf.function\ndef f(x): ...", True),
        ("def g(x): ...\nf = tf.function(g)", True),
        ("f = tf.function(lambda x: x)", True),
        ("f = tf.function(model)", False),
    ],
)
def test_what_is_wrapped_is_in_sight_or_not(source: str, in_sight: bool) -> None:
    file, made = wrapped(source)

    assert (file.tf.wrappings.wrapped(made) is not None) == in_sight


def test_what_is_traced_with_a_function_are_those_it_calls() -> None:
    source = (
        "def g(x): return h(x)\ndef h(x): return g(x)\ndef other(x): ...\n"
        "@tf.function\ndef f(x): return g(x) + k(x)\n"
    )
    file, made = wrapped(source)

    found = file.tf.wrappings.run_with(made)

    assert [getattr(each, "name", "") for each in found] == ["f", "g", "h"]


@pytest.mark.parametrize(
    ("body", "objects"),
    [
        ("model(x)", ["model"]),
        ("model.layers", ["model"]),
        ("helper(x)", ["helper", "model"]),
        ("helper(model)", ["helper", "model", "model"]),
        ("x * rate", []),
        ("x.T", []),
        ("weights.T", []),
        ("print(rate)", []),
        ("outside(rate)", []),
    ],
)
def test_a_function_reads_objects_from_around_it(body: str, objects: list[str]) -> None:
    source = (
        "model, rate, weights = load()\ndef helper(y): return model(y)\n"
        f"@tf.function\ndef f(x): return {body}\n"
    )
    file, made = wrapped(source)

    found = [each.id for each in file.tf.wrappings.objects(made)]

    assert found == ["tf", *objects]  # the decorator reads it


@pytest.mark.parametrize(
    ("value", "is_own"),
    [
        ("build()", True),
        ("keras.Sequential([])", True),
        ("keras.metrics.Mean()", False),
        ("tf.zeros([2])", False),
        ("3", False),
    ],
)
def test_an_object_is_more_than_data(value: str, is_own: bool) -> None:
    file = File("example.py", f"{IMPORT}import keras\nx = {value}\n")
    (binding,) = file.tf.bindings.of(file.tree, "x")

    assert file.tf.wrappings.is_own_object(binding) == is_own


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ("@tf.function\ndef f(x): ...\nf(1)\nf(2)", ["f(1)", "f(2)"]),
        ("g = tf.function(h)\ng(1)", ["g(1)"]),
        ("tf.function(h)(1)", ["tf.function(h)(1)"]),
        ("g = tf.function(h)\nstrategy.run(g, args=(1,))", ["strategy.run(g, args=(1,))"]),
        ("def run(step): step(1)\nrun(tf.function(h))", ["run(tf.function(h))"]),
        ("@tf.function\ndef f(x): ...\nsteps.append(f)\nf(1)", []),
        ("def keep(step): kept.append(step)\nkeep(tf.function(h))", []),
        ("steps = {'train': tf.function(h)}", []),
    ],
)
def test_what_is_made_is_called_unless_it_is_put_away(source: str, calls: list[str]) -> None:
    file, made = wrapped(source)
    wrappings = file.tf.wrappings

    found = [wrappings.call_with(trail[-1]) for trail in wrappings.trails(made)]

    assert [each and ast.unparse(each) for each in found] == calls
