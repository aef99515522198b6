"""What calls ruff calls this: with the arguments that editors' plugins have in their sources."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tfmemlint.cli import main

Capture = pytest.CaptureFixture[str]

SOURCE = """\
import tensorflow as tf


def f(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x)
    return tape.gradient(y, x)
"""
FIXED = SOURCE.replace("persistent=True", "")

LINTERS = {
    "none-ls": ["check", "-n", "-e", "--output-format=json", "--stdin-filename", "a.py", "-"],
    "ale": [
        *("check", "-q", "--no-fix", "--output-format", "json-lines"),
        *("--stdin-filename", "a.py", "-"),
    ],
    "nvim-lint": [
        *("check", "--force-exclude", "--quiet", "--stdin-filename", "a.py", "--no-fix"),
        *("--output-format", "json", "-"),
    ],
    "python-lsp-ruff": [
        *("check", "--quiet", "--exit-zero", "--output-format=json", "--extension=ipynb:python"),
        *("--no-fix", "--force-exclude", "--stdin-filename=a.py", "--config=s.toml"),
        *("--line-length=100", "--preview", "--unsafe-fixes", "--unfixable=TFM1", "--exclude=b,c"),
        *("--select=TFM", "--extend-select=TFM402", "--ignore=TFM1", "--extend-ignore=TFM3"),
        *("--target-version=py311", "--", "-"),
    ],
    "SublimeLinter": [
        *("check", "--output-format=json", "--no-fix", "--no-cache"),
        *("--stdin-filename", "a.py", "-"),
    ],
    "Flycheck": [
        *("check", "--config", "s.toml", "--select=TFM", "--extend-select=TFM402", "--ignore=TFM1"),
        *("--target-version=py311", "--preview", "--output-format=json"),
        *("--stdin-filename", "a.py", "-"),
    ],
    "makeprg": ["check", "--output-format=concise", "--stdin-filename", "a.py", "-"],
}
FIXERS = {
    "conform": [
        *("check", "--fix", "--force-exclude", "--exit-zero", "--no-cache"),
        *("--stdin-filename", "a.py", "-"),
    ],
    "none-ls": ["check", "--fix", "-n", "-e", "--stdin-filename", "a.py", "-"],
    "ale": ["check", "--stdin-filename", "a.py", "--fix", "-"],
    "python-lsp-ruff": [
        *("check", "--quiet", "--exit-zero", "--output-format=json", "--extension=ipynb:python"),
        *("--fix", "--force-exclude", "--stdin-filename=a.py", "--config=s.toml", "--", "-"),
    ],
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text('exclude = [".git"]\n')
    return tmp_path


def run(arguments: Sequence[str], stdin: str = SOURCE) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tfmemlint", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", LINTERS.values(), ids=LINTERS)
def test_a_linter_is_told_of_a_finding(here: Path, arguments: list[str]) -> None:
    done = run(arguments)

    assert done.returncode in (0, 1)
    assert done.stderr == ""
    if "json" not in " ".join(arguments):
        line = re.search(r"(\d+):(\d+): ((\w)\w+) (.*)", done.stdout)
        assert line is not None
        assert line.group(1, 3) == ("5", "TFM402")
        return
    parsed = json.loads(done.stdout)
    found = parsed[0] if isinstance(parsed, list) else parsed
    assert found["location"] == {"row": 5, "column": 26}
    assert found["code"] == "TFM402"


@pytest.mark.parametrize("arguments", FIXERS.values(), ids=FIXERS)
def test_a_fixer_is_given_the_whole_file(here: Path, arguments: list[str]) -> None:
    done = run(arguments)

    assert done.returncode == 0
    assert done.stdout == FIXED


# --- options that ruff has


def check(capsys: Capture, *arguments: str) -> tuple[int, str]:
    status = main(["check", "--output-format=concise", *arguments])
    return status, capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--config", "ignore = ['TFM402']"], False),
        (["--config", "ignore=['TFM402']", "--config", "ignore=[]"], True),
        (["--config", "s.toml", "--config", "per-file-ignores = {'a.py' = ['TFM4']}"], False),
        (["--isolated", "--config", "select = ['TFM1']"], False),
        (["--config", "tool.tfmemlint.select = ['TFM1']"], False),
        (["--extend-per-file-ignores", "a.py:TFM402"], False),
        (["--extend-per-file-ignores", "b.py:TFM402"], True),
        (["--config", "extend-per-file-ignores = {'*.py' = ['TFM4']}"], False),
        (["--select", "peak"], True),
        (["--select", "growth,retracing,graph,time"], False),
        (["--ignore", "peak"], False),
        (["--ignore", "peak", "--extend-select", "TFM402"], True),
        (["--config", "select = ['peak']", "--ignore", "TFM402"], False),
    ],
)
def test_what_is_run_can_be_said_in_many_ways(
    here: Path, capsys: Capture, arguments: list[str], found: bool
) -> None:
    (here / "a.py").write_text(SOURCE)

    assert check(capsys, *arguments)[0] == found


def test_what_is_given_with_config_stands_in_place_of_what_a_file_says(
    here: Path, capsys: Capture
) -> None:
    (here / "a.py").write_text(SOURCE)
    (here / "tfmemlint.toml").write_text("ignore = ['TFM402']\nexclude = ['b.py']\n")
    assert check(capsys)[0] == 0
    assert check(capsys, "--config", "ignore = []")[0] == 1
    (here / "a.py").rename(here / "b.py")
    assert check(capsys, "--config", "ignore = []")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config", "selct = []"], "--config 'selct = []': unknown key `selct`; did you mean"),
        (["--config", "select = "], "not valid TOML"),
        (["--config", "a.toml", "--config", "b.toml"], "`--config` names more than one file"),
        (["--slect", "TFM1"], "unrecognized arguments: --slect; did you mean `--select`?"),
        (["--select", "peaks"], "unknown rule `peaks`; did you mean `peak`?"),
        (["--output-format", "gitlb"], "did you mean `gitlab`?"),
        (["--extension", "txt:words"], "`txt:words` is not ENDING:python"),
    ],
)
def test_a_slip_gets_a_hint(
    here: Path, capsys: Capture, arguments: list[str], message: str
) -> None:
    assert main(["check", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_fixable_rules_can_be_added_and_taken_away(here: Path, capsys: Capture) -> None:
    for arguments, fixed in (
        (["--fixable", "TFM1", "--extend-fixable", "TFM402"], True),
        (["--fixable", "TFM1"], False),
        (["--extend-unfixable", "TFM402"], False),
        (["--config", "fixable = ['TFM1']\nextend-fixable = ['TFM4']"], True),
    ):
        (here / "a.py").write_text(SOURCE)
        main(["check", "--fix", *arguments])
        assert ((here / "a.py").read_text() == FIXED) is fixed


def test_files_of_other_endings_are_what_they_are_said_to_be(here: Path, capsys: Capture) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": SOURCE}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    (here / "a.pyw").write_text(SOURCE)
    (here / "b.nb").write_text(json.dumps(notebook))
    assert check(capsys)[0] == 0

    status, out = check(capsys, "--extension", "pyw:python,nb:ipynb")
    assert status == 1
    assert "a.pyw:5:26: TFM402" in out
    assert "b.nb:cell 1:5:26: TFM402" in out
    done = run(
        ["check", "--extension=nb:ipynb", "--stdin-filename=c.nb", "-"], json.dumps(notebook)
    )
    assert "c.nb:cell 1:5:26" in done.stdout


def test_a_cache_is_where_it_is_wanted(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        (here / f"m{number}.py").write_text("import tensorflow as tf\n")
    check(capsys, "--cache-dir", str(here / "elsewhere"))
    assert (here / "elsewhere" / "CACHEDIR.TAG").exists()
    monkeypatch.setenv("TFMEMLINT_CACHE_DIR", str(here / "third"))
    check(capsys, "--exit-zero")
    assert (here / "third" / "CACHEDIR.TAG").exists()
    assert not (here / ".tfmemlint_cache").exists()
    shutil.rmtree(here / "third")
    check(capsys, "-n")
    assert not (here / "third").exists()


def test_watching_checks_again_when_a_file_or_a_setting_changes(here: Path) -> None:
    (here / "a.py").write_text("import tensorflow as tf\n")
    (here / "tfmemlint.toml").write_text("ignore = []\n")
    command = [sys.executable, "-m", "tfmemlint", "check", "--watch", "--output-format=concise"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
    ) as process:
        assert process.stdout is not None
        try:

            def told() -> str:
                words = ""
                while "Ctrl-C" not in words and process.stdout:
                    line = process.stdout.readline()
                    assert line
                    words += line
                return words

            assert "All checks passed!" in told()
            (here / "a.py").write_text(SOURCE)
            assert "a.py:5:26: TFM402" in told()
            (here / "b.py").write_text("x = 1\n")
            assert "Found 1 error" in told()
            (here / "tfmemlint.toml").write_text("selct = []\n")
            assert "unknown key `selct`" in told()
            (here / "tfmemlint.toml").write_text("ignore = ['TFM402']\n")
            assert "All checks passed!" in told()
        finally:
            time.sleep(0.2)
            os.kill(process.pid, signal.SIGINT)
        assert process.wait(30) == 130
