"""The parts of pipelines, each by itself."""

import ast

import pytest

from tfmemlint.facts.pipelines.chains import Chain, From, Source, Step


def step(code: str) -> Step:
    """The last method call of an expression."""
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    return Step(call.func.attr, call)


@pytest.mark.parametrize(
    ("code", "fits"),
    [
        ("a.batch(32)", True),
        ("a.batch(32, True, num_parallel_calls=2)", True),
        ("a.map(f, **options)", True),
        ("a.map(f, name='decode')", True),
        ("a.unbatch()", True),
        ("a.unbatch(2)", False),
        ("a.repeat(2, axis=0)", False),
        ("a.take(1, 2)", False),
        ("a.reshape(2)", False),
    ],
)
def test_a_call_fits_a_dataset_method_or_not(code: str, fits: bool) -> None:
    assert step(code).fits == fits


@pytest.mark.parametrize(
    ("code", "only"),
    [
        ("a.prefetch(1)", True),
        ("a.batch(32, drop_remainder=True)", True),
        ("a.batch(32, True)", False),
        ("a.map(f)", False),
    ],
)
def test_some_methods_and_keywords_are_those_of_tf_data_alone(code: str, only: bool) -> None:
    chain = Chain(Source(From.UNSEEN, None), (step("a.map(f)"), step(code)))

    assert step(code).is_only_tf_data == only
    assert chain.is_certain == only


def test_a_chain_whose_beginning_is_in_sight_or_declared_is_certain() -> None:
    assert Chain(Source(From.RANGE, None)).is_certain
    assert Chain(Source(From.UNSEEN, None, declared=True)).is_certain
    assert not Chain(Source(From.UNSEEN, None)).is_certain


def test_a_chain_has_its_steps_in_order() -> None:
    steps = (step("a.map(f)"), step("a.batch(2)"))
    chain = Chain(Source(From.RANGE, None), steps)

    assert chain.methods == ("map", "batch")
    assert chain.calls == (steps[0].call, steps[1].call)
