"""What generators could as well load as they go."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.generators import Generators, Hoard
from tfmemlint_rules._analyses.late_loading import Late, LateLoading

HEAD = """
import glob
import elsewhere
import h5py
import numpy as np
import tensorflow as tf

rng = np.random.default_rng()

def load(path):
    return np.load(path)

def generate():
"""
TAIL = "\nds = tf.data.Dataset.from_generator(generate, output_signature=None)\n"


def only_hoard(body: str) -> tuple[LateLoading, Hoard]:
    tf = File("example.py", HEAD + indent(dedent(body), "    ") + TAIL).tf
    (hoard,) = tf.of(Generators).hoards
    return tf.of(LateLoading), hoard


def late(body: str) -> Late | None:
    facts, hoard = only_hoard(body)
    return facts.of(hoard)


LISTED = "xs = [np.load(p) for p in glob.glob('*')]\n"
FILLED = "xs = []\nfor p in glob.glob('*'):\n    {inside}\n{then}"
APPENDED = "xs.append(np.load(p))"
GIVEN = "for x in xs:\n    yield x\n"


@pytest.mark.parametrize(
    ("body", "how"),
    [
        ("with h5py.File('f') as f:\n    xs = f['a'][:]\n    yield from xs", Late.BY_ROW),
        ("f = h5py.File('f')\nxs = f['a'][:]\nyield from xs\nf.close()", Late.BY_ROW),
        (LISTED + "yield from xs", Late.LAZILY),
        (LISTED + "for i, x in enumerate(xs):\n    yield x * i", Late.LAZILY),
        ("while True:\n    " + LISTED + "    yield from xs", Late.LAZILY),
        (FILLED.format(inside=APPENDED, then=GIVEN), Late.AT_ONCE),
        (FILLED.format(inside="x = np.load(p)\n    xs.append(x)", then=GIVEN), Late.AT_ONCE),
        (FILLED.format(inside=APPENDED, then="yield from xs"), Late.AT_ONCE),
    ],
)
def test_what_is_given_in_order_can_be_loaded_late(body: str, how: Late) -> None:
    assert late(body) is how


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("xs = np.load('rows.npy')\nyield from xs", id="one array"),
        pytest.param("with h5py.File('f') as f:\n    xs = f['a'][:]\nyield from xs", id="closed"),
        pytest.param("f = h5py.File('f')\nxs = f['a'][:]\nf.close()\nyield from xs", id="by hand"),
        pytest.param(
            "try:\n    " + LISTED + "except OSError:\n    return\nyield from xs", id="try"
        ),
        pytest.param(LISTED + "while True:\n    yield from xs", id="again and again"),
        pytest.param(LISTED + "for i in range(len(xs)):\n    yield xs[i]", id="counted"),
        pytest.param(
            "ps = glob.glob('*')\nxs = [np.load(p) for p in ps]\nps.sort()\nyield from xs",
            id="sorted in between",
        ),
    ],
)
def test_what_may_be_missed_by_then_cannot(body: str) -> None:
    assert late(body) is None


@pytest.mark.parametrize(
    ("inside", "then"),
    [
        pytest.param(APPENDED, "for x in xs:\n    yield x + 1", id="changed on its way"),
        pytest.param(APPENDED, GIVEN + "print(x)", id="the last one is asked for"),
        pytest.param(APPENDED, "print(len(xs))\n" + GIVEN, id="counted in between"),
        pytest.param(APPENDED + "\n    if p: return", GIVEN, id="leaves"),
        pytest.param("try: " + APPENDED + "\n    except OSError: pass", GIVEN, id="caught"),
        pytest.param("x = np.load(p)\n    xs.append(x)\n    x += 1", GIVEN, id="changed later"),
        pytest.param(f"{APPENDED}\nelse:\n    print()", GIVEN, id="a last word"),
    ],
)
def test_a_list_that_is_more_than_passed_on_cannot(inside: str, then: str) -> None:
    assert late(FILLED.format(inside=inside, then=then)) is None
