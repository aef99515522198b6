"""What a fix does to the lines it touches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from tfmemlint.lines import Lines
from tfmemlint.report.items import Source, in_order
from tfmemlint.vocabulary import Edit, Fix, Span


class Line(NamedTuple):
    """One line of a change, numbered as in the fixed file or cell; one that goes has no number."""

    mark: str
    number: int | None
    text: str


class Change(NamedTuple):
    """Neighbouring lines that a fix changes, between lines that stay."""

    cell: int | None
    lines: tuple[Line, ...]


def changes(source: Source, fix: Fix) -> Iterator[Change]:
    """The changes from top to bottom, one unchanged line around each."""
    grown: dict[int | None, int] = {}
    for region, edits in _regions(source, fix):
        place = source.place(region)
        before = _split(source.text[region.start : region.end])
        after = _split(edited(source.text, region, edits))
        above, first = place.above + place.row, place.row + grown.get(place.cell, 0)
        grown[place.cell] = grown.get(place.cell, 0) + len(after) - len(before)
        matcher = SequenceMatcher(None, before, after, autojunk=False)
        for group in matcher.get_grouped_opcodes(1):
            lines: list[Line] = []
            for kind, old, old_end, new, new_end in group:
                if kind == "equal":
                    kept = (source.line(above + at) for at in range(old, old_end))
                    lines += (Line("|", first + new + at, text) for at, text in enumerate(kept))
                    continue
                lines += (Line("-", None, text) for text in before[old:old_end])
                lines += (Line("+", first + at, after[at]) for at in range(new, new_end))
            yield Change(place.cell, tuple(lines))


def edited(text: str, region: Span, edits: Sequence[Edit]) -> str:
    """What the edits, in order, make of the text of `region`."""
    pieces: list[str] = []
    at = region.start
    for span, new in edits:
        pieces += (text[at : span.start], new)
        at = span.end
    pieces.append(text[at : region.end])
    return "".join(pieces)


def _regions(source: Source, fix: Fix) -> Iterator[tuple[Span, list[Edit]]]:
    """Whole lines around edits, one more on either side where the cell has one; none overlap."""
    pending: list[Edit] = []
    start = end = 0
    for edit in in_order(fix):
        place = source.place(edit.span)
        first = place.above + max(1, place.row - 1)
        last = place.above + max(place.end_row, min(place.rows, place.end_row + 1))
        opens = source.lines.starts[first - 1]
        if pending and opens >= end:
            yield Span(start, end), pending
            pending = []
        start = min(start, opens) if pending else opens
        end = source.lines.end(last)
        pending.append(edit)
    if pending:
        yield Span(start, end), pending


def _split(text: str) -> list[str]:
    lines = Lines(text)
    rows = [text[start : lines.end(row)] for row, start in enumerate(lines.starts, 1)]
    return [row.rstrip("\r\n") for row in rows if row]
