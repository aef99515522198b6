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
"""
    assert applicability(code, source) is expected
