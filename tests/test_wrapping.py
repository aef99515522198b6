"""Lines that fixes make too long are wrapped as the project's formatter, or the file, has them."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tfmemlint import Rule, registry
from tfmemlint.cli import main
from tfmemlint.fixing import apply
from tfmemlint.linting import lint
from tfmemlint.wrapping import within

RULES = registry.load()

START = """\
import tensorflow as tf


def decode(path):
    return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path)), (224, 224)), 0


files = tf.data.Dataset.list_files("images/*.jpg", shuffle=False)
"""
END = """
model = tf.keras.models.load_model("model.keras")
model.fit(train)
"""
CHAIN = "train = files.map(decode).shuffle(2000).batch(32).cache('/tmp/of-files')\n"
WRAPPED = """\
train = (
    files.shuffle(2000)
    .map(decode)
    .batch(32)
    .cache('/tmp/of-files')
    .prefetch(tf.data.AUTOTUNE)
)
"""
SHORT = "train = files.shuffle(2000).map(decode).batch(32).cache('/tmp/of-files')"
LONG = f"{SHORT}.prefetch(tf.data.AUTOTUNE)\n"


def fixed(folder: Path, settings: dict[str, str], source: str) -> str:
    for name, text in settings.items():
        (folder / name).write_text(text)
    path = folder / "program.py"
    path.write_text(source)
    main(["check", "--no-cache", "--fix", "--unsafe-fixes", str(path)])
    return path.read_text()


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"pyproject.toml": "[tool.ruff]\nline-length = 90\n"}, WRAPPED),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 120\n"}, LONG),
        ({"pyproject.toml": "[tool.ruff.lint]\nselect = ['E']\n"}, WRAPPED),
        ({"pyproject.toml": "[tool.black]\nline-length = 90\n"}, WRAPPED),
        ({"pyproject.toml": "[tool.black]\nline-length = 120\n"}, LONG),
        (
            {
                "pyproject.toml": "[tool.ruff]\nextend = 'base.toml'\n",
                "base.toml": "line-length=120",
            },
            LONG,
        ),
        ({".ruff.toml": "line-length = 120\n", "pyproject.toml": "[tool.ruff]\n"}, LONG),
        ({"pyproject.toml": "[tool.black]\nline-length = 'short'\n"}, WRAPPED),
        ({"pyproject.toml": "[project]\nname = 'x'\n"}, WRAPPED),
    ],
)
def test_the_projects_settings_say_how_long_a_line_is(
    tmp_path: Path, settings: dict[str, str], wanted: str
) -> None:
    assert fixed(tmp_path, settings, START + CHAIN + END) == START + wanted + END


def test_without_settings_the_longest_line_of_the_file_does(tmp_path: Path) -> None:
    remark = f"# {'x' * 110}\n"

    assert fixed(tmp_path, {}, START + remark + CHAIN + END) == START + remark + LONG + END


def test_what_was_too_long_before_stays_as_its_author_has_it(tmp_path: Path) -> None:
    settings = {"ruff.toml": "line-length = 70\n"}

    assert fixed(tmp_path, settings, START + CHAIN + END) == START + LONG + END


def test_a_comment_behind_the_line_and_backslashes_stay(tmp_path: Path) -> None:
    beside = "other = files.map(decode) \\\n    .take(3)\n"
    chain = CHAIN.replace("\n", "  # all\n")
    wanted = """\
train = files.shuffle(2000) \\
    .map(decode) \\
    .batch(32) \\
    .cache('/tmp/of-files') \\
    .prefetch(tf.data.AUTOTUNE)  # all
"""
    settings = {"ruff.toml": "line-length = 90\n"}

    assert fixed(tmp_path, settings, START + beside + chain + END) == START + beside + wanted + END


def test_what_is_no_chain_gets_its_arguments_on_lines_of_their_own(tmp_path: Path) -> None:
    source = (
        START
        + 'tf.keras.models.load_model("m.keras").fit(files.map(decode).batch(32), epochs=20)\n'
    )
    wanted = """\
tf.keras.models.load_model("m.keras").fit(
    files.map(decode).batch(32).prefetch(tf.data.AUTOTUNE), epochs=20
)
"""

    assert fixed(tmp_path, {"ruff.toml": "line-length = 88\n"}, source) == START + wanted


def test_ruff_leaves_what_is_wrapped_as_it_is(tmp_path: Path) -> None:
    made = fixed(
        tmp_path, {"ruff.toml": "line-length = 90\n"}, START + CHAIN.replace("'", '"') + END
    )
    command = [sys.executable, "-m", "ruff", "format", "--check", str(tmp_path / "program.py")]

    assert "(\n" in made
    assert subprocess.run(command, cwd=tmp_path, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_wrapping_changes_no_program(rule: Rule) -> None:
    text = (registry.folder(rule) / "bad.py").read_text(encoding="utf-8")
    for finding in lint("bad.py", text, [rule]):
        wrapped = within(finding, text, 40).diagnostic.fix
        fix = finding.diagnostic.fix
        if fix is not None and wrapped is not None:
            as_it_was, as_it_is = (ast.parse(apply(text, [each]).text) for each in (fix, wrapped))

            assert ast.dump(as_it_was) == ast.dump(as_it_is)
