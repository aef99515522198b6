"""A finding as people read it: the line, what is wrong under it, the remedy and what it saves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TextIO

from tfmemlint.report.escape import show, show_path, width
from tfmemlint.report.figures import cost
from tfmemlint.report.fix_diff import Line, changes
from tfmemlint.report.items import SYNTAX_ERROR, Item, Settings
from tfmemlint.report.links import page
from tfmemlint.vocabulary import Applicability, Fix

LONGEST_LINE = 160
"""Columns of a line that are shown where no terminal is narrower; those about what matters."""
SHORTEST_LINE = 20
"""Columns that are shown however narrow the terminal is."""
FEW = 3
"""Files that are no Python and have a paragraph each."""
LONGEST_SPAN = 6
"""Lines of a finding that are shown; of a longer one, the first two and the last two."""

_RED, _GREEN, _CYAN, _BLUE = "1;31", "32", "1;36", "1;34"
_TAB = "    "
_CUT = "..."

Paint = Callable[[str, str], str]


def write(items: Iterable[Item], settings: Settings, out: TextIO) -> None:
    """Write one paragraph a finding, and one for all files that are no Python if they are many."""
    paint = _colored if settings.color else _plain
    found = list(items)
    broken = [item for item in found if item.finding.code == SYNTAX_ERROR]
    together = broken if len(broken) > FEW else []
    apart = [item for item in found if not together or item.finding.code != SYNTAX_ERROR]
    paragraphs = [_paragraph(item, settings, paint) for item in apart]
    if together:
        paragraphs.append(_unchecked(together, settings, paint))
    for lines in paragraphs:
        for line in lines:
            out.write(line.rstrip() + "\n")
        out.write("\n")


def _unchecked(broken: Sequence[Item], settings: Settings, paint: Paint) -> Iterator[str]:
    """Files written for Python 2 and the like, a line each: what they say is the same for all."""
    code = _linked(SYNTAX_ERROR, paint(SYNTAX_ERROR, _RED), settings)
    files = len({item.source.path for item in broken})
    yield f"{code} {files} files are not Python as this interpreter reads it: not checked"
    for item in broken:
        message = show(item.finding.diagnostic.message)
        where = f"{show_path(item.source.path)}:{item.position}"
        yield f" {paint('-->', _BLUE)} {where}: {message}"


def _paragraph(item: Item, settings: Settings, paint: Paint) -> Iterator[str]:
    code, _, diagnostic = item.finding
    mark = f" [{paint('*', _CYAN)}]" if item.applies else ""
    yield f"{_linked(code, paint(code, _RED), settings)}{mark} {show(diagnostic.message)}"
    yield from _frame(item, settings, paint)
    if diagnostic.fix:
        yield f"{paint('help', _CYAN)}: {show(diagnostic.fix.title)}"
        yield from _diff(item, diagnostic.fix, settings, paint)
        note = _note(diagnostic.fix, settings)
        if note:
            yield f"{paint('note', _CYAN)}: {note}"
    if diagnostic.cost:
        yield f"{paint('cost', _CYAN)}: {show(cost(diagnostic.cost))}"
    if code in settings.measured:
        phrase = show(settings.measured[code])
        yield f"{paint('measured', _CYAN)}: {phrase} (tfmemlint rule {code})"


def _frame(item: Item, settings: Settings, paint: Paint) -> Iterator[str]:
    source, place = item.source, item.place
    span = item.finding.diagnostic.span
    last_row, last_column = source.lines.position(max(span.start, span.end - 1))
    last_row -= place.above
    rows = _rows(item, last_row)
    gutter = " " * len(str(rows[-1]))
    yield f"{gutter}{paint('-->', _BLUE)} {show_path(source.path)}:{item.position}"
    if not source.text:
        return
    texts = {row: source.line(place.above + row) for row in rows}
    several = last_row > place.row
    columns = _columns(settings, len(gutter) + len(" | ") + 2 * several)
    left = 0
    if any(_is_wide(text, columns) for text in texts.values()):
        left = max(0, place.column - 1 - columns // 4)
    start = min(_width(texts[place.row], place.column - 1, left), columns - 1)
    end = min(_width(texts[last_row], last_column, left), columns)
    bar = paint("|", _BLUE)
    yield f"{gutter} {bar}"
    for above, row in zip([rows[0], *rows], rows, strict=False):
        if row > above + 1:
            yield paint(_CUT, _BLUE)
        edge = paint("| ", _RED) if place.row < row <= last_row else "  " if several else ""
        number = paint(f"{row:>{len(gutter)}}", _BLUE)
        yield f"{number} {bar} {edge}{_visible(texts[row], left, columns)}"
        under = ""
        if row == place.row:
            under = f" {'_' * (start + 1)}^" if several else " " * start + "^" * max(1, end - start)
        elif row == last_row:
            under = f"|{'_' * max(1, end)}^"
        if under:
            yield f"{gutter} {bar} {paint(under, _RED)}"
    yield f"{gutter} {bar}"


def _rows(item: Item, last: int) -> list[int]:
    """The rows to show: the finding's own, and the one before and after it unless blank."""
    first, above = item.place.row, item.place.above
    rows = list(range(first, last + 1))
    if len(rows) > LONGEST_SPAN:
        rows[2:-2] = []
    if first > 1 and item.source.line(above + first - 1).strip():
        rows.insert(0, first - 1)
    if last < item.place.rows and item.source.line(above + last + 1).strip():
        rows.append(last + 1)
    return rows


