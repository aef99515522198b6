"""From text to a tree of Python's own, or to what is wrong with the text."""

from __future__ import annotations

import ast
import warnings


class TooDeep(Exception):
    """The code nests deeper than Python's own parser follows."""


def parse(text: str, path: str) -> ast.Module:
    """The tree of `text`; raises SyntaxError as Python would, TooDeep where Python gives up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text, path)
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
            symtable(text, path, "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            parse(text, path)  # a table asks for more than a tree does
