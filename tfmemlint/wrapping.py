"""Lines that fixes make longer than the project's formatter has them, wrapped as that would."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from itertools import pairwise

from tfmemlint.light_typing import NamedTuple
from tfmemlint.lines import spliced
from tfmemlint.ruff_settings import USUAL
from tfmemlint.vocabulary import Edit, Finding, Span

_SIMPLE = (ast.AnnAssign, ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
_INDENTED = re.compile(r":[ \t]*(?:#.*)?\r?\n([ \t]+)\S")
_BY_BACKSLASH = re.compile(r"\\\r?\n[ \t]*\.\w")
_BY_PARENTHESES = re.compile(r"[^\\\r\n]\r?\n[ \t]*\.\w")


class _Style(NamedTuple):
    longest: int
    unit: str
    newline: str
    by_backslash: bool


class _Long(NamedTuple):
    """An expression that stands on one line with what makes that too long, from byte to byte."""

    node: ast.expr
    bare: bool
    """Whether no parentheses are around it yet."""


def longest_in(text: str) -> int:
    """How long the lines of a file may be, where no settings tell: the file does."""
    return max(USUAL, *map(len, text.splitlines()))


def within(finding: Finding, text: str, longest: int) -> Finding:
    """The same with a fix whose lines are no longer than the longest, where they can be wrapped.

    Lines that were longer before stay as they are.
    """
    fix = finding.diagnostic.fix
    if fix is None:
        return finding
    edits, seen = sorted(fix.edits, key=_span), -1
    while (place := _too_long(text, edits, longest, seen)) is not None:
        wrapped = _wrapped(text, edits, place, longest)
        edits, seen = (edits, place) if wrapped is None else (wrapped, place)
    fix = fix._replace(edits=tuple(edits))
    return finding._replace(diagnostic=finding.diagnostic._replace(fix=fix))


def _places(edits: list[Edit]) -> Iterator[tuple[Edit, int]]:
    """Each edit, and where what it writes begins in the new text."""
    moved = 0
    for edit in edits:
        yield edit, edit.span.start + moved
        moved += _gain(edit)


def _too_long(text: str, edits: list[Edit], longest: int, seen: int) -> int | None:
    """Where the first line behind `seen` begins that edits have made too long."""
    new = spliced(text, edits)
    for edit, start in _places(edits):
        before = text[text.rfind("\n", 0, edit.span.start) + 1 : edit.span.end]
        before += text[edit.span.end :].partition("\n")[0]
        if any(len(line.rstrip("\r")) > longest for line in before.split("\n")):
            continue
        begin = new.rfind("\n", 0, start) + 1
        end = start + len(edit.text)
        while begin <= end:
            line = new[begin:].partition("\n")[0]
            if begin > seen and len(line.rstrip("\r")) > longest:
                return begin
            begin += len(line) + 1
    return None


def _wrapped(text: str, edits: list[Edit], place: int, longest: int) -> list[Edit] | None:
    """The edits, of which one writes the line at `place` of the new text on several lines."""
    new = spliced(text, edits)
    line = new[place:].partition("\n")[0].rstrip("\r")
    unit = _INDENTED.search(text)
    style = _Style(
        longest,
        unit[1] if unit else "    ",
        "\r\n" if "\r\n" in text else "\n",
        _BY_BACKSLASH.search(text) is not None and _BY_PARENTHESES.search(text) is None,
    )
    written = _on_lines(line, style)
    if written is None:
        return None
    start, end = place, place + len(line)
    first, last, met = start, end, list[Edit]()
    for edit, at in _places(edits):
        if at <= end and at + len(edit.text) >= start:
            met.append(edit)
            first, last = min(first, at), max(last, at + len(edit.text))
    before = sum(map(_gain, (each for each in edits if each.span < met[0].span)))
    inside = sum(map(_gain, met))
    span = Span(first - before, last - before - inside)
    made = Edit(span, new[first:start] + written + new[end:last])
    return sorted((*(each for each in edits if each not in met), made), key=_span)


def _span(edit: Edit) -> Span:
    return edit.span


def _gain(edit: Edit) -> int:
    """How much longer an edit makes the text."""
    return len(edit.text) - (edit.span.end - edit.span.start)


def _on_lines(line: str, style: _Style) -> str | None:
    """A line of code on several; None where no way is known by which all are short."""
    code = line.lstrip()
    margin = line[: len(line) - len(code)]
    body = f"{code}\n{' '}pass" if code.rstrip().endswith(":") else code
    tree = _parsed(body)
    found = None if tree is None else _long(tree, code.encode())
    if found is None or tree is None:
        return None
    ways = [_by_steps(code, found, margin, style)]
    ways += (_by_arguments(code, each, margin, style) for each in _calls(found.node))
    for written in ways:
        if written is None:
            continue
        lines = written.split(style.newline)
        again = _parsed("\n".join([*lines, " pass"] if body != code else lines).lstrip())
        same = again is not None and ast.dump(again) == ast.dump(tree)
        if same and all(len(each) <= style.longest for each in lines):
            return written
    return None


def _parsed(code: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _long(tree: ast.Module, code: bytes) -> _Long | None:
    """What a statement calculates, or a loop goes over, if that is a call."""
    statement = tree.body[0] if len(tree.body) == 1 else None
    if isinstance(statement, ast.For):
        node: ast.expr | None = statement.iter
    else:
        node = statement.value if isinstance(statement, _SIMPLE) else None
    if not isinstance(node, ast.Call) or node.end_col_offset is None:
        return None
    before, after = code[: node.col_offset].rstrip(), code[node.end_col_offset :].lstrip()
    return _Long(node, not (before.endswith(b"(") and after.startswith(b")")))


def _by_steps(code: str, long: _Long, margin: str, style: _Style) -> str | None:
    """Each method of a chain on a line of its own; those of a name stay with it."""
    text, dots = code.encode(), list[int]()
    node = long.node
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
        assert node.end_col_offset is not None
        dots.append(text.index(b".", node.end_col_offset))
    named = node
    while isinstance(named, ast.Attribute):
        named = named.value
    dots = dots[::-1][isinstance(named, ast.Name) :]
    if len(dots) < 2:
        return None
    end = long.node.end_col_offset
    cuts = [long.node.col_offset, *dots, end]
    steps = [text[start:stop].decode() for start, stop in pairwise(cuts)]
    inner = margin + style.unit
    before, after = text[: cuts[0]].decode(), text[end:].decode()
    if style.by_backslash and long.bare:
        return margin + before + f" \\{style.newline}{inner}".join(steps) + after
    opened, closed = ("(", ")") if long.bare else ("", "")
    body = "".join(style.newline + inner + each for each in steps)
    return f"{margin}{before}{opened}{body}{style.newline}{margin}{closed}{after}"


def _calls(node: ast.expr) -> Iterator[ast.Call]:
    """The calls of a chain, the last first."""
    while isinstance(node, ast.Call):
        yield node
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.func


def _by_arguments(code: str, call: ast.Call, margin: str, style: _Style) -> str | None:
    """What a call is given on a line of its own or, where that is too long, on one each."""
    text = code.encode()
    assert call.func.end_col_offset is not None
    assert call.end_col_offset is not None
    passed: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    given = sorted(passed, key=lambda each: each.col_offset)
    if not given or any(isinstance(each, ast.GeneratorExp) for each in given):
        return None
    opened, closed = text.index(b"(", call.func.end_col_offset) + 1, call.end_col_offset - 1
    inner, last = margin + style.unit, given[-1].end_col_offset or closed
    together = inner + text[opened:closed].decode().strip()
    if len(together) > style.longest:
        starts = [each.col_offset for each in given]
        cut = [*starts[1:], last]
        each = [text[a:b].decode().rstrip(", ") for a, b in zip(starts, cut, strict=True)]
        together = f",{style.newline}".join(inner + one for one in each) + ","
    before, after = text[:opened].decode(), text[closed:].decode()
    return f"{margin}{before}{style.newline}{together}{style.newline}{margin}{after}"
