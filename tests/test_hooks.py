"""The hooks that other projects put in their pre-commit settings, run by pre-commit itself."""

import json
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


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory, home: Path) -> str:
    """Settings of pre-commit's with both hooks, as they are in this checkout."""
    clone = tmp_path_factory.mktemp("hooks")
    run("git", "clone", "--quiet", str(ROOT), str(clone), folder=clone, home=home)
    run("git", f"--work-tree={ROOT}", "add", "--update", folder=clone, home=home)
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    commit = ("commit", "--quiet", "--allow-empty", "--no-verify", "--message", "as it is")
    run("git", *identity, *commit, folder=clone, home=home)
    revision = run("git", "rev-parse", "HEAD", folder=clone, home=home).stdout.strip()
    names = [{"id": "tfmemlint"}, {"id": "tfmemlint-fix"}]
    return json.dumps({"repos": [{"repo": str(clone), "rev": revision, "hooks": names}]})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, home: Path, hooks: str) -> Path:
    """Somebody's repository, with one clean file and one finding."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "clean.py").write_text(CLEAN)
    (folder / "train.py").write_text(SHUFFLES_BATCHES)
    (folder / "notes.txt").write_text("not Python")
    (folder / ".pre-commit-config.yaml").write_text(hooks)
    run("git", "init", "--quiet", folder=folder, home=home)
    run("git", "add", ".", folder=folder, home=home)
    return folder


def try_hooks(project: Path, home: Path, *files: str) -> subprocess.CompletedProcess[str]:
    """Run both hooks, which pre-commit installs once."""
    return run(
        *(sys.executable, "-m", "pre_commit", "run"),
        *(["--files", *files] if files else ["--all-files"]),
        folder=project,
        home=home,
    )


@pytest.fixture(scope="module")
def of_all_files(project: Path, home: Path) -> tuple[int, str, str]:
    """The status, and what each hook says of the whole repository."""
    done = try_hooks(project, home)
    checks, _, fixes = done.stdout.partition("- hook id: tfmemlint-fix\n")
    assert "- hook id: tfmemlint\n" in checks, done.stdout + done.stderr
    return done.returncode, checks, fixes


pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="pre-commit clones a repository"
)


def test_the_hook_fails_a_commit_with_a_finding(of_all_files: tuple[int, str, str]) -> None:
    status, checks, _ = of_all_files

    assert status == 1
    assert "train.py:5" in checks
    assert "TFM202" in checks


def test_the_hook_passes_clean_files_and_reads_no_others(project: Path, home: Path) -> None:
    done = try_hooks(project, home, "clean.py", "notes.txt")

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("Passed") == 2


def test_the_fixing_hook_applies_no_unsafe_fix_unasked(
    of_all_files: tuple[int, str, str], project: Path
) -> None:
    status, _, fixes = of_all_files

    assert status == 1
    assert "TFM202" in fixes
    assert (project / "train.py").read_text() == SHUFFLES_BATCHES
