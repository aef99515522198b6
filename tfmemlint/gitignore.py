"""What a tree's .gitignore files leave out, as git reads them; git itself is never run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import groupby

from tfmemlint.light_typing import NamedTuple
from tfmemlint.patterns import WITHIN_SEGMENT, Matcher, PatternError, matcher


class _Verdict(NamedTuple):
    """Consecutive lines of a .gitignore that all ignore or all take back."""

    ignored: bool
    anything: Matcher
    folders: Matcher


class Gitignore(NamedTuple):
    """The lines of one .gitignore, and the folder they speak of."""

    folder: str
    """Without a slash at its end, each byte as one character."""
    verdicts: tuple[_Verdict, ...]
    """The last one that means a path decides."""

    def ignores(self, name: str, path: str, *, is_folder: bool) -> bool | None:
        """Whether a path below the folder is ignored; None where no line means it."""
        inside = path[len(self.folder) :]
        for verdict in reversed(self.verdicts):
            if verdict.anything.matches(name, inside) or (
                is_folder and verdict.folders.matches(name, inside)
            ):
                return verdict.ignored
        return None


def gitignore(data: bytes, folder: str) -> Gitignore:
    """The .gitignore of these bytes."""
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1").split("\n")
    patterns = [pattern for line in lines if (pattern := _pattern(line))]
    return Gitignore(
        _bytewise(folder),
        tuple(
            _Verdict(
                not taken_back,
                _matcher(pattern for _, pattern in group if not pattern.endswith("/")),
                _matcher(pattern[:-1] for _, pattern in group if pattern.endswith("/")),
            )
            for taken_back, run in groupby(patterns, key=lambda pattern: pattern[0])
            for group in [list(run)]
        ),
    )


def ignored(rules: Iterable[Gitignore], name: str, path: str, *, is_folder: bool) -> bool:
    """Whether a path is ignored by these files, the innermost first."""
    if not path.isascii():  # to git a character is a byte
        name, path = _bytewise(name), _bytewise(path)
    for each in rules:
        verdict = each.ignores(name, path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def _bytewise(path: str) -> str:
    return os.fsencode(path).decode("latin-1")


def _pattern(line: str) -> tuple[bool, str] | None:
    """Whether a line takes back, and its pattern; None for a line that says nothing."""
    line = line.removesuffix("\r")
    if line.startswith("#"):
        return None
    taken_back = line.startswith("!")
    pattern = _without_trailing_spaces(line[taken_back:])
    bare = pattern.removesuffix("/")
    if "/" in bare and not bare.startswith("/"):
        pattern = "/" + pattern
    try:
        matcher([bare], WITHIN_SEGMENT)
    except PatternError:
        return None
    return (taken_back, pattern) if bare.strip("/") else None


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    escapes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if escapes % 2 and bare != line else bare


def _matcher(patterns: Iterable[str]) -> Matcher:
    return matcher(patterns, WITHIN_SEGMENT)
