"""What was changed since a revision, as git has it: findings elsewhere are not reported."""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH109

from __future__ import annotations

import os
import subprocess
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from tfmemlint.config import ConfigError
from tfmemlint.decoding import UndecodableError
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple
from tfmemlint.lines import Lines
from tfmemlint.suppress import layout_of

if TYPE_CHECKING:
    from tfmemlint.vocabulary import Finding


class Changes(NamedTuple):
    """The files of a repository that differ from a revision."""

    revision: str
    root: str
    before: Mapping[str, str | None]
    """By path from the root, what the file was called then; None for one that is new."""
    notebooks: tuple[str, ...]
    """How the names of notebooks end."""

    def touched(self, path: str, text: str, findings: Sequence[Finding]) -> Sequence[Finding]:
        """The findings in a file that stand, be it in part, on lines that were changed."""
        # A link is what it links to; where files are given by links alone git knows of none.
        name = os.path.relpath(os.path.realpath(path), self.root).replace(os.sep, "/")
        if name not in self.before:
            return []
        then = self.before[name]
        if then is None or not text:
            return findings
        try:
            old = self._text(path, _git(self.root, "show", f"{self.revision}:{then}"))
        except (ConfigError, UndecodableError):
            return findings
        rows = set(_changed(old, text))
        lines = Lines(text)
        layout = layout_of(text, lines)
        logical = layout.logical if layout else ()
        return [
            finding
            for finding in findings
            if not rows.isdisjoint(_rows(lines, logical, *finding.diagnostic.span))
        ]

    def _text(self, path: str, data: bytes) -> str:
        """What rules saw of a file when it held this."""
        from tfmemlint.run import content_of  # noqa: PLC0415

        return content_of(path, data, self.notebooks).content.text


def read(revision: str, notebooks: tuple[str, ...]) -> Changes:
    """What differs from a revision in the repository that this is. Raises ConfigError."""
    here = os.getcwd()
    root = os.path.realpath(os.fsdecode(_git(here, "rev-parse", "--show-toplevel")).rstrip("\n"))
    asked = f"{revision}^{{commit}}"
    try:
        commit = os.fsdecode(_git(here, "rev-parse", "--verify", "--end-of-options", asked)).strip()
    except ConfigError as error:
        raise ConfigError(f"`--since`: git knows no revision `{revision}`") from error
    before: dict[str, str | None] = {}
    listed = _git(root, "diff", "--name-status", "-z", "-M", "--no-ext-diff", commit, "--")
    parts = iter(os.fsdecode(listed).split("\0"))
    for status in filter(None, parts):
        name = next(parts)
        if status[0] in "RC":
            before[next(parts)] = name
        elif status[0] != "D":
            before[name] = None if status[0] == "A" else name
    untracked = _git(root, "ls-files", "-z", "--others", "--exclude-standard")
    before.update((name, None) for name in os.fsdecode(untracked).split("\0") if name)
    return Changes(commit, root, before, notebooks)


def _git(folder: str, *arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, check=False)
    except OSError as error:
        raise ConfigError(f"`--since` asks git: {error.strerror}") from error
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise ConfigError(f"`--since` asks git: {''.join(reason)}")
    return done.stdout


def _changed(before: str, after: str) -> Iterator[int]:
    """The rows of a text that are not those of another one; where some are gone, those about."""
    old, new = (_split(text) for text in (before, after))
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    last = 0
    most = min(len(old), len(new)) - same
    while last < most and old[-1 - last] == new[-1 - last]:
        last += 1
    matcher = SequenceMatcher(None, old[same : len(old) - last], new[same : len(new) - last])
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind == "delete":
            yield from (same + start, same + start + 1)
        elif kind != "equal":
            yield from range(same + start + 1, same + end + 1)


def _split(text: str) -> list[str]:
    lines = Lines(text)
    return [text[start : lines.end(row)].rstrip() for row, start in enumerate(lines.starts, 1)]


def _rows(lines: Lines, logical: Sequence[tuple[int, int]], start: int, end: int) -> range:
    """The rows of a span, and of the statement that it begins in."""
    first, _ = lines.position(start)
    last, _ = lines.position(max(start, end - 1))
    at = bisect_right(logical, first, key=lambda rows: rows[0]) - 1
    if at >= 0 and first <= logical[at][1]:
        first, last = logical[at][0], max(last, logical[at][1])
    return range(first, last + 1)
