"""The GitHub Action, its steps run as GitHub runs them; and the extension for VS Code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))

FOUND = """\
import tensorflow as tf


def f(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x)
    return tape.gradient(y, x)
"""


def act(folder: Path, **inputs: str) -> tuple[int, str, str, str]:
    """Run the last step as GitHub does: its exit code, log, output and summary."""
    step = ACTION["runs"]["steps"][-1]
    values = {name: each["default"] for name, each in ACTION["inputs"].items()} | inputs
    names = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: values[match[1]], text)
        for name, text in step["env"].items()
    }
    python = folder / "bin"
    python.mkdir(exist_ok=True)
    if not (python / "python").exists():
        (python / "python").symlink_to(sys.executable)
    output, summary = folder / "output.txt", folder / "summary.md"
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=folder,
        env={
            **os.environ,
            **names,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, output.read_text(), summary.read_text()


def test_findings_are_annotated_counted_and_summed_up(tmp_path: Path) -> None:
    (tmp_path / "a file.py").write_text(FOUND)
    status, log, output, summary = act(
        tmp_path, paths="'a file.py'", arguments="--min-bytes 0", sarif="out.sarif"
    )

    assert status == 1
    assert log.startswith("::warning title=tfmemlint (TFM402),file=a file.py,line=5,")
    assert output == "findings=1\n"
    assert "1 finding, by rule:" in summary
    assert re.search(
        r"\| TFM402 \| `needless-persistent-tape` \| 1 \| 1 \|.*\| device peak", summary
    )
    report = json.loads((tmp_path / "out.sarif").read_text())
    assert len(report["runs"][0]["results"]) == 1


def test_the_summary_draws_what_is_known_to_be_held(tmp_path: Path) -> None:
    for code in ("TFM202", "TFM402"):
        shutil.copy(ROOT / "fixtures" / code / "bad.py", tmp_path / f"{code}.py")
    _, _, _, summary = act(tmp_path, arguments="--select TFM202,TFM402")

    chart = summary.partition("```mermaid\n")[2].partition("```")[0]
    assert "    x-axis [TFM202, TFM402]\n" in chart
    assert "    bar [192.0, 32.0]\n" in chart


def test_nothing_found_is_said_and_passes(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import tensorflow as tf\n")

    assert act(tmp_path) == (0, "", "findings=0\n", "## tfmemlint\n\nNothing was found.\n")


@pytest.mark.parametrize(
    "inputs", [{"paths": "gone.py"}, {"arguments": "--slect x"}, {"since": "$(touch broken)"}]
)
def test_what_cannot_be_done_fails_and_no_input_is_a_command(
    tmp_path: Path, inputs: dict[str, str]
) -> None:
    (tmp_path / "a.py").write_text("import tensorflow as tf\n")
    status, _, _, summary = act(tmp_path, **inputs)

    assert status == 2
    assert "Something could not be checked" in summary
    assert not (tmp_path / "broken").exists()


def test_every_input_is_one_that_a_step_takes() -> None:
    text = json.dumps(ACTION["runs"])

    assert all(f"inputs.{name} " in text for name in ACTION["inputs"])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm builds the extension")
def test_the_extension_for_vs_code_is_built_and_packed(tmp_path: Path) -> None:
    folder = tmp_path / "vscode"
    ignored = shutil.ignore_patterns("node_modules", "dist", "*.vsix")
    shutil.copytree(ROOT / "editors" / "vscode", folder, ignore=ignored)
    for command in (["npm", "install", "--no-audit", "--no-fund"], ["npm", "run", "package"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(folder / "tfmemlint.vsix") as packed:
        assert "extension/dist/extension.js" in packed.namelist()
        assert b"tfmemlint.restart" in packed.read("extension/dist/extension.js")
