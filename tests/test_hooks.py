"""The hooks that other projects put in their pre-commit settings, run by pre-commit itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

CLEAN = "import tensorflow as tf\n\nds = tf.data.Dataset.range(9).shuffle(9).batch(3)\n"
SHUFFLES_BATCHES = """\
import tensorflow as tf

images = tf.data.Dataset.from_tensor_slices(tf.random.normal([2048, 64, 64, 3]))
images = images.batch(32)
images = images.shuffle(100)
"""


def run(*command: str, folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
    own = {
        "PRE_COMMIT_HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PRE_COMMIT_COLOR": "never",
    }
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps what it builds: once for all tests here."""
    return tmp_path_factory.mktemp("pre-commit")


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    """Somebody's repository, with one clean file and one finding."""
    (tmp_path / "clean.py").write_text(CLEAN)
    (tmp_path / "train.py").write_text(SHUFFLES_BATCHES)
    (tmp_path / "notes.txt").write_text("not Python")
    run("git", "init", "--quiet", folder=tmp_path, home=home)
    run("git", "add", ".", folder=tmp_path, home=home)
    return tmp_path


def try_hook(hook: str, project: Path, home: Path, *files: str) -> subprocess.CompletedProcess[str]:
    return run(
        *(sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), hook),
        *(["--files", *files] if files else ["--all-files"]),
        folder=project,
        home=home,
    )


pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="pre-commit clones a repository"
)


def test_the_hook_fails_a_commit_with_a_finding(project: Path, home: Path) -> None:
    done = try_hook("tfmemlint", project, home)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "train.py:5" in done.stdout
    assert "TFM202" in done.stdout


def test_the_hook_passes_clean_files_and_reads_no_others(project: Path, home: Path) -> None:
    done = try_hook("tfmemlint", project, home, "clean.py", "notes.txt")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout


def test_the_fixing_hook_applies_no_unsafe_fix_unasked(project: Path, home: Path) -> None:
    done = try_hook("tfmemlint-fix", project, home)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "TFM202" in done.stdout
    assert (project / "train.py").read_text() == SHUFFLES_BATCHES