def _diff(item: Item, fix: Fix, settings: Settings, paint: Paint) -> Iterator[str]:
    changed = list(changes(item.source, fix))
    numbers = [line.number or 0 for change in changed for line in change.lines]
    gutter = " " * len(str(max(numbers, default=0)))
    columns = _columns(settings, len(gutter) + len(" | "))
    bar = paint("|", _BLUE)
    for index, (cell, lines) in enumerate(changed):
        if cell is not None:
            yield f"{gutter}{paint(':::', _BLUE)} cell {cell}"
        yield paint(_CUT, _BLUE) if index and cell is None else f"{gutter} {bar}"
        for line in lines:
            row = paint(f"{line.number or '':>{len(gutter)}}", _BLUE)
            style = {"-": _RED, "+": _GREEN}.get(line.mark, "")
            shown = _visible(line.text, _left(line, lines, columns), columns)
            yield f"{row} {paint(f'{line.mark} {shown}', style) if style else f'{bar} {shown}'}"
    if changed:
        yield f"{gutter} {bar}"


def _left(line: Line, lines: Sequence[Line], columns: int) -> int:
    """From which character on a changed line is shown: so that the change is."""
    if line.mark == "|" or not _is_wide(line.text, columns):
        return 0
    others = [other.text for other in lines if other.mark not in ("|", line.mark)]
    first, behind = max((_common(line.text, other) for other in others), key=sum, default=(0, 0))
    if not _is_wide(line.text[: len(line.text) - behind], columns - len(_CUT)):
        return 0
    return max(0, first - columns // 4)


def _common(one: str, other: str) -> tuple[int, int]:
    """How many characters two lines begin with alike, and how many of the rest end alike."""
    most = min(len(one), len(other))
    first = next((at for at in range(most) if one[at] != other[at]), most)
    most -= first
    behind = next((at for at in range(most) if one[-1 - at] != other[-1 - at]), most)
    return first, behind


def _note(fix: Fix, settings: Settings) -> str | None:
    if fix.applicability is Applicability.DISPLAY:
        return "a suggestion, never applied"
    if fix.applicability is Applicability.SAFE:
        return None
    if settings.unsafe_fixes:
        return "unsafe fix, results may differ"
    return "unsafe fix, apply with --unsafe-fixes"


def _columns(settings: Settings, before: int) -> int:
    """How many columns are left for a line behind so many others."""
    if settings.width is None:
        return LONGEST_LINE
    return max(SHORTEST_LINE, min(LONGEST_LINE, settings.width - before))


def _visible(line: str, left: int, columns: int) -> str:
    """The part of a line that is shown, from character `left` on."""
    # Each character takes a column, or is made visible by more; one that takes none is rare.
    shown = _CUT * bool(left) + show(line[left : left + 2 * columns].replace("\t", _TAB))
    if len(line) <= left + 2 * columns and width(shown) <= columns:
        return shown
    while width(shown) > columns - len(_CUT):
        shown = shown[:-1]
    return shown + _CUT


def _is_wide(line: str, columns: int) -> bool:
    return len(line) > 2 * columns or _width(line, len(line), 0) > columns


def _width(line: str, characters: int, left: int) -> int:
    """How many columns the first so many characters of a line take where it is shown."""
    part = line[left : min(characters, left + 2 * LONGEST_LINE)]
    return (len(_CUT) if left else 0) + width(show(part.replace("\t", _TAB)))


def _linked(code: str, shown: str, settings: Settings) -> str:
    """A code that leads to its page, in a terminal that shows colours."""
    address = page(code) if settings.color and settings.width else None
    return f"\x1b]8;;{address}\x1b\\{shown}\x1b]8;;\x1b\\" if address else shown


def _plain(text: str, style: str) -> str:
    return text


def _colored(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"
