"""The example of a pack, installed as anybody would, and what holds packs to their fixtures."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACK = ROOT / "examples" / "pack"
MODULE, FOLDER = "acm101_list_of_array.py", "_fixtures/ACM101"

pytestmark = pytest.mark.skipif(not PACK.is_dir(), reason="a checkout has the example")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the pack is installed by pip, as from its own checkout."""
    home = tmp_path_factory.mktemp("pack")
    shutil.copytree(PACK, home / "checkout")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--target", home / "site", home / "checkout"], check=True)
    return home / "site"


@pytest.fixture
def site(installed: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    return Path(shutil.copytree(installed, tmp_path / "site"))


ALONE = {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def run(site: Path, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        env={**os.environ, **ALONE, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )


def held(site: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """What the pack's own tests say."""
    options: list[str | Path] = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", cwd]
    return run(site, "pytest", *options, PACK / "tests", cwd=cwd)


def test_the_example_is_used_like_any_pack(site: Path, tmp_path: Path) -> None:
    bad = (site / "acme_rules" / FOLDER / "bad.py").read_text()
    (tmp_path / "a.py").write_text(re.sub(r"  # want.*", "", bad))
    assert "ACM101" not in run(site, "tfmemlint", "check", cwd=tmp_path).stdout

    (tmp_path / "tfmemlint.toml").write_text('plugins = ["acme"]\n')
    found = run(site, "tfmemlint", "check", "--select", "peak", "--exit-zero", cwd=tmp_path)
    assert "ACM101 a list takes several times the memory of its array" in found.stdout
    page = run(site, "tfmemlint", "rule", "list-of-array", cwd=tmp_path).stdout
    assert "## Example\n" in page
    assert "Not measured yet: `tfmemlint verify ACM101` does." in page
    assert held(site, tmp_path).returncode == 0


ANALYSIS = '''"""A list of Python's own numbers is given to a model.

## What it finds
`model.predict(rows)` of a list.

## Why it costs memory
A number of Python's own takes 24 bytes.

## What to do instead
Give an array.

## Fix safety
No fix is offered.

## When to ignore it
Never.
"""

import ast
from collections.abc import Iterator

from tfmemlint import Claim, Diagnostic, File, Metric, Rule
from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.solver import Question

KINDS = Question("acme kinds", nothing=frozenset(), unknown=frozenset({"anything"}))


class Kinds:
    """What kinds of objects names may stand for."""

    made = 0

    def __init__(self, tf: TensorFlow) -> None:
        Kinds.made += 1
        self._bindings, self._solver = tf.bindings, tf.solver

    def of(self, node: ast.expr) -> frozenset[str]:
        """All kinds that an expression may be."""
        return self._solver.ask(KINDS, self._kinds, node)

    def _kinds(self, node: ast.expr) -> frozenset[str]:
        if isinstance(node, ast.IfExp):
            return self.of(node.body) | self.of(node.orelse)
        if isinstance(node, ast.Name):
            given = [binding.value for binding in self._bindings.reaching(node)]
            return frozenset().union(*(self.of(each) if each else KINDS.unknown for each in given))
        return frozenset({type(node).__name__})


def check(file: File) -> Iterator[Diagnostic]:
    for call, _ in file.tf.tree.methods("predict"):
        if file.tf.of(Kinds).of(call.args[0]) == {"List", "ListComp"}:
            yield Diagnostic(file.span(call), f"a list, analysed {Kinds.made} time")


RULE = Rule(
    code="ACM102",
    name="list-to-model",
    claim=Claim(Metric.HOST_PEAK, at_most=0.5, because="the array is a fourth of the list"),
    triggers=("predict",),
    check=check,
)
'''
LISTS = """\
import tensorflow as tf

model = tf.keras.models.load_model("m")
rows = []
for step in range(3):
    rows = rows if step else [[float(each)] for each in range(9)]
    model.predict(rows)
model.predict(rows)
model.predict(open("rows"))
"""


def test_a_pack_asks_questions_of_its_own(site: Path, tmp_path: Path) -> None:
    """One that depends on itself, here; it is asked of each file once for all."""
    (site / "acme_rules" / "acm102_list_to_model.py").write_text(ANALYSIS)
    (tmp_path / "tfmemlint.toml").write_text('plugins = ["acme"]\n')
    (tmp_path / "a.py").write_text(LISTS)
    checked = ["tfmemlint", "check", "--select=ACM102", "--output-format=concise"]
    found = run(site, *checked, cwd=tmp_path).stdout.splitlines()
    assert [line.partition(": ")[0] for line in found[:-1]] == ["a.py:7:5", "a.py:8:1"]
    assert all(line.endswith("analysed 1 time") for line in found[:-1])

    explained = ["tfmemlint", "check", "--explain=a.py:8:list-to-model"]
    assert "ACM102 list-to-model: a list" in run(site, *explained, cwd=tmp_path).stdout


Change = Callable[[str], str]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (MODULE, lambda s: s.replace('"tolist")', '"to_list")'), "but marked are"),
        (MODULE, lambda s: s.replace("several times the memory", "much"), "does not say"),
        (MODULE, lambda s: s.replace(", args=[]) as", ") as"), "nothing is wrong here, but"),
        (MODULE, lambda s: s.replace('Edit(gone, "")', 'Edit(gone, ".copy()")'), "something else"),
        (MODULE, lambda s: s.replace("## Fix safety", "## Fixing"), "has the headings"),
        (MODULE, lambda s: s.replace("UNSAFE)", "SAFE)"), None),
        (f"{FOLDER}/bad.py", lambda s: re.sub(r"  # want.*", "", s), "marks no line"),
        (f"{FOLDER}/ok.py", None, "ok.py is missing"),
        (f"{FOLDER}/fixed.py", lambda s: s + "# more\n", "something else of it than fixed.py"),
    ],
)
def test_what_a_rule_does_not_do_is_told(
    site: Path, tmp_path: Path, name: str, change: Change | None, message: str | None
) -> None:
    path = site / "acme_rules" / name
    if change is None:
        path.unlink()
    else:
        before = path.read_text()
        path.write_text(change(before))
        assert path.read_text() != before
    done = held(site, tmp_path)

    assert done.returncode == (1 if message else 0), done.stdout
    assert (message or "passed") in done.stdout


@pytest.mark.tensorflow
@pytest.mark.slow
def test_what_the_example_claims_is_measured(site: Path, tmp_path: Path) -> None:
    (tmp_path / "tfmemlint.toml").write_text('plugins = ["acme"]\n')
    done = run(site, "tfmemlint", "verify", "ACM101", "--runs=1", "--timeout=500", cwd=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 claims hold" in done.stdout
