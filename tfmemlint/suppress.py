"""`# noqa: TFM101`, `# tfmemlint: ignore[TFM101] why`: what a file asks not to be told.

A pass over finished findings, so that a comment which suppresses nothing is a finding too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from tfmemlint.light_typing import NamedTuple
from tfmemlint.lines import Lines
from tfmemlint.vocabulary import Applicability, Diagnostic, Edit, Finding, Fix, Span

CODE = "TFM005"
NAME = "unused-suppression"
UNSUPPRESSIBLE = frozenset(("TFM001", "TFM002", "TFM003", "TFM004"))
"""What says that a file was not, or not wholly, checked."""

Known = Mapping[str, str]
"""From what may be written, every rule's code and name, to its code."""

_MARK = re.compile(
    r"#[ \t]*(?:noqa(?![\w-])(?P<colon>[ \t]*:)?"
    r"|tfmemlint:[ \t]*(?P<verb>ignore-file|ignore|disable|enable)(?![\w-])[ \t]*(?P<bracket>\[)?)",
    re.IGNORECASE,
)
_NOQA_CODE = re.compile(r"[ \t,]*([A-Z]+[0-9]+)\b", re.IGNORECASE | re.ASCII)
_NAME = re.compile(r"[ \t,]*([\w-]+)")
_CLOSING = re.compile(r"[ \t,]*\]")
# What follows a suppression is its reason, up to the next `#` that introduces words: not `#123`.
_NEXT_REMARK = re.compile(r"#[ \t]*[^\W\d_]")
_LONGEST_NAME = 64
"""Characters; a longer name is not guessed at."""
_MOST_COMPLAINTS = 1000
"""In one file: guessing at what a name should have been takes its time."""


class _Item(NamedTuple):
    """One code or name in a mark."""

    span: Span
    code: str | None
    """None for what is not ours."""
    mistaken: bool = False
    """Meant for us, in a `noqa` that takes whole codes and nothing else."""


class Mark(NamedTuple):
    """One `# noqa` or `# tfmemlint:` in a comment, which may hold several."""

    verb: str
    span: Span
    items: tuple[_Item, ...]
    blanket: bool
    """Means every code, as it names none."""


class Comment(NamedTuple):
    """A real comment, as opposed to a `#` in a string."""

    span: Span
    row: int
    alone: bool
    """Nothing else is on its line, nor is the line part of another through a backslash."""


class Layout(NamedTuple):
    """A file's comments, and its logical lines as pairs of first and last row."""

    comments: tuple[Comment, ...]
    logical: tuple[tuple[int, int], ...]


class _Area(NamedTuple):
    """Rows on which an item, or a blanket mark, suppresses a code, or any."""

    code: str | None
    cause: Span
    first: int = 0
    last: float = float("inf")


class _Scopes(NamedTuple):
    """All that a file suppresses, and the items and blanket marks that are the cause of it."""

    rows: dict[tuple[int, str | None], set[Span]]
    """By the one row and the code, or any, that it concerns."""
    areas: list[_Area]
    closing: frozenset[Span]
    """Items that enable what was disabled."""


def suppress(
    text: str,
    findings: Sequence[Finding],
    known: Known,
    ran: Container[str] | None = None,
    cells: Iterable[int] = (),
) -> tuple[Finding, ...]:
    """The findings that no comment suppresses, and a TFM005 for each comment that suppresses none.

    `ran` holds the codes of the rules that looked at the file; None means all there are. What
    suppresses a rule that did not run may well be needed. `cells` are the offsets at which the
    cells of a notebook begin. The result is in order of place.
    """
    if not _worth_tokenizing(text, findings, known):
        return tuple(findings)
    lines = Lines(text)
    layout = layout_of(text, lines)
    if layout is None:
        return tuple(findings)
    marks = [
        (mark, comment)
        for comment in layout.comments
        for mark in marks_in(text, comment.span, known)
    ]
    scopes = _scopes(marks, layout, frozenset(lines.position(start)[0] for start in cells))
    if any(finding.code in UNSUPPRESSIBLE for finding in findings):
        ran = ()
    kept: list[Finding] = []
    used = set(scopes.closing)
    for finding in findings:
        causes = _causes(finding, scopes, layout, lines)
        used |= causes
        if not causes:
            kept.append(finding)
    complaints = (
        Finding(CODE, NAME, diagnostic)
        for mark, comment in marks
        for diagnostic in _complaints(lines, mark, comment, known, ran, used)
    )
    kept += (
        complaint
        for complaint in islice(complaints, _MOST_COMPLAINTS)
        if not _causes(complaint, scopes, layout, lines)
    )
    return tuple(sorted(kept, key=lambda finding: (finding.diagnostic.span, finding.code)))


