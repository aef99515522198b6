"""Edits of loops, which may become functions or go over something else; None as in `edits`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.edits import behind, fresh, margin, nested, newline, whole_lines
from tfmemlint.light_typing import TYPE_CHECKING
from tfmemlint.vocabulary import Edit, Span

if TYPE_CHECKING:
    from tfmemlint.source import File


def as_function(file: File, loop: ast.For, append: ast.Call, name: str) -> tuple[Edit | None, ...]:
    """`def name(x): return f(x)` for `ys = []` and `for x in xs: ys.append(f(x))` below it.

    The loop stands between the start of its list and another statement, and ends with `append`.
    """
    block, place = file.tf.tree.place(loop)
    start, following = block[place - 1], block[place + 1]
    above = _missing_space(file, block[place - 2], start) if place > 1 else ""
    behind = file.lines.start(file.span(following).start)
    return (
        _taken_out(file, start, above),
        _header(file, loop, loop, f"def {name}({file.source(loop.target)})"),
        _returned(file, append),
        Edit(Span(behind, behind), _missing_space(file, loop, following)),
    )


def in_slices(file: File, statement: ast.stmt, arrays: Sequence[ast.expr]) -> Edit | None:
    """A statement in a loop over 32 rows of its arrays at a time; None if code shares its lines."""
    lines = whole_lines(file, statement)
    if lines is None or file.concrete(arrays[0]) is None:
        return None
    start = fresh(file, "start", "batch_start")
    header = f"for {start} in range(0, len({file.source(arrays[0])}), 32):"
    cuts = [behind(file, each, f"[{start} : {start} + 32]") for each in arrays]
    return nested(file, lines, header, cuts)


def over(
    file: File, loop: ast.For, variable: str, iterable: str, replaced: ast.stmt
) -> tuple[Edit | None, ...]:
    """`for variable in iterable:`, which makes a statement of the loop's body superfluous."""
    header = _header(file, loop, loop.target, f"{variable} in {iterable}")
    return header, _taken_out(file, replaced)


def _header(file: File, loop: ast.For, first: ast.For | ast.expr, text: str) -> Edit | None:
    """`text` from `first` to the end of what a loop goes over, if the colon is next."""
    start, end = file.span(first).start, file.span(loop.iter).end
    bare = file.text[end:].lstrip(" \t").startswith(":")
    return Edit(Span(start, end), text) if bare and file.concrete(loop.iter) else None


def _taken_out(file: File, statement: ast.stmt, instead: str = "") -> Edit | None:
    """Something in place of a statement's lines; a comment behind the statement stays."""
    lines = whole_lines(file, statement)
    if lines is None:
        return None
    start, end = file.span(statement)
    comment = file.text[end : lines.end].lstrip(" \t")
    if comment.startswith("#"):
        return Edit(Span(start, lines.end - len(comment)), "")
    return Edit(lines, instead)


def _returned(file: File, append: ast.Call) -> Edit | None:
    """`return y` for `ys.append(y)`."""
    call, value = file.span(append), file.span(append.args[0])
    if "\n" not in file.source(call):
        return Edit(call, f"return {file.source(value)}")
    if "," in file.text[value.end : call.end]:
        return None
    return Edit(Span(call.start, file.text.index("(", call.start)), "return ")


def _missing_space(file: File, first: ast.stmt, second: ast.stmt) -> str:
    """The line ends missing between two statements when one of them becomes a function."""
    gap = file.text[file.span(first).end : file.span(second).start]
    wanted = 2 if margin(file, second) else 3
    return "" if "#" in gap else newline(file) * (wanted - gap.count("\n"))
