"""What is predicted of the rules' programs, beside what was measured."""

import json
from pathlib import Path
from typing import Any

import pytest

from tfmemlint import Metric, Rule, registry
from tfmemlint.predictions import (
    BEGIN,
    DOCUMENT,
    END,
    Compared,
    compare,
    explained,
    main,
    markdown,
    predict,
    recorded,
    renew,
)
from tfmemlint.verify.fingerprints import fingerprints, of_same_programs

RULES = registry.load()
PAGES = {code: why for code, rule in RULES.items() if (why := explained(rule))}
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


def test_what_is_recorded_is_what_the_code_says() -> None:
    for code in EXACT:
        said = [each.predicted.bytes for each in compare(registry.folder(RULES[code]), code)]
        kept = [each.predicted.bytes for each in recorded(registry.folder(RULES[code]), code)]
        assert kept == [round(each) for each in said]


def test_nine_in_ten_are_close_and_pages_explain_the_others() -> None:
    compared = [each for code, rule in RULES.items() for each in _recorded(code, rule)]
    far = {each.code for each in compared if not each.is_close}

    assert sum(each.is_close for each in compared) >= 0.9 * len(compared) >= 45
    assert far == set(PAGES)


def test_the_documentation_has_what_is_recorded() -> None:
    compared = [each for code, rule in RULES.items() for each in _recorded(code, rule)]

    assert f"{BEGIN}\n{markdown(compared, PAGES)}{END}" in DOCUMENT.read_text("utf-8")


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_what_is_recorded_was_measured_of_the_programs_as_they_are(rule: Rule) -> None:
    assert of_same_programs(registry.folder(rule))


BAD = "import tensorflow as tf\n\nkept = tf.ones([40, 1024, 256])\nprint(kept.shape)\n"


def test_what_the_code_says_is_renewed_as_long_as_the_programs_are_those_measured(
    tmp_path: Path,
) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    (tmp_path / "fixed.py").write_text(BAD.replace("40", "int(input())"))
    figures: dict[str, Any] = {
        "claim": {"metric": "device peak"},
        "metrics": {"device peak": {"bad": {"figure": 41 << 20}, "fixed": {"figure": 1 << 20}}},
        "programs": fingerprints(tmp_path),
    }
    figures["metrics"]["device peak"]["fixed"]["predicted"] = 7
    (tmp_path / "measured.json").write_text(json.dumps(figures))

    renew(tmp_path)

    [bad] = recorded(tmp_path, "TOY101")
    assert (bad.which, bad.predicted.bytes, bad.measured) == ("bad", 40 << 20, 41 << 20)
    (tmp_path / "bad.py").write_text(BAD.replace("40", "80"))
    before = (tmp_path / "measured.json").read_text()
    renew(tmp_path)
    assert (tmp_path / "measured.json").read_text() == before


def _recorded(code: str, rule: Rule) -> list[Compared]:
    return list(recorded(registry.folder(rule), code))
