"""A file as rules see it: text, tree, spans, facts, and libcst for one statement at a time."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfmemlint.facts import TensorFlow
from tfmemlint.lines import Lines
from tfmemlint.parsing import parse
from tfmemlint.vocabulary import Span

if TYPE_CHECKING:
    from tfmemlint.concrete import Concrete


class File:
    """One Python file, parsed once; everything a rule may read. Never changes."""

    def __init__(self, path: str, text: str, tensorflow: tuple[int, ...] | None = None) -> None:
        self.path = path
        self.text = text
        self.tensorflow = tensorflow
        """The oldest version that the code is to run with; None if any."""
        self.tree = parse(text, path)
        self.tf = TensorFlow(self.tree)

    @cached_property
    def lines(self) -> Lines:
        """Where the lines of the text begin."""
        return Lines(self.text)

    @property
    def is_test(self) -> bool:
        """Whether the file's name says that it holds tests, whose data is small."""
        name = self.path.replace("\\", "/").rpartition("/")[2]
        return name.startswith("test_") or name.endswith("_test.py")

    def span(self, first: Located, last: Located | None = None) -> Span:
        """From the start of `first` to the end of `last`, decorators included."""
        start = self.lines.offset(first.lineno, first.col_offset)
        decorators: list[ast.expr] = getattr(first, "decorator_list", [])
        if decorators:
            first_decorator = self.lines.offset(decorators[0].lineno, decorators[0].col_offset)
            start = self.text.rindex("@", 0, first_decorator)
        end = last or first
        assert end.end_lineno is not None
        assert end.end_col_offset is not None
        return Span(start, self.lines.offset(end.end_lineno, end.end_col_offset))

    def source(self, where: Located | Span) -> str:
        """The user's own text of a node or a span."""
        start, end = where if isinstance(where, Span) else self.span(where)
        return self.text[start:end]

    def concrete(self, node: ast.AST) -> Concrete | None:
        """The libcst tree of the innermost statement that holds `node`.

        None where libcst does not read that statement back exactly as it stands.
        Importing libcst costs more than linting a file, so it waits for the first finding.
        """
        from tfmemlint.concrete import concrete  # noqa: PLC0415

        return concrete(self, node)


Located = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias | ast.excepthandler | ast.pattern
