"""What is predicted of the rules' programs, beside what was measured."""

import json
from pathlib import Path

import pytest

from tfmemlint import Metric, registry
from tfmemlint.predictions import DOCUMENT, compare, main, markdown, predict

RULES = registry.load()
EXACT = ("TFM202", "TFM203", "TFM207", "TFM212", "TFM214", "TFM222")


@pytest.mark.parametrize("code", EXACT)
def test_programs_whose_sizes_are_literal_hold_what_is_predicted(code: str) -> None:
    found = list(compare(registry.folder(RULES[code]), code))

    assert [each.which for each in found] == ["bad", "fixed"]
    for each in found:
        assert each.is_told
        assert each.is_close, f"{each.which}: {each.ratio:.2f}"


def test_growth_is_predicted_by_the_step() -> None:
    [bad, fixed] = compare(registry.folder(RULES["TFM205"]), "TFM205")

    assert (bad.metric, bad.predicted.bytes) == (Metric.DEVICE_GROWTH, 6 << 20)
    assert (fixed.predicted.bytes, fixed.ratio) == (0, 1)


def test_times_are_not_predicted() -> None:
    assert predict("import tensorflow as tf\n", Metric.STEP_TIME) is None


def test_a_rule_that_was_not_measured_has_nothing_to_compare(tmp_path: Path) -> None:
    assert list(compare(tmp_path, "TFM999")) == []
    (tmp_path / "measured.json").write_text(json.dumps({"claim": {"metric": "taste"}}))
    assert list(compare(tmp_path, "TFM999")) == []


def test_the_command_prints_a_row_for_each_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["TFM202"]) == 0

    head, bad, fixed, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["rule", "metric", "predicted", "measured", "ratio"]
    assert bad.split()[:2] == ["TFM202", "bad"]
    assert fixed.endswith("1.00")
    assert last.startswith("2 of 2 programs whose sizes are all known are predicted within 15%")


def test_the_documentation_has_the_rows_of_programs_that_are_predicted() -> None:
    compared = [each for code in EXACT for each in compare(registry.folder(RULES[code]), code)]
    rows = [line for line in markdown(compared).splitlines() if line.startswith("| TFM")]

    assert len(rows) == 2 * len(EXACT)
    assert set(rows) <= set(DOCUMENT.read_text("utf-8").splitlines())
