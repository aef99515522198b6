"""Notebooks: the code of their cells as one Python text, and edits of it put back into the file.

A notebook is JSON, but never written out as JSON: an edit respells the strings of the lines that it
changes, and every other byte of the file stays what it is.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple, cast

from tfmemlint.decoding import UndecodableError
from tfmemlint.lines import Lines, spliced
from tfmemlint.parsing import TooDeep, parse
from tfmemlint.vocabulary import Cell, Edit, Fix, Span

_BOM = b"\xef\xbb\xbf"
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_SPELT_LINE = re.compile(r"(?:[^\\]+|\\[^n])*(?:\\n)?")
"""A line within a JSON string, or what is left of it."""

_FOREIGN = re.compile(
    r"\s*%%(?!(?:time|timeit|capture|prun|python3?|pypy|tfmemlint|tfmeasure)(?!\w))"
)
"""Begins a cell whose magic command does not take Python."""
_MAGIC = re.compile(
    r"""
    (?P<margin> [ \t\f]* ) (?! [ \t\f] )
    (?: [%!?]                                    # %magic, !shell, ?help
      | [^\r\n\#'"=]+ = [ \t]* [%!]              # name = !shell
      | [^\r\n\#'"]+ \? [ \t]* (?= [\r\n] | \Z)  # help?
    )
    (?: \\ (?: \r\n | [\r\n] ) | [^\r\n] )*
    """,
    re.VERBOSE,
)
"""What IPython reads where a statement begins, and Python nowhere."""
_TOKEN = re.compile(
    r"""
    (?P<end> \r\n | [\r\n] ) | (?P<open> [(\[{] ) | (?P<close> [)\]}] )
    | \#[^\r\n]*
    | \\ (?: \r\n | . )
    | \"{3} (?: [^\\] | \\. )*? \"{3} | '{3} (?: [^\\] | \\. )*? '{3}
    | " (?: [^"\\\r\n] | \\ (?: \r\n | . ) )* "? | ' (?: [^'\\\r\n] | \\ (?: \r\n | . ) )* '?
    """,
    re.VERBOSE | re.DOTALL,
)
"""What there is to tell apart to know where a statement of Python ends."""
_BLANKS = re.compile(r"(?:[ \t]*\r?\n)*([ \t]+)\S")
"""Those before the first word of a cell."""


class Notebook(NamedTuple):
    """The Python in a notebook."""

    text: str
    """The code cells one below the other; what only IPython reads is a `pass`."""
    cells: tuple[Cell, ...]
    """Those that are in the text: cells of other languages and broken ones are not."""
    sources: tuple[str, ...]
    """What each of these cells holds in the file."""


class _Code(NamedTuple):
    """What a cell is to Python, line for line, a line end behind the last one."""

    text: str
    sound: bool
    """Whether it parses."""


class _Piece(NamedTuple):
    """A string of a cell's `source`, or a line in it where it is a single string."""

    before: str
    """What stands between it and the one before."""
    spelt: str
    text: str


def read(data: bytes) -> Notebook:
    """The Python in a notebook's bytes; raises UndecodableError."""
    cells: list[Cell] = []
    sources: list[str] = []
    codes: list[_Code] = []
    for number, source in _code_cells(data):
        code = _code(source)
        if code.text:
            codes.append(code)
            cells.append(Cell(0, number))
            sources.append(source)
    # Where no cell is sound none is left out: the text then says itself what is wrong with it.
    kept = [at for at, code in enumerate(codes) if code.sound] or range(len(codes))
    starts = accumulate((len(codes[at].text) for at in kept), initial=0)
    return Notebook(
        "".join(codes[at].text for at in kept),
        tuple(Cell(start, cells[at].number) for start, at in zip(starts, kept, strict=False)),
        tuple(sources[at] for at in kept),
    )


def allows(notebook: Notebook, fix: Fix) -> bool:
    """Whether a fix keeps to the Python of single cells, and leaves each of them sound."""
    by_cell = _by_cell(notebook, fix.edits)
    return by_cell is not None and all(
        _allows(notebook.sources[at], _text(notebook, at), edits) for at, edits in by_cell.items()
    )


def edited(data: bytes, notebook: Notebook, edits: Iterable[Edit]) -> tuple[bytes, Notebook]:
    """A notebook's bytes, and what is in them, after edits of its text that it allows.

    Raises ValueError where edits that are allowed one by one do not go together.
    """
    raw = data.decode("utf-8-sig")
    spell = partial(json.dumps, ensure_ascii=raw.isascii() and "\\u" in raw)
    starts = [start for _, (start, _) in _members(raw, _member(raw, 0, "cells").start)]
    edits = sorted(edits)
    changes: list[Edit] = []
    for at, mine in sorted((_by_cell(notebook, edits) or {}).items()):
        span = _member(raw, starts[notebook.cells[at].number - 1], "source")
        translated = _translated(_ended(notebook.sources[at]), _text(notebook, at), mine) or ()
        changes.append(Edit(span, _respelt(raw[span.start : span.end], translated, spell)))
    after = _BOM * data.startswith(_BOM) + spliced(raw, changes).encode()
    result = read(after)
    if result.text != spliced(notebook.text, edits):
        raise ValueError("these edits do not leave the cells of the notebook whole")
    return after, result


