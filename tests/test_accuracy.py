"""The comparison of findings with what people have labelled, by running it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ACCURACY = Path(__file__).parents[1] / "benchmarks" / "accuracy.py"

LATE_SHUFFLE = """import tensorflow as tf


def pipeline(paths):
    return tf.data.TFRecordDataset(paths).batch(32).shuffle(1000)
"""
EAGER = """import tensorflow as tf

tf.config.run_functions_eagerly(True)


@tf.function
def step(x):
    return tf.reduce_sum(x * x)


for each in range(1000):
    step(tf.ones([each, 1000]))
"""
CLEAN = "import tensorflow as tf\n\nprint(tf.zeros(3))\n"


def label(path: str, line: int, pattern: str, verdict: str, **more: int) -> dict[str, str | int]:
    """One line of a file of labels."""
    place: dict[str, str | int] = {"repo": "some/project", "path": path, "line": line}
    return {**place, "pattern": pattern, "verdict": verdict, "reason": f"why {path}", **more}


def shown(output: str, name: str) -> list[str]:
    """A row of the tables, without its name."""
    [row] = [line for line in output.splitlines() if line.startswith(f"{name} ")]
    return row.removeprefix(name).split()


class Accuracy:
    """A folder, its labels, and the runs on them."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "code" / "some+project"
        self.project.mkdir(parents=True)
        self.labels = folder / "some.jsonl"
        self.recorded = folder / "recorded.json"

    def run(self, labels: list[dict[str, str | int]], *options: str) -> str:
        self.labels.write_text("".join(f"{json.dumps(each)}\n" for each in labels))
        where = (str(self.project.parent), str(self.labels), "--recorded", str(self.recorded))
        command = (sys.executable, str(ACCURACY), *where, *options)
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


@pytest.fixture
def accuracy(tmp_path: Path) -> Accuracy:
    return Accuracy(tmp_path)


def test_right_wrong_and_missed(accuracy: Accuracy) -> None:
    for name in ("right", "wrong", "unsure", "unread"):
        (accuracy.project / f"{name}.py").write_text(LATE_SHUFFLE)
    (accuracy.project / "missed.py").write_text(CLEAN)
    output = accuracy.run(
        [
            label("right.py", 5, "shuffle-after-batch", "bad"),
            label("wrong.py", 5, "shuffle-after-batch", "ok"),
            label("unsure.py", 5, "shuffle-after-batch", "debatable"),
            label("missed.py", 3, "shuffle-after-batch", "bad"),
        ],
        "--misses",
    )

    counts = ["1", "1", "1", "1", "1", "1", "0.50", "0.50"]
    assert shown(output, "TFM202") == counts
    assert shown(output, "shuffle-after-batch") == [*counts[:3], "0", *counts[4:]]
    assert "missed some+project/missed.py:3 [shuffle-after-batch] why missed.py" in output
    assert "wrong some+project/wrong.py:5 [TFM202] why wrong.py" in output
    assert "right.py" not in output


@pytest.mark.parametrize(
    ("line", "pattern", "found"),
    [
        pytest.param(5, "TFM202", "1", id="a code is a pattern"),
        pytest.param(3, "shuffle-after-batch", "1", id="two lines off is near enough"),
        pytest.param(2, "shuffle-after-batch", "0", id="three are not"),
        pytest.param(5, "run-eagerly", "0", id="of another pattern"),
    ],
)
def test_what_a_finding_hits(accuracy: Accuracy, line: int, pattern: str, found: str) -> None:
    (accuracy.project / "some.py").write_text(LATE_SHUFFLE)

    assert shown(accuracy.run([label("some.py", line, pattern, "bad")]), "all")[4] == found


def test_the_label_of_the_line_wins_over_one_beside_it(accuracy: Accuracy) -> None:
    (accuracy.project / "some.py").write_text(LATE_SHUFFLE)
    labels = [label("some.py", 4, "TFM202", "bad"), label("some.py", 5, "TFM202", "ok")]

    assert shown(accuracy.run(labels), "all")[:2] == ["0", "1"]


def test_in_a_clean_file_any_finding_is_wrong(accuracy: Accuracy) -> None:
    (accuracy.project / "some.py").write_text(LATE_SHUFFLE + EAGER)
    output = accuracy.run([label("some.py", 1, "*", "ok")])

    assert shown(output, "TFM202")[1] == shown(output, "TFM111")[1] == "1"


def test_a_notebook_is_labelled_by_cell_and_its_twin_is_passed_over(accuracy: Accuracy) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["Text"]},
        *(
            {
                "cell_type": "code",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": source.splitlines(keepends=True),
            }
            for source in (CLEAN, EAGER)
        ),
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    (accuracy.project / "some.ipynb").write_text(json.dumps(notebook))
    (accuracy.project / "some.ipynb.py").write_text(CLEAN + EAGER)
    labels = [label("some.ipynb", 6, "run-eagerly", "bad", cell=2, cell_line=3)]

    assert shown(accuracy.run(labels), "TFM111") == ["1", "0", "0", "0", "1", "0", "1.00", "1.00"]


