"""What is found in the documents of an editor, whatever their files hold."""

from __future__ import annotations

import gc
import json
import os
from bisect import bisect_right
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from tfmemlint.config import Config, Configs
from tfmemlint.decoding import Decoded
from tfmemlint.files import is_excluded
from tfmemlint.ignoring import comments
from tfmemlint.lines import Lines
from tfmemlint.pages import phrase, rule_page
from tfmemlint.registry import folder
from tfmemlint.report.figures import cost
from tfmemlint.report.items import ENGINE
from tfmemlint.run import Checker, Opened
from tfmemlint.vocabulary import Applicability, Edit, Finding, Fix, Span

LONGEST = 5.0
"""Seconds of processor time that one look at a document may take."""


class Part(NamedTuple):
    """A text of its own in an editor: a file, or the cell of a notebook."""

    uri: str
    text: str


class Found(NamedTuple):
    """What is found in a part, in offsets of its own text."""

    part: Part
    findings: tuple[Finding, ...] = ()


class Desk:
    """The settings and the rules for the documents that are open."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        """Raises ConfigError where the settings of an editor make no sense."""

        def as_they_are(config: Config) -> Config:
            return config

        self._configs = Configs(as_they_are, None, settings)
        self._checker = Checker(self._configs, longest=LONGEST, again=True)
        self._fixer = Checker(self._configs, fix=True, longest=LONGEST)

    def check(self, path: str, part: Part) -> Found:
        """What is found in a Python file. Raises ConfigError."""
        if self._is_excluded(path):
            return Found(part)
        with _without_a_pause():
            checked = self._checker.check(path, *_opened(part.text)).checked
        return Found(part, checked.findings)

    def check_cells(self, path: str, cells: Sequence[Part | None]) -> list[Found]:
        """What is found in the code cells of a notebook; None stands for cells of text."""
        if self._is_excluded(path):
            return [Found(cell) for cell in cells if cell]
        data = json.dumps(
            {
                "nbformat": 4,
                "nbformat_minor": 5,
                "metadata": {},
                "cells": [_cell(cell) for cell in cells],
            }
        ).encode()
        name = path if path.endswith(self._checker.notebooks) else path + ".ipynb"
        with _without_a_pause():
            checked = self._checker.check(name, data).checked
        found = {cell.uri: Found(cell) for cell in cells if cell}
        lines = Lines(checked.text)
        starts = [cell.start for cell in checked.cells]
        for finding in checked.findings:
            at = bisect_right(starts, finding.diagnostic.span.start) - 1
            cell = cells[checked.cells[at].number - 1] if at >= 0 else None
            if cell:
                own = _moved(finding, lines, starts[at], cell.text)
                found[cell.uri] = Found(cell, (*found[cell.uri].findings, own))
        return list(found.values())

    def _is_excluded(self, path: str) -> bool:
        configs = self._configs
        return is_excluded(os.path.abspath(path), configs.excluded, configs.begins)  # noqa: PTH100

    def look_around(self) -> None:
        """Other files have changed, as far as anybody knows."""
        self._checker.look_around()
        self._fixer.look_around()

    def fixed(self, path: str, text: str) -> str:
        """A file after its fixes: the safe ones, or those that settings allow, too."""
        change = self._fixer.check(path, *_opened(text)).change
        return change.after.decode("utf-8", "surrogatepass") if change else text

    def ignoring(self, path: str, text: str, finding: Finding) -> Sequence[Edit]:
        """The edit that writes a comment at a finding."""
        return comments(text, [finding], self._checker.plan(path).codes, reason="").edits

    def about(self, path: str, finding: Finding) -> str:
        """What there is to know of a finding, in Markdown. Raises ConfigError."""
        self._checker.plan(path)  # rules are known as soon as there is one
        code, name, diagnostic = finding
        lines = [f"**{code}** `{name}`: {diagnostic.message}"]
        if diagnostic.cost:
            lines.append(f"Cost: {cost(diagnostic.cost)}")
        rule = self._checker.rules.get(code)
        if rule is None:
            return "\n\n".join([*lines, *([ENGINE[code].meaning] if code in ENGINE else [])])
        loaded = rule.load()
        measured = phrase(folder(loaded))
        if measured:
            lines.append(f"Measured: {measured}")
        page = rule_page(loaded, folder(loaded)).partition("\n\n")[2].partition("\n## Example")[0]
        return "\n\n".join([*lines, "---", page])


def offered(finding: Finding) -> Fix | None:
    """The fix of a finding that can be applied."""
    fix = finding.diagnostic.fix
    return fix if fix and fix.edits and fix.applicability is not Applicability.DISPLAY else None


@contextmanager
def _without_a_pause() -> Generator[None]:
    """Python looks for cycles ever again while a large tree is made, and finds none."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _opened(text: str) -> tuple[bytes, Opened]:
    """A text is what it is, whatever encoding it says that it had as a file."""
    data = text.encode("utf-8", "surrogatepass")
    return data, Opened(data, Decoded(text))


def _cell(cell: Part | None) -> Mapping[str, object]:
    if cell is None:
        return {"cell_type": "markdown", "metadata": {}, "source": ""}
    return {"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.text}


def _moved(finding: Finding, lines: Lines, start: int, text: str) -> Finding:
    """The same in the text of its cell, which has other words where only IPython reads them."""
    above, _ = lines.position(start)
    own = Lines(text)

    def offset(of: int) -> int:
        row, column = lines.position(of)
        row -= above
        return len(text) if row >= len(own.starts) else own.starts[row] + column - 1

    def moved(span: Span) -> Span:
        first, last = offset(span.start), offset(span.end)
        return Span(min(first, len(text)), min(last, len(text)))

    diagnostic = finding.diagnostic
    fix = diagnostic.fix
    if fix:
        leaves = any(edit.span.start < start for edit in fix.edits)
        edits = tuple(Edit(moved(edit.span), edit.text) for edit in fix.edits)
        fix = None if leaves else fix._replace(edits=edits)
    return finding._replace(diagnostic=diagnostic._replace(span=moved(diagnostic.span), fix=fix))