def _worth_tokenizing(text: str, findings: Sequence[Finding], known: Known) -> bool:
    """Whether a comment could matter: with nothing to suppress, only one of our own does."""
    return any(
        findings or mark.verb != "noqa" or any(item.code or item.mistaken for item in mark.items)
        for mark in marks_in(text, Span(0, len(text)), known)
    )


def named_by_noqa(text: str, known: Known) -> str | None:
    """The first code of ours that a `# noqa` names, as other linters read these, too."""
    for mark in marks_in(text, Span(0, len(text)), known):
        if mark.verb == "noqa" and (code := next((each.code for each in mark.items), None)):
            return code
    return None


def marks_in(text: str, within: Span, known: Known) -> Iterator[Mark]:
    for match in _MARK.finditer(text, *within):
        verb = (match["verb"] or "noqa").lower()
        opened = match["colon"] or match["bracket"]
        items, end = _items(text, match.end(), within.end, verb, known) if opened else ((), None)
        yield Mark(
            verb,
            Span(match.start(), end or match.end()),
            items,
            blanket=not opened and verb in ("noqa", "ignore-file"),
        )


def _items(
    text: str, start: int, stop: int, verb: str, known: Known
) -> tuple[tuple[_Item, ...], int | None]:
    """The codes or names listed from `start` on, and where the list ends; none of a broken one."""
    items: list[_Item] = []
    pattern = _NOQA_CODE if verb == "noqa" else _NAME
    while match := pattern.match(text, start, stop):
        code = _code(match[1], known)
        mistaken = verb == "noqa" and code is None and _begins_ours(match[1], known)
        items.append(_Item(Span(*match.span(1)), code, mistaken))
        start = match.end()
    if verb == "noqa":
        name = _NAME.match(text, start, stop)
        if name and name[1].lower() in known and not (items and "," not in name[0]):
            items.append(_Item(Span(*name.span(1)), None, mistaken=True))
            start = name.end()
        return tuple(items), start
    closing = _CLOSING.match(text, start, stop)
    return (tuple(items), closing.end()) if closing else ((), None)


def _code(name: str, known: Known) -> str | None:
    if name.upper() == CODE or name.lower() == NAME:
        return CODE
    if name.upper() in UNSUPPRESSIBLE:
        return name.upper()
    return known.get(name.upper()) or known.get(name.lower())


def _begins_ours(name: str, known: Known) -> bool:
    """Whether this is where some of our codes begin; what is like them may be another pack's."""
    return any(code.startswith(name.upper()) for code in known.values())


def layout_of(text: str, lines: Lines) -> Layout | None:
    """None where the text does not tokenize."""
    import io  # noqa: PLC0415
    import tokenize  # noqa: PLC0415

    between = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
    comments: list[Comment] = []
    logical: list[tuple[int, int]] = []
    previous, first = tokenize.NEWLINE, 0
    try:
        # Universal newlines: rows end where `Lines` ends them, and columns stay what they are.
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            row, column = token.start
            if token.type == tokenize.COMMENT:
                start = lines.starts[row - 1] + column
                span = Span(start, start + len(token.string))
                comments.append(Comment(span, row, previous in between))
            elif token.type == tokenize.NEWLINE:
                logical.append((first, row))
                first = 0
            elif token.type not in between:
                first = first or row
            previous = token.type
    except (SyntaxError, tokenize.TokenError):
        return None
    return Layout(tuple(comments), tuple(logical))


