"""What a run does without: modules that a clean file needs not, and a parser of options."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

import tfmemlint_rules
from tfmemlint import facts, registry, screen
from tfmemlint.arguments import parse, plain
from tfmemlint.quick import nothing_to_find

HEAVY = {"ast", "concurrent", "dataclasses", "inspect", "json", "libcst", "pathlib", "tempfile"}
CLEAN = "import tensorflow as tf\n\nprint(tf.constant(1))\n"
CLEAN_WITH_LOOP = """
import keras
import tensorflow as tf

class Block(keras.layers.Layer):
    def call(self, inputs):
        for _ in range(3):
            inputs = self.dense(inputs)
        return tf.concat([inputs, inputs], axis=-1)
"""
FIXABLE = "import tensorflow as tf\n\nds = tf.data.TFRecordDataset('a').batch(32).shuffle(1000)\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TFMEMLINT_OUTPUT_FORMAT", raising=False)
    return tmp_path


def imported(*arguments: str) -> set[str]:
    """The modules that a run has imported in the end, beside those that Python starts with."""
    program = (
        "import sys; before = set(sys.modules); from tfmemlint.cli import main;"
        f"main({list(arguments)}); print(*set(sys.modules) - before, file=sys.stderr)"
    )
    command = [sys.executable, "-I", "-c", program]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stderr.split())


def subjects(modules: set[str]) -> set[str]:
    """Those among these modules that are facts."""
    return {each.rpartition(".")[2] for each in modules if each.startswith("tfmemlint.facts.")}


def test_a_version_needs_no_modules_but_ours(here: Path) -> None:
    assert {"__future__", "tfmemlint", "tfmemlint.cli"} == imported("--version")


def test_a_file_without_tensorflow_needs_few_modules(here: Path) -> None:
    (here / "a.py").write_text("import torch\n")
    modules = imported("check", "a.py")

    assert modules.isdisjoint({"argparse", "collections", "enum", "functools", "re", "typing"})
    assert modules.isdisjoint({*HEAVY, "tfmemlint.check", "tfmemlint.config"})


def test_a_file_that_no_rule_awaits_needs_no_facts(here: Path) -> None:
    (here / "a.py").write_text(CLEAN)
    modules = imported("check", "a.py")

    assert modules.isdisjoint({*HEAVY, "argparse", "shutil", "typing"})
    assert subjects(modules) == {"library", "words"}
    assert {each for each in modules if each.startswith("tfmemlint_rules.")} == set()


def test_a_clean_file_needs_the_rules_that_await_it_and_what_they_ask(here: Path) -> None:
    source = CLEAN_WITH_LOOP.encode()
    awaited = screen.awaited(registry.load().values(), screen.words(b" ".join(screen.code(source))))
    (here / "a.py").write_bytes(source)
    modules = imported("check", "a.py")

    assert 0 < len(awaited) < 8
    assert {each for each in modules if each.startswith("tfmemlint_rules.tfm")} == {
        rule.check.__module__ for rule in awaited
    }
    packs = [facts.__path__, [f"{path}/_analyses" for path in tfmemlint_rules.__path__]]
    name = f"{facts.__name__}."
    every = [each for pack in packs for each in pkgutil.walk_packages(pack, name)]
    assert len(subjects(modules)) < 0.5 * len(every)
    assert modules.isdisjoint({*HEAVY - {"ast"}, "argparse", "shutil", "typing", "unicodedata"})
    assert modules.isdisjoint({"tfmemlint.suppress", "tfmemlint.report.items"})


@pytest.mark.parametrize(
    ("comment", "needed"),
    [
        ("# noqa", True),
        ("#NoQA: TFM202", True),
        ("# TFMEMLINT: ignore", True),
        ("# tfmeml\N{LATIN SMALL LETTER DOTLESS I}nt: ignore-file", True),
        ("# no quality", False),
    ],
)
def test_what_may_be_a_suppression_is_looked_at(here: Path, comment: str, needed: bool) -> None:
    (here / "a.py").write_text(CLEAN + comment + "\n", encoding="utf-8")

    assert ("tfmemlint.suppress" in imported("check", "a.py")) is needed


def test_libcst_waits_for_a_finding_to_show(here: Path) -> None:
    check = ("check", "--select", "TFM202", "--exit-zero", "a.py")
    (here / "a.py").write_text(FIXABLE.replace(".batch(32)", ""))
    assert "libcst" not in imported(*check)

    (here / "a.py").write_text(FIXABLE)
    assert "libcst" in imported(*check)

    known = FIXABLE.replace(
        "TFRecordDataset('a')", "Dataset.range(9999).map(lambda i: tf.zeros([8]))"
    )
    assert known != FIXABLE
    (here / "a.py").write_text(known)
    assert "libcst" not in imported(*check)
    assert "libcst" in imported(*check, "--min-bytes", "0")


FLAGS = (
    "--fix",
    "--unsafe-fixes",
    "--isolated",
    "--exit-zero",
    "--diff",
    "--quiet",
    "--no-cache",
    "a.py",
    "-",
)


@pytest.mark.parametrize("number", range(4))
def test_usual_arguments_mean_what_the_parser_has_them_mean(number: int) -> None:
    for arguments in combinations(FLAGS, number):
        others = parse([*arguments, "--color=auto"])  # no usual one, and without effect

        assert plain([*arguments, "--color=auto"]) is None
        assert vars(others) == vars(parse([*arguments]))


def test_arguments_that_exclude_each_other_are_left_to_the_parser(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        parse(["--quiet", "--silent"])

    assert "not allowed with argument" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "tfmemlint.toml", ".tfmemlint.toml", "requirements.txt"]
)
def test_settings_anywhere_above_are_heeded(here: Path, name: str) -> None:
    (here / "b" / "c").mkdir(parents=True)
    (here / "b" / "c" / "a.py").write_text("import torch\n")
    assert nothing_to_find(["b/c/a.py"])

    (here / "b" / name).write_text("[tool.tfmemlint]\n")
    assert nothing_to_find(["b/c/a.py"]) is (name == "requirements.txt")


def test_a_file_that_needs_a_look_is_given_one(here: Path) -> None:
    (here / "a.py").write_text("import torch\n")
    (here / "b.py").write_text("import keras\n")
    (here / "c.ipynb").write_text("{}")
    (here / "d.py").write_bytes(b"#" * 2_000_001)
    os.mkfifo(here / "e.py")

    assert nothing_to_find(["a.py"])
    for other in (".", "b.py", "c.ipynb", "d.py", "e.py", "gone.py", "-", "--fix"):
        assert not nothing_to_find(["a.py", other])
    assert not nothing_to_find([])


def test_an_output_format_is_heeded(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "a.py").write_text("import torch\n")
    monkeypatch.setenv("TFMEMLINT_OUTPUT_FORMAT", "json")

    assert not nothing_to_find(["a.py"])


def test_a_process_ends_with_its_code_and_all_of_its_words(here: Path) -> None:
    (here / "a.py").write_text(FIXABLE * 200)
    command = [sys.executable, "-m", "tfmemlint", "check", "--isolated", "a.py"]
    done = subprocess.run(command, capture_output=True, text=True)

    assert done.returncode == 1
    assert done.stdout.endswith("reported.\n")
    assert done.stderr == ""