def test_what_changed_since_the_recorded_run(accuracy: Accuracy) -> None:
    labels = [label(f"{name}.py", 5, "shuffle-after-batch", "bad") for name in ("one", "two")]
    (accuracy.project / "one.py").write_text(LATE_SHUFFLE)
    accuracy.run(labels, "--record")
    (accuracy.project / "two.py").write_text(LATE_SHUFFLE)

    changed = ["2", "0", "0", "0", "2", "0", "1.00", "1.00", "+0.50"]
    assert shown(accuracy.run(labels), "TFM202") == changed
    assert shown(accuracy.run(labels, "--record"), "all") == changed
    assert shown(accuracy.run(labels), "all") == changed[:-1]


def test_decided_labels_are_debatable_and_counted(accuracy: Accuracy, tmp_path: Path) -> None:
    for name in ("decided", "mistaken", "elsewhere"):
        (accuracy.project / f"{name}.py").write_text(LATE_SHUFFLE)
    labels = [
        label("decided.py", 5, "shuffle-after-batch", "bad"),
        label("mistaken.py", 1, "run-eagerly", "bad"),
        label("elsewhere.py", 1, "shuffle-after-batch", "bad"),
    ]
    missed = accuracy.run(labels)
    decided = tmp_path / "decided.jsonl"
    decided.write_text(
        "".join(
            json.dumps(
                {
                    **{each: row[each] for each in ("repo", "path", "line", "pattern")},
                    "kind": str(row["path"]).removesuffix(".py"),
                    "why": "it is so",
                    **({"said": {"line": 5}} if row["path"] == "elsewhere.py" else {}),
                }
            )
            + "\n"
            for row in labels
        )
    )
    output = accuracy.run(labels, "--decided", str(decided))

    assert shown(missed, "all") == ["1", "0", "0", "2", "1", "2", "1.00", "0.33"]
    assert shown(output, "all") == ["1", "0", "1", "1", "1", "0", "1.00", "1.00"]
    assert "1 are decided otherwise, 1 mistaken; 1 count where the rule speaks" in output
    assert "decided otherwise" not in missed


def test_each_decision_says_of_what_and_why() -> None:
    lines = ACCURACY.with_name("decided.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]

    assert len({(row["repo"], row["path"], row["line"], row["pattern"]) for row in rows}) == len(
        rows
    )
    for row in rows:
        assert row["why"]
        assert row["kind"] in ("decided", "mistaken", "elsewhere")
        assert ("said" in row) == (row["kind"] == "elsewhere")
        assert ("cell" in row) == row["path"].endswith(".ipynb")


def test_each_repository_is_checked_from_its_own_folder(accuracy: Accuracy) -> None:
    (accuracy.project / "tools").mkdir()
    (accuracy.project / "tools" / "late.py").write_text(LATE_SHUFFLE)
    (accuracy.project / "train").mkdir()
    (accuracy.project / "train" / "some.py").write_text(
        "import keras\nfrom tools.late import pipeline\n\n"
        "train = pipeline(['a']).prefetch(100)\nkeras.Sequential().fit(train)\n"
    )
    labels = [label("train/some.py", 4, "oversized-prefetch", "bad")]

    assert shown(accuracy.run(labels), "TFM207")[0] == "1"


def test_patterns_without_a_rule_are_named(accuracy: Accuracy) -> None:
    (accuracy.project / "some.py").write_text(CLEAN)
    output = accuracy.run([label("some.py", 1, "layer-in-call", "bad")])

    assert "left out, as there is no rule of them: layer-in-call" in output
    assert shown(output, "all")[-2:] == ["-", "-"]


def test_a_page_says_what_is_recorded_the_worst_first(accuracy: Accuracy, tmp_path: Path) -> None:
    for name in ("right", "missed"):
        text = LATE_SHUFFLE if name == "right" else CLEAN
        (accuracy.project / f"{name}.py").write_text(text)
    page = tmp_path / "page.md"
    accuracy.run(
        [label("right.py", 5, "TFM202", "bad"), label("missed.py", 1, "TFM203", "bad")],
        "--page",
        str(page),
        "--record",
    )
    rows = [line for line in page.read_text("utf-8").splitlines() if line.startswith("| TFM")]

    assert rows == [
        "| TFM203 | - | 0.00 | 0 | 0 | 0 | 0 | 0 | 1 |",
        "| TFM202 | 1.00 | 1.00 | 1 | 0 | 0 | 0 | 1 | 0 |",
    ]


def test_a_page_says_what_findings_were_worth(accuracy: Accuracy, tmp_path: Path) -> None:
    (accuracy.project / "right.py").write_text(LATE_SHUFFLE)
    page, read = tmp_path / "page.md", tmp_path / "read.jsonl"
    verdicts = ("worth", "worth", "wrong")
    rows = [{"spoke": {}}, *({"code": "TFM202", "verdict": each} for each in verdicts)]
    read.write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    labels = [label("right.py", 5, "TFM202", "bad")]
    accuracy.run(labels, "--page", str(page), "--record", "--read", str(read))

    said = (
        " Of 3 findings drawn at random: 2 worth a reviewer's time, 0 right but of little effect, "
    )
    assert f"{said}0 right but useless, 1 wrong.\n" in page.read_text("utf-8")
