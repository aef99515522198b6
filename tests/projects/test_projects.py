"""Small projects of several files: what is marked is found, and the look-alikes stay silent."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
from pathlib import Path

import pytest

from tfmemlint.cli import main

PROJECTS = sorted(each for each in Path(__file__).with_name("programs").iterdir() if each.is_dir())
SILENT = [each for each in PROJECTS if each.name.startswith("ok_")]
MARK = re.compile(r"[ \t]*# want (TFM\d+(?: TFM\d+)*)$", re.MULTILINE)
AT_LEAST = 53
"""How many of the marked findings are found: it may only grow."""
AT_MOST_DIFFER = 0
"""In how many projects a file says something else where it is checked alone."""

Found = set[tuple[str, int, str]]
"""File, line and code."""


def wanted(project: Path) -> Found:
    """The marked lines of a project."""
    return {
        (str(path.relative_to(project)), text.count("\n", 0, mark.start()) + 1, code)
        for path in project.rglob("*.py")
        for text in [path.read_text()]
        for mark in MARK.finditer(text)
        for code in mark[1].split()
    }


def check(folder: Path, paths: list[Path]) -> Found:
    """What is found in these files of a project, everything selected."""
    said = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(said):
        main(["check", "--isolated", "--no-cache", "--output-format", "json", *map(str, paths)])
    said.seek(0)
    printed = said.read()
    return {
        (str(Path(each["filename"]).relative_to(folder)), each["location"]["row"], each["code"])
        for each in json.loads(printed)
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Found]]:
    """The projects without their marks, in folders of their own, and what is found in them."""
    copies: dict[str, tuple[Path, Found]] = {}
    for project in PROJECTS:
        copy = tmp_path_factory.mktemp("projects") / project.name
        shutil.copytree(project, copy)
        for path in copy.rglob("*.py"):
            path.write_text(MARK.sub("", path.read_text()))
        copies[project.name] = copy, check(copy, [copy])
    return copies


def test_marked_findings_are_found(whole: dict[str, tuple[Path, Found]]) -> None:
    missed = {each.name: wanted(each) - whole[each.name][1] for each in PROJECTS}
    found = sum(len(wanted(each) & whole[each.name][1]) for each in PROJECTS)

    assert found >= AT_LEAST, {name: left for name, left in missed.items() if left}


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_nothing_but_what_is_marked_is_found(
    project: Path, whole: dict[str, tuple[Path, Found]]
) -> None:
    assert whole[project.name][1] - wanted(project) == set()


def test_a_file_says_the_same_alone(whole: dict[str, tuple[Path, Found]]) -> None:
    differing = [
        name
        for name, (copy, found) in whole.items()
        if found != Found().union(*(check(copy, [path]) for path in sorted(copy.rglob("*.py"))))
    ]

    assert len(differing) <= AT_MOST_DIFFER, differing


def test_a_third_of_the_projects_is_to_stay_silent() -> None:
    assert len(PROJECTS) >= 40
    assert len(SILENT) >= len(PROJECTS) // 3
    assert all(not wanted(each) for each in SILENT)
    assert all(wanted(each) for each in PROJECTS if each not in SILENT)
    assert all(2 <= len([*each.rglob("*.py"), *each.rglob("*.ipynb")]) <= 5 for each in PROJECTS)
