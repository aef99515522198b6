"""Comments that say of findings that they are to stay: `# tfmemlint: ignore[TFM202] why`."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from tfmemlint.light_typing import NamedTuple
from tfmemlint.lines import Lines
from tfmemlint.linting import ENGINE
from tfmemlint.suppress import Comment, Known, Layout, Mark, layout_of, marks_in
from tfmemlint.vocabulary import Edit, Finding, Span

REASON = "not looked at yet"
"""What is given as the reason where none is."""
_LONGEST = 88
"""Columns of a line that a comment is put behind; above a longer one it stands on its own."""


class Comments(NamedTuple):
    """What to write into a text, and for how many findings."""

    edits: tuple[Edit, ...] = ()
    findings: int = 0


def comments(
    text: str,
    findings: Iterable[Finding],
    known: Known,
    *,
    noqa: bool = False,
    reason: str = REASON,
) -> Comments:
    """The comments that suppress these findings, each at the statement that it is about.

    `known` has the code of every rule; what the engine has to say is not suppressed.
    """
    asked = [finding for finding in findings if finding.code not in ENGINE]
    lines = Lines(text)
    layout = layout_of(text, lines) if asked else None
    if layout is None:
        return Comments()
    codes: dict[tuple[int, int], dict[str, None]] = {}
    for finding in asked:
        row, _ = lines.position(finding.diagnostic.span.start)
        at = bisect_right(layout.logical, row, key=lambda logical: logical[0]) - 1
        if at >= 0 and row <= layout.logical[at][1]:
            codes.setdefault(layout.logical[at], {})[finding.code] = None
    edits = tuple(
        _edit(lines, logical, tuple(found), layout, known, noqa, _one_line(reason))
        for logical, found in codes.items()
    )
    return Comments(edits, len(asked)) if _is_the_same(text, edits) else Comments()


def _edit(
    lines: Lines,
    logical: tuple[int, int],
    codes: Sequence[str],
    layout: Layout,
    known: Known,
    noqa: bool,
    reason: str,
) -> Edit:
    first, last = logical
    verb = "noqa" if noqa else "ignore"
    there = [comment for comment in layout.comments if comment.row == last]
    mark = _extendable(lines.text, there, known, verb)
    if mark:
        at = mark.items[-1].span.end
        return Edit(Span(at, at), "".join(f", {code}" for code in codes))
    listed = ", ".join(codes)
    why = f" {reason}" if reason else ""
    written = f"# noqa: {listed}{why}" if noqa else f"# tfmemlint: ignore[{listed}]{why}"
    start, end = lines.starts[last - 1], lines.end(last)
    line = lines.text[start:end].rstrip("\r\n")
    shown = line.rstrip()
    if noqa or there or len(shown) + 2 + len(written) <= _LONGEST:
        return Edit(Span(start + len(shown), start + len(line)), f"  {written}")
    above = lines.starts[first - 1]
    before = lines.text[above : lines.end(first)]
    margin = before[: len(before) - len(before.lstrip(" \t\f"))]
    return Edit(Span(above, above), f"{margin}{written}{_line_end(lines)}")


def _extendable(text: str, comments: Iterable[Comment], known: Known, verb: str) -> Mark | None:
    """The mark at the end of a statement that more codes can be added to."""
    for comment in comments:
        for mark in marks_in(text, comment.span, known):
            if mark.verb == verb and mark.items:
                return mark
    return None


def _line_end(lines: Lines) -> str:
    first = lines.text[: lines.end(1)]
    return first[len(first.rstrip("\r\n")) :] or "\n"


def _one_line(reason: str) -> str:
    return " ".join(reason.replace("#", "").split())


def _is_the_same(text: str, edits: Iterable[Edit]) -> bool:
    """Whether a program is what it was, but for its comments."""
    pieces: list[str] = []
    reached = 0
    for (start, end), new in sorted(edits):
        pieces += text[reached:start], new
        reached = end
    after = "".join((*pieces, text[reached:]))
    try:
        return ast.dump(ast.parse(text)) == ast.dump(ast.parse(after))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
