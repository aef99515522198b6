"""What numbers and lengths come to, what they are called, and how sure that is."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File
from tfmemlint.facts.sizes.amounts import (
    NOTHING,
    UNKNOWN,
    Amount,
    count,
    held,
    named,
    one_of,
    smaller,
    total,
)

Look = Callable[[str], tuple[File, list[ast.expr]]]

SCALERS = "import tensorflow as tf\nfrom sklearn.preprocessing import MinMaxScaler\n"
TIMES = "\N{MULTIPLICATION SIGN}"


def test_products_are_written_out_and_come_to_a_number() -> None:
    made = count(128).times(count(32)).times(held(48 << 10))

    assert made.text == f"128 {TIMES} 32 {TIMES} 48 KB"
    assert (made.value, made.at_most) == (128 * 32 * 48 << 10, 128 * 32 * 48 << 10)
    assert made.of_bytes
    assert made.is_plain


def test_a_name_of_which_nothing_is_known_leaves_the_product_open() -> None:
    made = named("len(paths)").times(held(588 << 10))

    assert made.text == f"`len(paths)` {TIMES} 588 KB"
    assert (made.value, made.at_most) == (None, None)


def test_sums() -> None:
    assert held(1024).plus(held(1024)).text == "2.0 KB"
    assert total([]) == NOTHING
    assert total([held(1), NOTHING]) == held(1)
    assert count(2).plus(count(3)) == count(5)
    open_ = named("n").times(held(8)).plus(held(8))
    assert open_.text == f"(`n` {TIMES} 8 B + 8 B)"
    assert open_.value is None
    assert open_.of_bytes


@pytest.mark.parametrize(
    ("one", "other", "value", "at_most"),
    [
        (count(256), count(128), 128, 128),
        (count(256), named("n"), 256, 256),
        (named("n"), count(128), None, 128),
        (named("n"), named("m"), None, None),
        (count(256), named("n")._replace(at_most=3), 256, 3),
    ],
)
def test_the_smaller_of_two(one: Amount, other: Amount, value: float, at_most: float) -> None:
    made = smaller(one, other)

    assert (made.value, made.at_most) == (value, at_most)


def test_one_of_several_is_bounded_by_the_largest() -> None:
    assert one_of([count(8), count(32)])[2:4] == (32, 32)
    assert one_of([count(8), named("n")])[2:4] == (None, None)
    assert one_of([]) == UNKNOWN


def test_lots() -> None:
    assert count(100).rounded_up(count(32)) == count(4)
    assert named("n").rounded_up(count(32)).text == "(`n` / 32)"


@pytest.mark.parametrize(
    ("code", "text", "value", "at_most"),
    [
        pytest.param("see(8 * 4)", f"8 {TIMES} 4", 32, 32, id="literals"),
        pytest.param("N = 100\nsee(N)", "100", 100, 100, id="a constant of the module"),
        pytest.param("N = 100\nsee(N // 3)", "33", 33, 33, id="arithmetic"),
        pytest.param("see(n)", "`n`", None, None, id="out of sight"),
        pytest.param("see(2 * n)", f"2 {TIMES} `n`", None, None, id="a multiple of such"),
        pytest.param(
            "def f(n=64):\n    see(n)", "`n`", 64, None, id="a default: callers may say more"
        ),
        pytest.param(
            "def f(n):\n    see(n)\nf(10000)", "`n`", 10000, 10000, id="the argument of a call"
        ),
        pytest.param(
            "def f(n):\n    see(n)\nf(10)\nf(20)", "`n`", 20, 20, id="the largest of several"
        ),
        pytest.param(
            "import argparse\np = argparse.ArgumentParser()\n"
            "p.add_argument('-b', '--batch-size', type=int, default=32)\n"
            "args = p.parse_args()\nsee(args.batch_size)",
            "`args.batch_size`",
            32,
            None,
            id="the default of an option",
        ),
        pytest.param(
            "from absl import flags\nflags.DEFINE_integer('steps', 500, 'how many')\n"
            "see(flags.FLAGS.steps)",
            "`flags.FLAGS.steps`",
            500,
            None,
            id="a flag",
        ),
        pytest.param(
            "from dataclasses import dataclass\n@dataclass\nclass Config:\n    rows: int = 7\n"
            "def f(config):\n    see(config.rows)",
            "`config.rows`",
            7,
            None,
            id="a field of a data class",
        ),
        pytest.param("see(min(8, n))", "8", 8, 8, id="the least"),
        pytest.param("see(max(8, 9))", "9", 9, 9, id="the most"),
        pytest.param("see(4 if fast else 16)", "16", 16, 16, id="one of two"),
        pytest.param("see(len([1, 2, 3]))", "3", 3, 3, id="a length"),
        pytest.param(
            "import numpy as np\nx = np.zeros((50, 3))\nsee(x.shape[0])", "50", 50, 50, id="rows"
        ),
    ],
)
def test_numbers(look: Look, code: str, text: str, value: float, at_most: float) -> None:
    file, [node] = look(code)

    found = file.tf.numbers.of(node)

    assert (found.text, found.value, found.at_most) == (text, value, at_most)


@pytest.mark.parametrize(
    ("code", "note"),
    [
        ("def load(n):\n    see(n)\nload(10000)", "for the 10,000 of `load(10000)`"),
        ("def load(n=64):\n    see(n)", "with 64 for `n`, as by default"),
    ],
)
def test_numbers_say_where_they_come_from(look: Look, code: str, note: str) -> None:
    file, [node] = look(code)

    assert file.tf.numbers.of(node).notes == (note,)


@pytest.mark.parametrize(
    ("code", "value", "at_most"),
    [
        pytest.param("see([1, 2])", 2, 2, id="a list"),
        *(
            pytest.param(
                f"import numpy as np\n{SCALERS}x = np.load('x')[-12:]\n{code}", 12, 12, id=code
            )
            for code in (
                "see(x.astype('float32'))",
                "see(np.array(x).tolist())",
                "see(x[:, 0])",
                "N = 12\nsee(np.load('y')[-N:])",
                "def last(y, n):\n    return y[:-n], y[-n:]\n_, z = last(np.load('y'), 12)\nsee(z)",
                "see(frame[-12:].values)",
                "see(x.reshape(x.shape[0], 1, -1))",
                "see(np.reshape(x, (len(x), -1)))",
                "see(MinMaxScaler().fit_transform(x))",
                "s = MinMaxScaler()\ns = s.fit(x)\nsee(s.inverse_transform(x))",
                "def f(t):\n    t = t.reshape(t.shape[0], 2)\n    return 1, t\n_, y = f(x)\nsee(y)",
            )
        ),
        *(
            pytest.param(
                f"import numpy as np\n{SCALERS}x = np.load('x')[-12:]\n{code}", None, None, id=code
            )
            for code in (
                "see(x.T)",
                "see(x.reshape(-1, 2))",
                "see(x[0, :])",
                "see(np.load('y')[-n:])",
                "see(np.expand_dims(x, 0))",
                "see(tf.image.resize(x, size))",
                "see(other.transform(x))",
                "class S:\n    def astype(self, t): return y\nsee(S().astype(x))",
            )
        ),
        pytest.param("see(range(5, 50, 5))", 9, 9, id="a range"),
        pytest.param("see(range(0, 100, 32))", 4, 4, id="offsets"),
        pytest.param("see(list(enumerate(range(7))))", 7, 7, id="wrapped"),
        pytest.param("see([0] * 64)", 64, 64, id="a list repeated"),
        pytest.param("see([1] + [2, 3])", 3, 3, id="lists joined"),
        pytest.param("see([x for x in range(9)])", 9, 9, id="a comprehension"),
        pytest.param("see([x for x in range(9) if x])", None, 9, id="some of them"),
        pytest.param("see(xs[:32])", 32, 32, id="the first"),
        pytest.param("see(xs[i : i + 32])", 32, 32, id="a slice of so many"),
        pytest.param("see([1, 2, 3][:32])", 3, 3, id="no more than there are"),
        pytest.param("see(zip(range(4), range(9)))", 4, 4, id="pairs"),
        pytest.param("see(xs)", None, None, id="out of sight"),
        pytest.param("xs = []\nfor i in range(6):\n    xs.append(i)\nsee(xs)", 6, 6, id="filled"),
        pytest.param(
            "xs = []\nfor i in range(6):\n    if i % 2:\n        xs.append(i)\nsee(xs)",
            None,
            6,
            id="filled now and then",
        ),
    ],
)
def test_lengths(look: Look, code: str, value: float, at_most: float) -> None:
    file, [node] = look(code)

    found = file.tf.numbers.length(node)

    assert (found.value, found.at_most) == (value, at_most)


def test_a_list_of_paths_that_is_written_down_stands_in_for_a_longer_one(look: Look) -> None:
    file, [node] = look(
        """
        def load(paths):
            see(paths)
        photos = ["a.jpg", "b.jpg"]
        load(photos)
        """
    )

    found = file.tf.numbers.length(node)

    assert (found.value, found.stands_in) == (2, "photos")


def test_what_is_assumed_wins() -> None:
    code = "see(len(paths))\nsee(batch_size)"
    file = File("example.py", code, assumed={"len(paths)": 50000, "batch_size": 64})
    calls = [each.args[0] for each in file.tf.tree.all(ast.Call) if len(each.args) == 1]
    length, size = (file.tf.numbers.of(each) for each in calls if ast.unparse(each) != "paths")

    assert (length.value, size.value) == (50000, 64)
    assert size.notes == ("assuming `batch_size` is 64",)


@pytest.mark.parametrize(
    "code", ["1e309", "-1e309", "1e308 * 10", "1e309 - 1e309", "10**400", "2**70 * 1.5"]
)
def test_what_is_no_number_of_things_is_not_known(look: Look, code: str) -> None:
    file, (expression,) = look(f"see({code})")

    assert file.tf.numbers.of(expression).value is None


def test_a_list_that_is_made_of_itself_has_an_end(look: Look) -> None:
    code = """
import numpy as np
def stacked(frames, frame, begins):
    if begins:
        frames = [frame for _ in range(4)]
    return np.stack(frames, axis=2), frames
state, frames = stacked(None, read(), True)
for step in range(1000):
    state, frames = stacked(frames, read(), False)
    kept = frames
    frames = kept
see(np.array(frames))
"""
    file, [node] = look(code)

    assert file.tf.arrays.nbytes(node).value is None
