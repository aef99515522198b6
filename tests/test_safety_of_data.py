"""Which fixes are safe, where that hangs on what happens to the data."""

from __future__ import annotations

import pytest

from tfmemlint import Applicability, File, registry

RULES = registry.load()
SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE

START = """\
import numpy as np
import tensorflow as tf
"""


def applicability(code: str, source: str) -> Applicability | None:
    (found,) = RULES[code].check(File("code.py", START + source))
    return found.fix.applicability if found.fix else None


@pytest.mark.parametrize(
    ("also", "expected"),
    [
        ("table.max()", SAFE),
        ("tf.config.list_physical_devices()", SAFE),
        ("tf.config.threading.set_intra_op_parallelism_threads(2)", UNSAFE),
        ("from multiprocessing import Pool", UNSAFE),
        ("graph = tf.Graph()", None),
        ("np.fill_diagonal(table, 1.0)", None),
    ],
)
@pytest.mark.parametrize(
    ("code", "read"),
    [
        ("TFM105", "return tf.gather(table, i)"),
        ("TFM106", "return tf.data.Dataset.from_tensor_slices(table).reduce(i, tf.add)"),
    ],
)
def test_a_tensor_is_made_outside_if_that_is_not_too_early(
    code: str, read: str, also: str, expected: Applicability | None
) -> None:
    source = f"""
table = np.ones((1000, 1000), np.float32)
{also}

@tf.function
def f(i):
    {read}

f(tf.constant(1))
"""
    assert applicability(code, source) is expected


@pytest.mark.parametrize(
    ("code", "source"),
    [
        ("TFM201", "{files}.map(decode).shuffle(1000){after}"),
        ("TFM205", "{files}.map(decode).repeat(3).cache(){after}"),
        ("TFM206", "{files}.map(decode).cache().take(3){after}"),
    ],
)
@pytest.mark.parametrize(("after", "expected"), [("", SAFE), (".ignore_errors()", UNSAFE)])
def test_elements_that_fail_are_counted_elsewhere_when_steps_change_places(
    code: str, source: str, after: str, expected: Applicability
) -> None:
    files = "tf.data.Dataset.range(5000)"
    before = "def decode(i):\n    return tf.fill([640, 64, 3], tf.cast(i, tf.float32))\nds = "

    assert applicability(code, before + source.format(files=files, after=after)) is expected


@pytest.mark.parametrize(
    ("code", "steps"),
    [
        ("TFM207", "batch(4).prefetch(64_000)"),
        ("TFM208", "map(decoded).prefetch(640).batch(4)"),
        ("TFM210", "map(decoded, num_parallel_calls=64).batch(4)"),
    ],
)
@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ("tf.data.Dataset.from_tensor_slices(pictures)", SAFE),
        ("tf.data.TFRecordDataset(['a'])", UNSAFE),
        ("tf.data.Dataset.from_tensor_slices(pictures).map(tf.image.random_flip_up_down)", UNSAFE),
        (
            "tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([], tf.string))",
            UNSAFE,
        ),
        ("tf.data.TFRecordDataset(['a']).concatenate(others)", UNSAFE),
    ],
)
def test_less_is_made_ahead_safely_where_nothing_that_changes_is_looked_at(
    code: str, dataset: str, steps: str, expected: Applicability
) -> None:
    source = f"""
def decoded(record):
    return tf.image.resize(tf.io.decode_jpeg(record, channels=3), (224, 224))

ds = {dataset}.{steps}
"""
    assert applicability(code, source) is expected


LATE = """\
def decode(i):
    return tf.fill([640, 64, 3], tf.cast(i, tf.float32))
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("ds = {late}\nprint(tf.data.experimental.cardinality(ds))", SAFE),
        ("ds = {late}\nprint(show(ds))", UNSAFE),
        ("size = len(open('sizes').read())\nds = {sized}", SAFE),
        ("def make():\n    return {late}, 3\nds, n = make()\nfor x in ds: print(x)", SAFE),
        ("def make():\n    return {late}, 3\nboth = make()\nprint(both)", UNSAFE),
        ("def make():\n    return {late}, 3\nds, *n = make()", UNSAFE),
        ("def make():\n    return {late}, 3\nds, n = make()\nprint(ds)", UNSAFE),
    ],
)
def test_a_pipeline_that_is_only_read_is_changed_safely(
    source: str, expected: Applicability
) -> None:
    late = "tf.data.Dataset.range(5000).map(decode).shuffle({})"
    source = source.format(late=late.format("1000"), sized=late.format("size"))

    assert applicability("TFM201", LATE + source) is expected


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        ("'mnist', split='train', as_supervised=True", SAFE),
        ("'mnist', split='train', shuffle_files=True", UNSAFE),
        ("'mnist', split='train', read_config=config", UNSAFE),
    ],
)
def test_less_of_a_known_data_set_is_made_ahead_safely(load: str, expected: Applicability) -> None:
    source = f"import tensorflow_datasets as tfds\nds = tfds.load({load}).batch(64).prefetch(500)"

    assert applicability("TFM207", source) is expected
