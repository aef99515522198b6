"""What all tests stand on."""

import ast
import compileall
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tfmemlint import File
from tfmemlint.verify.benches import Bench

Look = Callable[[str], tuple[File, list[ast.expr]]]


ROOT = Path(__file__).parent.parent


def pytest_configure(config: pytest.Config) -> None:
    # A shell has what it starts in the background ignore SIGINT, and children inherit that; the
    # tests of interrupts start programs as a terminal would.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.dont_write_bytecode and not hasattr(config, "workerinput"):
        _compile()


def _compile() -> None:
    """Do once what all processes that tests start would each do again, half of what they take.

    Where nothing may be written they still do.
    """
    for folder in (ROOT / "tfmemlint", ROOT / "rules"):
        compileall.compile_dir(folder, quiet=2)


_LONGEST = (
    "test_programs.py",
    "measure/test_fixtures.py",
    "verify/test_benches.py",
    "test_pytest_plugin.py",
    "measure/test_programs.py",
    "verify/test_processes.py",
    "verify/test_devices.py",
    "safety/test_safe_fixes.py",
    "verify/test_meters.py",
    "verify/test_trials.py",
    "verify/test_exhaustion.py",
    "verify/test_own.py",
    "verify/test_command.py",
    "test_packs.py",
    "verify/test_claims.py",
)
"""Of the files that run TensorFlow, those that take longest, and longest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that run TensorFlow come last, and their tests once more before they count as failed.

    What is weighed on a machine that others use, too, may be disturbed; pytest says in its last
    line wherever that was so. Of these files the longest comes first, so that at the end no process
    works through one alone while the others have nothing left to do.
    """
    last: set[Path] = set()
    for item in items:
        if item.get_closest_marker("tensorflow"):
            item.add_marker(pytest.mark.flaky(reruns=1))
            last.add(item.path)
    places = {ROOT / "tests" / name: place for place, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: (item.path in last, places.get(item.path, len(_LONGEST))))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give whole files to processes, in this order: what tests of a file share is made once."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]  # noqa: PLC0415

    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)


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
            f"{number} slow tests left out: to run, measure and fork all programs, to check them at"
            " once, and to build for VS Code, takes long. `python -m pytest -m slow` does."
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
