"""A file as rules see it: text, tree, spans, facts, and libcst for one statement at a time."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tfmemlint.facts import TensorFlow
from tfmemlint.lines import Lines
from tfmemlint.parsing import parse
from tfmemlint.vocabulary import Span

if TYPE_CHECKING:
    from tfmemlint.concrete import Concrete
    from tfmemlint.facts import Imported


class File:
    """One Python file, parsed once; everything a rule may read. Never changes."""

    def __init__(
        self,
        path: str,
        text: str,
        tensorflow: tuple[int, ...] | None = None,
        cells: Sequence[int] = (),
        imported: Imported | None = None,
    ) -> None:
        self.path = path
        self.text = text
        self.cells = cells
        """Where the cells of a notebook begin."""
        self.tensorflow = tensorflow
        """The oldest version that the code is to run with; None if any."""
        self.tree = parse(text, path)
        self.tf = TensorFlow(self.tree, imported)

    @cached_property
    def lines(self) -> Lines:
        """Where the lines of the text begin."""
        return Lines(self.text)

    @cached_property
    def is_test(self) -> bool:
        """Whether the file tests other code, with little data: its name or its imports say so."""
        name = self.path.replace("\\", "/").rpartition("/")[2]
        return name.startswith("test_") or name.endswith("_test.py") or self.tf.is_test

    def shows(self, statement: ast.stmt) -> bool:
        """Whether a statement ends a cell, be it one of a script: what it gives is displayed."""
        block, place = self.tf.tree.place(statement)
        if block is not self.tree.body:
            return False
        end = self.span(statement).end
        following = block[place + 1 : place + 2]
        until = self.span(following[0]).start if following else len(self.text)
        between = self.text[end:until].splitlines()
        begun = any(line.lstrip().startswith(_CELL) for line in between)
        last = bool(self.cells) and not following
        return begun or last or any(end <= start <= until for start in self.cells)

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


_CELL = ("# %%", "#%%", "# In[")
"""How scripts mark that a cell begins."""

Located = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias | ast.excepthandler | ast.pattern
