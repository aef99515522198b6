"""Offsets to lines and columns and back, as Python counts them."""

from __future__ import annotations

import re
from bisect import bisect_right

from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfmemlint.vocabulary import Edit

# What Python's tokenizer ends a line at: not a form feed, not U+2028, unlike str.splitlines.
_LINE_END = r"\r\n|\r|\n"


class Lines:
    """Where the lines of a text begin."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = (0, *(end.end() for end in re.finditer(_LINE_END, text)))

    def offset(self, line: int, utf8_column: int) -> int:
        """The character offset of a position as `ast` gives it: line from 1, UTF-8 byte from 0."""
        start = self.starts[line - 1]
        if self.text[start : start + utf8_column].isascii():
            return start + utf8_column
        head = self.text[start : self.end(line)].encode("utf-8", "surrogatepass")[:utf8_column]
        return start + len(head.decode("utf-8", "surrogatepass"))

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and 1-based column, in characters, of an offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def start(self, offset: int) -> int:
        """The offset at which the line that holds `offset` begins."""
        return self.starts[bisect_right(self.starts, offset) - 1]

    def end(self, line: int) -> int:
        """The offset just behind a 1-based line, its line ending included."""
        return self.starts[line] if line < len(self.starts) else len(self.text)


def spliced(text: str, edits: Iterable[Edit]) -> str:
    """A text after edits, which are in order."""
    pieces: list[str] = []
    reached = 0
    for (start, end), new in edits:
        pieces += text[reached:start], new
        reached = end
    return "".join((*pieces, text[reached:]))
