"""Which versions of TensorFlow a project asks for in its requirements."""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH116, PTH118, PTH123

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from stat import S_ISREG

_LARGEST = 1_000_000
_FLAGS = re.MULTILINE | re.IGNORECASE
_DISTRIBUTION = r"(?:tensorflow(?:-(?:cpu|gpu|intel|macos|rocm))?|intel-tensorflow|tf-nightly)"
_REQUIREMENT = (
    rf"""(?:^|["'])[ \t]*{_DISTRIBUTION}[ \t]*(?:\[[^]]*\])?[ \t]*\(?([<>=!~][^;#"'\n)]*)"""
)
"""`tensorflow[and-cuda]>=2.12`, on a line of requirements or in a string of a pyproject.toml."""
_POETRY = (
    rf"""^[ \t]*{_DISTRIBUTION}[ \t]*=[ \t]*(?:\{{[^}}\n]*version[ \t]*=[ \t]*)?["']([^"'\n]+)"""
)
"""`tensorflow = "^2.12"`"""


def specifiers(folder: str) -> tuple[str, ...]:
    """The specifiers for TensorFlow in a folder's pyproject.toml and requirements*.txt."""
    try:
        names = sorted(filter(_declares, os.listdir(folder)))  # noqa: PTH208
    except OSError:
        return ()
    return tuple(each for name in names for each in _in_file(os.path.join(folder, name)))


def _declares(name: str) -> bool:
    listed = name.startswith("requirements") and name.endswith((".txt", ".in"))
    return listed or name == "pyproject.toml"


def _in_file(path: str) -> Iterator[str]:
    try:
        if not S_ISREG(os.stat(path).st_mode):  # a pipe is without an end
            return
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(_LARGEST)
    except OSError:
        return
    if path.endswith(".toml"):
        for match in re.finditer(_POETRY, text, _FLAGS):
            version = match[1].strip()
            exact = "==" if version[:1].isdigit() else ""
            yield (
                f">={version[1:]}"
                if version[:1] in "^~" and version[:2] != "~="
                else exact + version
            )
    for match in re.finditer(_REQUIREMENT, text, _FLAGS):
        if not match[1].startswith("= "):
            yield match[1].strip()
