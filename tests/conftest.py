"""What all tests stand on."""

import signal
from collections.abc import Iterable

import pytest


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
