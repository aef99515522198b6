"""Findings drawn at random for people to read, and what becomes of their verdicts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tfmemlint import registry

FIXTURES = Path(__file__).parents[1] / "fixtures"
USEFULNESS = Path(__file__).parents[1] / "benchmarks" / "usefulness.py"
LATE_SHUFFLE = """import tensorflow as tf


def pipeline(paths):
    return tf.data.TFRecordDataset(paths).batch(32).shuffle(1000)
"""


def run(*arguments: object) -> str:
    command = (sys.executable, str(USEFULNESS), *map(str, arguments))
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def test_what_is_drawn_is_read_and_recorded(tmp_path: Path) -> None:
    for name, files in (("some+project", 3), ("other+project", 1), ("clean+project", 0)):
        (tmp_path / "code" / name).mkdir(parents=True)
        for number in range(files):
            (tmp_path / "code" / name / f"{number}.py").write_text(LATE_SHUFFLE)

    kept = tmp_path / "kept"
    kept.mkdir()
    text = run("draw", tmp_path / "code", "--kept", kept)
    first, *drawn = map(json.loads, text.splitlines())

    assert first["repositories"] == 3
    assert first["spoke"]["TFM202"] == [4, 2]
    assert text == run("draw", tmp_path / "code", "--kept", kept)
    late = [each for each in drawn if each["code"] == "TFM202"]
    assert sorted(each["repository"] for each in late) == [
        *("other+project", "some+project", "some+project")
    ]

    for number, each in enumerate(late):
        each["verdict"] = "worth" if number else "wrong"
    for code in first["spoke"]:
        (tmp_path / "fixtures" / code).mkdir(parents=True)
    for code in ("TFM202", "TFM205"):
        before = tmp_path / "fixtures" / code / "public.json"
        before.write_text(json.dumps({"findings": 0, "kept": "it grows without end"}))
    read = tmp_path / "read.jsonl"
    read.write_text("".join(f"{json.dumps(each)}\n" for each in (first, *late)))
    run("record", read, "--fixtures", tmp_path / "fixtures")

    recorded = json.loads((tmp_path / "fixtures" / "TFM202" / "public.json").read_text())
    assert recorded == {
        "rule": "TFM202",
        "date": first["date"],
        "repositories": 3,
        "findings": 4,
        "in_repositories": 2,
        "read": {"worth": 2, "little": 0, "useless": 0, "wrong": 1},
    }
    silent = json.loads((tmp_path / "fixtures" / "TFM205" / "public.json").read_text())
    assert (silent["findings"], silent["kept"]) == (0, "it grows without end")


@pytest.mark.parametrize("code", registry.load())
def test_a_rule_that_never_spoke_says_why_it_stays(code: str) -> None:
    figures = json.loads((FIXTURES / code / "public.json").read_text("utf-8"))

    assert figures["rule"] == code
    assert bool(figures.get("kept")) is not bool(figures["findings"])


def test_a_repository_is_checked_with_what_it_requires(tmp_path: Path) -> None:
    waits = """import tensorflow as tf

model = tf.keras.models.load_model("model.keras")
model.fit(tf.data.TFRecordDataset("pictures.tfrecord").map(tf.io.decode_png).batch(8))
"""
    for name, version in (("old+project", "2.3"), ("new+project", "2.15")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "train.py").write_text(waits)
        (folder / "requirements.txt").write_text(f"tensorflow=={version}\n")

    _, *drawn = map(json.loads, run("draw", tmp_path).splitlines())

    assert [each["repository"] for each in drawn if each["code"] == "TFM223"] == ["old+project"]
