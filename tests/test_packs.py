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


def run(site: Path, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"},
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
def test_what_the_example_claims_is_measured(site: Path, tmp_path: Path) -> None:
    (tmp_path / "tfmemlint.toml").write_text('plugins = ["acme"]\n')
    done = run(site, "tfmemlint", "verify", "ACM101", "--runs=1", "--timeout=500", cwd=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 claims hold" in done.stdout
