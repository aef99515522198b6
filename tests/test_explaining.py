"""`check --explain PATH:LINE[:RULE]`: what the rules asked about a line, and what they heard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.cli import main

Capture = pytest.CaptureFixture[str]

PREDICTS = """\
import {0}
import numpy as np
import tensorflow as tf

model = {1}("detector")
for row in np.load("rows.npy"):
    model.predict(row[None])
"""
SHUFFLES = """\
import tensorflow as tf

numbers = tf.data.Dataset.range(100_000)
ds = numbers.map(lambda i: tf.zeros([10]) + 1).batch(4).shuffle(100)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: Capture, place: str, *options: str) -> list[str]:
    assert main(["check", f"--explain={place}", *options]) == 0
    return capsys.readouterr().out.splitlines()


def refused(capsys: Capture, *arguments: str) -> str:
    assert main(["check", *arguments]) == 2
    return capsys.readouterr().err


def test_a_silent_rule_names_the_question_and_what_nobody_knows(
    here: Path, capsys: Capture
) -> None:
    (here / "serve.py").write_text(PREDICTS.format("mlflow", "mlflow.keras.load_model"))
    lines = told(capsys, "serve.py:7")
    assert lines[0] == "serve.py:7: model.predict(row[None])"
    place = lines.index("TFM303 predict-in-loop is silent")
    asked, origin = lines[place + 1 : place + 3]
    assert asked.startswith("    Whether an expression is surely a Keras model")
    assert asked.endswith(": `model`: no")
    assert origin == "    `model` is `mlflow.keras.load_model('detector')` (line 5)"
    assert lines[-1].endswith(" other rules had nothing to ask about this line.")


def test_a_rule_that_is_silent_in_a_whole_file_says_why(here: Path, capsys: Capture) -> None:
    (here / "serve.py").write_text(PREDICTS.format("keras", "keras.models.load_model"))
    assert "asked about the file" not in "".join(told(capsys, "serve.py:7:TFM303"))
    (here / "requirements.txt").write_text("tensorflow==1.15\n")
    lines = told(capsys, "serve.py:7:TFM303")
    assert lines[1] == "TFM303 predict-in-loop is silent: it asked about the file alone"
    assert lines[2].startswith("    Whether Keras runs sessions for this file")
    assert lines[2].endswith(": yes")
    assert len(lines) == 3


def test_all_questions_of_one_rule_are_told_in_order(here: Path, capsys: Capture) -> None:
    (here / "serve.py").write_text(PREDICTS.format("mlflow", "mlflow.keras.load_model"))
    by_code = told(capsys, "serve.py:7:TFM303")
    assert by_code == told(capsys, "serve.py:7:5: predict-in-loop")
    assert by_code[1] == "TFM303 predict-in-loop is silent"
    assert len(by_code) > 5
    assert ": `row[None]`: no" in "".join(by_code[2:-2])
    assert by_code[-2:] == told(capsys, "serve.py:7")[by_code.index(by_code[1]) :][1:3]
    lines = told(capsys, "serve.py:1:TFM303")
    assert lines[1:] == ["TFM303 had nothing to ask about this line."]


def test_what_is_reported_is_told_as_it_is(here: Path, capsys: Capture) -> None:
    (here / "serve.py").write_text(PREDICTS.format("keras", "keras.models.load_model"))
    lines = told(capsys, "serve.py:7")
    assert lines[1].startswith("TFM303 predict-in-loop: ")
    assert not any("TFM303" in line for line in lines[2:])


@pytest.mark.parametrize(
    ("comment", "options", "why"),
    [
        ("", [], " is hidden, since that is known to be small (`--min-bytes 0` shows it)"),
        ("", ["--min-bytes=0"], ""),
        ("", ["--min-bytes=0", "--ignore=TFM202"], " is not selected here"),
        ("  # noqa: TFM202", ["--min-bytes=0"], " is ignored by a comment"),
        ("  # noqa: TFM202", ["--min-bytes=0", "--ignore-noqa"], ""),
    ],
)
def test_what_is_found_and_not_reported_has_its_reason(
    here: Path, capsys: Capture, comment: str, options: list[str], why: str
) -> None:
    (here / "train.py").write_text(SHUFFLES.replace("(100)", f"(100){comment}"))
    lines = told(capsys, "train.py:4:TFM202", *options)
    assert lines[1].startswith(f"TFM202 shuffle-after-batch{why}: `shuffle` holds")


def test_what_serves_no_program_with_tensorflow_is_not_said_to_be_ignored(
    here: Path, capsys: Capture
) -> None:
    (here / "images.py").write_text(
        "import glob\nimport cv2\nimport numpy as np\n\n"
        "images = []\nfor path in glob.glob('*.png'):\n    images.append(cv2.imread(path))\n"
        "images = np.array(images)\n"
    )
    why = " is not reported, as nothing shows that the file serves a program with TensorFlow"
    assert told(capsys, "images.py:8:TFM604")[1].startswith(
        f"TFM604 list-of-images-then-stack{why}: "
    )


def test_lines_of_notebooks_are_those_of_their_cells(here: Path, capsys: Capture) -> None:
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "metadata": {}, "source": "words"},
        *(
            {"cell_type": "code", "metadata": {}, "outputs": [], "source": source}
            for source in ("import tensorflow as tf", SHUFFLES.partition("\n\n")[2])
        ),
    ]
    notebook: dict[str, Any] = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (here / "n.ipynb").write_text(json.dumps(notebook))
    lines = told(capsys, "n.ipynb:cell 3:2:TFM202", "--min-bytes=0")
    assert lines[0] == f"n.ipynb:cell 3:2: {SHUFFLES.splitlines()[3]}"
    assert lines[1].startswith("TFM202 shuffle-after-batch: ")
    for place in ("n.ipynb:cell 9:1", "n.ipynb:cell 2:2", "n.ipynb:cell 2:0", "n.ipynb:cell 1:1"):
        assert "no such line" in refused(capsys, f"--explain={place}")
    for place in ("n.ipynb:3", "n.ipynb:3:2:TFM202"):
        assert "`n.ipynb:cell N:LINE`" in refused(capsys, f"--explain={place}")


def test_what_makes_no_sense_is_refused(here: Path, capsys: Capture) -> None:
    (here / "train.py").write_text(SHUFFLES)
    (here / "broken.py").write_text("import tensorflow as tf\ntf.(\n")
    assert "not of the form PATH:LINE" in refused(capsys, "--explain=train.py")
    assert "no such line" in refused(capsys, "--explain=train.py:40")
    assert "no such line" in refused(capsys, "--explain=train.py:0")
    assert "no rule `TFM22`" in refused(capsys, "--explain=train.py:4:TFM22")
    assert "nowhere.py: No such file" in refused(capsys, "--explain=nowhere.py:3")
    assert "broken.py: " in refused(capsys, "--explain=broken.py:2")
    assert "not allowed with --fix" in refused(capsys, "--explain=train.py:3", "--fix")
    assert "not allowed with train.py" in refused(capsys, "--explain=train.py:3", "train.py")
