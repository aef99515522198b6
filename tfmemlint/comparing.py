"""What edits must leave alone: the code outside of them, as Python understands it."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

from tfmemlint.lines import Lines
from tfmemlint.vocabulary import Edit, Span

_BLANK = re.compile(r"(?:[ \t\r\n\f]+|#[^\r\n]*)*")
_Key = tuple[object, ...]


def difference(before: str, after: str, edits: Sequence[Edit]) -> str | None:
    """What edits changed that does not stand in their places; None where nothing did.

    `edits` are those that made `after` of `before`, in order, none of them over another.
    """
    try:
        old = Counter(_outside(before, [edit.span for edit in edits], edits))
    except (SyntaxError, ValueError):
        return None  # it was no Python before, either
    made: list[Span] = []
    moved = 0
    for span, text in edits:
        start = span.start + moved
        made.append(Span(start, start + len(text)))
        moved += len(text) - (span.end - span.start)
    new = Counter(_outside(after, made, ()))
    if old == new:
        return None
    lost = next(iter((old - new) or (new - old)))
    return f"what stands beside them is another {lost[0]}"


def compiles(text: str) -> str | None:
    """Why a text is no program, as far as names and scopes go; None where it is one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<fixed>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except SyntaxError as error:
            return f"{error.msg} (line {error.lineno})"
        except (ValueError, RecursionError, MemoryError) as error:
            return str(error) or type(error).__name__
    return None


def _outside(text: str, spans: Sequence[Span], edits: Sequence[Edit]) -> Iterator[_Key]:
    """The nodes that stand outside of some spans, by where they are once edits have moved them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pending: list[ast.AST] = [ast.parse(text)]
    lines = Lines(text)
    starts, ends = [span.start for span in spans], [span.end for span in spans]
    shifts = [0]
    for span, given in edits:
        shifts.append(shifts[-1] + len(given) - (span.end - span.start))
    while pending:
        node = pending.pop()
        if not isinstance(node, ast.JoinedStr):  # what it holds may be said to stand elsewhere
            pending += ast.iter_child_nodes(node)
        line = getattr(node, "lineno", None)
        if line is None:
            continue
        start = lines.offset(line, node.col_offset)  # type: ignore[attr-defined]
        end = lines.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        # What is put behind a block, on lines of its own, may be the end of it.
        reach = _BLANK.match(text, end) if hasattr(node, "body") else None
        first, last = bisect_left(ends, start), bisect_right(starts, reach.end() if reach else end)
        if first < last:
            continue  # an edit stands within it or makes it longer, or it stands within one
        shift = shifts[first] if edits else 0
        yield type(node).__name__, start + shift, end + shift, *_told(node)


def _told(node: ast.AST) -> Iterator[str]:
    """What a node says of itself, apart from the nodes in it."""
    if isinstance(node, ast.JoinedStr):
        yield ast.dump(node)
        return
    for name, value in ast.iter_fields(node):
        if isinstance(value, (ast.operator, ast.unaryop, ast.boolop, ast.expr_context)):
            yield type(value).__name__
        elif isinstance(value, list):
            yield ",".join(
                type(each).__name__ if isinstance(each, ast.AST) else str(each)
                for each in cast("list[object]", value)
                if isinstance(each, (ast.cmpop, str))
            )
        elif not isinstance(value, ast.AST):
            yield f"{name}={value!r}"
