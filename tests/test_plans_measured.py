"""What `plan` says of twelve programs, beside what they were measured to hold."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from tfmemlint.plan import Plan, plan
from tfmemlint.units import size

FOLDER = Path(__file__).parent / "plans"
DOCUMENT = Path(__file__).parents[1] / "docs" / "sizes.md"
RECORDED: dict[str, int] = json.loads((FOLDER / "recorded.json").read_text("utf-8"))
NEAR = 0.25
UNTOLD = {"frozen_base"}
"""Of these something is of unknown size, and said to be."""


@pytest.fixture(scope="module")
def plans() -> dict[str, Plan]:
    return {name: plan(FOLDER / "programs" / f"{name}.py", {}) for name in RECORDED}


@pytest.fixture
def ratios(plans: dict[str, Plan]) -> dict[str, float]:
    return {name: plans[name].on_device / seen for name, seen in RECORDED.items()}


def test_ten_of_twelve_are_near(ratios: dict[str, float]) -> None:
    near = [name for name, ratio in ratios.items() if abs(ratio - 1) <= NEAR]

    assert len(RECORDED) == 12
    assert len(near) >= 10


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_what_is_of_unknown_size_is_said(name: str, plans: dict[str, Plan]) -> None:
    assert bool(plans[name].unknown) == (name in UNTOLD)


def test_the_documentation_has_them(ratios: dict[str, float]) -> None:
    text = DOCUMENT.read_text("utf-8")

    for name, seen in RECORDED.items():
        said = size(round(seen * ratios[name]))
        assert f"| `{name}` | {said} | {size(seen)} | {ratios[name]:.2f} |" in text


@pytest.mark.tensorflow
@pytest.mark.slow
def test_a_program_is_measured_as_it_was() -> None:
    seen = _record().measured(FOLDER / "programs" / "whole_prediction.py")

    assert seen == pytest.approx(RECORDED["whole_prediction"], rel=0.05)


def test_all_programs_were_measured() -> None:
    assert {each.stem for each in _record().programs()} == set(RECORDED)


def _record() -> ModuleType:
    spec = importlib.util.spec_from_file_location("record", FOLDER / "record.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
