"""Names whose arrays stay as they are."""

from textwrap import dedent

import pytest

from tfmemlint import File

IMPORTS = "import numpy as np\nimport tensorflow as tf\n"


def stays(source: str) -> bool:
    file = File("example.py", IMPORTS + dedent(source))
    binding = file.tf.bindings.of(file.tree, "table")[0]
    return file.tf.unchanged.stays(binding)


@pytest.mark.parametrize(
    "after",
    [
        "print(table.shape, len(table), np.mean(table), table[0])",
        "total = table[:2] + table.sum()",
        "both = np.concatenate([table, table])",
        "halves = np.multiply(table, 0.5)",
        "halves = np.multiply(0.5, table)",
        "np.save('table.npy', table)",
        "np.savez('table.npz', first=table)",
        "small = np.sort(table)[:10]",
        "other = table.astype('float16')",
        "x = tf.gather(table, [1])",
    ],
)
def test_an_array_that_is_only_read_stays(after: str) -> None:
    assert stays("table = np.ones((8, 4))\n" + after)


@pytest.mark.parametrize(
    "after",
    [
        "table[0] = 1",
        "table += 1",
        "table.sort()",
        "table.fill(2)",
        "np.random.shuffle(table)",
        "np.fill_diagonal(table, 1)",
        "np.put_along_axis(table, rows, 1, axis=1)",
        "np.add.at(table, [1, 1], 1)",
        "np.ndarray.sort(table)",
        "np.add(table, 1, out=table)",
        "np.multiply(table, 3, table)",
        "np.exp(table, table)",
        "np.add(*pair, table)",
        "np.add(one, two, **{'out': table})",
        "np.clip(table, 0, 1, table)",
        "np.nan_to_num(table, copy=False)",
        "same = np.array(table, copy=False)",
        "same = np.asarray(table)",
        "same = table.astype('float64', copy=False)",
        "tf.nest.map_structure(double, table)",
        "tf.numpy_function(double, [table], 'float64')",
        "np.flip(table)[0] = 5",
        "columns = np.transpose(table)",
        "with np.nditer(table, op_flags=['readwrite']) as cells:\n    pass",
        "for row in table:\n    row[0] = 1",
        "normalise(table)",
        "def sum(x):\n    x[0] = 1\nsum(table)",
        "other = table",
        "view = table[:2]",
        "view = table.T",
        "table = table / 2",
    ],
)
def test_an_array_that_may_be_changed_does_not_stay(after: str) -> None:
    assert not stays("table = np.ones((8, 4))\n" + after)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("np.load('table.npy')", True),
        ("np.load('tables.npz')['first']", True),
        ("np.arange(32).reshape(8, 4).T", True),
        ("np.reshape(np.arange(32), (8, 4))", True),
        ("rng.normal(size=(8, 4)).astype('float32')", True),
        ("base * 2", True),
        ("base.copy()", True),
        ("base", False),
        ("base[:4]", False),
        ("base.T", False),
        ("base.reshape(4, 8)", False),
        ("np.transpose(base)", False),
        ("np.exp(base)", True),
        ("np.exp(base, base)", False),
        ("np.add(np.ones(3), 1, base)", False),
        ("np.mean(base, 0)", True),
        ("tf.nest.flatten(base)[0]", False),
        ("base.astype('float64', copy=False)", False),
        ("lookup()", False),
    ],
)
def test_what_has_another_name_may_be_changed_under_that(made: str, expected: bool) -> None:
    assert stays(f"table = {made}\nbase[0] = 1") == expected


@pytest.mark.parametrize(("path", "expected"), [("all.npz", True), ("all.npy", False)])
def test_each_array_of_an_archive_is_read_anew(path: str, expected: bool) -> None:
    source = f"data = np.load('{path}')\ntable = data['table']\ndata['table'][0] = 1"

    assert stays(source) == expected


def test_each_name_of_data_that_is_unpacked_is_one_of_its_own() -> None:
    assert stays("(table, _), _ = tf.keras.datasets.mnist.load_data()")
    assert not stays("table, _ = base, 1")
