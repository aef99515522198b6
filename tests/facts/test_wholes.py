"""Which arrays hold all rows there are, and are made once."""

from __future__ import annotations

import ast

import pytest

from tfmemlint import File
from tfmemlint.facts.flow.wholes import Whole

IMPORTS = "import keras\nimport numpy as np\nimport pandas as pd\n"


def whole(code: str) -> Whole | None:
    """What is known of what `code` gives to `seen(...)`."""
    file = File("module.py", IMPORTS + code)
    calls = file.tf.tree.all(ast.Call)
    seen = next(
        each for each in calls if isinstance(each.func, ast.Name) and each.func.id == "seen"
    )
    return file.tf.wholes.of(seen.args[0])


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("seen(np.load('a.npy'))", Whole(None, None, True, False)),
        ("seen(np.zeros((9, 2, 3)))", Whole(9, 6, False, False)),
        ("seen(np.zeros((9, 2)).reshape(3, 6))", Whole(3, 6, False, False)),
        ("seen(np.random.rand(rows, 2))", Whole(None, 2, False, False)),
        ("seen(pd.read_csv('a.csv').values)", Whole(None, None, True, False)),
        ("seen(pd.DataFrame(rows).values)", Whole(None, None, False, False)),
        (
            "(x, y), _ = keras.datasets.mnist.load_data()\nseen(x / 255)",
            Whole(60_000, 784, True, False),
        ),
        (
            "from sklearn.model_selection import train_test_split\n"
            "x, _ = train_test_split(np.zeros((50, 4)))\nseen(x)",
            Whole(50, 4, False, False),
        ),
    ],
)
def test_sizes_are_those_of_what_was_made(code: str, expected: Whole) -> None:
    assert whole(code) == expected


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("for p in paths:\n    x = np.load(p)\n    seen(x)", id="loaded in a loop"),
        pytest.param(
            "def f(p):\n    seen(np.load(p))\nfor p in paths:\n    f(p)",
            id="by a function in a loop",
        ),
        pytest.param(
            "def f(p):\n    return g(p)\ndef g(p):\n    seen(np.load(p))\n[f(p) for p in paths]",
            id="two calls below a loop",
        ),
        pytest.param("seen(np.load('a.npy')[:9])", id="a slice"),
        pytest.param("seen(pd.read_csv('a.csv'))", id="a frame"),
    ],
)
def test_one_of_many_is_not_whole(code: str) -> None:
    assert whole(code) is None


@pytest.mark.parametrize(
    ("code", "given"),
    [
        pytest.param("def f(p):\n    seen(np.load(p))", True, id="an argument nobody passes"),
        pytest.param("def f(p):\n    seen(np.load(p))\nf('a')", False, id="one call"),
        pytest.param("def f(p):\n    seen(np.load('a'))", False, id="no argument"),
        pytest.param("def f(p):\n    g(p)\ndef g(p):\n    seen(np.load(p))", True, id="passed on"),
        pytest.param(
            "class T:\n    def __init__(self, p):\n        seen(np.load(p))",
            False,
            id="a constructor",
        ),
        pytest.param(
            "class T:\n    def f(self):\n        seen(np.load(self.p))", False, id="an attribute"
        ),
    ],
)
def test_what_depends_on_unseen_callers_is_given(code: str, given: bool) -> None:
    found = whole(code)

    assert found is not None
    assert found.given is given


@pytest.mark.parametrize(
    ("code", "made"),
    [
        ("np.load('a.npy')", True),
        ("np.zeros((1000, 2000))", True),
        ("np.zeros((rows, 2))", True),
        ("np.tile(np.zeros((10, 20)), (100, 100))", True),
        ("np.concatenate([np.zeros((10, 20))] * 10_000)", True),
        ("np.zeros((10, 20))", True),
        ("rng = np.random.default_rng()", True),
        ("keras.datasets.mnist.load_data()", True),
        ("load('a.npy')", False),
        ("np.stack(rows).mean()", False),
    ],
)
def test_a_file_that_makes_no_array_says_so(code: str, made: bool) -> None:
    assert File("module.py", IMPORTS + code).tf.wholes.any_made is made


@pytest.mark.parametrize(
    ("code", "told", "no_batch"),
    [
        ("seen(np.load('a.npy'))", True, True),
        ("seen(np.zeros((90_000, 64)))", True, True),
        ("seen(np.zeros((2_048, 4_096)))", True, False),
        ("seen(np.zeros((90_000, 8)))", True, True),
        ("seen(np.zeros((rows, 4_096)))", False, True),
        ("seen(np.zeros((90_000, width)))", False, True),
    ],
)
def test_what_is_told_and_what_cannot_be_meant_as_one_batch(
    code: str, told: bool, no_batch: bool
) -> None:
    found = whole(code)

    assert found is not None
    assert (found.is_told, found.is_no_batch) == (told, no_batch)


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("x", "x"),
        ("np.asarray(x.astype(float) / 255)", "x"),
        ("self.y", "self.y"),
        ("x[:9]", None),
        ("np.load('x.npy')", None),
        ("other", None),
        ("f().x", None),
    ],
)
def test_rows_have_the_name_of_their_array(expression: str, name: str | None) -> None:
    code = (
        "x = np.load('x.npy')\nclass Data:\n    def __init__(self):\n"
        f"        self.y = np.load('y.npy')\n    def show(self):\n        print({expression})\n"
    )
    file = File("module.py", IMPORTS + code)
    calls = file.tf.tree.all(ast.Call)
    shown = next(each for each in calls if ast.unparse(each.func) == "print")

    found = file.tf.wholes.named(shown.args[0])

    assert (None if found is None else file.source(found)) == name
