"""Which files to check: found below folders, or given by name. None of them is opened here."""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH100, PTH109, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from stat import S_ISDIR, S_ISREG

from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple
from tfmemlint.patterns import Matcher

if TYPE_CHECKING:
    from tfmemlint.gitignore import Gitignore

SUFFIXES = (".py", ".ipynb")

_LARGEST = 1_000_000
"""Bytes of a .gitignore that are read."""

Excluded = Callable[[str], Matcher]
"""What is excluded in a folder, given by its absolute path."""

Begins = Callable[[str], str]
"""Where the project of a file or folder begins, all of them given by their absolute paths."""


class Found(NamedTuple):
    """Files in the order they are to be reported, and what stood in the way of finding more."""

    files: list[str]
    problems: list[str]


class _Folder(NamedTuple):
    shown: str
    """How the paths in it begin, as the user is to read them."""
    absolute: str
    real: str
    ignores: tuple[Gitignore, ...]
    """The .gitignore files that speak of it, the innermost first."""


def find(
    paths: Iterable[str],
    excluded: Excluded,
    *,
    respect_gitignore: bool,
    force_exclude: Begins | None,
    suffixes: tuple[str, ...] = SUFFIXES,
) -> Found:
    """The files that these paths mean, each one once.

    With `force_exclude` what is excluded is left out where it was named, too.
    """
    found: dict[str, str] = {}
    links: list[tuple[str, str]] = []
    problems: list[str] = []
    for path in paths:
        try:
            is_folder = S_ISDIR(os.stat(path).st_mode)
        except OSError as error:
            if not os.path.lexists(path):
                problems.append(f"{path}: {error.strerror}")
                continue
            is_folder = False  # to be reported as a file that cannot be read
        absolute = os.path.abspath(path)
        if force_exclude and is_excluded(absolute, excluded, force_exclude):
            continue
        if is_folder:
            ignores = _above(absolute) if respect_gitignore else ()
            start = _Folder(_prefix(path), absolute, os.path.realpath(path), ignores)
            _walk(start, excluded, respect_gitignore, suffixes, found, links, problems)
        else:
            found.setdefault(os.path.realpath(path), shown(path))
    for target, link in sorted(links):
        found.setdefault(target, link)  # a file is known by its own name rather than by a link's
    return Found(sorted(found.values()), problems)


def shown(path: str) -> str:
    """A path as users read it: from the working directory if it is below, else as it was given."""
    path = os.path.normpath(path)
    here = os.getcwd().rstrip(os.sep) + os.sep
    return path.removeprefix(here)


def _prefix(folder: str) -> str:
    path = shown(folder)
    if path in (os.curdir, os.getcwd()):
        return ""
    return path if path.endswith(os.sep) else path + os.sep


def is_excluded(path: str, excluded: Excluded, begins: Begins) -> bool:
    """Whether a file or folder, given by its absolute path, is excluded or in one that is.

    How the folders are called in which a project stands is nothing that settings speak of.
    """
    first = begins(path)
    while path != first:
        folder, name = os.path.split(path)
        if not name:
            return False
        if excluded(folder).matches(name, _slashed(path)):
            return True
        path = folder
    return False


def _walk(
    start: _Folder,
    excluded: Excluded,
    respect_gitignore: bool,
    suffixes: tuple[str, ...],
    found: dict[str, str],
    links: list[tuple[str, str]],
    problems: list[str],
) -> None:
    from tfmemlint.gitignore import ignored  # noqa: PLC0415  who names a file waits for less

    pending = [start]
    while pending:
        shown, absolute, real, ignores = pending.pop()
        try:
            with os.scandir(absolute) as scan:
                entries = list(scan)
        except OSError as error:
            problems.append(f"{shown or os.curdir}: {error.strerror}")
            continue
        slashed = _slashed(absolute)
        if respect_gitignore:
            ignores = _here(absolute, slashed, {entry.name for entry in entries}, ignores)
        exclude = excluded(absolute)
        for entry in entries:
            name = entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not name.endswith(suffixes):
                continue
            path = f"{slashed}/{name}"
            if exclude.matches(name, path):
                continue
            if ignores and ignored(ignores, name, path, is_folder=is_folder):
                continue
            if is_folder:
                pending.append(
                    _Folder(
                        shown + name + os.sep,
                        os.path.join(absolute, name),
                        os.path.join(real, name),
                        ignores,
                    )
                )
            elif entry.is_symlink():
                if _is_file(entry.path):
                    links.append((os.path.realpath(entry.path), shown + name))
            elif entry.is_file(follow_symlinks=False):
                found.setdefault(os.path.join(real, name), shown + name)


def _here(
    absolute: str, slashed: str, names: set[str], above: tuple[Gitignore, ...]
) -> tuple[Gitignore, ...]:
    """The .gitignore files for a folder's entries; a repository hears of none above it."""
    if ".git" in names:
        above = _read(os.path.join(absolute, ".git", "info", "exclude"), slashed)
    if ".gitignore" in names:
        above = (*_read(os.path.join(absolute, ".gitignore"), slashed), *above)
    return above


def _above(absolute: str) -> tuple[Gitignore, ...]:
    """The .gitignore files of the folders above one, if a repository is there."""
    folders: list[str] = []
    while not os.path.lexists(os.path.join(absolute, ".git")):
        absolute, below = os.path.dirname(absolute), absolute
        if absolute == below:
            return ()
        folders.append(absolute)
    ignores: tuple[Gitignore, ...] = ()
    for folder in reversed(folders):
        names = {name for name in (".git", ".gitignore") if os.path.lexists(f"{folder}/{name}")}
        ignores = _here(folder, _slashed(folder), names, ignores)
    return ignores


def _read(path: str, folder: str) -> tuple[Gitignore, ...]:
    if not _is_file(path):
        return ()
    from tfmemlint.gitignore import gitignore  # noqa: PLC0415

    try:
        with open(path, "rb") as file:
            return (gitignore(file.read(_LARGEST), folder),)
    except OSError:
        return ()


def _is_file(path: str) -> bool:
    try:
        return S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def _slashed(path: str) -> str:
    path = path.replace(os.sep, "/") if os.sep != "/" else path
    return path.rstrip("/")
