"""TFM303: what as many rounds as are known are worth."""

import json
from pathlib import Path

import pytest

from tfmemlint.cli import main

PREDICTS = """\
import keras
import numpy as np

model = keras.saving.load_model("tides.keras")
window = np.load("tides.npy")[:24][np.newaxis]


def ahead(rounds):
    global window
    for _ in range(rounds):
        level = model.predict(window)
        window = np.append(window[:, 1:], level[:, np.newaxis], axis=1)
{}

"""
IN_BOTH = "for _ in range({}):\n    ahead(40)\nahead(12)"
TRAINS = "        model.train_on_batch(window, level)\n"


def summary(path: Path, code: str, capsys: pytest.CaptureFixture[str], *more: str) -> object:
    path.write_text(code)
    main(
        ["check", "--isolated", "--select=TFM303", "--output-format=json-report", *more, str(path)]
    )
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("rest", "found"),
    [
        ("ahead(255)", 0),
        ("ahead(256)", 1),
        (IN_BOTH.format(5), 0),
        (IN_BOTH.format(6), 1),
        ("ahead(len(window))", 1),
        (TRAINS + "ahead(100)", 1),
        ("def again(): ahead(100)", 1),
        ("def again(): ahead(100)\nagain()", 0),
    ],
)
def test_seconds_of_a_whole_program_are_hidden(
    rest: str, found: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = summary(tmp_path / "tides.py", PREDICTS.format(rest), capsys)

    assert isinstance(said, dict)
    assert (said["summary"]["findings"], said["summary"]["hidden_as_small"]) == (found, 1 - found)
