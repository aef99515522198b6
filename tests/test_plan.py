"""What a program will hold, told from its code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.cli import main

PROGRAM = """\
import keras
import numpy as np

x = np.zeros((10_000, 100), np.float32)
y = np.zeros((10_000, 10), np.float32)
model = keras.Sequential([keras.Input((100,)), keras.layers.Dense(1000), keras.layers.Dense(10)])
model.compile("adam", "mse")
model.fit(x, y, batch_size=256)
"""
BUFFERS = """\
import tensorflow as tf


def image(seed):
    return tf.random.stateless_uniform([64, 64, 3], seed=[seed, 0])


images = tf.data.Dataset.range(4096).map(image).batch(32).shuffle(256).prefetch(1)
for batch in images:
    print(tf.reduce_mean(batch))
"""
MB = 1 << 20


def plan(
    capsys: pytest.CaptureFixture[str], folder: Path, text: str, *options: str
) -> tuple[int, dict[str, Any]]:
    path = folder / "program.py"
    path.write_text(text)
    status = main(["plan", "--json", *options, str(path)])
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    return status, made


def test_data_weights_slots_gradients_and_activations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, made = plan(capsys, tmp_path, PROGRAM)
    weights = (100 * 1000 + 1000 + 1000 * 10 + 10) * 4

    named = [each for each in made["items"] if each["what"] != "while they are updated"]
    parts = {(each["part"], each["on_host"]): each["bytes"] for each in named}
    assert parts["weights", False] == weights
    assert parts["gradients", False] == weights
    assert parts["optimiser's slots", False] == 2 * weights
    assert parts["activations", False] == (1000 + 10 + 1000) * 256 * 4
    assert made["host_bytes"] == 10_000 * 110 * 4
    assert made["unknown"] == []


OPENED = """\
import tensorflow as tf

def opened(shard):
    return tf.data.Dataset.range(25).map(lambda i: tf.zeros([1024, 256]))

for batch in tf.data.Dataset.range(4).interleave(opened).batch(50).prefetch(100):
    tf.reduce_sum(batch)
"""


def test_the_batch_that_a_pipeline_gives_is_counted_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PROGRAM.replace(
        "model.fit(x, y, batch_size=256)",
        "import tensorflow as tf\n"
        "data = tf.data.Dataset.range(9000).map(lambda i: (tf.ones([100]), tf.ones([10])))\n"
        "model.fit(data.batch(256))",
    )
    text = text.replace("10_000", "10")
    _, made = plan(capsys, tmp_path, text)
    said = [each["what"].partition(" =")[0] for each in made["items"]]
    assert said.count("the batch in use") == 1
    assert "the batch" not in said


def test_what_interleave_opens_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, made = plan(capsys, tmp_path, OPENED)

    assert made["device_bytes"] == 100 * MB  # and no more, however many would be prefetched


def test_rows_that_are_picked_are_a_copy_and_a_slice_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "x = np.ones((1000, 131))\nsome = x[np.arange(500) % 3]\nfirst = x[:500]\n"
    _, made = plan(capsys, tmp_path, "import numpy as np\nimport tensorflow as tf\n" + text)

    held = {each["what"]: each["bytes"] for each in made["items"] if each["on_host"]}
    assert held == {"`x`": 1000 * 131 * 8, "`some`": 500 * 131 * 8}


@pytest.mark.parametrize(("device", "status"), [("1GiB", 0), ("100MiB", 1)])
def test_whether_it_fits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], device: str, status: int
) -> None:
    found, made = plan(capsys, tmp_path, BUFFERS, "--device", device)

    assert (found, made["fits"]) == (status, status == 0)
    assert made["device_bytes"] == 192 * MB


def test_which_findings_make_it_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.py"
    path.write_text(BUFFERS)

    assert main(["plan", str(path), "--device", "100MiB"]) == 1

    out = capsys.readouterr().out
    assert "192 MB  line 8     buffers of the pipeline: shuffle" in out
    assert "It does not fit into 100 MB: 92 MB too much." in out
    assert "  line 8: TFM20" in out


def test_what_is_unknown_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = BUFFERS.replace("[64, 64, 3]", "[side, side, 3]")

    _, made = plan(capsys, tmp_path, text)

    assert [each["line"] for each in made["unknown"]] == [8, 8, 8, 9]
    assert made["device_bytes"] == 0


def test_what_is_assumed_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = BUFFERS.replace("shuffle(256)", "shuffle(buffer)")

    _, made = plan(capsys, tmp_path, text, "--assume", "buffer=16")

    assert made["device_bytes"] == (16 + 1 + 1 + 2) * 32 * 48 << 10


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nothing.py"], "nothing.py: No such file or directory"),
        (["program.py", "--device", "lots"], "`lots` is not an amount of memory"),
        (["program.py", "--assume", "n"], "is not an expression; write `name=number`"),
    ],
)
def test_what_cannot_be_planned_is_an_error(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    why: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(PROGRAM)

    assert main(["plan", *arguments]) == 2
    assert why in capsys.readouterr().err


def test_a_program_of_which_nothing_is_known_is_said_to_be_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")

    assert main(["plan", str(tmp_path / "a.py")]) == 0
    out = capsys.readouterr().out
    assert out.endswith(
        "code tells:\n\n  nothing of TensorFlow's or NumPy's that is of known size\n"
    )


def test_a_terminal_that_lacks_a_letter_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BUFFERS)
    done = subprocess.run(
        [sys.executable, "-m", "tfmemlint", "plan", tmp_path / "a.py"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "128 \\xd7 32 \\xd7 48 KB" in done.stdout
