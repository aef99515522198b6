"""How much of the data an iterable is, and whether it is a sequence."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]

IMPORTS = "import glob, itertools, os, random\nimport numpy as np\nfrom elsewhere import listed\n"


def marked(look: Look, source: str) -> tuple[File, ast.expr]:
    file, seen = look(IMPORTS + source)
    return file, seen[0]


@pytest.mark.parametrize(
    "source",
    [
        "see(xs[:16])",
        "see(xs[i:i + 8])",
        "see(sorted(xs[:16]))",
        "see(enumerate(zip(xs, ys[:16])))",
        "see(['a', 'b'])",
        "names = ('a', 'b')\nsee(names)",
        "see({'a': 1})",
        "see({'a': 1}.items())",
        "see(xs[3000:3008])",
        "see(xs[:3000:100])",
        "see(xs[:n])",
        "see(random.sample(xs, 9))",
        "see(np.random.choice(xs, 9))",
        "see(itertools.islice(xs, 9))",
        "see(frame.head(9))",
        "see(examples.take(9))",
        "see(examples.take(n))",
        "def f(n=64):\n    see(examples.take(n))",
        "see(next(batches))",
        "see(range(9))",
        "see(range(size))",
        "see(range(len(xs[:9])))",
        "see(groups[i])",
        "see([xs[i] for i in order[:9]])",
        "see(xs[:8] + ys[:8])",
        "see([*xs[:8], 'a'])",
        "def f(i):\n    see(groups[i])",
        "named = {}\nfor key in keys():\n    see(named[key])",
        "def few(xs):\n    return xs[:8]\nsee(few(all_of_them))",
        "def f(xs):\n    see(xs)\nf(ys[:8])\nf(zs[:8])",
        "def f(x, *xs):\n    see(xs)",
        "def f(xs):\n    for i in see(range(xs.shape[0])):\n        load(xs[i])",
    ],
)
def test_a_part_or_a_few(look: Look, source: str) -> None:
    file, node = marked(look, source)

    assert file.tf.iterables.is_part(node)


@pytest.mark.parametrize(
    "source",
    [
        "see(xs)",
        "see(xs[1:])",
        "see(xs[::2])",
        "see(xs[:3000])",
        "n = 5000\nsee(xs[1000:n])",
        "see(examples.take(5_000))",
        "def f(n=1_000):\n    see(examples.take(n))",
        "def f(n):\n    see(examples.take(n * 100))\nf(10)",
        "see(frame['file'])",
        "see(listed())",
        "see(glob.glob('*'))",
        "see(sorted(os.listdir('.')))",
        "see(range(len(xs)))",
        "see(range(0, xs.shape[0], 8))",
        "def f(xs):\n    for i in see(range(len(xs))):\n        load(xs[i])",
        "def f(xs):\n    for i in see(range(xs.shape[0])):\n        load(xs.iloc[i])",
        "def f(xs):\n    for i in see(range(xs.shape[0])):\n        load(xs['file'][i])",
        "def f(xs):\n    for i in see(range(xs.shape[0])):\n        load(xs[i])\nf(listed())",
        "see(range(10_000))",
        "see([*xs, 'a'])",
        f"see({['a'] * 33!r})",
        "rows = {}\nsee(rows.items())",
        "see([x for x in xs if x])",
        "see(xs[:8] + ys)",
        "see(xs if a else ys[:8])",
        "def f(xs):\n    see(xs)\nf(ys[:8])\nf(zs)",
        "for xs in (a, b):\n    see(xs)",
        "def f(xs, *ys):\n    see(xs)",
        "named = {}\ndef f(key):\n    see(named[key])",
    ],
)
def test_all_there_is_for_all_one_can_see(look: Look, source: str) -> None:
    file, node = marked(look, source)

    assert not file.tf.iterables.is_part(node)


@pytest.mark.parametrize(
    ("source", "is_sequence"),
    [
        ("see(xs)", True),
        ("see(glob.glob('*') + ['a'])", True),
        ("see(sorted({'a'}))", True),
        ("see(frame['file'])", True),
        ("see(frame.file.tolist())", True),
        ("xs = os.listdir('.')\nsee(xs)", True),
        ("def f(xs):\n    see(xs)\nf(['a'])", True),
        ("def f():\n    return ['a']\nsee(f())", True),
        ("see(glob.iglob('*'))", False),
        ("see({'a', 'b'})", False),
        ("xs = set(ys)\nsee(xs)", False),
        ("see(x for x in xs)", False),
        ("see(map(str, xs))", False),
        ("see(folder.glob('*'))", False),
        ("see(rows.keys())", False),
        ("see(listed())", False),
        ("def f(xs):\n    see(xs)\nf(['a'])\nf({'a'})", False),
    ],
)
def test_a_sequence_keeps_its_length_and_order(look: Look, source: str, is_sequence: bool) -> None:
    file, node = marked(look, source)

    assert file.tf.iterables.is_sequence(node) == is_sequence


def test_a_range_over_a_length_counts_what_is_as_long(look: Look) -> None:
    file, seen = look("see(range(len(xs)))\nsee(range(0, len(ys), 8))\nsee(range(9))\nsee(xs)")
    counted = [file.tf.iterables.counted(each) for each in seen]

    assert [None if each is None else ast.unparse(each) for each in counted] == [
        "xs",
        "ys",
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("source", "gives"),
    [
        pytest.param("see(tf.data.Dataset.range(9))", True, id="a data set"),
        pytest.param("see(tf.signal.frame(x, 4, 2)[1:])", True, id="rows of a tensor"),
        pytest.param("it = iter(batches)\nsee(it)", True, id="an iterator"),
        pytest.param("see(ImageDataGenerator().flow(x))", True, id="a generator of Keras"),
        pytest.param("def f(): return tf.ones(9)\nsee(f())", True, id="what a function gives"),
        pytest.param("see(layers)", False, id="anything"),
        pytest.param("see(tf.signal.frame(x, 4, 2)[:3])", False, id="a few rows"),
        pytest.param("see(water.flow(x))", False, id="a method of the same name"),
        pytest.param("def f(): return [1]\nsee(f())", False, id="a list a function gives"),
    ],
)
def test_what_gives_data_is_told_from_what_may_be_layers(
    look: Look, source: str, gives: bool
) -> None:
    imports = "import tensorflow as tf\n"
    imports += "from keras.preprocessing.image import ImageDataGenerator\n"
    file, seen = look(imports + source)

    assert file.tf.iterables.gives_data(seen[0]) == gives
