"""Runs rules on one file: what they say, and what kept them from saying it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple
from tfmemlint.lines import Lines
from tfmemlint.vocabulary import Diagnostic, Finding, Span

if TYPE_CHECKING:
    from tfmemlint.facts.syntax.imports import Imported
    from tfmemlint.vocabulary import Rule

UNREADABLE = ("TFM001", "unreadable")
SYNTAX_ERROR = ("TFM002", "syntax-error")
SKIPPED = ("TFM003", "skipped")
INTERNAL_ERROR = ("TFM004", "internal-error")
UNUSED_SUPPRESSION = ("TFM005", "unused-suppression")
ENGINE = dict((UNREADABLE, SYNTAX_ERROR, SKIPPED, INTERNAL_ERROR, UNUSED_SUPPRESSION))
"""The codes, with their names, that belong to no rule."""

_START = Span(0, 0)


class Linted(NamedTuple):
    """What came of linting one file."""

    findings: tuple[Finding, ...]
    """In order."""
    makes: tuple[str, ...] = ()
    """The names of what makes traced functions for other files, where that was asked."""
    asks: bool = False
    """Whether it depends on what other files say of functions that they define."""


def lint(
    path: str,
    text: str,
    rules: Iterable[Rule],
    tensorflow: tuple[int, ...] | None = None,
    cells: Sequence[int] = (),
) -> tuple[Finding, ...]:
    """What these rules find in a file, in order; never raises.

    `tensorflow` is the oldest version that the code is to run with; None if any. `cells` are where
    the cells of a notebook begin.
    """
    return lint_with(path, text, rules, tensorflow, cells).findings


def lint_with(
    path: str,
    text: str,
    rules: Iterable[Rule],
    tensorflow: tuple[int, ...] | None = None,
    cells: Sequence[int] = (),
    imported: Imported | None = None,
    *,
    makes: bool = False,
    assumed: Mapping[str, float] | None = None,
) -> Linted:
    """As `lint`, knowing what other files say, and asked what this one `makes` for them.

    `assumed` is taken for granted of numbers that the code does not tell.
    """
    from tfmemlint.parsing import TooDeep, refuse  # noqa: PLC0415

    rules = tuple(rules)
    found: dict[Finding, None] = {}
    try:
        if not rules:
            refuse(text, path)
            return Linted(())
        # The facts take longer to import than most files take to be found clean.
        from tfmemlint.source import File  # noqa: PLC0415

        file = File(path, text, tensorflow, cells, imported, assumed)
    except SyntaxError as error:
        return Linted((Finding(*SYNTAX_ERROR, _diagnostic(error, text)),))
    except (TooDeep, RecursionError, MemoryError) as error:
        return Linted((_skipped(error),))
    for rule in rules:
        try:
            diagnostics = list(rule.check(file))
            for diagnostic in diagnostics:
                _refuse_outside(diagnostic, len(text))
        except (RecursionError, MemoryError) as error:
            found[_skipped(error)] = None
        except Exception as error:  # noqa: BLE001  one broken rule silences nobody else
            what = f"{rule.code} failed: {type(error).__name__}: {error}{raised_at(error)}"
            found[internal_error(what)] = None
        else:
            found.update((Finding(rule.code, rule.name, each), None) for each in diagnostics)
    names: set[str] = set()
    if makes and not file.is_test:
        try:
            names = {name.rpartition(".")[2] for name in file.tf.factories.all}
        except (RecursionError, MemoryError) as error:
            found[_skipped(error)] = None
        except Exception as error:  # noqa: BLE001
            found[internal_error(f"the facts failed: {type(error).__name__}: {error}")] = None
    findings = sorted(found, key=lambda finding: (finding.diagnostic.span, finding.code))
    return Linted(tuple(findings), tuple(sorted(names)))


def raised_at(error: BaseException) -> str:
    """The file and the line in which something went wrong, to stand behind what it was."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return ""
    return f" (at {frame.tb_frame.f_code.co_filename}:{frame.tb_lineno})"


def unreadable(why: str) -> Finding:
    """The finding that says a file could not be read, and why."""
    return Finding(*UNREADABLE, Diagnostic(_START, why))


def skipped(why: str) -> Finding:
    """The finding that says a file was not checked, or not wholly, and why."""
    return Finding(*SKIPPED, Diagnostic(_START, why))


def internal_error(what: str) -> Finding:
    """The finding that says what failed here through no fault of the file."""
    return Finding(*INTERNAL_ERROR, Diagnostic(_START, what))


def _skipped(error: BaseException) -> Finding:
    if isinstance(error, MemoryError):
        return skipped("needs more memory than there is")
    return skipped("nests too deeply to be checked in full")


def _diagnostic(error: SyntaxError, text: str) -> Diagnostic:
    lines = Lines(text)
    start = _offset(lines, error.lineno or 0, error.offset or 0)
    end = _offset(lines, error.end_lineno or 0, error.end_offset or 0)
    return Diagnostic(Span(start, max(start, end)), error.msg)


def _offset(lines: Lines, line: int, column: int) -> int:
    """The offset of a place as SyntaxError gives it, which may lie outside the text, or nowhere."""
    if not 1 <= line <= len(lines.starts):
        return len(lines.text) if line > 1 else 0
    start = lines.starts[line - 1]
    return start + min(max(column, 1) - 1, len(lines.text[start : lines.end(line)].rstrip("\r\n")))


def _refuse_outside(diagnostic: Diagnostic, length: int) -> None:
    spans = [diagnostic.span]
    if diagnostic.fix:
        spans += [edit.span for edit in diagnostic.fix.edits]
    for start, end in spans:
        if not 0 <= start <= end <= length:
            raise ValueError(f"the span {start}:{end} lies outside the file")
