"""tfmemlint from Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfmemlint import api
from tfmemlint.api import ConfigError, check_paths, check_source, fix_source, measure

START = "import tensorflow as tf\n\n"
SAFE = """\
def f(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x)
    return tape.gradient(y, x)


"""
UNSAFE = "xs = tf.data.TFRecordDataset('x').batch(32).shuffle(9999)\n"


def test_a_source_is_checked_without_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tfmemlint.toml").write_text("not even TOML")  # nobody has asked for it
    checked = check_source("# coding: latin-1\n" + START + SAFE + "# ä𝄞\n")

    (finding,) = checked.findings
    assert (finding.code, finding.name) == ("TFM402", "needless-persistent-tape")
    start, end = finding.diagnostic.span
    assert (
        checked.text[start:end].startswith("persistent")
        or "GradientTape" in checked.text[start:end]
    )
    assert os.listdir() == ["tfmemlint.toml"]  # noqa: PTH208


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        (None, ["TFM402", "TFM202"]),
        ({"ignore": ["TFM202"]}, ["TFM402"]),
        ({"select": ["growth"]}, []),
        ("s.toml", ["TFM202"]),
    ],
)
def test_settings_are_those_that_are_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: api.Settings, codes: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text("ignore = ['TFM402']\n")
    found = check_source(START + SAFE + UNSAFE, settings=settings).findings

    assert [finding.code for finding in found] == codes


@pytest.mark.parametrize("settings", [{"selct": []}, {"select": 3}, "gone.toml"])
def test_settings_that_make_no_sense_are_an_error(settings: api.Settings) -> None:
    with pytest.raises(ConfigError):
        check_source(START, settings=settings)


def test_no_python_is_a_finding_and_no_exception() -> None:
    assert [each.code for each in check_source(START + "def f(:").findings] == ["TFM002"]
    assert check_source("def f(:").findings == ()


def test_fixes_are_safe_unless_others_are_wanted() -> None:
    fixed = fix_source(START + SAFE + UNSAFE)
    assert fixed.text == START + SAFE.replace("persistent=True", "") + UNSAFE
    assert fixed.fixed == (("TFM402", 1),)
    assert [each.code for each in fixed.remaining] == ["TFM202"]

    assert fix_source(START + SAFE + UNSAFE, unsafe=True).remaining == ()
    assert fix_source(START) == (START, (), ())


def test_paths_are_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text(START + SAFE)
    (tmp_path / "b.py").write_text(START)
    results = check_paths([tmp_path])

    assert {Path(each.path).name: len(each.findings) for each in results} == {"a.py": 1, "b.py": 0}
    assert check_paths([str(tmp_path)], settings={"select": ["TFM1"]})[0].findings == ()
    with pytest.raises(FileNotFoundError):
        check_paths([tmp_path / "gone"])


@pytest.mark.tensorflow
def test_a_program_is_measured(tmp_path: Path) -> None:
    program = tmp_path / "a.py"
    program.write_text("import tensorflow as tf\n\nx = tf.ones([1 << 20])\nprint(x.shape)\n")
    account = measure(program)

    assert account.status == 0
    assert account.peak >= 4 << 20
    assert account.held[0].statement.line == 3


def test_to_import_it_brings_no_tensorflow_along() -> None:
    code = "import sys, tfmemlint.api; sys.exit('tensorflow' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
