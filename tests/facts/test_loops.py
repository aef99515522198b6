"""Loops: what they go over, how often, what grows in them; and gradient tapes."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File
from tfmemlint.facts.flow.loops import Over

Look = Callable[[str], tuple[File, list[ast.expr]]]

IMPORTS = (
    "import glob, itertools\nimport numpy as np\nimport tensorflow as tf\nfrom tqdm import tqdm\n"
)


@pytest.mark.parametrize(
    ("source", "over", "trips"),
    [
        ("for i in range(10):\n    see(i)", Over.RANGE, 10),
        ("N = 6\nfor i in range(2, N):\n    see(i)", Over.RANGE, 4),
        ("for i in range(n):\n    see(i)", Over.RANGE, None),
        ("for epoch in range(10):\n    see(epoch)", Over.EPOCHS, 10),
        ("for i in range(args.epochs):\n    see(i)", Over.EPOCHS, None),
        ("for i in range(0, n, 32):\n    see(i)", Over.OFFSETS, None),
        ("for i in tf.range(8):\n    see(i)", Over.TENSOR, 8),
        ("for x in tf.data.Dataset.range(9):\n    see(x)", Over.DATASET, None),
        ("for i, x in enumerate(tqdm(tf.data.Dataset.range(9))):\n    see(x)", Over.DATASET, None),
        ("for p in tqdm(sorted(glob.glob(d))):\n    see(p)", Over.PATHS, None),
        ("for row in np.load(f):\n    see(row)", Over.ARRAY, None),
        ("for a in (1, 2, 3):\n    see(a)", Over.LITERAL, 3),
        ("for a in (1, *b):\n    see(a)", Over.UNKNOWN, None),
        ("d = {'a': 1, 'b': 2}\nfor k, v in d.items():\n    see(d[k])", Over.LITERAL, 2),
        ("for k in sorted({'a': 1, 'b': 2}):\n    see(k)", Over.LITERAL, 2),
        ("d = {'a': 1}\nd['b'] = 2\nfor k in d:\n    see(k)", Over.UNKNOWN, None),
        ("d = {'a': 1, **b}\nfor v in d.values():\n    see(v)", Over.UNKNOWN, None),
        ("d = {'a': 1}\nfill(d)\nfor v in d.values():\n    see(v)", Over.UNKNOWN, None),
        ("xs = [*b]\nfor a in xs:\n    see(a)", Over.UNKNOWN, None),
        ("while True:\n    see(a)", Over.FOREVER, None),
        ("while a:\n    see(a)", Over.CONDITION, None),
        ("for a in b:\n    see(a)", Over.UNKNOWN, None),
        ("[see(p) for p in glob.glob(d)]", Over.PATHS, None),
    ],
)
def test_what_a_loop_goes_over(look: Look, source: str, over: Over, trips: int | None) -> None:
    file, seen = look(IMPORTS + source)

    loop = file.tf.loops.around(seen[0])[0]

    assert (loop.over, loop.trips) == (over, trips)


@pytest.mark.parametrize(
    ("source", "grown"),
    [
        ("xs = []\nfor a in b:\n    xs.append(a)", [("xs", 1)]),
        ("xs = list()\nfor a in b:\n    xs.extend(a)", [("xs", 1)]),
        ("xs = []\nfor a in b:\n    xs += [a]", [("xs", 1)]),
        (
            "xs, ys = [], []\nfor a in b:\n    xs.append(a)\n    ys.append(a)",
            [("xs", 1), ("ys", 1)],
        ),
        ("xs = []\nfor a in b:\n    for c in a:\n        xs.append(c)", [("xs", 2)]),
        ("for a in b:\n    xs = []\n    for c in a:\n        xs.append(c)", [("xs", 1)]),
        ("xs = []\nxs.append(1)", []),
        ("def f(xs):\n    for a in b:\n        xs.append(a)", []),
        ("xs = [1]\nfor a in b:\n    xs.append(a)", []),
        ("xs = []\nif c:\n    xs = load()\nfor a in b:\n    xs.append(a)", []),
    ],
)
def test_lists_that_grow_in_loops(look: Look, source: str, grown: list[tuple[str, int]]) -> None:
    file, _ = look(source)

    assert [(each.name, len(each.loops)) for each in file.tf.loops.growths] == grown


@pytest.mark.parametrize(
    ("source", "invariant"),
    [
        ("for i in range(3):\n    see(x)", True),
        ("for i in range(3):\n    see(x[i])", False),
        ("for i in range(3):\n    see(x)\n    x = x + 1", False),
        ("for i in range(3):\n    see(x[:10])", True),
    ],
)
def test_what_no_trip_of_the_loop_changes(look: Look, source: str, invariant: bool) -> None:
    file, seen = look(source)
    loop = file.tf.loops.around(seen[0])[0]

    assert file.tf.loops.invariant(seen[0], loop) is invariant


def test_a_tape_knows_what_is_asked_of_it(look: Look) -> None:
    file, seen = look(
        IMPORTS
        + """
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = see(f(x))
a = tape.gradient(y, x)
b = tape.jacobian(y, x)
del tape
with tf.GradientTape() as other:
    keep(other)
"""
    )
    tape, other = file.tf.tapes.all

    assert (tape.name, tape.persistent, len(tape.asked), len(tape.watched)) == ("tape", True, 2, 1)
    assert not tape.escapes
    assert other.escapes
    assert file.tf.tapes.recording(seen[0]) == (tape,)


@pytest.mark.parametrize(
    ("loop", "trips"),
    [
        pytest.param("i = 0\nwhile i < 40: i += 1", 40, id="up to a number"),
        pytest.param("i = 2\nwhile i <= 40: i += 4", 10, id="and with it, by steps"),
        pytest.param("n = 40\ni = 0\nwhile i < n:\n    f(i)\n    i += 1", 40, id="a name for it"),
        pytest.param("i = 0\nwhile i < n: i += 1", None, id="an unknown number"),
        pytest.param("i = 0\nwhile i < 40: i = f(i)", None, id="unknown steps"),
        pytest.param("i = 0\nwhile i < 40:\n    if f(i): i += 1", None, id="a step now and then"),
        pytest.param("i = tf.constant(0)\nwhile i < 40: i += 1", None, id="a tensor"),
        pytest.param("i = 40\nwhile i > 0: i -= 1", None, id="downwards"),
        pytest.param("i = 0\nwhile i < 40: i += 0", None, id="no step"),
    ],
)
def test_a_while_loop_has_as_many_trips_as_its_counter_takes(loop: str, trips: int | None) -> None:
    file = File("code.py", f"import tensorflow as tf\n{loop}\n")
    (found,) = map(file.tf.loops.loop, file.tf.tree.all(ast.While))

    assert found.trips == trips


@pytest.mark.parametrize(
    ("source", "extent"),
    [
        ("for x in xs:\n    f(x)", "for x in xs:\n    f(x)"),
        ("while f(): pass", "while f(): pass"),
        ("a = [f(x, y) for x in xs for y in x]", "[f(x, y) for x in xs for y in x]"),
    ],
)
def test_a_loop_runs_its_body_and_header(source: str, extent: str) -> None:
    file = File("code.py", source)
    call = next(file.tf.tree.all(ast.Call))
    (loop, *_) = file.tf.loops.around(call)

    assert ast.get_source_segment(source, file.tf.loops.extent(loop)) == extent
