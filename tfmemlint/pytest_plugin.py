"""pytest plugin: `@pytest.mark.tf_memory(device_peak="100 MB")` limits what a test may hold.

A marked test runs in a process of its own, where nothing else has used TensorFlow's memory. For
tests without the mark nothing is imported and nothing changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tfmemlint.verify.tests_inside import Inside

MARK = "tf_memory"
FOLDER = "TFMEMLINT_TEST_FOLDER"
"""Set for a process that runs one test: where to leave what came of it."""

_HELP = (
    f"{MARK}(device_peak, host_peak, growth_per_step, host_growth_per_step, steps, seconds): "
    'fail the test if it holds more than, say, "100 MB" of the device, or if "0 B" a step is '
    "exceeded. It runs in a process of its own. A step is one run of the test, which is repeated "
    "(30 times, or `steps`), or one call of the fixture `tf_memory_step`. The process is ended "
    "after 300 `seconds`."
)
_INSIDE: pytest.StashKey[Inside] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", _HELP)
    folder = os.environ.pop(FOLDER, None)
    if folder is not None:
        from tfmemlint.verify.tests_inside import Inside  # noqa: PLC0415

        config.stash[_INSIDE] = Inside(folder, config)
        config.pluginmanager.register(config.stash[_INSIDE])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Have a marked test run elsewhere, and report what came of it as if it had run here."""
    if _INSIDE in item.config.stash or item.get_closest_marker(MARK) is None:
        return None
    from tfmemlint.verify.tests_apart import run_apart  # noqa: PLC0415

    run_apart(item, nextitem)
    return True


@pytest.fixture
def tf_memory_step(request: pytest.FixtureRequest) -> Callable[[], None]:
    """To be called after each step of a test whose growth per step is limited."""
    inside = request.config.stash.get(_INSIDE, None)
    return (lambda: None) if inside is None else inside.step
