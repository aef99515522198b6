"""From text to a tree of Python's own, or to what is wrong with the text."""

from __future__ import annotations

import re
import warnings
from itertools import zip_longest

from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

    Pieces = dict[tuple[int, str], list[ast.stmt]]
    """The statements of the pieces of a text, each with the line that it begins on."""

_PIECE, _MOST_PIECES = 30_000, 16
"""The characters of a piece, at the least, and how many pieces a text is cut into."""
# A definition behind an empty line: what is cut there parses as before, or not at all.
_START = r"\n\n(?=@|async def |class |def )"


class TooDeep(Exception):
    """The code nests deeper than Python's own parser follows."""


def parse(text: str, path: str, known: Pieces | None = None) -> ast.Module:
    """The tree of `text`; raises SyntaxError as Python would, TooDeep where Python gives up.

    What is `known` of an earlier text of the same file is taken from there, and noted there.
    """
    import ast  # noqa: PLC0415  most files that await no rule do without

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _joined(text, path, known) or ast.parse(text, path)
        except ValueError as error:  # a NUL byte, before Python 3.12
            raise SyntaxError(str(error)) from error
        except (RecursionError, MemoryError) as error:
            raise TooDeep from error


def refuse(text: str, path: str) -> None:
    """Raise what `parse` would raise; where that is nothing, in two thirds of the time."""
    from symtable import symtable  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for piece in _pieces(text):
                symtable(piece, path, "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            parse(text, path)  # a table asks for more than a tree does


def _joined(text: str, path: str, known: Pieces | None) -> ast.Module | None:
    """The tree of a long text, made of its pieces; None where one of them does not parse."""
    import ast  # noqa: PLC0415

    parsed: Pieces = {}
    line = 0
    pieces = _pieces(text)
    if len(pieces) == 1 and known is None:
        return None
    try:
        for piece in pieces:
            before = known.get((line, piece)) if known else None
            if before is None:
                before = ast.parse("\n" * line + piece, path).body
            parsed[line, piece] = before
            line += piece.count("\n")
    except SyntaxError:  # the text's own, or of a string that looks like code
        return None
    if known is not None:
        known.clear()
        known.update(parsed)
    return ast.Module([statement for body in parsed.values() for statement in body], [])


def _pieces(text: str) -> list[str]:
    """A long text cut between definitions: Python's parser takes memory for all of what it reads.

    Where the pieces parse they are what the text is, unless a string is cut, and that parses never.
    """
    size = max(_PIECE, len(text) // _MOST_PIECES)
    if len(text) <= size or "\r" in text:
        return [text]
    starts, start = [0], re.compile(_START)
    while following := start.search(text, starts[-1] + size):
        starts.append(following.end())
    return [text[start:end] for start, end in zip_longest(starts, starts[1:])]
