"""How many rounds loops make at most by what they count."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from tfmemlint import File

HEAD = "import itertools\nimport numpy as np\nfrom tqdm import tqdm\nxs = []\nn = 0\nlimit = 8\n"


def left_after(header: str, body: str = "print()") -> int | None:
    file = File("example.py", f"{HEAD}{header}\n{indent(dedent(body), '    ')}\n")
    loop = next(iter(file.tf.tree.all(ast.For, ast.While)))
    return file.tf.counted_rounds.left_after(file.tf.loops.loop(loop))


@pytest.mark.parametrize(
    ("header", "body", "rounds"),
    [
        ("for x in y:", "print(x)\nbreak", 1),
        ("while True:", "with open(p) as f:\n    raise OSError", 1),
        ("for x in y:", "try:\n    f(x)\n    break\nexcept OSError:\n    pass", 1),
        ("for i, x in enumerate(y):", "if i == 5:\n    break", 6),
        ("for i, x in enumerate(tqdm(y)):", "if 5 < i:\n    break", 7),
        ("for i in range(m):", "if i >= limit or x:\n    print()\n    break", 9),
        ("for x in y:", "n += 1\nif n >= 10:\n    break", 11),
        ("while True:", "xs.append(f())\nif len(xs) == 10:\n    break", 11),
        ("for i, x in zip(range(10), y):", "print(x)", 10),
        ("for x in tqdm(itertools.islice(y, 2, 20)):", "print(x)", 20),
    ],
)
def test_a_loop_is_left_when_it_has_counted(header: str, body: str, rounds: int) -> None:
    assert left_after(header, body) == rounds


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("for x in y:", "print(x)"),
        ("for x in y:", "if x:\n    break"),
        ("for x in y:", "if bad(x):\n    continue\nbreak"),
        ("for i, x in enumerate(y):", "if i == m:\n    break"),
        ("for i, x in enumerate(y):", "if i == 5:\n    print(x)"),
        ("for i, x in enumerate(y):", "if debug and i == 5:\n    break"),
        ("for i, x in enumerate(y):", "if i % 5 == 0:\n    break"),
        ("for i in range(900, 0, -1):", "if i == 5:\n    break"),
        ("for x in np.load(p):", "if x == 5:\n    break"),
        ("for x in y:", "n += loss(x)\nif n >= 10:\n    break"),
        ("for x in y:", "n = 0\nn += 1\nif n >= 10:\n    break"),
        ("for x in y:", "if len(x) == 10:\n    break"),
        ("for x in y:", "for z in x:\n    break"),
        ("for x, z in zip(y, range(m)):", "print(x)"),
    ],
)
def test_what_may_never_be_reached_leaves_no_loop(header: str, body: str) -> None:
    assert left_after(header, body) is None


@pytest.mark.parametrize(
    ("test", "rounds"),
    [
        ("i < 5", 5),
        ("5 >= i", 6),
        ("x and i < limit", 8),
        ("i < 5 or x", None),
        ("i > 5", None),
        ("i < m", None),
        ("x < 5", None),
    ],
)
def test_a_test_of_a_count_holds_for_the_first_rounds(test: str, rounds: int | None) -> None:
    file = File(
        "example.py", f"{HEAD}for i, x in enumerate(y):\n    if {test}:\n        print(x)\n"
    )
    (loop,), (branch,) = file.tf.tree.all(ast.For), file.tf.tree.all(ast.If)

    assert file.tf.counted_rounds.holds_for(branch.test, file.tf.loops.loop(loop)) == rounds


@pytest.mark.parametrize(
    ("calls", "rounds"),
    [("show(5)\nshow(n=9)", 9), ("show()", 3), ("show(5)\nshow(many())", None), ("", None)],
)
def test_a_range_of_a_parameter_is_as_long_as_callers_ask(calls: str, rounds: int | None) -> None:
    code = f"def show(n=3):\n    for i in range(n):\n        print(i)\n{calls}\n"
    file = File("example.py", code)
    (loop,) = file.tf.tree.all(ast.For)

    assert file.tf.counted_rounds.left_after(file.tf.loops.loop(loop)) == rounds


@pytest.mark.parametrize(
    ("header", "body", "numbers"),
    [
        ("for i, x in enumerate(y):", "f(x)\nif i >= m - 1:\n    break", ["m - 1"]),
        ("for i in range(k):", "if m == i:\n    f(i)\n    break", ["m"]),
        ("for x in y:", "n += 1\nif n > m:\n    return", ["m"]),
        ("for i, x in enumerate(y):", "if i == m or x:\n    break", [None]),
        ("for i, x in enumerate(y):", "if i < m:\n    break", [None]),
        ("for i, x in enumerate(y):", "if i == m:\n    f(x)\nelse:\n    break", [None]),
        ("for i, x in enumerate(y):", "for z in x:\n    if i == m:\n        break", []),
        ("for i, x in enumerate(y):", "for z in x:\n    f(z)\nelse:\n    break", [None]),
        ("for i, x in enumerate(y):", "while True:\n    return", [None]),
        ("for i, x in enumerate(y):", "if x:\n    break\nif i == m:\n    break", [None, "m"]),
        ("for i, x in enumerate(y):", "f(x)", []),
    ],
)
def test_what_leaves_a_loop_waits_for_a_number_of_rounds(
    header: str, body: str, numbers: list[str | None]
) -> None:
    file = File("example.py", f"{HEAD}{header}\n{indent(dedent(body), '    ')}\n")
    loop = next(iter(file.tf.tree.all(ast.For)))

    awaited = file.tf.counted_rounds.awaited(file.tf.loops.loop(loop))

    assert [None if each is None else ast.unparse(each) for each in awaited] == numbers


def are_few(body: str) -> bool:
    """Whether tests keep `keep(x)` for five rounds or now and then."""
    code = indent(dedent(body), "    ")
    file = File("example.py", f"{HEAD}for i, x in enumerate(y):\n{code}\n")
    loop = next(iter(file.tf.tree.all(ast.For)))
    kept = next(each for each in ast.walk(loop) if getattr(each, "id", "") == "keep")
    return file.tf.counted_rounds.are_few(kept, file.tf.loops.loop(loop), 5)


@pytest.mark.parametrize(
    "body",
    [
        "if i < 5:\n    keep(x)",
        "if i % 100 == 0:\n    with lock:\n        keep(x)",
        "if i % 100:\n    print(x)\nelse:\n    keep(x)",
        "z = keep(x) if i < 5 else None",
    ],
)
def test_what_a_test_of_the_count_lets_run_is_done_a_few_times(body: str) -> None:
    assert are_few(body)


@pytest.mark.parametrize(
    "body",
    [
        "keep(x)",
        "if i < 6:\n    keep(x)",
        "if i < 5:\n    print(x)\nelse:\n    keep(x)",
        "if keep(x) % 2:\n    print(x)",
        "z = None if i < 5 else keep(x)",
    ],
)
def test_what_no_test_of_the_count_keeps_for_a_few_rounds_is_done_in_many(body: str) -> None:
    assert not are_few(body)
