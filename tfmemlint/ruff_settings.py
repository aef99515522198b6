"""What ruff's settings, and black's, say of codes that are not its own, and of long lines."""

# ruff: noqa: PTH111, PTH113, PTH118, PTH120

from __future__ import annotations

import os

from tfmemlint.config import ConfigError, table_in
from tfmemlint.light_typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_FILES = (".ruff.toml", "ruff.toml", "pyproject.toml")
_MOST_EXTENDED = 10
USUAL = 88
"""How long the lines of both are where nobody says so."""


def that_delete(code: str, folder: str) -> str | None:
    """The ruff settings of a folder, given by its absolute path, if they do not know of a code.

    RUF100 deletes a `noqa` of others. None where there are none, where they list it as `external`,
    and where they cannot be read.
    """
    for path in _above(folder):
        if (settings := _settings(path)) is not None:
            return None if _knows(code, path, settings) else path
    return None


def longest_line(folder: str) -> int | None:
    """How long the lines of a folder are to be, given by its absolute path; None if any length."""
    for path in _above(folder):
        settings = _settings(path)
        if settings is None and path.endswith("pyproject.toml"):
            settings = _settings(path, "black")
        if settings is not None:
            told = (each.get("line-length") for each in _extended(path, settings) if each)
            return next((each for each in told if isinstance(each, int)), USUAL)
    return None


def _above(folder: str) -> Iterator[str]:
    """The files that settings may stand in, the nearest first."""
    while True:
        paths = (os.path.join(folder, name) for name in _FILES)
        yield from filter(os.path.isfile, paths)
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return


def _settings(path: str, tool: str = "ruff") -> dict[str, Any] | None:
    """What a file has for a tool; None if nothing."""
    try:
        table = table_in(path)
        return table["tool"][tool] if path.endswith("pyproject.toml") else table
    except (ConfigError, KeyError, TypeError):
        return None


def _knows(code: str, path: str, settings: dict[str, Any]) -> bool:
    """Whether settings, or what they extend, list a code as external; in doubt they do."""
    for each in _extended(path, settings):
        if each is None:
            return True
        try:
            lint: dict[str, Any] = each.get("lint", {})
            external = lint.get("external", each.get("external"))
        except AttributeError:
            return True
        if external is not None:
            if not isinstance(external, list):
                return True
            listed = map(str, cast("list[object]", external))
            return any(code.startswith(each) for each in listed)
    return False


def _extended(path: str, settings: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
    """Settings, and those that they extend; None at last where some of these cannot be read."""
    for _ in range(_MOST_EXTENDED):
        yield settings
        extended: object = settings.get("extend")
        if extended is None:
            return
        folder = os.path.dirname(path)
        path = os.path.join(folder, os.path.expanduser(os.path.expandvars(str(extended))))
        following = _settings(path) if os.path.isfile(path) else None
        if following is None:
            break
        settings = following
    yield None
