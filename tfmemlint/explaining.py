"""Why a line is reported, or is not: what each rule asked about it, and what the answer was.

The facts are asked by methods whose first lines of documentation say what they tell. While a rule
reads the file, its questions are listened to; the last one about the line is what it turned on.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from enum import Enum
from inspect import CO_GENERATOR
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from tfmemlint.config import ConfigError
from tfmemlint.decoding import Decoded, UndecodableError
from tfmemlint.lines import Lines
from tfmemlint.notebooks import Notebook
from tfmemlint.report.escape import show, show_path
from tfmemlint.run import Checker, Opened, Outcome, content_of, is_small
from tfmemlint.slips import did_you_mean
from tfmemlint.source import File
from tfmemlint.vocabulary import Finding, Rule

_PLACE = re.compile(
    r"(?P<path>.+?)(:cell (?P<cell>\d+))?:(?P<line>\d+)(:\d+)?(:\s*(?P<rule>[A-Za-z][\w-]*))?:?\Z"
)
_LONGEST = 60
_MOST_ORIGINS = 3
_ASIDE = ("tfmemlint.facts.syntax.", "tfmemlint.facts.library.")
"""What every rule asks to find its way about the code: nothing turns on that."""


class Question(NamedTuple):
    """What a rule asked about something on the line, and what it heard."""

    about: ast.AST
    words: str
    answer: str


def explain(checker: Checker, place: str) -> Iterator[str]:
    """Line by line, what the rules make of `PATH:LINE[:CODE]`. Raises ConfigError and OSError."""
    parts = _PLACE.match(place)
    if parts is None:
        raise ConfigError(
            f"--explain: `{show(place)}` is not of the form PATH:LINE or PATH:LINE:RULE"
        )
    path, one = parts["path"], None
    codes = checker.plan(path).codes
    if parts["rule"]:
        one = codes.get(parts["rule"])
        if one is None:
            near = did_you_mean(parts["rule"], codes)
            raise ConfigError(f"--explain: there is no rule `{parts['rule']}`{near}")
    data = Path(path).read_bytes()
    try:
        opened = content_of(path, data, checker.notebooks)
    except UndecodableError as error:
        raise ConfigError(f"{show_path(path)}: {error}") from None
    if isinstance(opened.content, Notebook) and parts["cell"] is None:
        raise ConfigError(
            f"--explain: {show_path(path)} is a notebook, whose lines are those of its cells: "
            f"`{show_path(path)}:cell N:LINE`"
        )
    line = _line(opened.content, parts["cell"], int(parts["line"]))
    lines = Lines(opened.content.text)
    if line is None or line > len(lines.starts):
        raise ConfigError(f"--explain: {show_path(path)} has no such line")
    text = lines.text[lines.starts[line - 1] : lines.end(line)].strip()
    yield f"{show(place.partition(parts['line'])[0])}{parts['line']}: {show(text)}"
    yield from _rules(checker, path, opened, line, one)


def _line(content: Decoded | Notebook, cell: str | None, line: int) -> int | None:
    """The line in the text that rules read; None if there is none."""
    if cell is None:
        return line if line > 0 else None
    if not isinstance(content, Notebook):
        return None
    lines = Lines(content.text)
    begins = [*(each.start for each in content.cells), len(content.text)]
    for each, (start, end) in zip(content.cells, pairwise(begins), strict=True):
        if each.number == int(cell):
            of_cell = range(lines.position(start)[0], lines.position(end)[0])
            return of_cell[line - 1] if 0 < line <= len(of_cell) else None
    return None


def _rules(
    checker: Checker, path: str, opened: Opened, line: int, one: str | None
) -> Iterator[str]:
    heard = [
        _listen(checker, path, opened, outline.load(), line)
        for code, outline in checker.rules.items()
        if one in (None, code)
    ]
    outcome = checker.check(path, opened.data, opened)
    for each in heard:
        for finding in each.found:
            unsaid = _unsaid(checker, path, opened, finding, outcome)
            yield f"{finding.code} {finding.name}{unsaid}: {finding.diagnostic.message}"
    passed = [each for each in heard if one and each.of_file and not each.found]
    for each in passed:
        yield f"{each.rule.code} {each.rule.name} is silent: it asked about the file alone"
        yield from (f"    {words}: yes" for words in each.of_file)
    silent = [each for each in heard if each.questions and not each.found and each not in passed]
    for each in sorted(silent, key=lambda each: -len(each.questions)):
        yield f"{each.rule.code} {each.rule.name} is silent"
        for asked in each.questions if one else each.questions[-1:]:
            yield f"    {asked.words}: {_quoted(asked.about)}: {asked.answer}"
        yield from (f"    {origin}" for origin in _origins(each.file, each.questions[-1].about))
    others = sum(not (each.found or each.questions or each in passed) for each in heard)
    if others:
        yield f"{one or f'{others} other rules'} had nothing to ask about this line."


def _unsaid(checker: Checker, path: str, opened: Opened, finding: Finding, outcome: Outcome) -> str:
    """Why a finding is not reported, for behind the rule's name; nothing if it is."""
    span, reported = finding.diagnostic.span, outcome.checked.findings
    if any(each.code == finding.code and each.diagnostic.span == span for each in reported):
        return ""
    if not outcome.uses:
        return " is not reported, as nothing shows that the file serves a program with TensorFlow"
    if finding.code not in checker.plan(path).reported_in(path):
        return " is not selected here"
    if is_small(finding.diagnostic, checker.config(path).min_bytes):
        return " is hidden, since that is known to be small (`--min-bytes 0` shows it)"
    rule = checker.rules[finding.code]
    if not checker.awaited(path, opened.content.text, [rule]):
        return " is not asked, as the file and those around it lack words that it waits for"
    return " is ignored by a comment"


