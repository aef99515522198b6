"""What ruff's settings say of codes that are not its own: its RUF100 deletes a `noqa` of others."""

# ruff: noqa: PTH111, PTH113, PTH118, PTH120

from __future__ import annotations

import os

from tfmemlint.config import ConfigError, table_in
from tfmemlint.light_typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from typing import Any

_FILES = (".ruff.toml", "ruff.toml", "pyproject.toml")
_MOST_EXTENDED = 10


def that_delete(code: str, folder: str) -> str | None:
    """The ruff settings of a folder, given by its absolute path, if they do not know of a code.

    None where there are none, where they list it as `external`, and where they cannot be read.
    """
    while True:
        for name in _FILES:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and (settings := _settings(path)) is not None:
                return None if _knows(code, path, settings) else path
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return None


def _settings(path: str) -> dict[str, Any] | None:
    """What a file has for ruff; None if nothing."""
    try:
        table = table_in(path)
        return table["tool"]["ruff"] if path.endswith("pyproject.toml") else table
    except (ConfigError, KeyError, TypeError):
        return None


def _knows(code: str, path: str, settings: dict[str, Any]) -> bool:
    """Whether settings, or what they extend, list a code as external; in doubt they do."""
    for _ in range(_MOST_EXTENDED):
        try:
            lint: dict[str, Any] = settings.get("lint", {})
            external = lint.get("external", settings.get("external"))
        except AttributeError:
            return True
        if external is not None:
            if not isinstance(external, list):
                return True
            listed = map(str, cast("list[object]", external))
            return any(code.startswith(each) for each in listed)
        extended: object = settings.get("extend")
        if extended is None:
            return False
        folder = os.path.dirname(path)
        path = os.path.join(folder, os.path.expanduser(os.path.expandvars(str(extended))))
        following = _settings(path) if os.path.isfile(path) else None
        if following is None:
            return True
        settings = following
    return True