def _scopes(
    marks: Sequence[tuple[Mark, Comment]], layout: Layout, cells: Container[int]
) -> _Scopes:
    rows: dict[tuple[int, str | None], set[Span]] = {}
    areas: list[_Area] = []
    disabled: dict[str | None, list[_Area]] = {}
    closing: set[Span] = set()
    below = _rows_below(layout, cells)
    for mark, comment in marks:
        for code, cause in _targets(mark):
            if mark.verb in ("noqa", "ignore"):
                row = below.get(comment.row, comment.row) if mark.verb == "ignore" else comment.row
                rows.setdefault((row, code), set()).add(cause)
            elif not comment.alone:
                continue
            elif mark.verb == "ignore-file":
                areas.append(_Area(code, cause))
            elif mark.verb == "disable":
                disabled.setdefault(code, []).append(_Area(code, cause, comment.row))
            elif code in disabled:
                areas += (opened._replace(last=comment.row) for opened in disabled.pop(code))
                closing.add(cause)
    areas += chain.from_iterable(disabled.values())
    return _Scopes(rows, areas, frozenset(closing))


def _targets(mark: Mark) -> list[tuple[str | None, Span]]:
    if mark.blanket:
        return [(None, mark.span)]
    return [(item.code, item.span) for item in mark.items if item.code]


def _rows_below(layout: Layout, cells: Container[int]) -> dict[int, int]:
    """For the row of each comment on a line of its own, the first one below that is no such row.

    None for a comment that ends its cell: what follows is in one of those that begin at `cells`.
    """
    below: dict[int, int] = {}
    for comment in reversed(layout.comments):
        if comment.alone and comment.row + 1 not in cells:
            below[comment.row] = below.get(comment.row + 1, comment.row + 1)
    return below


def _causes(finding: Finding, scopes: _Scopes, layout: Layout, lines: Lines) -> set[Span]:
    """The items and blanket marks that suppress a finding."""
    if finding.code in UNSUPPRESSIBLE:
        return set()
    span = finding.diagnostic.span
    row = lines.position(span.start)[0]
    end = lines.position(max(span.start, span.end - 1))[0]
    rows = {row}
    before = bisect_right(layout.logical, row, key=lambda logical: logical[0]) - 1
    if before >= 0 and row <= (last := layout.logical[before][1]):
        rows |= {layout.logical[before][0], last, min(end, last)}
    causes: set[Span] = set()
    for code in (finding.code, None):
        causes.update(*(scopes.rows.get((near, code), ()) for near in rows))
        causes.update(
            area.cause
            for area in scopes.areas
            if area.code == code and area.first <= row <= area.last
        )
    # A blanket mark that suppresses nothing else does not suppress the complaint about it.
    return causes - {span}


def _complaints(
    lines: Lines,
    mark: Mark,
    comment: Comment,
    known: Known,
    ran: Container[str] | None,
    used: Container[Span],
) -> Iterator[Diagnostic]:
    """What is wrong with a mark: its form, its place, its names, or that nothing needs it."""
    if mark.verb != "noqa":
        if not mark.items and not mark.blanket:
            yield Diagnostic(mark.span, f"`{mark.verb}` names no rule in brackets")
        elif mark.verb != "ignore" and not comment.alone:
            yield Diagnostic(mark.span, f"`{mark.verb}` works only on a line of its own")
            return
        elif mark.blanket and ran is None and mark.span not in used:
            fix = _removal(lines, mark, comment)
            yield Diagnostic(mark.span, f"`{mark.verb}` suppresses nothing", fix)
        yield from (_unknown(lines.text, item, known) for item in mark.items if not item.code)
    yield from (_mistake(lines.text, item, known) for item in mark.items if item.mistaken)
    idle = [item for item in mark.items if _idle(item, ran, used)]
    if idle:
        yield Diagnostic(
            Span(idle[0].span.start, idle[-1].span.end),
            " and ".join(f"`{lines.text[slice(*item.span)]}`" for item in idle)
            + _what_is_wrong(mark, idle),
            _removal(lines, mark, comment)
            if len(idle) == len(mark.items)
            else _shortening(mark, frozenset(idle)),
        )