class _Heard(NamedTuple):
    """What a rule made of a line."""

    rule: Rule
    file: File
    found: list[Finding]
    questions: list[Question]
    of_file: list[str]
    """What is so of the whole file, of what it asked about that before anything else."""


def _listen(checker: Checker, path: str, opened: Opened, rule: Rule, line: int) -> _Heard:
    files: list[File] = []

    def opens(*about: Any) -> File:
        follows = checker.config(path).follow_imports
        files.append((checker.project.file if follows else File)(*about))
        return files[-1]

    listener = _Listener(rule.check.__module__, line)
    sys.setprofile(listener)
    try:
        found = checker.found(path, opened, [rule], opens)
    finally:
        sys.setprofile(None)
    if not files:
        raise ConfigError(f"{show_path(path)}: {found[0].diagnostic.message}")
    lines = files[0].lines
    here = [
        each
        for each in found
        if lines.position(each.diagnostic.span.start)[0]
        <= line
        <= lines.position(each.diagnostic.span.end)[0]
    ]
    questions = [*dict.fromkeys(listener.questions)]
    of_file = [] if questions else [*dict.fromkeys(listener.of_file)]
    return _Heard(rule, files[0], here, questions, of_file)


class _Listener:
    """Hears, while a rule runs, what it and its analyses ask about a line."""

    def __init__(self, module: str, line: int) -> None:
        self.questions: list[Question] = []
        self.of_file: list[str] = []
        self._homes = (module, f"{module.partition('.')[0]}._analyses")
        self._line = line
        self._asked: dict[FrameType, tuple[ast.AST, str]] = {}

    def __call__(self, frame: FrameType, event: str, answer: object) -> None:
        if event == "call":
            asked = self._question(frame)
            if asked is not None:
                self._asked[frame] = asked
        elif event == "return" and frame in self._asked:
            about, words = self._asked.pop(frame)
            self.questions.append(Question(about, words, _told(answer)))
        elif event == "return" and answer is True and self._is_of_file(frame):
            self.of_file.append(_first_line(frame, [frame.f_locals["self"]]))

    def _is_of_file(self, frame: FrameType) -> bool:
        """Whether the rule asks what kind of file it reads: for tests, for sessions."""
        asker = frame.f_back
        while asker is not None and asker.f_globals.get("__name__") == functools.__name__:
            asker = asker.f_back  # as of every cached property
        by_rule = asker is not None and asker.f_globals.get("__name__") == self._homes[0]
        about_file = frame.f_globals.get("__name__") == File.__module__
        return by_rule and about_file and frame.f_code.co_name.startswith("is_")

    def _question(self, frame: FrameType) -> tuple[ast.AST, str] | None:
        code, asker = frame.f_code, frame.f_back
        module: str = frame.f_globals.get("__name__", "")
        if code.co_name[0] in "_<" or code.co_flags & CO_GENERATOR or asker is None:
            return None
        is_answer = module.startswith(("tfmemlint.facts.", *self._homes[1:]))
        by_rule = asker.f_globals.get("__name__", "").startswith(self._homes)
        if not is_answer or not by_rule or module.startswith(_ASIDE):
            return None
        given = [frame.f_locals[name] for name in code.co_varnames[: code.co_argcount]]
        about = next((found for each in given if (found := self._on_the_line(each))), None)
        words = _first_line(frame, given[:1])
        return (about, words) if about and words else None

    def _on_the_line(self, given: object) -> ast.AST | None:
        """A node on the line, be it in something that is told of it."""
        nodes = [given, *_fields(given)]
        return next(
            (each for each in nodes if isinstance(each, ast.AST) and self._stands_there(each)), None
        )

    def _stands_there(self, node: ast.AST) -> bool:
        if isinstance(node, ast.stmt):
            return node.lineno == self._line
        if isinstance(node, ast.expr) and node.end_lineno is not None:
            return node.lineno <= self._line <= node.end_lineno
        return False


