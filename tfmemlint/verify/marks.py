"""Marks in programs: comments that say something of a statement to whoever runs it."""

from __future__ import annotations

import ast
import io
import tokenize
from typing import TypeGuard

STEP = "step"
"""What the comment says on the line after which a program has done one step."""
STEP_DONE = "_tfmemlint_step_done"
"""The name of what is called then."""


def marked_lines(text: str, word: str) -> set[int]:
    """The numbers of the lines with a comment that says `# word`, alone or beside others."""
    return {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
        and word in (part.strip() for part in token.string.split("#"))
    }


def is_simple(node: object) -> TypeGuard[ast.stmt]:
    """Whether this is a statement, and not one that holds others."""
    return isinstance(node, ast.stmt) and not (hasattr(node, "body") or hasattr(node, "cases"))


def line_numbers(statement: ast.stmt) -> set[int]:
    """The lines a statement stands on."""
    return set(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))


def mark_steps(tree: ast.Module, lines: set[int]) -> int:
    """Have each simple statement on one of the lines followed by a call of the meter."""
    blocks: list[list[ast.AST]] = [
        values
        for node in ast.walk(tree)
        for _, values in ast.iter_fields(node)
        if isinstance(values, list)
    ]
    found = 0
    for block in blocks:
        for statement in block.copy():
            if is_simple(statement) and lines & line_numbers(statement):
                call = ast.Expr(ast.Call(ast.Name(STEP_DONE, ast.Load()), [], []))
                ast.copy_location(call, statement)
                block.insert(block.index(statement) + 1, ast.fix_missing_locations(call))
                found += 1
    return found
