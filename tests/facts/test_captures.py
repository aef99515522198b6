"""NumPy arrays that traced code reads from around it."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File

TABLE = "import numpy as np\nimport tensorflow as tf\ntable = np.ones((8, 4))\n"


def read(source: str) -> File:
    return File("example.py", TABLE + dedent(source))


@pytest.mark.parametrize(
    ("expression", "op"),
    [
        ("tf.gather(table, x)", "tf.gather(table, x)"),
        ("tf.matmul(x, b=table)", "tf.matmul(x, b=table)"),
        ("tf.cast(x, tf.float64) + table", "tf.cast(x, tf.float64) + table"),
        ("table.shape", None),
        ("np.mean(table)", None),
        ("table[0]", None),
    ],
)
def test_what_takes_an_array_makes_a_constant_of_it(expression: str, op: str | None) -> None:
    file = read(f"@tf.function\ndef f(x):\n    return {expression}\n")

    (found,) = file.tf.captures.all
    taken = file.tf.captures.op(found.use)

    assert found.value.nbytes == 8 * 4 * 8
    assert (None if taken is None else ast.unparse(taken)) == op


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return tf.gather(table, x)",
        "@tf.function\ndef f(x, table):\n    return tf.gather(table, x)\nf(1, table)",
        "@tf.function\ndef f(x):\n    table = np.ones(4)\n    return tf.gather(table, x)",
        "table = tf.constant(table)\n@tf.function\ndef f(x):\n    return tf.gather(table, x)",
        "def g(x):\n    return table[x]\n"
        "@tf.function\ndef f(x):\n    return tf.py_function(g, [x], 'float64')",
    ],
)
def test_arguments_tensors_and_python_code_hold_no_copies(source: str) -> None:
    assert read(source).tf.captures.all == ()


@pytest.mark.parametrize(
    ("above", "graphs", "late"),
    [
        ("with tf.Graph().as_default():\n    pass", True, False),
        ("tf.compat.v1.disable_eager_execution()", True, False),
        ("tf.config.threading.set_inter_op_parallelism_threads(2)", False, True),
        ("tf.config.experimental.set_memory_growth(gpu, True)", False, True),
        ("tf.config.set_visible_devices([], 'GPU')", False, True),
        ("from multiprocessing import Pool", False, True),
        ("strategy = tf.distribute.MultiWorkerMirroredStrategy()", False, True),
        ("tf.debugging.set_log_device_placement(True)", False, True),
        ("resolver = tf.distribute.cluster_resolver.TPUClusterResolver()", False, True),
        ("print(tf.config.list_physical_devices('GPU'))", False, False),
        ("print(tf.config.experimental.get_memory_info('CPU:0'))", False, False),
        ("strategy = tf.distribute.MirroredStrategy()", False, False),
        ("from multiple import processing", False, False),
    ],
)
def test_a_file_says_when_tensors_come_too_early(above: str, graphs: bool, late: bool) -> None:
    captures = read(above).tf.captures

    assert (captures.makes_graphs, captures.wants_tensors_late) == (graphs, late)
