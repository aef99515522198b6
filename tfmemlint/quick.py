"""Files that do not mention TensorFlow, where nothing is set: found clean before much is imported.

An editor or a hook checks one file at a time, and most files are of this kind.
"""

# ruff: noqa: PTH100, PTH109, PTH113, PTH118, PTH119, PTH120, PTH123, PTH208

from __future__ import annotations

import os

from tfmemlint.roots import MARKS, MOST_FOLDERS
from tfmemlint.screen import handles_data, mentions_tensorflow

TYPE_CHECKING = False  # `typing` alone takes as long to import as all of this to run
if TYPE_CHECKING:
    from collections.abc import Sequence

_LARGEST = 2_000_000
_SETTINGS = (".tfmemlint.toml", "tfmemlint.toml")


def nothing_to_find(arguments: Sequence[str]) -> bool:
    """Whether these arguments of `check` are files alone, none of which needs a closer look."""
    if not arguments or "TFMEMLINT_OUTPUT_FORMAT" in os.environ:
        return False
    folders = {os.getcwd()}
    try:
        for path in arguments:
            if path.startswith("-") or path.endswith(".ipynb") or not os.path.isfile(path):
                return False
            with open(path, "rb") as file:
                data = file.read(_LARGEST + 1)
            if len(data) > _LARGEST or mentions_tensorflow(data):
                return False
            if (handles_data(data) or _may_import(path, data)) and _is_with_tensorflow(path, data):
                return False
            folders.add(os.path.dirname(os.path.abspath(path)))
        return not _any_settings(folders)
    except OSError:  # to be reported as such
        return False


def looked_at(files: int, using: int = 0) -> str:
    """So many files, of which so many use TensorFlow, in words: silence alone says too little."""
    if not files:
        return "no files"
    number = "1 file" if files == 1 else f"{files} files"
    if not using:
        return f"{number}, none uses TensorFlow"
    return number if using == files else f"{number}, {using} with TensorFlow"


def _is_with_tensorflow(path: str, data: bytes) -> bool:
    """Whether a file belongs to a program with TensorFlow, as other files of it tell."""
    from tfmemlint.project import Project  # noqa: PLC0415

    return Project().uses_tensorflow(path, data)


def _may_import(path: str, data: bytes) -> bool:
    """Whether a file may import another of its project, which may use TensorFlow."""
    if b"import" not in data:
        return False
    here = os.getcwd()
    folder, own = os.path.split(os.path.abspath(path))
    if b"from ." in data:
        return True
    for _ in range(MOST_FOLDERS):
        names = os.listdir(folder)
        for name in names:
            stem, dot, ending = name.partition(".")
            if name != own and ending == ("py" if dot else "") and stem.encode() in data:
                return True
        if folder == here or not MARKS.isdisjoint(names):
            return False
        own, folder = os.path.basename(folder), os.path.dirname(folder)
    return False


def _any_settings(folders: set[str]) -> bool:
    """Whether any of these folders, or one above them, may have settings of ours."""
    pending, seen = list(folders), set[str]()
    for folder in pending:
        if folder in seen:
            continue
        seen.add(folder)
        pending.append(os.path.dirname(folder))
        if any(os.path.lexists(os.path.join(folder, name)) for name in _SETTINGS):
            return True
        project = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(project):  # what is no file is no settings, and a pipe would never end
            with open(project, "rb") as file:
                if b"tfmemlint" in file.read():
                    return True
    return False
