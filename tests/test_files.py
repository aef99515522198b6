"""The files to check are found as ruff and git would find them, each once, and none is opened."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tfmemlint.config import rooted
from tfmemlint.files import Found, find
from tfmemlint.options import EXCLUDED
from tfmemlint.patterns import ANY, Matcher, PatternError, matcher

GIT = {
    "PATH": os.environ["PATH"],
    "HOME": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def found(
    *paths: object,
    exclude: Iterable[str] = EXCLUDED,
    respect_gitignore: bool = True,
    force_exclude: bool = False,
) -> Found:
    excluded = matcher(rooted(tuple(exclude), str(Path.cwd())), ANY)
    return find(
        map(str, paths or ["."]),
        lambda folder: excluded,
        respect_gitignore=respect_gitignore,
        force_exclude=(lambda path: str(Path.cwd())) if force_exclude else None,
    )


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_python_files_and_notebooks_are_found_at_any_depth_in_order(here: Path) -> None:
    make(here, "z.py", "a.py", "b/c/d.py", "b/a.ipynb", "b-c/a.py")

    assert found().files == ["a.py", "b-c/a.py", "b/a.ipynb", "b/c/d.py", "z.py"]


def test_other_files_are_not_found(here: Path) -> None:
    make(here, "a.pyc", "b.txt", "py", "c.py.bak", "d.PY", "e.pyi")

    assert found() == Found([], [])


def test_a_file_given_by_name_is_found_whatever_its_name(here: Path) -> None:
    make(here, "script", "venv/a.py")
    (here / ".gitignore").write_text("script\n")

    assert found("script", "venv/a.py").files == ["script", "venv/a.py"]


def test_paths_are_shown_from_the_working_directory(here: Path) -> None:
    make(here, "src/a.py", "b.py")

    assert found(here / "src", "./b.py").files == ["b.py", "src/a.py"]


def test_paths_elsewhere_are_shown_as_they_are_given(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(here, "src/a.py", "work/x")
    monkeypatch.chdir(here / "work")

    assert found("../src").files == ["../src/a.py"]
    assert found(here / "src").files == [str(here / "src" / "a.py")]


@pytest.mark.parametrize("name", EXCLUDED)
def test_folders_that_are_not_ours_are_left_out(here: Path, name: str) -> None:
    make(here, f"a/{name}/b.py", f"{name}s/c.py")

    assert found().files == [f"{name}s/c.py"]


def test_a_folder_given_by_name_is_searched_even_if_it_is_excluded(here: Path) -> None:
    make(here, "build/a.py", "build/build/b.py")

    assert found("build").files == ["build/a.py"]


@pytest.mark.parametrize("path", ["build", "build/a.py", "x/build/deep/b.py", "generated_1.py"])
def test_with_force_exclude_nothing_excluded_is_found(here: Path, path: str) -> None:
    make(here, "build/a.py", "x/build/deep/b.py", "generated_1.py")
    exclude = ("build", "generated_*.py")

    assert found(path, exclude=exclude, force_exclude=True) == Found([], [])
    assert len(found(path, exclude=exclude).files) == 1


def test_with_force_exclude_other_files_are_still_found(here: Path) -> None:
    make(here, "builder/a.py", "b.py")

    assert found("builder", "b.py", force_exclude=True).files == ["b.py", "builder/a.py"]


@pytest.mark.parametrize(
    ("pattern", "left_out"),
    [
        ("b.py", ["a/b.py", "b.py"]),
        ("a", ["a/b.py", "a/c/d.py"]),
        ("a/", ["a/b.py", "a/c/d.py"]),
        ("./a", ["a/b.py", "a/c/d.py"]),
        ("a/b.py", ["a/b.py"]),
        ("a/*.py", ["a/b.py", "a/c/d.py"]),
        ("*/d.py", ["a/c/d.py"]),
        ("**/d.py", ["a/c/d.py"]),
        ("**/b.py", ["a/b.py", "b.py"]),
        ("a/**", ["a/b.py", "a/c/d.py"]),
        ("a/**/d.py", ["a/c/d.py"]),
        ("[bx].py", ["a/b.py", "b.py"]),
        ("?.py", ["a/b.py", "a/c/d.py", "b.py"]),
        ("{b,d}.py", ["a/b.py", "a/c/d.py", "b.py"]),
        ("a/{c,x}/*", ["a/c/d.py"]),
        ("*", ["a/b.py", "a/c/d.py", "b.py"]),
    ],
)
def test_a_pattern_leaves_out_what_it_matches(
    here: Path, pattern: str, left_out: list[str]
) -> None:
    make(here, "a/b.py", "a/c/d.py", "b.py")
    everything = found(exclude=()).files

    assert left_out == sorted(set(everything) - set(found(exclude=[pattern]).files))


@pytest.mark.parametrize(
    "pattern", ["c.py", "B.py", "b", "b.p", "c/d.py", "/a", "[!b].x", "x/**", ""]
)
def test_a_pattern_leaves_nothing_else_out(here: Path, pattern: str) -> None:
    make(here, "a/b.py", "a/c/d.py", "b.py")

    assert found(exclude=()) == found(exclude=[pattern])


def test_patterns_mean_what_they_say_below_a_folder_with_an_odd_name(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = here / "a[b]{c,d}*\\"
    make(odd, "x/a.py", "y/a.py")
    monkeypatch.chdir(odd)

    assert found(exclude=["x/*.py"]).files == ["y/a.py"]


@pytest.mark.parametrize("pattern", ["[a", "a\\", "[[:nonsense:]]", "x/[a-", "{a,b}" * 12])
def test_a_pattern_that_makes_no_sense_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        found(exclude=[pattern])


def test_no_pattern_takes_long(here: Path) -> None:
    make(here, "a" * 200 + ".py", "a/" * 90 + "b.py")
    hostile = ["*a" * 60 + "b", "**/a/" * 40 + "c.py", "*?" * 60 + "b.py", "a/" + "*a" * 50 + "*.c"]
    (here / ".gitignore").write_text("\n".join([*hostile, "*a/**/" * 30 + "x"]))

    begin = time.process_time()

    assert len(found(exclude=hostile).files) == 2
    assert time.process_time() - begin < 5


def test_what_does_not_exist_is_a_problem_and_the_rest_is_found(here: Path) -> None:
    make(here, "a.py")

    assert Found(["a.py"], ["b.py: No such file or directory"]) == found("a.py", "b.py")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_a_problem(here: Path) -> None:
    make(here, "a.py", "closed/b.py")
    (here / "closed").chmod(0)
    try:
        assert Found(["a.py"], ["closed/: Permission denied"]) == found()
    finally:
        (here / "closed").chmod(0o700)


def test_folders_nested_too_deeply_for_any_path_are_a_problem(here: Path) -> None:
    make(here, "a.py")
    deep = "d" * 200
    for _ in range(25):
        os.mkdir(deep)  # noqa: PTH102  pathlib would name the whole path
        os.chdir(deep)
    os.chdir(here)
    files, problems = found()

    assert files == ["a.py"]
    assert [each.rpartition(": ")[2] for each in problems] == ["File name too long"]


def test_a_file_is_found_once_by_whatever_ways(here: Path) -> None:
    make(here, "src/b.py")
    (here / "src" / "a_link.py").symlink_to("b.py")
    (here / "src" / "z_link.py").symlink_to(here / "src" / "b.py")
    (here / "folder").symlink_to("src")

    assert found(".", "src", "src/b.py", "folder", "folder/b.py").files == ["src/b.py"]


def test_a_link_to_a_file_elsewhere_is_found(here: Path) -> None:
    make(here, "src/x", "elsewhere/b.py")
    (here / "src" / "a.py").symlink_to("../elsewhere/b.py")

    assert found("src").files == ["src/a.py"]


def test_links_that_lead_nowhere_or_in_circles_are_left_alone(here: Path) -> None:
    make(here, "a.py")
    (here / "loop").symlink_to(".")
    (here / "self.py").symlink_to("self.py")
    (here / "gone.py").symlink_to("nowhere")
    (here / "folder.py").symlink_to(".")

    assert Found(["a.py"], []) == found()


def test_a_link_that_leads_nowhere_is_found_if_it_is_given_by_name(here: Path) -> None:
    (here / "gone.py").symlink_to("nowhere")

    assert Found(["gone.py"], []) == found("gone.py")


def test_only_regular_files_are_found(here: Path) -> None:
    make(here, "a.py", "folder.py/b.py")
    os.mkfifo(here / "pipe.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.py")

        assert Found(["a.py", "folder.py/b.py"], []) == found()


def test_names_that_are_no_text_are_found(here: Path) -> None:
    name = os.fsdecode(b"\xff.py")
    make(here, name)

    assert [name] == found().files


def test_the_gitignore_of_a_folder_and_of_those_above_it_count(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(here, ".git/x", "a/b/keep.py", "a/b/drop.py", "a/b/c/too.py", "a/b/mine.py")
    (here / ".gitignore").write_text("drop.py\n/a/b/c/\n")
    (here / "a" / ".gitignore").write_text("b/mine.py\n")

    assert found().files == ["a/b/keep.py"]
    assert found("a/b").files == ["a/b/keep.py"]
    assert len(found("a", respect_gitignore=False).files) == 4

    monkeypatch.chdir(here / "a" / "b")

    assert found().files == ["keep.py"]


def test_a_nearer_gitignore_takes_back_what_a_farther_one_ignores(here: Path) -> None:
    make(here, "gen_a.py", "sub/gen_b.py", "sub/deep/gen_c.py")
    (here / ".gitignore").write_text("gen_*.py\n")
    (here / "sub" / ".gitignore").write_text("!gen_b.py\n")

    assert found().files == ["sub/gen_b.py"]


def test_a_repository_knows_nothing_of_the_gitignore_around_it(here: Path) -> None:
    make(here, ".git/x", "a.py", "inner/.git/x", "inner/a.py")
    (here / ".gitignore").write_text("a.py\n")

    assert found().files == ["inner/a.py"]
    assert found("inner").files == ["inner/a.py"]


def test_what_a_clone_excludes_for_itself_is_ignored(here: Path) -> None:
    make(here, ".git/info/exclude", "scratch.py", "a.py")
    (here / ".git" / "info" / "exclude").write_text("scratch.py\n")

    assert found().files == ["a.py"]


def test_a_gitignore_that_is_no_file_is_passed_over(here: Path) -> None:
    make(here, "a.py")
    os.mkfifo(here / ".gitignore")

    assert found().files == ["a.py"]


NAMES = ["a", "b", "ab", "a.py", "x.py", "-", "]", "a b", "a ", "!a", "#a", "c-d", "\\", "\xe9"]
PIECES = [
    *("a", "b", "ab", "x", "*", "**", "***", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[!]a]"),
    *(
        "[[:alpha:]]",
        "[[:digit:]x]",
        "[[:foo:]]",
        "[[a]",
        "[z-a]",
        "[a",
        "[\\]]",
        "[a-]",
        "[a\\-c]",
    ),
    *("\\a", "\\*", "\\", "/", "/", "/**/", ".py", "*.py", " ", "\\ ", "!", "#", "\xe9", "{a,b}"),
]


@st.composite
def lines(draw: st.DrawFn) -> str:
    line = "".join(draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=5)))
    start = draw(st.sampled_from(["", "", "", "!", "/", "**/", "!/"]))
    return start + line + draw(st.sampled_from(["", "", "", "/", "/**", " ", "\r"]))


def odd(line: str) -> bool:
    """Git differs from its own manual on an empty folder name, and on stars as in `a**/`."""
    before = line.split("**/")[:-1]
    return "//" in line or any(part.rstrip("*")[-1:] not in ("", "/") for part in before)


@needs_git
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4), min_size=3, max_size=8),
    st.lists(lines().filter(lambda line: not odd(line)), min_size=1, max_size=5),
    st.lists(lines().filter(lambda line: not odd(line)), max_size=3),
)
@example([["a", "b"], ["b", "a"]], ["/*", "!/a"], ["!b"])
def test_git_ignores_the_same_files(
    paths: list[list[str]], rules: list[str], inner: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make(root, ".git/objects/x", ".git/refs/x")  # a repository, faster than git makes it
        (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        for path in paths:
            place = root.joinpath(*path)
            if not any(part.is_file() for part in (place, *place.parents)):
                make(place, "it.py")
        (root / ".gitignore").write_text("\n".join(rules), "utf-8", newline="")
        if (root / "a").is_dir():
            (root / "a" / ".gitignore").write_text("\n".join(inner), "utf-8", newline="")
        command = ["git", "ls-files", "-z", "--others", "--exclude-standard", "*.py"]
        listed = subprocess.run(command, cwd=root, check=True, capture_output=True, env=GIT)
        expected = {os.fsdecode(name) for name in listed.stdout.split(b"\0") if name}
        ours = find([folder], lambda _: Matcher(), respect_gitignore=True, force_exclude=None)

        assert expected == {os.path.relpath(path, folder) for path in ours.files}
