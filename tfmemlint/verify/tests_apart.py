"""Runs a marked test in a process of its own, and reports what came of it as if it had run here."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tfmemlint.pytest_plugin import FOLDER, MARK
from tfmemlint.verify.benches import Server, of_server
from tfmemlint.verify.devices import SetupError
from tfmemlint.verify.limits import Limits, limits
from tfmemlint.verify.processes import (
    OF_HOST,
    Ended,
    Launch,
    environment_of_own,
    run_to_its_end,
)
from tfmemlint.verify.tests_inside import TRACED
from tfmemlint.vocabulary import Metric

_HEAVY = ("keras",)
"""What takes long to import; where the tests have it, they would all import it anew."""


class _Known(NamedTuple):
    environment: Mapping[str, str]
    server: Server | None


_SERVERS: pytest.StashKey[_Known] = pytest.StashKey()


def run_apart(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Do for this test what pytest does for every test."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports(item):
        item.ihook.pytest_runtest_logreport(report=report)
    # What earlier tests left open for this one, as the last of its module, is no longer needed.
    item.session._setupstate.teardown_exact(nextitem)  # pyright: ignore[reportPrivateUsage]
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _reports(item: pytest.Item) -> Sequence[pytest.TestReport]:
    mark = item.get_closest_marker(MARK)
    try:
        wanted = limits(mark.args, mark.kwargs) if mark else limits((), {})
    except ValueError as error:
        return [_failed(item, f"{MARK}: {error}")]
    reports, exceeded = _run(item, wanted, traced=False)
    if not exceeded or Metric.DEVICE_PEAK not in wanted.bytes:
        return reports
    located, exceeded = _run(item, wanted, traced=True)
    return located if exceeded else reports


def _run(
    item: pytest.Item, wanted: Limits, *, traced: bool
) -> tuple[Sequence[pytest.TestReport], bool]:
    """The reports of a run of the test, and whether a limit was exceeded in it."""
    config = item.config
    with tempfile.TemporaryDirectory(prefix="tfmemlint-", ignore_cleanup_errors=True) as folder:
        environment = environment_of_own("auto", wanted.bytes)
        arguments = [*_options(config), _place(item)]
        at = config.invocation_params.dir
        of_host = not set(OF_HOST).isdisjoint(wanted.bytes)
        own = {**environment, FOLDER: folder, **({TRACED: "1"} if traced else {})}
        ended = None
        server = _server(config, of_server(environment))
        if server and (server.weighs_host or not of_host):
            launch = Launch({"pytest": arguments}, own, at, wanted.seconds, of_host)
            ended = server.run(launch)
        if ended is None:
            command = [sys.executable, "-m", "pytest", *arguments]
            ended = run_to_its_end(command, wanted.seconds, own, at)
        reports = list(_read(config, Path(folder, "reports")))
        exceeded = Path(folder, "exceeded").exists()
    if any(report.when == "teardown" for report in reports):
        return reports, exceeded
    return [*reports, _failed(item, _death(ended, wanted.seconds))], False


def _server(config: pytest.Config, environment: Mapping[str, str]) -> Server | None:
    """What runs tests in forks of a process that has imported TensorFlow, and run nothing.

    There is one as long as tests have the same environment; None where forks are not as good as
    processes of their own.
    """
    if sys.platform != "linux" or not hasattr(socket, "recv_fds"):
        return None
    known = config.stash.get(_SERVERS, None)
    if known is None or known.environment != environment:
        if known is None:
            config.add_cleanup(lambda: _end(config))
        else:
            _end(config)
        known = config.stash[_SERVERS] = _Known(environment, _started(config, environment))
    return known.server


def _started(config: pytest.Config, environment: Mapping[str, str]) -> Server | None:
    modules = ["pytest", *(name for name in _HEAVY if name in sys.modules)]
    try:
        server = Server(environment, (), config.invocation_params.dir, modules)
    except SetupError:  # TensorFlow is not installed: the test's own process will say so
        return None
    with contextlib.suppress(SetupError):
        if server.is_ready():
            return server
    server.close()
    return None


def _end(config: pytest.Config) -> None:
    server = config.stash[_SERVERS].server
    if server is not None:
        server.close()


def _options(config: pytest.Config) -> Iterator[str]:
    """What makes another pytest find and import the same test in the same way, and no more."""
    if config.inipath is not None:
        yield from ("-c", str(config.inipath))
    yield f"--import-mode={config.getoption('importmode')}"
    for option, name in (("-p", "plugins"), ("-o", "override_ini"), ("-W", "pythonwarnings")):
        for value in config.getoption(name) or ():
            yield from (option, value)
    yield from ("-p", "no:cacheprovider", "--rootdir", str(config.rootpath), "-o", "addopts=")


def _place(item: pytest.Item) -> str:
    _, colons, within = item.nodeid.partition("::")
    return f"{item.path}{colons}{within}"


def _read(config: pytest.Config, path: Path) -> Iterator[pytest.TestReport]:
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        data = json.loads(line)
        if isinstance(data["longrepr"], list):  # why and where a test was skipped
            data["longrepr"] = tuple(data["longrepr"])
        report = config.hook.pytest_report_from_serializable(config=config, data=data)
        if isinstance(report, pytest.TestReport):
            yield report


def _death(ended: Ended, seconds: float) -> str:
    if ended.status is None:
        how = f"was still running after {seconds:g} s"
    elif ended.status < 0:
        how = f"was killed by {signal.Signals(-ended.status).name}"
    else:
        how = f"ended with status {ended.status}"
    said = f"{ended.output.text}\n{ended.stderr}".strip()
    return f"{MARK}: the process of the test {how}\n{said}"


def _failed(item: pytest.Item, why: str) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords=dict.fromkeys(item.keywords, 1),
        outcome="failed",
        longrepr=why,
        when="call",
    )