def written(notebook: Notebook) -> tuple[tuple[int, str], ...]:
    """The rows of the text that stand for what only IPython reads, each with what that is."""
    found: list[tuple[int, str]] = []
    above = 0
    for at, source in enumerate(notebook.sources):
        theirs, ours = Lines(_ended(source)), Lines(_text(notebook, at))
        for row, start in enumerate(ours.starts[:-1], 1):
            text = source[theirs.starts[row - 1] : theirs.end(row)]
            if text != ours.text[start : ours.end(row)]:
                found.append((above + row, text.rstrip("\r\n")))
        above += len(ours.starts) - 1
    return tuple(found)


def _code_cells(data: bytes) -> Iterator[tuple[int, str]]:
    """The code cells of a Python notebook, numbered from 1 among all cells."""
    try:
        document: Any = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UndecodableError(f"not valid utf-8 at byte {error.start}") from error
    except ValueError as error:
        raise UndecodableError(f"not valid JSON: {error}") from error
    except RecursionError as error:
        raise UndecodableError("not valid JSON: nests too deeply") from error
    notebook = _object(document)
    version, cells = notebook.get("nbformat"), notebook.get("cells")
    if isinstance(version, int) and version != 4:
        raise UndecodableError(f"a notebook of format {version}; only format 4 is read")
    if version != 4 or not isinstance(cells, list):
        raise UndecodableError("not a notebook: it has no `nbformat` or no `cells`")
    if not _speaks_python(_object(notebook.get("metadata"))):
        return
    for number, each in enumerate(cast("list[object]", cells), 1):
        cell = _object(each)
        if cell.get("cell_type") == "code":
            yield number, _source(number, cell.get("source"))


def _speaks_python(metadata: dict[str, Any]) -> bool:
    languages = (
        _object(metadata.get("kernelspec")).get("language"),
        _object(metadata.get("language_info")).get("name"),
    )
    return all(
        language.lower().startswith("python") for language in languages if isinstance(language, str)
    )


def _source(number: int, source: object) -> str:
    strings = cast("list[object]", source) if isinstance(source, list) else [source]
    if not all(isinstance(each, str) for each in strings):
        raise UndecodableError(f"the source of cell {number} is not text")
    return "".join(cast("list[str]", strings))


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _ended(source: str) -> str:
    return source if not source or source.endswith("\n") else source + "\n"


def _code(source: str) -> _Code:
    text = _ended(source)
    if _parses(text):
        return _Code(text, sound=True)
    if _FOREIGN.match(text):
        return _Code("", sound=True)
    text = _masked(_dedented(text))
    return _Code(text, _parses(text))


def _dedented(source: str) -> str:
    """As IPython reads a cell that begins with blanks: without those, wherever a line has them."""
    blanks = _BLANKS.match(source)
    return source if blanks is None else re.sub(rf"^{blanks[1]}", "", source, flags=re.MULTILINE)


def _parses(text: str) -> bool:
    try:
        parse(text, "<cell>")
    except SyntaxError:
        return False
    except TooDeep:  # to be said of the whole file
        return True
    return True


def _masked(source: str) -> str:
    pieces: list[str] = []
    at = 0
    while at < len(source):
        magic = _MAGIC.match(source, at)
        if magic:
            pieces += (magic["margin"], "pass", *_LINE_END.findall(magic[0]))
            at = magic.end()
        end = _statement_end(source, at)
        pieces.append(source[at:end])
        at = end
    return "".join(pieces)


def _statement_end(text: str, at: int) -> int:
    depth = 0
    for token in _TOKEN.finditer(text, at):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif kind == "end" and depth <= 0:
            return token.end()
    return len(text)


def _text(notebook: Notebook, at: int) -> str:
    """The part of the text that is a cell's."""
    start, end = (
        cell.start for cell in (*notebook.cells, Cell(len(notebook.text), 0))[at : at + 2]
    )
    return notebook.text[start:end]


def _by_cell(notebook: Notebook, edits: Iterable[Edit]) -> dict[int, list[Edit]] | None:
    """Edits in order, each counted from the start of its cell; None if one leaves its cell."""
    starts = [cell.start for cell in notebook.cells]
    by_cell: dict[int, list[Edit]] = {}
    for (start, end), text in sorted(edits):
        at = bisect_right(starts, start) - 1
        if at > 0 and start == end == starts[at] and text[:1].isspace():
            at -= 1  # an indented line belongs to the block above it
        if at < 0 or end > (starts[at + 1] if at + 1 < len(starts) else len(notebook.text)):
            return None
        span = Span(start - starts[at], end - starts[at])
        by_cell.setdefault(at, []).append(Edit(span, text))
    return by_cell


