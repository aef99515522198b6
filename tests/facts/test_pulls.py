"""Datasets that Python goes over while a graph is traced."""

from textwrap import dedent

import pytest

from tfmemlint import File


def read(body: str, decorator: str = "@tf.function") -> File:
    return File(
        "example.py",
        dedent("""\
            import itertools
            import tensorflow as tf
            from tqdm import tqdm
            ds = tf.data.Dataset.range(9)
            def doubled(ds):
                for x in ds:
                    yield 2 * x
            """)
        + f"{decorator}\ndef f():\n    {body}\n",
    )


@pytest.mark.parametrize(
    "body",
    [
        "for x in tqdm(ds): pass",
        "for i, x in enumerate(tqdm(ds)): pass",
        "for x in doubled(ds): pass",
        "for x in itertools.islice(ds, None): pass",
        "for i, x in zip(itertools.count(), ds): pass",
        "xs = [x for x in ds]",
        "xs = list(ds)",
    ],
)
def test_what_autograph_does_not_know_has_no_end(body: str) -> None:
    (found,) = read(body).tf.pulls.all

    assert found.limit is None


@pytest.mark.parametrize("body", ["itertools.islice(ds, 9)", "itertools.islice(ds, 0, 9)"])
def test_a_slice_has_one(body: str) -> None:
    file = read(f"for x in {body}: pass")

    (found,) = file.tf.pulls.all

    assert file.tf.values.number(found.limit) == 9


@pytest.mark.parametrize(
    "body",
    [
        "for x in ds: pass",
        "for i, x in enumerate(ds): pass",
        "for x, y in zip(ds, ds): pass",
        "for x in map(len, ds): pass",
        "for x in tqdm(range(9)): pass",
        "for i, x in zip(range(9), ds): pass",
        "xs = [x for x in range(9)]",
    ],
)
def test_what_autograph_knows_is_no_pull(body: str) -> None:
    assert read(body).tf.pulls.all == ()


@pytest.mark.parametrize("decorator", ["", "@tf.function(autograph=False)"])
def test_nor_is_what_autograph_does_not_rewrite(decorator: str) -> None:
    assert read("for x in tqdm(ds): pass", decorator).tf.pulls.all == ()


def test_generators_of_each_other_come_to_an_end() -> None:
    source = "import tensorflow as tf\ndef g(x):\n    for y in g(x):\n        yield y\n"
    traced = "@tf.function\ndef f(x):\n    for y in g(x): pass\n"

    assert File("example.py", source + traced).tf.pulls.all == ()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return x", 0),
        ("if n == 3: break", 0),
        ("if n:\n            if n > 3: return n", 0),
        ("for y in ys:\n            return y", 0),
        ("for y in ys:\n            break", 1),
        ("if x > 3: break", 1),
        ("if tf.reduce_sum(x) > n: return x", 1),
        ("def g(): return x", 1),
        ("if n: continue", 1),
    ],
)
def test_python_may_leave_the_loop_unless_a_tensor_tells_when(body: str, found: int) -> None:
    file = read(f"for x in tqdm(ds):\n        {body}")

    assert len(file.tf.pulls.all) == found
