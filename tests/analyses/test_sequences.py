"""How long Python lists get: which grow, and which are as long as a text."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.sequences import Sequences

Look = Callable[[str], tuple[File, list[ast.expr]]]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("xs = []\nfor x in data:\n    xs.append(x)\n    see(xs)", True),
        ("xs = [1]\nfor x in data:\n    see(xs)\n    xs += [x]", True),
        ("xs = list(start)\nfor x in data:\n    xs.extend(x)\n    see(xs)", True),
        ("xs = []\nfor x in data:\n    see(xs)", False),
        ("for x in data:\n    xs = []\n    xs.append(x)\n    see(xs)", False),
        ("xs = []\nfor x in data:\n    xs.append(x)\n    del xs[0]\n    see(xs)", False),
        ("xs = []\nfor x in data:\n    xs.append(x)\n    xs = xs[1:]\n    see(xs)", False),
        ("xs = deque()\nfor x in data:\n    xs.append(x)\n    see(xs)", False),
    ],
)
def test_a_list_grows_where_a_loop_only_adds_to_it(source: str, expected: bool, look: Look) -> None:
    file, (listed,) = look(source)
    loop = file.tf.loops.loop(next(iter(file.tf.tree.all(ast.For))))

    assert isinstance(listed, ast.Name)
    assert file.tf.of(Sequences).grows(listed, loop) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("see(text.split())", True),
        ("see(text.lower().split(' '))", True),
        ("see([0] + [index[word] for word in text.split()])", True),
        ("words = text.split()\nsee([index.get(word, 0) for word in words])", True),
        ("see([1, *list(text.split())])", True),
        ("def encode(t):\n    return [index[w] for w in t.split()]\nsee(encode(text))", True),
        ("see(tokenizer.texts_to_sequences([text]))", True),
        ("xs = text.split()\nsee(xs + [0] * (9 - len(xs)))", False),
        ("xs = text.split()\nsee([0] * (9 - len(xs)) + xs)", False),
        ("xs = text.split()\nxs.extend([0] * (9 - len(xs)))\nsee(xs)", False),
        ("xs = text.split()\nxs += [0] * (9 - len(xs))\nsee(xs)", False),
        ("see(text.split()[:9])", False),
        ("see(line.split(','))", False),
        ("see(text.split(sep))", False),
        ("see([float(field) for field in line.split()])", False),
        ("see([index[word] for word in words])", False),
        ("import tensorflow as tf\nsee(tf.split(x))", False),
        ("see(text.split()[0])", False),
        ("see([1, 2, 3])", False),
    ],
)
def test_a_list_is_of_a_text_if_it_has_one_element_for_each_word(
    source: str, expected: bool, look: Look
) -> None:
    file, (listed,) = look(source)

    assert file.tf.of(Sequences).is_of_text(listed) == expected
