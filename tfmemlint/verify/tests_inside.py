"""In the process of a marked test: the meters round its body, and what came of it."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Generator, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.pytest_plugin import MARK
from tfmemlint.verify.devices import Device, choose_device, device_in_use, prewarm, warm_up
from tfmemlint.verify.limits import Limits, excess, limits
from tfmemlint.verify.meters import METERS, MeasuringError, Meter
from tfmemlint.verify.tests_lines import watch
from tfmemlint.vocabulary import Metric

TRACED = "TFMEMLINT_TEST_TRACED"
"""Set where the line of the peak is to be found, which makes the test slower."""


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
        try:
            self._device = choose_device(self._tf, "auto")
        except RuntimeError:  # what was imported has used TensorFlow already
            self._device = device_in_use(self._tf)
        if any(metric.value.startswith("device") for metric in metrics):
            self._filler = prewarm(self._tf, self._device)
        warm_up(self._tf, set())
        gc.collect()  # there is more than TensorFlow here

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
        traced = TRACED in os.environ
        lines = watch(self._tf, self._device.address, item.config.rootpath) if traced else _nowhere
        yield
        if wanted.stepwise and not self._steps:
            self.step()
            for _ in range(wanted.steps - 1):
                item.runtest()
                self.step()
        found = lines()
        self._judge(wanted, found)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Hand the report over to the process that waits for it."""
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        with self._reports.open("a", encoding="utf-8") as file:
            file.write(json.dumps(data) + "\n")

    def _judge(self, wanted: Limits, lines: Iterable[str]) -> None:
        try:
            figures = {metric: meter.stop() for metric, meter in self._meters.items()}
        except MeasuringError as reason:
            pytest.fail(f"{MARK}: {reason}", pytrace=False)
        found = [excess(metric, wanted.bytes[metric], figures[metric]) for metric in figures]
        if not any(found):
            return
        self._exceeded.touch()
        excesses = [f"{MARK}: {each}" for each in found if each]
        pytest.fail("\n".join([*excesses, *lines]), pytrace=False)


def _limits(item: pytest.Item) -> Limits:
    mark = item.get_closest_marker(MARK)
    try:
        return limits(mark.args, mark.kwargs) if mark else limits((), {})
    except ValueError as error:
        pytest.fail(f"{MARK}: {error}", pytrace=False)


def _nowhere() -> list[str]:
    return []
