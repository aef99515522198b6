"""Side by side with ruff, which is run here: whose comments are whose."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfmemlint.cli import main

BOUGHT = "import tensorflow as tf\n\nds = tf.data.TFRecordDataset('a').batch(32).shuffle(9999)"
NOQA = f"{BOUGHT}  # noqa: TFM202\n"
OURS = f"{BOUGHT}  # tfmemlint: ignore[TFM202] batches stay whole\n"
WARNING = "warning: ruff's RUF100 deletes comments such as `# noqa: TFM202` in a.py:"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fixed_by_ruff(source: str, settings: str, here: Path) -> str:
    """What `ruff check --select RUF --fix` leaves of a program."""
    (here / "ruff.toml").write_text(settings)
    (here / "a.py").write_text(source)
    subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--select=RUF", "--fix", "-e", "."],
        cwd=here,
        check=True,
        capture_output=True,
    )
    return (here / "a.py").read_text()


@pytest.mark.parametrize(
    ("settings", "warned"),
    [
        ("line-length = 99\n", True),
        ("[lint]\nexternal = ['V']\n", True),
        ("[lint]\nexternal = ['TFM']\n", False),
        ("external = ['TFM202']\n", False),
    ],
)
def test_a_warning_comes_where_ruff_deletes_a_comment_and_nowhere_else(
    here: Path, settings: str, warned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (fixed_by_ruff(NOQA, settings, here) != NOQA) is warned
    (here / "a.py").write_text(NOQA)
    assert main(["check", "."]) == 0
    err = capsys.readouterr().err

    assert err.startswith(WARNING) is warned
    assert (f'`lint.external = ["TFM"]` in {here / "ruff.toml"}' in err) is warned


def test_ruff_leaves_our_own_comment_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fixed_by_ruff(OURS, "", here) == OURS
    assert main(["check", "."]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("files", "warned"),
    [
        ({}, False),
        ({"pyproject.toml": "[tool.black]\n"}, False),
        ({"pyproject.toml": "[tool.ruff]\n"}, True),
        ({"pyproject.toml": "[tool.ruff]\n", ".ruff.toml": "lint.external = ['TFM']\n"}, False),
        ({"ruff.toml": "extend = 'base.toml'\n", "base.toml": "lint.external = ['TFM']\n"}, False),
        ({"ruff.toml": "extend = 'base.toml'\n", "base.toml": "line-length = 99\n"}, True),
        ({"ruff.toml": "extend = 'gone.toml'\n"}, False),
        ({"ruff.toml": "extend = 'ruff.toml'\n"}, False),
        ({"ruff.toml": "lint = 3\n"}, False),
        ({"ruff.toml": "lint.external = 'TFM'\n"}, False),
        ({"ruff.toml": "not TOML"}, False),
        ({"../ruff.toml": ""}, True),
    ],
)
def test_the_settings_that_hold_for_a_file_are_the_ones_that_are_read(
    here: Path, files: dict[str, str], warned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = here / "project"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "a.py").write_text(NOQA)
    (folder / "b.py").write_text(NOQA)

    assert main(["check", "project"]) == 0
    assert capsys.readouterr().err.count("warning: ") == warned
    assert main(["check", "--quiet", "project"]) == 0
    assert capsys.readouterr().err == ""


def test_a_pipe_where_settings_may_be_keeps_nobody_waiting(here: Path) -> None:
    (here / "a.py").write_text(NOQA)
    (here / "b.py").write_text("import torch\n")
    for name in ("pyproject.toml", "ruff.toml", "tfmemlint.toml", "requirements.txt"):
        os.mkfifo(here / name)
    command = [sys.executable, "-m", "tfmemlint", "check"]

    for files in ([], ["b.py"]):
        done = subprocess.run([*command, *files], cwd=here, timeout=600, check=False)
        assert done.returncode == 0
