"""What generators load before they give anything."""

from textwrap import dedent, indent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.generators import Generators, Held, Hoard

HEAD = """
import glob
import h5py
import numpy as np
import tensorflow as tf

def generate(path="rows.npy"):
"""
TAIL = "\nds = tf.data.Dataset.from_generator({given}, output_signature=None)\n"


def hoards(body: str, given: str = "generate") -> tuple[Hoard, ...]:
    source = HEAD + indent(dedent(body), "    ") + TAIL.format(given=given)
    return File("example.py", source).tf.of(Generators).hoards


@pytest.mark.parametrize(
    ("body", "held"),
    [
        ("xs = [np.load(p) for p in glob.glob('*')]\nyield from xs", Held.LIST),
        ("for x in [np.load(p) for p in glob.glob('*')]:\n    yield x", Held.LIST),
        (
            "xs = np.stack([np.load(p) for p in glob.glob('*')])\nfor x in xs:\n    yield x",
            Held.STACK,
        ),
        ("xs = np.load('rows.npy')\nfor i in range(len(xs)):\n    yield xs[i], i", Held.FILE),
        ("with h5py.File('f') as f:\n    xs = f['a']['b'][:]\n    yield from xs", Held.HDF5),
    ],
)
def test_what_is_loaded_whole_and_given_bit_by_bit_is_a_hoard(body: str, held: Held) -> None:
    (hoard,) = hoards(body)

    assert hoard.held is held


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("for p in glob.glob('*'):\n    yield np.load(p)", id="file by file"),
        pytest.param("xs = (np.load(p) for p in glob.glob('*'))\nyield from xs", id="lazily"),
        pytest.param("xs = np.load('x')\nprint(xs.mean())\nyield from xs", id="all are wanted"),
        pytest.param("xs = np.load(path)\nyield from xs", id="one file of many"),
        pytest.param("xs = np.load('x')\nyield xs", id="given as a whole"),
        pytest.param("with h5py.File('f') as f:\n    yield from f['a'][:9]", id="a part"),
        pytest.param("xs = np.load('x', mmap_mode='r')\nyield from xs", id="mapped"),
        pytest.param("ys = np.load('y')\nfor y in ys:\n    yield np.load(y)", id="names of files"),
        pytest.param(
            "with h5py.File('f') as f:\n    for y in zip(f['x'], f['y'][:]):\n        yield y",
            id="labels of rows that are read one by one",
        ),
        pytest.param("xs = np.load('x.npz')\nfor x in xs:\n    yield xs[x]", id="an archive"),
        pytest.param("xs = list(range(9))\nyield from xs", id="not loaded"),
    ],
)
def test_what_is_read_as_it_goes_or_wanted_whole_is_none(body: str) -> None:
    assert hoards(body) == ()


@pytest.mark.parametrize(
    ("given", "expected"),
    [("lambda: generate()", 1), ("generate, args=('x',)", 0), ("open, generate", 0)],
)
def test_a_generator_is_followed_where_it_is_given_no_file(given: str, expected: int) -> None:
    found = hoards("xs = np.load('rows.npy')\nyield from xs", given)

    assert len(found) == expected


def test_what_a_function_loads_for_a_generator_is_a_hoard() -> None:
    source = """
def load():
    xs = []
    for p in glob.glob("*"):
        xs.append(np.load(p))
    return xs, len(xs)
"""
    body = "xs, n = load()\nfor x in xs:\n    yield x, n"
    text = HEAD.replace("\ndef generate", source + "\ndef generate") + indent(body, "    ")
    (hoard,) = File("a.py", text + TAIL.format(given="generate")).tf.of(Generators).hoards

    assert hoard.held is Held.LIST
