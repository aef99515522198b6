"""Projects with many findings: baselines, comments, and what was changed since a revision."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tfmemlint import registry
from tfmemlint.cli import main
from tfmemlint.ignoring import comments
from tfmemlint.vocabulary import Diagnostic, Finding, Span

Capture = pytest.CaptureFixture[str]

FIXTURES = registry.folder(next(iter(registry.load().values()))).parent
START = "import tensorflow as tf\n\n"
BUFFERS = "a = tf.data.TFRecordDataset('a').batch(32).shuffle(9999)\n"
OTHERS = "b = tf.data.TFRecordDataset('b').batch(8).shuffle(7777)\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(START + BUFFERS)
    return tmp_path


def check(capsys: Capture, *arguments: str) -> tuple[int, list[str], str]:
    """The exit code, `line code` of what is found, and the rest that was said."""
    status = main(["check", "--output-format=concise", *arguments])
    out, err = capsys.readouterr()
    lines = out.splitlines()
    found = [match for line in lines if (match := re.match(r"(\S+?):(.*?): (TFM\d+)", line))]
    rest = [line for line in lines if not re.match(r"(\S+?):(.*?): (TFM\d+)", line)]
    return status, [f"{match[1]}:{match[2]} {match[3]}" for match in found], "\n".join(rest) + err


# --- a baseline


def test_what_is_in_a_baseline_is_not_reported(here: Path, capsys: Capture) -> None:
    assert check(capsys)[:2] == (1, ["a.py:3:44 TFM202"])
    status, found, said = check(capsys, "--write-baseline")

    assert (status, found) == (0, [])
    assert said.startswith("1 finding written to tfmemlint-baseline.json; `--baseline tfmemlint-")
    status, found, said = check(capsys, "--baseline=tfmemlint-baseline.json")
    assert (status, found) == (0, [])
    assert said == "All checks passed! (1 file; 1 more in the baseline)"


@pytest.mark.parametrize(
    ("source", "new"),
    [
        ("# moved\n" * 30 + START + "x = 1\n" + BUFFERS, 0),
        (START + "def f():\n    " + BUFFERS, 0),
        (START + BUFFERS.replace("(9999)", "( 9999 )"), 1),  # another line
        (START + BUFFERS + BUFFERS, 1),
        (START + OTHERS + BUFFERS, 1),
        (START + OTHERS, 1),
    ],
)
def test_a_baseline_survives_moved_lines_and_nothing_more(
    here: Path, capsys: Capture, source: str, new: int
) -> None:
    check(capsys, "--write-baseline=known.json")
    (here / "a.py").write_text(source)

    assert len(check(capsys, "--baseline=known.json")[1]) == new


def test_what_the_baseline_knows_is_not_fixed(here: Path, capsys: Capture) -> None:
    (here / "a.py").write_text(START + BUFFERS)
    check(capsys, "--write-baseline=known.json")
    (here / "a.py").write_text(START + BUFFERS + OTHERS)
    check(capsys, "--baseline=known.json", "--fix", "--unsafe-fixes")

    assert BUFFERS in (here / "a.py").read_text()
    assert OTHERS not in (here / "a.py").read_text()


def test_settings_name_a_baseline_wherever_one_stands(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "tfmemlint.toml").write_text('baseline = "ci/known.json"\n')
    (here / "ci").mkdir()
    assert check(capsys)[0] == 2
    assert check(capsys, "--write-baseline")[2].startswith("1 finding written to ci/known.json;")
    assert check(capsys)[:2] == (0, [])

    monkeypatch.chdir(here / "ci")
    assert check(capsys, "..")[:2] == (0, [])
    (here / "a.py").write_text("x = 1\n")
    assert "1 error of the baseline no longer found" in check(capsys, "..")[2]
    assert check(capsys, "..", "--write-baseline")[2].startswith("0 findings written")
    assert json.loads((here / "ci/known.json").read_text())["files"] == {}


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"version": 1, "files": 3}', "not JSON"])
def test_what_is_no_baseline_is_said_to_be_none(here: Path, capsys: Capture, content: str) -> None:
    (here / "known.json").write_text(content)
    status, _, said = check(capsys, "--baseline=known.json")

    assert (status, said) == (2, f"error: {here}/known.json: not a baseline of tfmemlint\n")


def test_many_findings_end_with_the_next_step(here: Path, capsys: Capture) -> None:
    (here / "a.py").write_text(START + BUFFERS * 25)
    assert "That is a lot" not in check(capsys)[2]
    (here / "a.py").write_text(START + BUFFERS * 26)
    assert check(capsys)[2].splitlines()[-1].startswith("That is a lot: `--statistics` counts")
    assert "That is a lot" not in check(capsys, "--quiet")[2]


def test_a_baseline_is_for_a_notebook_too(here: Path, capsys: Capture) -> None:
    source = FIXTURES / "TFM202" / "cases"
    for path in sorted(source.glob("*.ipynb"))[:2] or sorted(FIXTURES.glob("*/cases/*.ipynb"))[:2]:
        shutil.copy(path, here)
    found = check(capsys, "--select=TFM2,TFM1")[1]
    assert any(each.startswith("a.py") is False for each in found)

    check(capsys, "--select=TFM2,TFM1", "--write-baseline=known.json")
    assert check(capsys, "--select=TFM2,TFM1", "--baseline=known.json")[1] == []


# --- since a revision


def git(*arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(here: Path) -> Path:
    git("init", "--quiet", ".")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    return here


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (START + BUFFERS, []),
        (START + BUFFERS + "x = 1\n", []),
        (START + BUFFERS + OTHERS, ["a.py:4:43 TFM202"]),
        (START + OTHERS, ["a.py:3:43 TFM202"]),
        ("# above\n" * 9 + START + BUFFERS, []),
        (START + BUFFERS.replace("batch(32)", "batch(\n    31)"), ["a.py:4:9 TFM202"]),
    ],
)
def test_what_is_on_changed_lines_is_reported(
    repository: Path, capsys: Capture, source: str, found: list[str]
) -> None:
    (repository / "a.py").write_text(source)
    for changed in (source, source):
        assert check(capsys, "--since=HEAD")[1] == found
        git("add", ".")
        assert changed == (repository / "a.py").read_text()
    assert check(capsys, "--since=HEAD", "--no-cache")[1] == found


def test_new_and_renamed_files_are_compared_with_what_they_were(
    repository: Path, capsys: Capture
) -> None:
    (repository / "new é.py").write_text(START + OTHERS)
    (repository / ".gitignore").write_text("gone.py\n")
    (repository / "gone.py").write_text(START + OTHERS)
    assert check(capsys, "--since=HEAD", "--no-respect-gitignore")[1] == []
    found = check(capsys, "--since=HEAD", "--quiet")
    assert found[2].count("TFM202") == 1  # its name has a space

    git("mv", "a.py", "b.py")
    (repository / "b.py").write_text(START + BUFFERS + OTHERS)
    git("add", "b.py")
    assert check(capsys, "--since=HEAD", "b.py")[1] == ["b.py:4:43 TFM202"]


def test_below_the_root_of_a_repository_paths_are_the_same(
    repository: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "sub").mkdir()
    (repository / "a.py").write_text(START + BUFFERS + OTHERS)
    monkeypatch.chdir(repository / "sub")
    status, _, said = check(capsys, "--since=HEAD", "..")

    assert status == 1
    assert "Found 1 error; 1 more on lines that were not changed." in said


def test_fixes_keep_to_changed_lines(repository: Path, capsys: Capture) -> None:
    (repository / "a.py").write_text(START + BUFFERS + OTHERS)
    check(capsys, "--since=HEAD", "--fix", "--unsafe-fixes")

    assert BUFFERS in (repository / "a.py").read_text()
    assert OTHERS not in (repository / "a.py").read_text()


@pytest.mark.parametrize(
    ("revision", "message"),
    [("nowhere", "git knows no revision `nowhere`"), ("--help", "git knows no revision `--help`")],
)
def test_a_revision_that_is_none_is_an_error(
    repository: Path, capsys: Capture, revision: str, message: str
) -> None:
    status, _, said = check(capsys, f"--since={revision}")

    assert status == 2
    assert message in said


def test_outside_of_a_repository_git_has_the_word(here: Path, capsys: Capture) -> None:
    status, _, said = check(capsys, "--since=HEAD")

    assert status == 2
    assert "error: `--since` asks git: fatal: not a git repository" in said


# --- comments


def every_program() -> list[Path]:
    return [
        path
        for path in sorted(FIXTURES.glob("*/bad.py")) + sorted(FIXTURES.glob("*/cases/*"))
        if path.suffix in (".py", ".ipynb") and ".fixed" not in path.name
    ]


@pytest.mark.parametrize(
    ("option", "part"),
    [
        pytest.param("--add-ignore", 1, marks=pytest.mark.slow),
        ("--add-noqa", 7),
        ("--add-ignore=asked # for #5", 9),
    ],
)
def test_with_a_comment_at_each_finding_nothing_is_left(
    here: Path, capsys: Capture, option: str, part: int
) -> None:
    for number, path in enumerate(every_program()[::part]):
        shutil.copy(path, here / f"n{number}{path.suffix}")
    status, _, said = check(capsys, option)
    counts = list(map(int, re.findall(r"\d+", said)))

    assert status == 0
    assert counts[0] > 400 / part
    left = check(capsys, "--no-cache")[1]
    # A magic command in a notebook's cell leaves no room, and what is missed is said.
    assert len(left) == (counts[2] if "left" in said else 0) <= 3
    for path in here.glob("*.py"):
        compile(path.read_bytes(), path.name, "exec")


def test_comments_join_those_that_are_there(here: Path, capsys: Capture) -> None:
    chain = "a = tf.data.TFRecordDataset('a').batch(32).shuffle(9999).prefetch(999)"
    (here / "a.py").write_text(f"{START}{chain}  # tfmemlint: ignore[TFM202] whole batches\n")
    (here / "b.py").write_text(f"{START}{chain}  # noqa: TFM202\n")
    (here / "c.py").write_text(f"{START}{chain}  # a note\n")
    (here / "d.py").write_bytes(f"{START}{chain}  ".replace("\n", "\r\n").encode())
    check(capsys, "--add-ignore=so be it", "a.py", "c.py", "d.py")
    check(capsys, "--add-noqa", "b.py")

    assert [(here / f"{name}.py").read_bytes().decode()[len(START) :] for name in "abc"] == [
        f"{chain}  # tfmemlint: ignore[TFM202, TFM207] whole batches\n",
        f"{chain}  # noqa: TFM202, TFM207\n",
        f"{chain}  # a note  # tfmemlint: ignore[TFM202, TFM207] so be it\n",
    ]
    assert (
        (here / "d.py")
        .read_bytes()
        .endswith(f"\r\n\r\n# tfmemlint: ignore[TFM202, TFM207] so be it\r\n{chain}  ".encode())
    )
    assert check(capsys)[:2] == (0, [])


def test_a_diff_writes_nothing(here: Path, capsys: Capture) -> None:
    before = (here / "a.py").read_text()
    status = main(["check", "--add-ignore", "--diff"])
    out, err = capsys.readouterr()

    assert (status, err) == (0, "Would add 1 comment for 1 error.\n")
    assert "+# tfmemlint: ignore[TFM202] not looked at yet\n" in out
    assert (here / "a.py").read_text() == before


def test_what_no_comment_suppresses_gets_none() -> None:
    finding = Finding("TFM002", "syntax-error", Diagnostic(Span(0, 1), "no Python"))

    assert comments("x", [finding], {}).edits == ()
    assert comments("x = (", [finding._replace(code="TFM202")], {"TFM202": "TFM202"}).edits == ()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--add-ignore", "--fix"],
        ["--add-ignore", "--add-noqa"],
        ["--write-baseline", "--watch"],
        ["--add-ignore", "-"],
    ],
)
def test_what_contradicts_itself_is_refused(
    here: Path, capsys: Capture, arguments: list[str]
) -> None:
    before = (here / "a.py").read_text()

    assert main(["check", *arguments]) == 2
    assert "is not" in capsys.readouterr().err
    assert (here / "a.py").read_text() == before
    assert os.listdir(here) == ["a.py"]  # noqa: PTH208
