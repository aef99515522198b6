"""Runs rules on one file: what they say, and what kept them from saying it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence

from tfmemlint.light_typing import TYPE_CHECKING
from tfmemlint.lines import Lines
from tfmemlint.vocabulary import ELSEWHERE, Applicability, Diagnostic, Finding, Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfmemlint.facts.sure.openness import Openness
    from tfmemlint.source import File
    from tfmemlint.vocabulary import Rule

    Opens = Callable[
        [str, str, tuple[int, ...] | None, Sequence[int], Mapping[str, float] | None], File
    ]
    """Makes a file of all that is known of it."""

UNREADABLE = ("TFM001", "unreadable")
SYNTAX_ERROR = ("TFM002", "syntax-error")
SKIPPED = ("TFM003", "skipped")
INTERNAL_ERROR = ("TFM004", "internal-error")
UNUSED_SUPPRESSION = ("TFM005", "unused-suppression")
ENGINE = dict((UNREADABLE, SYNTAX_ERROR, SKIPPED, INTERNAL_ERROR, UNUSED_SUPPRESSION))
"""The codes, with their names, that belong to no rule."""

_START = Span(0, 0)


def lint(
    path: str,
    text: str,
    rules: Iterable[Rule],
    tensorflow: tuple[int, ...] | None = None,
    cells: Sequence[int] = (),
    assumed: Mapping[str, float] | None = None,
    opens: Opens | None = None,
    hides: Callable[[Diagnostic], bool] | None = None,
) -> tuple[Finding, ...]:
    """What these rules find in a file, in order; never raises.

    `tensorflow` is the oldest version that the code is to run with; None if any. `cells` are where
    the cells of a notebook begin. `assumed` is taken for granted of numbers that the code does not
    tell. `opens` is how to come by the file; else it stands alone. What `hides` says will not be
    shown is found all the same, though maybe without its fix.
    """
    from tfmemlint.parsing import TooDeep, refuse  # noqa: PLC0415

    rules = tuple(rules)
    found: dict[Finding, None] = {}
    try:
        if not rules:
            refuse(text, path)
            return ()
        # The facts take longer to import than most files take to be found clean.
        from tfmemlint.source import File  # noqa: PLC0415

        file = (opens or File)(path, text, tensorflow, cells, assumed)
    except SyntaxError as error:
        return (Finding(*SYNTAX_ERROR, _diagnostic(error, text)),)
    except (TooDeep, RecursionError, MemoryError) as error:
        return (_skipped(error),)
    for rule in rules if not file.is_test else ():  # their data is little, and soon gone
        try:
            diagnostics = _said(rule, file, hides)
            for diagnostic in diagnostics:
                _refuse_outside(diagnostic, len(text))
            diagnostics = [_as_sure(each, file.tf.openness) for each in diagnostics]
        except (RecursionError, MemoryError) as error:
            found[_skipped(error)] = None
        except Exception as error:  # noqa: BLE001  one broken rule silences nobody else
            what = f"{rule.code} failed: {type(error).__name__}: {error}{raised_at(error)}"
            found[internal_error(what)] = None
        else:
            found.update((Finding(rule.code, rule.name, each), None) for each in diagnostics)
    return tuple(sorted(found, key=lambda finding: (finding.diagnostic.span, finding.code)))


def _said(rule: Rule, file: File, hides: Callable[[Diagnostic], bool] | None) -> list[Diagnostic]:
    """What a rule says of a file.

    As long as nobody has imported libcst, which takes longer than to check most files, it is asked
    without fixes first, and again if anything will be shown that may have one.
    """
    file.unread = [] if hides is not None and "libcst" not in sys.modules else None
    said = [each for each in map(_here, rule.check(file)) if each is not None]
    if not file.unread or hides is None or all(map(hides, said)):
        return said
    file.unread = None
    return [each for each in map(_here, rule.check(file)) if each is not None]


def raised_at(error: BaseException) -> str:
    """The file and the line in which something went wrong, to stand behind what it was."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return ""
    return f" (at {frame.tb_frame.f_code.co_filename}:{frame.tb_lineno})"


def _as_sure(diagnostic: Diagnostic, openness: Openness) -> Diagnostic:
    """A fix is as safe as what was read is complete, which it is not of code that looks at itself.

    This holds for all rules, so that none has to think of it.
    """
    fix = diagnostic.fix
    if fix is None or fix.applicability is not Applicability.SAFE or openness.why is None:
        return diagnostic
    return diagnostic._replace(fix=fix._replace(applicability=Applicability.UNSAFE))


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


def _here(diagnostic: Diagnostic) -> Diagnostic | None:
    """What a rule says of this file: it may have been led to another, which is told of that."""
    if diagnostic.span == ELSEWHERE:
        return None
    edits = diagnostic.fix.edits if diagnostic.fix else ()
    leads_away = any(set(edit.span) & set(ELSEWHERE) for edit in edits)
    return diagnostic._replace(fix=None) if leads_away else diagnostic


def _refuse_outside(diagnostic: Diagnostic, length: int) -> None:
    spans = [diagnostic.span]
    if diagnostic.fix:
        spans += [edit.span for edit in diagnostic.fix.edits]
    for start, end in spans:
        if not 0 <= start <= end <= length:
            raise ValueError(f"the span {start}:{end} lies outside the file")
