"""Multiples of the number of processors."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.processors import Processors

Look = Callable[[str], tuple[File, list[ast.expr]]]

IMPORTS = "import os\nimport multiprocessing as mp\nfrom multiprocessing import cpu_count\n"


@pytest.mark.parametrize(
    ("code", "times"),
    [
        ("see(os.cpu_count())", 1),
        ("see(2 * mp.cpu_count())", 2),
        ("see(cpu_count() * 4)", 4),
        ("see(int(os.cpu_count() * 1.5))", 1.5),
        ("see(os.cpu_count() or 1)", 1),
        ("see((os.cpu_count() or 1) * 8)", 8),
        ("see(len(os.sched_getaffinity(0)) * 2)", 2),
        ("cores = cpu_count()\nthreads = 3 * cores\nsee(threads)", 3),
        ("def f(calls):\n    see(calls)\nf(2 * os.cpu_count())", 2),
        (
            "class T:\n    def __init__(self):\n        self.n = 2 * cpu_count()\n"
            "    def run(self):\n        see(self.n)",
            2,
        ),
    ],
)
def test_multiples_of_the_number_of_processors_are_seen(
    look: Look, code: str, times: float
) -> None:
    file, (expression,) = look(IMPORTS + code)

    assert file.tf.of(Processors).times(expression) == times


@pytest.mark.parametrize(
    "code",
    [
        "see(64)",
        "see(count())",
        "see(os.cpu_count() + 2)",
        "see(os.cpu_count() // 2)",
        "see(cpu_count() * workers)",
        "see(len(files) * 2)",
        "see(max(1, os.cpu_count()))",
        "def cpu_count():\n    return 1\nsee(cpu_count() * 4)",
        "threads = os.cpu_count()\nif small:\n    threads = 2\nsee(threads)",
    ],
)
def test_other_numbers_are_none(look: Look, code: str) -> None:
    file, (expression,) = look(IMPORTS + code)

    assert file.tf.of(Processors).times(expression) is None
