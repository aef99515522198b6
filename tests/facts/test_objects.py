"""The same object in several places, and lists that grow in any of them."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File

GROWING = [
    pytest.param("box.xs = []\nfor i in y:\n    box.xs.append(i)\n", id="attribute"),
    pytest.param("d = {}\nd['a'] = []\nfor i in y:\n    d['a'].append(i)\n", id="entry"),
    pytest.param("d = {'a': []}\nfor i in y:\n    d['a'] += [i]\n", id="literal"),
    pytest.param("pair = ([], 1)\nxs, _ = pair\nfor i in y:\n    xs.append(i)\n", id="tuple"),
    pytest.param("xs = [[]]\nfor i in y:\n    xs[0].append(i)\n", id="list of lists"),
    pytest.param(
        "from collections import defaultdict\nd = defaultdict(list)\n"
        "for i in y:\n    d['a'].append(i)\n",
        id="defaultdict",
    ),
    pytest.param(
        "def add(xs, x):\n    xs.append(x)\nzs = []\nfor i in y:\n    add(zs, i)\n", id="helper"
    ),
    pytest.param(
        "class C:\n    def __init__(self):\n        self.xs = []\n"
        "    def put(self, x):\n        self.xs.append(x)\n"
        "c = C()\nfor i in y:\n    c.put(i)\n",
        id="method",
    ),
    pytest.param(
        "import dataclasses\n@dataclasses.dataclass\nclass C:\n    xs: list\n"
        "c = C([])\nfor i in y:\n    c.xs.append(i)\n",
        id="field",
    ),
    pytest.param(
        "def made():\n    return []\nxs = made()\nfor i in y:\n    xs.append(i)\n", id="result"
    ),
]

STAYING = [
    pytest.param("box.xs = []\nbox.xs.append(1)\n", id="once"),
    pytest.param("for i in y:\n    box.xs = []\n    box.xs.append(i)\n", id="made anew"),
    pytest.param("for box.xs in y:\n    box.xs.append(1)\n", id="of the loop"),
    pytest.param("for x, _ in zip([[]], [1]):\n    x.append(1)\n", id="loop over one thing"),
    pytest.param(
        "class C:\n    def __init__(self):\n        self.xs = []\n"
        "    def put(self, x):\n        self.xs.append(x)\n"
        "for i in y:\n    c = C()\n    c.put(i)\n",
        id="instances anew",
    ),
    pytest.param(
        "def add(xs, x):\n    xs.append(x)\nzs = []\nadd(zs, 1)\nfor i in y:\n"
        "    ws = []\n    add(ws, i)\n",
        id="another list",
    ),
    pytest.param("def add(xs):\n    for i in y:\n        xs.append(i)\n", id="out of sight"),
]


def read(source: str) -> File:
    return File("example.py", "import types\nbox = types.SimpleNamespace()\n" + dedent(source))


@pytest.mark.parametrize("source", GROWING)
def test_a_list_grows_wherever_it_is_kept(source: str) -> None:
    (grown,) = read(source).tf.growths.all

    assert len(grown.rounds) == 1
    assert [ast.unparse(each) for each in grown.elements] in (["i"], ["x"])


@pytest.mark.parametrize("source", STAYING)
def test_what_does_not_grow_with_the_rounds(source: str) -> None:
    assert read(source).tf.growths.all == ()


@pytest.mark.parametrize(
    ("source", "uses"),
    [
        ("box.xs = []\nbox.xs.append(1)\nf(box.xs)", ["box.xs", "box.xs"]),
        ("d = {'a': []}\nfor k, v in d.items():\n    f(v)", ["v"]),
        ("def g(ys):\n    return ys\nxs = []\nf(g(xs))", ["ys", "xs", "g(xs)"]),
        ("class C:\n    def __init__(self):\n        self.xs = []\nc = C()\nf(c.xs)", ["c.xs"]),
        ("xs = []\nxs = xs + [1]\nf(xs)", ["xs", "xs"]),
        ("xs = []\nys = [1]\nf(ys)", []),
    ],
)
def test_other_uses_of_a_list_are_found(source: str, uses: list[str]) -> None:
    tf = read(source).tf
    made = next(each for each in tf.tree.all(ast.List) if not each.elts)

    assert sorted(ast.unparse(each) for each in tf.objects.uses(made) or ()) == sorted(uses)


def test_a_range_may_be_held_somewhere() -> None:
    file = read("box.rounds = range(7)\nfor i in box.rounds:\n    pass\n")
    loop = file.tf.loops.loop(next(file.tf.tree.all(ast.For)))

    assert loop.trips == 7


def test_the_same_object_in_each_round() -> None:
    source = "for i in y:\n    cell = [x]\n    other = [f()]\n    see(cell[0])\n    see(other[0])\n"
    file = read(source)
    loop = file.tf.loops.loop(next(file.tf.tree.all(ast.For)))
    seen = [each.args[0] for each in file.tf.tree.all(ast.Call) if ast.unparse(each.func) == "see"]

    assert [file.tf.loops.unvarying(each, loop) for each in seen] == [True, False]
    assert not any(file.tf.loops.invariant(each, loop) for each in seen)


def test_what_a_function_hands_to_itself_is_held_by_who_calls_it_first() -> None:
    tf = read(
        "def walk(folder, kept):\n"
        "    for each in folder:\n"
        "        walk(each, kept)\n"
        "    xs = []\n"
        "    kept['names'] = xs\n"
        "found = {}\n"
        "walk(root, found)\n"
        "see(found['names'])\n"
    ).tf
    made = next(each for each in tf.tree.all(ast.List))

    assert "found['names']" in {ast.unparse(each) for each in tf.objects.uses(made) or ()}