def _allows(source: str, text: str, edits: Sequence[Edit]) -> bool:
    ended = _ended(source)
    translated = _translated(ended, text, edits)
    if translated is None:
        return False
    return _code(spliced(ended, translated)) == (spliced(text, edits), True)


def _translated(source: str, text: str, edits: Sequence[Edit]) -> Sequence[Edit] | None:
    """Edits of a cell's text as edits of its source; None if one touches what is not Python."""
    if source == text:
        return edits
    there, here = Lines(source), Lines(text)

    def masked(row: int) -> bool:
        start, other = here.starts[row - 1], there.starts[row - 1]
        return text[start : here.end(row)] != source[other : there.end(row)]

    translated: list[Edit] = []
    for (start, end), new in edits:
        (row, column), (end_row, end_column) = here.position(start), here.position(end)
        if any(masked(each) for each in range(row, end_row + (end_column > 1))):
            return None
        start = there.starts[row - 1] + column - 1
        end = there.starts[end_row - 1] + end_column - 1
        translated.append(Edit(Span(start, end), new))
    return translated


def _respelt(raw: str, edits: Iterable[Edit], spell: Callable[[str], str]) -> str:
    """A `source` as JSON after edits of its text, which count on a line end behind the last line.

    Where only a few lines change, only these are spelt anew.
    """
    opening, pieces, closing = _pieces(raw)
    if raw[0] == '"':
        separator, spell = "", partial(_within_quotes, spell)
    else:
        separator = pieces[1].before if len(pieces) > 1 else "," + (pieces[0].before or " ")
    spelt: list[str] = []
    for piece, text in zip(
        pieces, _piecewise([piece.text for piece in pieces], edits), strict=True
    ):
        lines = [text] if text == piece.text else _LINE.findall(text)
        for place, line in enumerate(lines):
            if not spelt:
                before = pieces[0].before
            elif place:
                before = separator
            else:
                before = piece.before
            spelt += before, piece.spelt if line == piece.text else spell(line)
    return "".join((opening, *spelt, closing))


def _within_quotes(spell: Callable[[str], str], text: str) -> str:
    return spell(text)[1:-1]


def _pieces(raw: str) -> tuple[str, list[_Piece], str]:
    """The strings in JSON, or the lines of a single one, and what stands before and behind."""
    if raw[0] == '"':
        lines = filter(None, _SPELT_LINE.findall(raw[1:-1]))
        return '"', [_Piece("", line, json.loads(f'"{line}"')) for line in lines], '"'
    pieces: list[_Piece] = []
    reached = 1
    for _, (start, end) in _members(raw, 0):
        pieces.append(_Piece(raw[reached:start], raw[start:end], json.loads(raw[start:end])))
        reached = end
    return raw[0], pieces, raw[reached:]


def _piecewise(texts: Sequence[str], edits: Iterable[Edit]) -> list[str]:
    """What edits make of each piece of a text; what replaces several is in one of them."""
    texts = list(texts)
    added = not "".join(texts).endswith("\n")
    texts[-1] += "\n" * added
    starts = list(accumulate(map(len, texts), initial=0))
    own: list[list[Edit]] = [[] for _ in texts]
    for (start, end), new in edits:
        at = min(bisect_right(starts, start), len(texts)) - 1
        while new or starts[at] < end:
            span = Span(max(start, starts[at]) - starts[at], min(end, starts[at + 1]) - starts[at])
            own[at].append(Edit(span, new))
            at, new = at + 1, ""
    made = list(map(spliced, texts, own))
    for at, text in enumerate(texts[:-1]):  # where a line end is gone two lines have become one
        if made[at] and text.endswith("\n") and not made[at].endswith("\n"):
            made[at], made[at + 1] = "", made[at] + made[at + 1]
    ending = "".join(made)[-2:]
    if added and len(ending) == 2 and ending[0] != "\n":
        last = max(at for at, text in enumerate(made) if text)
        made[last] = made[last][:-1]
    return made


def _member(raw: str, start: int, name: str) -> Span:
    """Where the value is that counts for a name in the JSON object that begins here."""
    return dict(_members(raw, start))[name]


def _members(raw: str, start: int) -> Iterator[tuple[str, Span]]:
    """The values in a JSON object or array, with their names if they have any."""
    at = _behind_space(raw, start)
    named = raw[at] == "{"
    at = _behind_space(raw, at + 1)
    while raw[at] not in "]}":
        name = ""
        if named:
            name, at = _DECODER.raw_decode(raw, at)
            at = _behind_space(raw, _behind_space(raw, at) + 1)
        _, end = _DECODER.raw_decode(raw, at)
        yield name, Span(at, end)
        at = _behind_space(raw, end)
        if raw[at] == ",":
            at = _behind_space(raw, at + 1)


def _behind_space(raw: str, at: int) -> int:
    space = _SPACE.match(raw, at)
    return space.end() if space else at
