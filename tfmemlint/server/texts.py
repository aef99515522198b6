"""Offsets in a text as positions that editors count in, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lsprotocol import types

from tfmemlint.lines import Lines
from tfmemlint.vocabulary import Edit, Finding, Span

_WIDTHS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Positions:
    """The positions in a text, in the units that were agreed on with the editor."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.lines = Lines(text)
        self._encoding, self._width = _WIDTHS.get(encoding, _WIDTHS["utf-16"])

    def position(self, offset: int) -> types.Position:
        """Where an offset is, counted from 0."""
        row, column = self.lines.position(offset)
        before = self.lines.text[offset - column + 1 : offset]
        if not before.isascii():
            column = 1 + len(before.encode(self._encoding, "surrogatepass")) // self._width
        return types.Position(row - 1, column - 1)

    def range(self, span: Span) -> types.Range:
        """Where a span begins and ends."""
        return types.Range(self.position(span.start), self.position(span.end))

    def offset(self, position: types.Position) -> int:
        """The offset of a position; of one that is not there, that of the nearest."""
        row = min(position.line, len(self.lines.starts) - 1)
        start, end = self.lines.starts[row], self.lines.end(row + 1)
        line = self.lines.text[start:end].rstrip("\r\n")
        if line.isascii():
            return start + min(position.character, len(line))
        data = line.encode(self._encoding, "surrogatepass")[: position.character * self._width]
        return start + len(data.decode(self._encoding, "ignore"))


def edits(positions: Positions, changes: Sequence[Edit]) -> list[types.TextEdit]:
    """Edits in the words of the protocol."""
    return [types.TextEdit(positions.range(span), text) for span, text in sorted(changes)]


def difference(before: str, after: str) -> list[Edit]:
    """One edit that makes one text of the other, between the first and the last change."""
    most = min(len(before), len(after))
    start = _alike(most, lambda first, last: before[first:last] == after[first:last])
    if start == len(before) == len(after):
        return []
    ends = len(before), len(after)

    def same_end(first: int, last: int) -> bool:
        one, other = (slice(end - last, end - first) for end in ends)
        return before[one] == after[other]

    same = _alike(most - start, same_end)
    return [Edit(Span(start, len(before) - same), after[start : len(after) - same])]


def moved(finding: Finding, change: Edit) -> Finding | None:
    """A finding where it is after a change; None if that touches it. Its fix is of what was."""
    span, by = finding.diagnostic.span, len(change.text) - (change.span.end - change.span.start)
    if span.end < change.span.start:
        by = 0
    elif span.start < change.span.end or span.start == span.end == change.span.start:
        return None
    here = Span(span.start + by, span.end + by)
    return finding._replace(diagnostic=finding.diagnostic._replace(span=here, fix=None))


def _alike(most: int, same: Callable[[int, int], bool]) -> int:
    """How many of the first so many places are the same, halving what is in doubt."""
    first, last = 0, most
    while first < last:
        middle = (first + last + 1) // 2
        if same(first, middle):
            first = middle
        else:
            last = middle - 1
    return first
