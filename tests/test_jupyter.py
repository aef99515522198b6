"""The magic commands, in kernels as Jupyter starts them, asked by the client that it uses."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tfmemlint import notebooks
from tfmemlint.cli import main

PIPELINE = """\
import numpy as np
def records():
    import tensorflow as tf
    return tf.data.TFRecordDataset('x').batch(32)
"""
SHUFFLED = "xs = records()\nys = xs.shuffle(9999)"
Run = Callable[..., list[str]]

pytestmark = pytest.mark.filterwarnings("ignore")  # what clients of kernels warn of is not ours


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run cells one after the other; what each has shown."""

    def run(*sources: str) -> list[str]:
        cells = [nbformat.v4.new_code_cell(source) for source in sources]  # type: ignore[no-untyped-call]
        notebook = nbformat.v4.new_notebook(cells=cells)  # type: ignore[no-untyped-call]
        client = NotebookClient(
            notebook,
            timeout=600,
            startup_timeout=300,
            kernel_name="python3",
            allow_errors=True,
            resources={"metadata": {"path": str(tmp_path)}},
        )
        client.execute()
        return ["".join(map(shown, cell.outputs)) for cell in notebook.cells]

    return run


def shown(output: Any) -> str:
    if output.output_type == "stream":
        return str(output.text)
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}"
    return " ".join(output.data.values())


def test_a_cell_is_checked_with_what_earlier_cells_defined(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tfmemlint.toml").write_text("ignore = ['TFM223']\n")
    ran = run(
        "%load_ext tfmemlint",
        "%matplotlib inline\n!true\n" + PIPELINE,
        f"%%tfmemlint\n{SHUFFLED}",
        "xs",
        f"%%tfmemlint --select TFM1\n{SHUFFLED}",
        "%%tfmemlint --run\nready = 'yes'",
        "ready",
        "%%tfmemlint\n\nx = (",
        "%%tfmemlint --slect TFM1\nx = 1",
        "%%tfmemlint --select TFM9999\nx = records()",
        "%%tfmemlint --help\nx = 1",
        "%tfmemlint",
        SHUFFLED.replace("32", "32 "),
        "%tfmemlint",
        "__import__('os').listdir('.')",
    )

    assert ran[0] == ""
    assert "TFM202" in ran[2]
    assert "In [3]:3:9" in ran[2]
    assert "measured: device peak" in ran[2]
    assert ran[3].startswith("NameError")  # it was checked, and not run
    assert ran[4] == ran[5] == "All checks passed!\n"
    assert ran[6] == "'yes'"
    assert "TFM002" in ran[7]
    assert "In [8]:3:5" in ran[7]
    assert "did you mean `--select`?" in ran[8]
    assert "error: " in ran[9]
    assert "TFM9999" in ran[9]
    assert "--min-bytes" in ran[10]
    assert "error" not in ran[10]
    assert ran[11] == "All checks passed!\n"  # no cell that was run has a finding
    assert "In [13]:2:" in ran[13]
    assert ran[14] == "['tfmemlint.toml']"


@pytest.mark.tensorflow
@pytest.mark.slow
def test_a_cell_is_measured_by_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("ROWS = 1 << 20\n")
    ran = run(
        "%load_ext tfmemlint",
        "import tensorflow as tf\nfrom beside import ROWS\nprint('before')",
        "%%tfmeasure\nwhole = tf.ones([ROWS, 16])\nprint('during')\ndel whole",
        "%%tfmeasure --alone\n1 / 0",
        "whole",
    )
    words = ran[2]

    assert "In [3] held at most 64 MB" in words
    assert "<svg" in words
    assert "during" in words
    assert "before\n" not in words
    assert re.search(r"64 MB +100% +In \[3\]:2 +whole = tf.ones\(\[ROWS, 16\]\)", words)
    assert "In [4], line 2" in ran[3]
    assert "ZeroDivisionError" in ran[3]
    assert ran[4].startswith("NameError")
    assert [path.name for path in tmp_path.glob("tfmemlint-*")] == []


@pytest.mark.tensorflow
@pytest.mark.slow
def test_what_the_page_shows_does_what_it_says(run: Run) -> None:
    page = Path(__file__).parent.parent / "docs" / "notebooks.md"
    if not page.is_file():
        pytest.skip("a checkout has the documentation")
    (block,) = re.findall(r"```ipython\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    _, _, checked, measured = run(*block.strip().split("\n\n"))

    assert "TFM202" in checked
    assert "In [3]:2:30" in checked
    assert re.search(r"In \[4\] held at most \d+ MB", measured)
    assert "TFM202" in measured


def test_cells_with_our_commands_are_python_to_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [PIPELINE, f"%%tfmemlint\n{SHUFFLED}"]
    made = nbformat.v4.new_notebook(  # type: ignore[no-untyped-call]
        cells=[nbformat.v4.new_code_cell(each) for each in cells]  # type: ignore[no-untyped-call]
    )
    path = tmp_path / "a.ipynb"
    nbformat.write(made, path)  # type: ignore[no-untyped-call]

    assert len(notebooks.read(path.read_bytes()).cells) == 2
    assert main(["check", "--isolated", "--output-format", "concise", str(path)]) == 1
    assert "cell 2:3:9: TFM202" in capsys.readouterr().out
