"""On which row a `# noqa` comment can stand: a logical line takes a comment only at its end."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from tfmemlint.report.items import INTERNAL_ERROR, SKIPPED, SYNTAX_ERROR, UNREADABLE, Item, Source

_UNSUPPRESSIBLE = {UNREADABLE, SYNTAX_ERROR, SKIPPED, INTERNAL_ERROR}

# Enough of Python's tokens to tell which line endings end a logical line.
_PIECE = re.compile(
    r'''
    \#[^\r\n]*
    | """ [^"\\]* (?: (?: \\. | "(?!"") ) [^"\\]* )* (?: """ | \Z )
    | \'\'\' [^'\\]* (?: (?: \\. | '(?!'') ) [^'\\]* )* (?: \'\'\' | \Z )
    | " [^"\\\r\n]* (?: \\ (?: \r\n | . ) [^"\\\r\n]* )* "?
    | ' [^'\\\r\n]* (?: \\ (?: \r\n | . ) [^'\\\r\n]* )* '?
    | \\ (?: \r\n | . )
    | (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
    | (?P<end> \r\n | \r | \n )
    ''',
    re.DOTALL | re.VERBOSE,
)


class NoqaRows:
    """The rows of one file; the file is read through only when a row is asked for."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def row(self, item: Item) -> int | None:
        """The row, counted as the finding's own row is; None for what no comment suppresses."""
        if item.finding.code in _UNSUPPRESSIBLE:
            return None
        start = min(item.finding.diagnostic.span.start, len(self.source.text))
        end = self._ends[bisect_right(self._ends, start)]
        return self.source.lines.position(end - 1)[0] - item.place.above

    @cached_property
    def _ends(self) -> list[int]:
        """Where each logical line ends, its line ending included; the last is behind the text."""
        ends: list[int] = []
        depth = 0
        for piece in _PIECE.finditer(self.source.text):
            if piece["open"]:
                depth += 1
            elif piece["close"]:
                depth -= 1
            elif piece["end"] and depth <= 0:
                ends.append(piece.end())
        ends.append(len(self.source.text) + 1)
        return ends
