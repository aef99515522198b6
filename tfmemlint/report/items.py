"""Findings with their places: lines and columns begin to exist here."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from tfmemlint.light_typing import NamedTuple
from tfmemlint.lines import Lines
from tfmemlint.vocabulary import Applicability, Checked, Edit, Finding, Fix, Rule, Span

UNREADABLE, SYNTAX_ERROR, SKIPPED, INTERNAL_ERROR = "TFM001", "TFM002", "TFM003", "TFM004"
UNUSED_SUPPRESSION = "TFM005"


class EngineCode(NamedTuple):
    """A code that belongs to no rule."""

    name: str
    meaning: str


ENGINE = {
    UNREADABLE: EngineCode(
        "unreadable", "The file could not be read or decoded, so it was not checked."
    ),
    SYNTAX_ERROR: EngineCode(
        "syntax-error", "The file is not Python as this interpreter reads it; it was not checked."
    ),
    SKIPPED: EngineCode(
        "skipped", "The file is too large, too deeply nested or too slow, so it was not checked."
    ),
    INTERNAL_ERROR: EngineCode(
        "internal-error", "A rule or tfmemlint itself failed on the file, which is not at fault."
    ),
    UNUSED_SUPPRESSION: EngineCode(
        "unused-suppression", "A comment suppresses a finding that is not there."
    ),
}

_SEVERE = {UNREADABLE, SYNTAX_ERROR, INTERNAL_ERROR}


class Settings(NamedTuple):
    """What a format may want to know beside the findings."""

    rules: Mapping[str, Rule]
    root: str
    unsafe_fixes: bool
    color: bool
    measured: Mapping[str, str]
    small: int = 0
    """How many findings are not listed since they are of what is known to be small."""
    width: int | None = None
    """The columns of the terminal; None where there is none."""


class Place(NamedTuple):
    """A span in rows and columns: both from 1, columns in code points, the end exclusive.

    In a notebook rows count from the first line of the cell in which the span starts.
    """

    row: int
    column: int
    end_row: int
    end_column: int
    cell: int | None
    above: int
    """How many rows of the text precede row 1."""
    rows: int
    """How many rows there are, from row 1 to the end of the file or cell."""


class Source:
    """A checked file's text, by row."""

    def __init__(self, checked: Checked) -> None:
        self.path = checked.path
        self.text = checked.text
        self.cells = checked.cells
        self.lines = Lines(checked.text)
        self._written = dict(checked.written)

    def place(self, span: Span) -> Place:
        row, column = self.lines.position(span.start)
        end_row, end_column = self.lines.position(max(span))
        above, below, cell = 0, len(self.lines.starts), None
        if self.cells:
            index = max(0, bisect_right(self.cells, span.start, key=attrgetter("start")) - 1)
            cell = self.cells[index].number
            above = self.lines.position(self.cells[index].start)[0] - 1
            if index + 1 < len(self.cells):
                below = self.lines.position(self.cells[index + 1].start)[0] - 1
        return Place(row - above, column, end_row - above, end_column, cell, above, below - above)

    def line(self, row: int) -> str:
        """A row as it stands in the file, counted from 1, without its line ending."""
        if row in self._written:
            return self._written[row]
        return self.text[self.lines.starts[row - 1] : self.lines.end(row)].rstrip("\r\n")


class Item(NamedTuple):
    """One finding, placed."""

    source: Source
    finding: Finding
    place: Place
    applies: bool
    """Whether --fix would apply its fix with the present settings."""

    @property
    def position(self) -> str:
        """`row:column`, with the cell before it in a notebook."""
        place = self.place
        cell = "" if place.cell is None else f"cell {place.cell}:"
        return f"{cell}{place.row}:{place.column}"

    @property
    def message(self) -> str:
        """The message, with the place in a notebook, for what knows no cells."""
        message = self.finding.diagnostic.message
        if self.place.cell is None:
            return message
        return f"cell {self.place.cell}, line {self.place.row}: {message}"

    @property
    def in_file(self) -> Place:
        """The place, or the file's first character where rows of the file mean nothing."""
        return self.place if self.place.cell is None else Place(1, 1, 1, 1, None, 0, 1)

    @property
    def severity(self) -> str:
        return severity(self.finding.code)


def place_all(results: Sequence[Checked], *, unsafe_fixes: bool) -> Iterator[Item]:
    """Every finding, file by file, from top to bottom."""
    for checked in results:
        if not checked.findings:
            continue
        source = Source(checked)
        for finding in sorted(checked.findings, key=_order):
            span, fix = finding.diagnostic.span, finding.diagnostic.fix
            applies = fix is not None and applicable(fix, unsafe_fixes=unsafe_fixes)
            yield Item(source, finding, source.place(span), applies)


def applicable(fix: Fix, *, unsafe_fixes: bool) -> bool:
    """Whether --fix would apply `fix`."""
    return fix.applicability is Applicability.SAFE or (
        unsafe_fixes and fix.applicability is Applicability.UNSAFE
    )


def in_order(fix: Fix) -> list[Edit]:
    """A fix's edits from top to bottom."""
    return sorted(fix.edits, key=attrgetter("span"))


def severity(code: str) -> str:
    """`error` for what kept a file from being checked, `warning` for the rest."""
    return "error" if code in _SEVERE else "warning"


def absolute(path: str) -> str:
    """The absolute path of a file; standard input has none."""
    return path if path == "-" else os.path.abspath(path)  # noqa: PTH100  pathlib keeps `..`


def relative(path: str, root: str) -> str | None:
    """The path from `root`, with slashes; None for what is not under it."""
    if path == "-":
        return path
    try:
        inside = os.path.relpath(path, root)
    except ValueError:  # pragma: no cover  another drive of Windows
        return None
    if inside.split(os.sep, 1)[0] == os.pardir:
        return None
    return inside.replace(os.sep, "/")


def _order(finding: Finding) -> tuple[Span, str]:
    return finding.diagnostic.span, finding.code
