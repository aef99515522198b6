"""Gives mkdocs the pages that are made: of each rule, and of the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from tfmemlint import site

HERE = Path(__file__).parent


def on_config(config: Any) -> Any:
    """Leave pages out of the navigation that are not there."""
    made = {"rules/index.md", "settings.md"}
    config.nav = [_there(entry, made) for entry in config.nav if _there(entry, made)]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add what is made."""
    for path, text in site.pages(HERE):
        files.append(File.generated(config, path, content=text))
    return files


def _there(entry: Any, made: set[str]) -> Any:
    ((title, target),) = entry.items()
    if isinstance(target, list):
        return {title: [each for each in target if _there(each, made)]}
    return entry if target in made or (HERE / target).is_file() else None
