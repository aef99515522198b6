"""What all tests stand on."""

import ast
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from textwrap import dedent
from typing import Any

import pytest

from tfmemlint import File
from tfmemlint.verify.benches import Bench

Look = Callable[[str], tuple[File, list[ast.expr]]]


def pytest_configure() -> None:
    # A shell has what it starts in the background ignore SIGINT, and children inherit that; the
    # tests of interrupts start programs as a terminal would.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What runs TensorFlow comes last, and once more before it counts as failed.

    What is weighed on a machine that others use, too, may be disturbed; pytest says in its last
    line wherever that was so.
    """
    for item in items:
        if item.get_closest_marker("tensorflow"):
            item.add_marker(pytest.mark.flaky(reruns=1))
    items.sort(key=lambda item: item.get_closest_marker("tensorflow") is not None)


_LEFT_OUT = pytest.StashKey[int]()


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count what is left out for being slow, unless somebody has chosen the tests himself."""
    for item in items:
        if item.config.getoption("markexpr") == "not slow" and item.get_closest_marker("slow"):
            item.config.stash[_LEFT_OUT] = item.config.stash.get(_LEFT_OUT, 0) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Hear from a process of pytest-xdist what it has left out; all leave out the same."""
    node.config.stash[_LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = session.config.stash.get(_LEFT_OUT, 0)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what was skipped or left out, and why."""
    skipped = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
        if isinstance(report.longrepr, tuple)
    )
    if skipped:
        why = "; ".join(f"{reason} ({number})" for reason, number in skipped.most_common())
        terminalreporter.write_line(f"{sum(skipped.values())} tests skipped: {why}.")
    number = config.stash.get(_LEFT_OUT, 0)
    if number:
        terminalreporter.write_line(
            f"{number} slow tests left out: to measure the claims of the other rules, and to build"
            " for VS Code, takes long. `python -m pytest -m slow` does."
        )


@pytest.fixture(scope="session")
def bench() -> Iterator[Bench]:
    """Where programs are run that any process will do for: most of them are forks of one.

    What is forked is what TensorFlow's allocator weighs; importing TensorFlow takes far longer.
    """
    with Bench("cpu") as bench:
        yield bench


@pytest.fixture(scope="session")
def own_bench() -> Iterator[Bench]:
    """The same for programs of a user's, with all that is around them."""
    with Bench("auto") as bench:
        yield bench


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