def _first_line(frame: FrameType, given: Sequence[object]) -> str:
    """What the documentation of a function says first, as a clause."""
    name = frame.f_code.co_name
    function = getattr(type(given[0]), name, None) if given else None
    words = inspect.getdoc(function or frame.f_globals.get(name)) or ""
    return words.partition("\n")[0].rstrip(".")


def _told(answer: object) -> str:
    """An answer in a word or two."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, Enum):
        return answer.name.lower().replace("_", " ")
    if isinstance(answer, (int, float)):
        return str(answer)
    if isinstance(answer, (ast.expr, ast.stmt)):
        return _quoted(answer)
    kinds = [_told(each) for each in _fields(answer) if isinstance(each, Enum)]
    return ", ".join(dict.fromkeys(kinds)) or ("found" if answer else "none")


def _fields(something: Any) -> list[object]:
    """The fields of a named tuple; none of anything else."""
    names: Sequence[str] = (
        () if isinstance(something, ast.AST) else getattr(something, "_fields", ())
    )
    return [getattr(something, each) for each in names]


def _origins(file: File, about: ast.AST) -> Iterator[str]:
    """Where something comes from, as far as that is known."""
    if isinstance(about, ast.Call):
        about = about.func.value if isinstance(about.func, ast.Attribute) else about.func
    if not isinstance(about, (ast.Attribute, ast.Name, ast.Subscript)):
        return
    ends = file.tf.sources.of(about)
    places = dict.fromkeys(
        f"{_quoted(each.node)} (line {each.node.lineno})"
        for each in ends.found
        if isinstance(each.node, (ast.expr, ast.arg)) and each.node is not about
    )
    if places:
        known = " or ".join([*places][:_MOST_ORIGINS])
        more = "" if ends.complete else ", or what nobody knows"
        yield f"{_quoted(about)} is {known}{more}"
    elif not ends.complete:
        yield f"where {_quoted(about)} comes from is unknown"


def _quoted(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return f"`{show(text if len(text) <= _LONGEST else text[: _LONGEST - 3] + '...')}`"
