"""Which versions of TensorFlow a project asks for in its requirements."""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH116, PTH118, PTH119, PTH123

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from stat import S_ISREG

_LARGEST = 4_000_000
_FLAGS = re.MULTILINE | re.IGNORECASE
_DISTRIBUTION = r"(?:tensorflow(?:-(?:cpu|gpu|intel|macos|rocm))?|intel-tensorflow|tf-nightly)"
_REQUIREMENT = (
    rf"""(?:^|["'])[ \t]*{_DISTRIBUTION}[ \t]*(?:\[[^]]*\])?[ \t]*\(?([<>=!~][^;#"'\n)]*)"""
)
"""`tensorflow[and-cuda]>=2.12`, on a line of requirements or in a string of a pyproject.toml."""
_CONDA = rf"""^[ \t]*-[ \t]*["']?{_DISTRIBUTION}[ \t]*([<>=!~][^;#"'\n]*)"""
"""`- tensorflow=2.12`, or what pip is told below `- pip:`"""
_POETRY = (
    rf"""^[ \t]*{_DISTRIBUTION}[ \t]*=[ \t]*(?:\{{[^}}\n]*version[ \t]*=[ \t]*)?["']([^"'\n]+)"""
)
"""`tensorflow = "^2.12"`"""
_LOCKED = (
    rf"""^name[ \t]*=[ \t]*["']{_DISTRIBUTION}["'][ \t]*\r?\nversion[ \t]*=[ \t]*["']([^"'\n]+)"""
)
"""A package of a poetry.lock, a pdm.lock or a uv.lock."""
_LOCKED_BY_PIPENV = (
    rf""""{_DISTRIBUTION}"[ \t]*:[ \t]*\{{[^{{}}]*"version"[ \t]*:[ \t]*"([^"\n]+)"""
)
_OLD_KERAS = (
    r"""(?:^|["'])[ \t]*(?:-[ \t]*["']?)?keras[ \t]*\(?"""
    r"(?:(?:={1,3}|~=|<=)[ \t]*(?:1\.|2\.[0-3](?!\d))|<[ \t]*2\.[1-4](?!\d))"
)
"""`keras==2.2.4`: a Keras that is not TensorFlow's."""
_WITH_OLD_KERAS = ">=1"
"""What it runs with; the last of them with TensorFlow 2.2, too."""

_LOCKS = {
    "Pipfile.lock": _LOCKED_BY_PIPENV,
    "pdm.lock": _LOCKED,
    "poetry.lock": _LOCKED,
    "uv.lock": _LOCKED,
}
_DECLARING = frozenset({"Pipfile", "pyproject.toml", "setup.cfg", "setup.py"})


def specifiers(folder: str) -> tuple[str, ...]:
    """The specifiers for TensorFlow in a folder's lock files or, without any, in what it requires.

    That is in its pyproject.toml, setup.cfg, setup.py, Pipfile, requirements*.txt, or the files of
    a folder `requirements`, and its environment*.yml. An old Keras says which it runs with.
    """
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return ()
    locked = [each for name in names if name in _LOCKS for each in _in_lock(folder, name)]
    if locked:
        return tuple(locked)
    paths = [os.path.join(folder, name) for name in names if _declares(name)]
    if "requirements" in names:
        paths += _lists(os.path.join(folder, "requirements"))
    return tuple(each for path in paths for each in _in_file(path))


def _declares(name: str) -> bool:
    listed = name.startswith("requirements") and name.endswith((".txt", ".in"))
    return listed or name in _DECLARING or _is_environment(name)


def _is_environment(name: str) -> bool:
    return name.startswith(("conda", "environment")) and name.endswith((".yml", ".yaml"))


def _lists(folder: str) -> list[str]:
    """The files of a folder of requirements."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith((".txt", ".in"))]


def _in_lock(folder: str, name: str) -> Iterator[str]:
    for match in re.finditer(_LOCKS[name], _text(os.path.join(folder, name)), _FLAGS):
        version = match[1].strip()
        yield version if version.startswith("=") else f"=={version}"


def _in_file(path: str) -> Iterator[str]:
    text, name = _text(path), os.path.basename(path)
    if re.search(_OLD_KERAS, text, _FLAGS):
        yield _WITH_OLD_KERAS
    if name.endswith(".toml") or name == "Pipfile":
        for match in re.finditer(_POETRY, text, _FLAGS):
            version = match[1].strip()
            exact = "==" if version[:1].isdigit() else ""
            yield (
                f">={version[1:]}"
                if version[:1] in "^~" and version[:2] != "~="
                else exact + version
            )
    if _is_environment(name):
        for match in re.finditer(_CONDA, text, _FLAGS):
            version = match[1].strip()
            single = version[:1] == "=" and version[:2] != "=="
            yield f"=={version[1:].partition('=')[0].strip()}" if single else version
        return
    for match in re.finditer(_REQUIREMENT, text, _FLAGS):
        if not match[1].startswith("= "):
            yield match[1].strip()


def _text(path: str) -> str:
    """What a file says, as far as it is read; nothing where it cannot be."""
    try:
        if not S_ISREG(os.stat(path).st_mode):  # a pipe is without an end
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_LARGEST)
    except OSError:
        return ""