def _idle(item: _Item, ran: Container[str] | None, used: Container[Span]) -> bool:
    if item.code in UNSUPPRESSIBLE:
        return True
    if item.code is None or item.code == CODE or item.span in used:
        return False
    return ran is None or item.code in ran


def _what_is_wrong(mark: Mark, idle: Sequence[_Item]) -> str:
    several = len(idle) > 1
    if UNSUPPRESSIBLE.issuperset(item.code for item in idle):
        return " cannot be suppressed"
    if mark.verb == "enable":
        return " are not disabled here" if several else " is not disabled here"
    return " suppress nothing here" if several else " suppresses nothing here"


def _mistake(text: str, item: _Item, known: Known) -> Diagnostic:
    """That a `noqa` names us in a way that does nothing."""
    name = text[slice(*item.span)]
    code = known.get(name.lower())
    if code:
        fix = Fix(f"Write `{code}`", (Edit(item.span, code),), Applicability.DISPLAY)
        return Diagnostic(item.span, f"`noqa` takes codes, not names such as `{name}`", fix)
    return Diagnostic(item.span, f"`noqa` takes whole codes; `{name}` suppresses nothing")


def _unknown(text: str, item: _Item, known: Known) -> Diagnostic:
    name = text[slice(*item.span)]
    nearest = next((guess for guess in _one_slip_away(name) if _code(guess, known)), None)
    if nearest is None:
        return Diagnostic(item.span, f"no rule is called `{name}`")
    fix = Fix(f"Write `{nearest}`", (Edit(item.span, nearest),), Applicability.DISPLAY)
    return Diagnostic(item.span, f"no rule is called `{name}`; the nearest is `{nearest}`", fix)


def _one_slip_away(name: str) -> Iterator[str]:
    """What one wrong, missing, superfluous or swapped character may have made `name` of."""
    if len(name) > _LONGEST_NAME:
        return
    letters = "0123456789-abcdefghijklmnopqrstuvwxyz"
    name = name.lower().replace("_", "-")
    if "-" not in name:
        letters, name = letters.upper(), name.upper()
    yield name
    for at in reversed(range(len(name) + 1)):
        head, tail = name[:at], name[at:]
        yield head + tail[1:]
        yield head + tail[1:2] + tail[:1] + tail[2:]
        for letter in letters:
            yield head + letter + tail[1:]
            yield head + letter + tail


def _removal(lines: Lines, mark: Mark, comment: Comment) -> Fix | None:
    """Take a mark and its reason away, and with the last of a comment what stands before it."""
    text, start = lines.text, mark.span.start
    remark = _NEXT_REMARK.search(text, mark.span.end, comment.span.end)
    if remark:
        span = Span(start, remark.start())
    elif comment.alone and start == comment.span.start:
        span = Span(lines.starts[comment.row - 1], lines.end(comment.row))
    else:
        line_start = lines.starts[comment.row - 1]
        code_end = line_start + len(text[line_start:start].rstrip(" \t\f"))
        if code_end == line_start:
            return None  # the comment is what ends a line continued with a backslash
        span = Span(code_end, comment.span.end)
    return Fix("Remove the suppression", (Edit(span, ""),), Applicability.SAFE)


def _shortening(mark: Mark, idle: Container[_Item]) -> Fix:
    """Take some of a mark's items away, each with the comma that sets it apart from one kept."""
    items = mark.items
    last_kept = max(place for place, item in enumerate(items) if item not in idle)
    edits = tuple(
        Edit(
            Span(item.span.start, items[place + 1].span.start)
            if place < last_kept
            else Span(items[place - 1].span.end, item.span.end),
            "",
        )
        for place, item in enumerate(items)
        if item in idle
    )
    return Fix("Shorten the suppression", edits, Applicability.SAFE)
