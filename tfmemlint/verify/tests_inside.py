"""In the process of a marked test: the meters round its body, and what came of it."""

from __future__ import annotations

import json
import linecache
import os
import sys
from collections.abc import Callable, Generator, Mapping
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest

from tfmemlint.pytest_plugin import MARK
from tfmemlint.verify.devices import Device, choose_device, prewarm, warm_up
from tfmemlint.verify.limits import Limits, excess, limits
from tfmemlint.verify.meters import METERS, MeasuringError, Meter
from tfmemlint.vocabulary import Metric

TRACED = "TFMEMLINT_TEST_TRACED"
"""Set where the line of the peak is to be found, which makes the test slower."""


class Place(NamedTuple):
    """A line of somebody's."""

    file: str
    line: int


class Inside:
    """Weighs the one test that this process is for."""

    def __init__(self, folder: str, config: pytest.Config) -> None:
        self._reports = Path(folder, "reports")
        self._exceeded = Path(folder, "exceeded")
        self._config = config
        self._tf: Any = None
        self._device = Device("", "", "")
        self._filler: Any = None
        self._meters: Mapping[Metric, Meter] = {}
        self._steps = 0

    def step(self) -> None:
        """Take the readings that are taken after every step."""
        self._steps += 1
        for meter in self._meters.values():
            if meter.step:
                meter.step()

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Before the fixtures: they may use TensorFlow already."""
        metrics = _limits(item).bytes
        try:
            self._tf = import_module("tensorflow")
        except ImportError as error:
            pytest.fail(f"{MARK}: TensorFlow cannot be imported: {error}", pytrace=False)
        self._device = choose_device(self._tf, "auto")
        if any(metric.value.startswith("device") for metric in metrics):
            self._filler = prewarm(self._tf, self._device)
        warm_up(self._tf, set())

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """Round the body, the fixtures left out."""
        wanted = _limits(item)
        try:
            self._meters = {
                metric: METERS[metric.value](self._tf, self._device) for metric in wanted.bytes
            }
        except MeasuringError as reason:
            pytest.fail(f"{MARK}: {reason}", pytrace=False)
        peak = self._meters.get(Metric.DEVICE_PEAK)
        stop = _watch(peak, item.config.rootpath) if peak and TRACED in os.environ else _nowhere
        yield
        if wanted.stepwise and not self._steps:
            self.step()
            for _ in range(wanted.steps - 1):
                item.runtest()
                self.step()
        self._judge(wanted, stop())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Hand the report over to the process that waits for it."""
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        with self._reports.open("a", encoding="utf-8") as file:
            file.write(json.dumps(data) + "\n")

    def _judge(self, wanted: Limits, places: list[Place]) -> None:
        try:
            figures = {metric: meter.stop() for metric, meter in self._meters.items()}
        except MeasuringError as reason:
            pytest.fail(f"{MARK}: {reason}", pytrace=False)
        found = [excess(metric, wanted.bytes[metric], figures[metric]) for metric in figures]
        if not any(found):
            return
        self._exceeded.touch()
        lines = [f"{MARK}: {each}" for each in found if each]
        for file, line in places:
            shown = Path(os.path.relpath(file, self._config.rootpath)).as_posix()
            code = linecache.getline(file, line).strip()
            lines.append(f"the device peak stood at {shown}:{line}: {code}")
        pytest.fail("\n".join(lines), pytrace=False)


def _limits(item: pytest.Item) -> Limits:
    mark = item.get_closest_marker(MARK)
    try:
        return limits(mark.args, mark.kwargs) if mark else limits((), {})
    except ValueError as error:
        pytest.fail(f"{MARK}: {error}", pytrace=False)


def _nowhere() -> list[Place]:
    return []


def _watch(peak: Meter, root: Path) -> Callable[[], list[Place]]:
    """Begin to look at the peak after every line below the root; what is returned ends it.

    Only lines of the user's own are told: what a library does is done by the line that calls it.
    """
    before = sys.gettrace()
    highest, place = peak.stop(), Place("", 0)
    culprits: list[Place] = []
    own: dict[str, bool] = {}

    def look() -> None:
        nonlocal highest
        now = peak.stop()
        if now > highest:
            highest = now
            culprits[:] = [place] if place.file else []

    def is_own(file: str) -> bool:
        if file not in own:
            path = Path(file)
            own[file] = path.is_relative_to(root) and "site-packages" not in path.parts
        return own[file]

    def local(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal place
        look()
        caller = frame.f_back
        if event == "line":
            place = Place(frame.f_code.co_filename, frame.f_lineno)
        elif event == "return" and caller and is_own(caller.f_code.co_filename):
            place = Place(caller.f_code.co_filename, caller.f_lineno)
        return local

    def on_call(frame: FrameType, event: str, arg: object) -> Any:
        return local if is_own(frame.f_code.co_filename) else None

    def stop() -> list[Place]:
        sys.settrace(before)
        look()
        return culprits

    sys.settrace(on_call)
    return stop
