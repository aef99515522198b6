"""Pipelines, wherever their steps stand."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File
from tfmemlint.facts.pipelines.chains import From

Look = Callable[[str], tuple[File, list[ast.expr]]]

IMPORT = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    ("source", "steps"),
    [
        pytest.param(
            "ds = tf.data.Dataset.range(9).shuffle(9).batch(3)", [("shuffle", "batch")], id="fluent"
        ),
        pytest.param(
            "ds = tf.data.Dataset.range(9)\nds = ds.shuffle(9)\nds = ds.batch(3)",
            [("shuffle", "batch")],
            id="reassigned",
        ),
        pytest.param(
            "ds = tf.data.Dataset.range(9)\nif a:\n    ds = ds.shuffle(9)\nds = ds.batch(3)",
            [("batch",), ("shuffle", "batch")],
            id="a branch is one way of two",
        ),
        pytest.param(
            "ds = tf.data.Dataset.range(9)\nds = ds.shuffle(9) if a else ds\nds = ds.batch(3)",
            [("batch",), ("shuffle", "batch")],
            id="a conditional expression",
        ),
        pytest.param(
            "def f(ds):\n    return ds.batch(3)\nds = f(tf.data.Dataset.range(9)).prefetch(1)",
            [("batch", "prefetch")],
            id="through a helper that takes and gives a dataset",
        ),
        pytest.param(
            "def make():\n    ds = tf.data.Dataset.range(9)\n    return ds.batch(3)\n"
            "for x in make().take(1): pass",
            [("batch", "take")],
            id="from a factory",
        ),
        pytest.param(
            "class P:\n    def __init__(self):\n"
            "        self.ds = tf.data.Dataset.range(9).cache()\n"
            "    def go(self):\n        return self.ds.batch(3)",
            [("cache", "batch")],
            id="kept on self",
        ),
        pytest.param(
            "class P:\n    def __init__(self):\n"
            "        self.ds = tf.data.Dataset.range(9)\n"
            "        self.ds = self.ds.cache()\n"
            "        self.ds = self.ds.batch(3)",
            [("cache", "batch")],
            id="an attribute reassigned",
        ),
        pytest.param(
            "class P:\n    def make(self):\n        return tf.data.Dataset.range(9).cache()\n"
            "    def go(self):\n        return self.make().batch(3)",
            [("cache", "batch")],
            id="made by a method",
        ),
        pytest.param(
            "ds = tf.data.Dataset.range(9).apply(lambda d: d.batch(3)).cache()",
            [("batch", "cache")],
            id="apply is a call",
        ),
        pytest.param(
            "a, b = tf.data.Dataset.range(9), tf.data.Dataset.range(3)\nb = b.batch(3)",
            [("batch",)],
            id="assigned side by side",
        ),
        pytest.param(
            "ds = tf.data.Dataset.range(9)\nfor e in range(3):\n    ds = ds.shuffle(9)",
            [("shuffle",)],
            id="a loop is followed once",
        ),
        pytest.param(
            "ds = tf.data.Dataset.range(9).batch(\n    3,\n).map(lambda x: x)",
            [("batch", "map")],
            id="across lines",
        ),
        pytest.param(
            "from loading import get\nds = get()\nds = ds.batch(3).prefetch(1)",
            [("batch", "prefetch")],
            id="begun out of sight, with a step only tf.data has",
        ),
        pytest.param(
            "def f(ds: tf.data.Dataset):\n    return ds.batch(3).shuffle(9)",
            [("batch", "shuffle")],
            id="an annotated parameter",
        ),
        pytest.param(
            "a = tf.data.Dataset.range(9).batch(2)\nds = tf.data.Dataset.zip((a, a)).cache()",
            [("batch",), ("cache",)],
            id="zip begins a new chain",
        ),
    ],
)
def test_a_pipeline_is_followed(look: Look, source: str, steps: list[tuple[str, ...]]) -> None:
    file, _ = look(IMPORT + source)

    assert sorted(chain.methods for chain in file.tf.datasets.chains) == steps


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            "frame = frame.map(f).batch(3).shuffle(9)", id="unknown, nothing only tf.data has"
        ),
        pytest.param("xs = [1, 2]\nxs.shuffle(3)\nxs.batch(2)", id="a list"),
        pytest.param("df = pd.DataFrame(a).filter(b).take(c)", id="a data frame"),
        pytest.param("import numpy as np\nnp.repeat(a, 2)", id="a function of NumPy"),
        pytest.param("cache.cache(1, 2, 3, 4)", id="too many arguments to be the dataset method"),
        pytest.param("def f(): return 3\nf().batch(2).prefetch(1)", id="in sight and no dataset"),
    ],
)
def test_what_is_no_pipeline_for_certain(look: Look, source: str) -> None:
    file, _ = look(IMPORT + source)

    assert file.tf.datasets.chains == ()


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("see(tf.data.Dataset.from_tensor_slices(x))", From.SLICES),
        ("see(tf.data.Dataset.from_tensors(x))", From.TENSORS),
        ("see(tf.data.TFRecordDataset(files).map(f))", From.RECORDS),
        ("see(tf.keras.utils.image_dataset_from_directory(d))", From.DIRECTORY),
        ("import tensorflow_datasets as tfds\nsee(tfds.load('mnist')['train'])", From.CATALOGUE),
        (
            "import tensorflow_datasets as tfds\n"
            "(train, test), info = tfds.load('mnist', with_info=True)\nsee(train)",
            From.CATALOGUE,
        ),
        ("import tensorflow_datasets as tfds\nsee(tfds.builder('x').as_dataset())", From.CATALOGUE),
        ("see(tf.data.Dataset.zip((a, b)))", From.MIXED),
    ],
)
def test_what_a_pipeline_begins_with(look: Look, source: str, kind: From) -> None:
    file, seen = look(IMPORT + source)

    assert [chain.source.kind for chain in file.tf.datasets.of(seen[0])] == [kind]


def test_an_argument_is_found_by_keyword_or_place(look: Look) -> None:
    file, seen = look(
        IMPORT + "see(tf.data.Dataset.range(9).shuffle(9, seed=3).batch(batch_size=4))"
    )
    (chain,) = file.tf.datasets.of(seen[0])
    shuffle, batch = chain.steps
    found = [
        shuffle.argument("buffer_size"),
        shuffle.argument("seed"),
        batch.argument("batch_size"),
    ]

    assert [ast.unparse(each) for each in found if each is not None] == ["9", "3", "4"]
    assert batch.argument("drop_remainder") is None


def test_callers_in_the_module_show_what_a_parameter_holds(look: Look) -> None:
    file, _ = look(
        IMPORT
        + "def prepare(ds):\n    return ds.shuffle(9)\n"
        + "train = prepare(tf.data.Dataset.range(9).batch(3))\n"
        + "test = prepare(tf.data.Dataset.range(5))\n"
    )

    methods = {chain.methods for chain in file.tf.datasets.chains}

    assert ("batch", "shuffle") in methods


@pytest.mark.parametrize(
    ("source", "adjoin"),
    [
        pytest.param("ds = src.batch(3).shuffle(9)", True, id="in one expression"),
        pytest.param("ds = src.batch(3)\nds = ds.shuffle(9).prefetch(1)", True, id="reassigned"),
        pytest.param(
            "def f():\n    ds = src.batch(3)\n    return ds.shuffle(9)", True, id="returned"
        ),
        pytest.param("ds = src.batch(3).map(f).shuffle(9)", False, id="a step between"),
        pytest.param("ds = src.batch(3)\nprint(1)\nds = ds.shuffle(9)", False, id="code between"),
        pytest.param("ds = src.batch(3)\nif a:\n    ds = ds.shuffle(9)", False, id="a branch"),
        pytest.param("ds = src.batch(3)\nother = ds.shuffle(9)", False, id="under another name"),
        pytest.param(
            "ds = src.batch(3)\nds = ds.shuffle(len(ds))", False, id="the first is asked for more"
        ),
        pytest.param(
            "class P:\n    def __init__(self):\n        self.ds = src.batch(3)\n"
            "        self.ds = self.ds.shuffle(9).prefetch(1)",
            True,
            id="an attribute given its next value",
        ),
        pytest.param(
            "class P:\n    def __init__(self):\n        self.ds = src.batch(3)\n"
            "        self.ds = self.ds.shuffle(len(self.ds))",
            False,
            id="an attribute that is read twice",
        ),
        pytest.param(
            "class P:\n    def __init__(self):\n        self.ds = src.batch(3)\n"
            "        self.mixed = self.ds.shuffle(9)",
            False,
            id="an attribute that keeps its value",
        ),
        pytest.param("ds = a = src.batch(3)\nds = ds.shuffle(9)", False, id="kept twice"),
    ],
)
def test_steps_adjoin_where_nothing_else_sees_what_is_between(
    look: Look, source: str, adjoin: bool
) -> None:
    file, _ = look(IMPORT + "src = tf.data.Dataset.range(9)\n" + source)
    (chain,) = (each for each in file.tf.datasets.chains if "shuffle" in each.methods)
    steps = {step.method: step for step in chain.steps}

    assert file.tf.neighbours.adjoining(steps["batch"], steps["shuffle"]) is adjoin


@pytest.mark.parametrize(
    ("later", "regrouped"),
    [
        ("ds.unbatch()", True),
        ("ds.map(f).batch(3)", True),
        ("ds.flat_map(f)", True),
        ("ds.map(f).prefetch(1)", False),
        ("tf.data.Dataset.range(9).batch(3)", False),
    ],
)
def test_what_is_batched_again_or_taken_apart_is_regrouped(
    look: Look, later: str, regrouped: bool
) -> None:
    file, seen = look(IMPORT + "ds = tf.data.Dataset.range(9).batch(9)\nsee(ds)\na = " + later)
    (chain,) = file.tf.datasets.of(seen[0])

    assert (chain.steps[-1].call in file.tf.further.regrouped) is regrouped


@pytest.mark.parametrize(
    ("use", "single"),
    [
        ("x = next(iter(ds))", True),
        ("x = ds.get_single_element()", True),
        ("x = tf.data.experimental.get_single_element(ds)", True),
        ("x = next(ds.as_numpy_iterator())", True),
        ("it = iter(ds)\nx = next(it)", True),
        ("for x in ds.take(1): pass", True),
        ("it = iter(ds)\nwhile True:\n    x = next(it)", False),
        ("for x in ds: pass", False),
        ("for x in ds.take(2): pass", False),
        ("x = next(iter([ds]))", False),
    ],
)
def test_a_single_element_is_taken(look: Look, use: str, single: bool) -> None:
    file, seen = look(IMPORT + "ds = tf.data.Dataset.range(9).batch(9)\n" + use + "\nsee(ds)")
    (chain,) = file.tf.datasets.of(seen[0])

    assert (chain.steps[-1].call in file.tf.further.singles) is single


@pytest.mark.parametrize(
    ("step", "in_memory"),
    [
        ("cache()", True),
        ("cache('')", True),
        ("cache(filename='')", True),
        ("cache('/tmp/train')", False),
        ("cache(filename=name)", False),
        ("cache(*names)", False),
        ("prefetch(1)", False),
    ],
)
def test_caches_are_in_memory_unless_they_have_a_file(step: str, in_memory: bool) -> None:
    file = File("code.py", f"import tensorflow as tf\ntf.data.Dataset.range(9).{step}\n")
    (chain,) = file.tf.datasets.chains

    assert chain.steps[0].caches_in_memory is in_memory


@pytest.mark.parametrize(
    ("steps", "last"),
    [
        ("cache()", "cache"),
        ("cache().batch(8).prefetch(1)", "cache"),
        ("cache().shuffle(9).batch(8)", "shuffle"),
        ("cache().repeat().shuffle(9).repeat()", "shuffle"),
        ("cache().shuffle(9).cache('file').batch(8)", "cache"),
        ("cache().batch(8).shuffle(9)", None),
        ("cache().map(f).shuffle(9)", None),
        ("cache().shuffle(9).map(f).cache('file')", None),
    ],
)
def test_what_holds_elements_of_a_cache_comes_right_behind_it(steps: str, last: str | None) -> None:
    source = f"import tensorflow as tf\ntf.data.Dataset.range(9).{steps}\n"
    (chain,) = File("code.py", source).tf.datasets.chains
    place = chain.sharing(0, frozenset({"repeat"}))

    assert (None if place is None else chain.methods[place]) == last


def test_a_helper_keeps_what_each_of_its_callers_gives_it(look: Look) -> None:
    file, _ = look(
        IMPORT
        + """
def prepared(ds, size):
    return ds.shuffle(9).batch(size)
train = prepared(tf.data.Dataset.range(9), 3)
test = prepared(tf.data.Dataset.list_files("*"), 1)
more = prepared(tf.data.Dataset.from_tensors(0), 1).prefetch(1)
"""
    )
    chains = file.tf.datasets.chains

    assert {(chain.source.kind, chain.methods) for chain in chains} == {
        (From.RANGE, ("shuffle", "batch")),
        (From.FILES, ("shuffle", "batch")),
        (From.TENSORS, ("shuffle", "batch", "prefetch")),
    }
