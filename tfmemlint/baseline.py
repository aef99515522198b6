"""Findings that are known: written down once, and then left out of what is reported.

A finding is known by its file, its code and the words of its line, and not by the line's number:
what is put above it, or indented otherwise, does not make it new. To change the line does.
"""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH100, PTH108, PTH120, PTH123

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from tfmemlint.config import ConfigError
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple
from tfmemlint.lines import Lines
from tfmemlint.linting import ENGINE

if TYPE_CHECKING:
    from tfmemlint.vocabulary import Checked, Finding

FILE = "tfmemlint-baseline.json"
_VERSION = 1
_LARGEST = 100_000_000
_ENOUGH = 1000
"""Characters of a line that tell it from others."""


class Baseline(NamedTuple):
    """What is known in the files below a folder."""

    folder: str
    known: Mapping[str, Mapping[str, int]]
    """By path from the folder: how many findings of each kind."""

    def new(self, path: str, text: str, findings: Sequence[Finding]) -> Sequence[Finding]:
        """The findings in a file that are not known; of several alike the last ones."""
        left = Counter(self.known.get(_place(path, self.folder), {}))
        kept: list[Finding] = []
        for finding, kind in zip(findings, _kinds(text, findings), strict=True):
            if left[kind] > 0:
                left[kind] -= 1
            else:
                kept.append(finding)
        return kept

    def expected(self, path: str) -> int:
        """How many findings are known in a file."""
        return sum(self.known.get(_place(path, self.folder), {}).values())


def read(path: str) -> Baseline:
    """The baseline in a file. Raises ConfigError."""
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST)
        document = json.loads(data)
        if document["version"] != _VERSION:
            raise ConfigError(f"{path}: a baseline of version {document['version']}")
        known = {
            str(name): {str(kind): int(count) for kind, count in kinds.items()}
            for name, kinds in document["files"].items()
        }
    except OSError as error:
        raise ConfigError(
            f"{path}: {error.strerror}; `--write-baseline` writes a baseline"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{path}: not a baseline of tfmemlint") from error
    return Baseline(os.path.dirname(os.path.abspath(path)), known)


def write(path: str, results: Iterable[Checked]) -> int:
    """Write down all that was found, whole or not at all; how many findings these are."""
    folder = os.path.dirname(os.path.abspath(path))
    files: dict[str, dict[str, int]] = {}
    for checked in results:
        found = [each for each in checked.findings if each.code not in ENGINE]
        if found:
            kinds = Counter(_kinds(checked.text, found))
            files[_place(checked.path, folder)] = dict(sorted(kinds.items()))
    document = {"version": _VERSION, "files": dict(sorted(files.items()))}
    copy = f"{path}.{os.getpid()}"
    try:
        with open(copy, "x", encoding="utf-8", newline="\n") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
        os.replace(copy, path)  # noqa: PTH105
    except BaseException:
        if os.path.lexists(copy):
            os.unlink(copy)
        raise
    return sum(sum(kinds.values()) for kinds in files.values())


def _kinds(text: str, findings: Sequence[Finding]) -> list[str]:
    """What a finding is known by beside its file: code, and the words of its line."""
    lines = Lines(text)
    kinds: list[str] = []
    for finding in findings:
        row, _ = lines.position(min(finding.diagnostic.span.start, len(text)))
        words = text[lines.starts[row - 1] : lines.end(row)][:_ENOUGH].split()
        digest = sha256(" ".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        kinds.append(f"{finding.code} {digest}")
    return kinds


def _place(path: str, folder: str) -> str:
    relative = os.path.relpath(os.path.abspath(path), folder).replace(os.sep, "/")
    return relative.encode("utf-8", "backslashreplace").decode()
