"""What all tests stand on."""

import ast
import signal
from collections.abc import Callable, Iterable
from textwrap import dedent

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]


def pytest_configure() -> None:
    # A shell has what it starts in the background ignore SIGINT, and children inherit that; the
    # tests of interrupts start programs as a terminal would.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """What is weighed on a machine that others use is weighed once more before it counts as failed.

    pytest says so, in its last line, wherever that was needed.
    """
    for item in items:
        if item.get_closest_marker("tensorflow"):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture
def look() -> Look:
    """Points at code for the tests of facts: `see(x)` marks `x` as the expression asked about."""

    def read(source: str) -> tuple[File, list[ast.expr]]:
        file = File("example.py", dedent(source))
        calls = [
            call
            for call in file.tf.tree.all(ast.Call)
            if isinstance(call.func, ast.Name) and call.func.id == "see"
        ]
        return file, [call.args[0] for call in sorted(calls, key=lambda call: call.lineno)]

    return read
