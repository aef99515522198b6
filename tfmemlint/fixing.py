"""Applies fixes to a text: whole ones, as many at a time as do not meet, until none is left."""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tfmemlint.comparing import compiles, difference
from tfmemlint.lines import spliced
from tfmemlint.vocabulary import Applicability, Edit, Finding, Fix, Span

MAX_ROUNDS = 10
"""Honest fixes settle in two or three; more means that two rules undo each other."""


class Applied(NamedTuple):
    """A text after some fixes, and which ones those were."""

    text: str
    taken: tuple[Fix, ...]

    @property
    def edits(self) -> list[Edit]:
        """What was changed, in order; an edit that several fixes share is one."""
        return sorted({edit for fix in self.taken for edit in fix.edits})


class Repaired(NamedTuple):
    """What a file becomes when its fixes are applied until none is left."""

    text: str
    """The new text; the old one, whole, where there is a problem."""
    fixed: tuple[Finding, ...]
    """What was fixed, round by round; spans count in the text of their own round."""
    remaining: tuple[Finding, ...]
    """What lint still says of `text`."""
    problem: str | None = None
    """Why the file was left as it was, for people."""

    @property
    def converged(self) -> bool:
        """Whether the fixes came to an end and left Python behind."""
        return self.problem is None

    @property
    def counts(self) -> dict[str, int]:
        """How many findings of each code were fixed."""
        return dict(sorted(Counter(finding.code for finding in self.fixed).items()))


def allowed(fix: Fix, unsafe: bool) -> bool:
    """Whether a fix may be applied; `unsafe` is the user's leave to change results."""
    return fix.applicability is Applicability.SAFE or (
        unsafe and fix.applicability is Applicability.UNSAFE
    )


def apply(text: str, fixes: Iterable[Fix]) -> Applied:
    """Apply as many whole fixes as do not meet, first edit first; the rest wait for another round.

    Fixes that make the same edit share it. Raises ValueError where a fix's own edits overlap.
    """
    distinct = dict.fromkeys(fixes)
    for fix in distinct:
        _refuse_malformed(fix, len(text))
    taken: list[Fix] = []
    edits: list[Edit] = []
    made: set[Edit] = set()
    for fix in sorted(distinct, key=_order):
        new = [edit for edit in fix.edits if edit not in made or not _shareable(edit, text)]
        if made.issuperset(fix.edits):
            taken.append(fix)
        elif not any(_meets(edit, edits) for edit in new):
            taken.append(fix)
            made.update(new)
            for edit in new:
                insort(edits, edit, key=_span)
    return Applied(spliced(text, edits), tuple(taken))


def repair(
    text: str,
    lint: Callable[[str, Sequence[Edit]], Sequence[Finding]],
    *,
    unsafe: bool,
    fixable: Callable[[Finding], bool],
) -> Repaired:
    """Lint and apply in turn until nothing applies; the old text where that does not end well.

    `lint` is given a text and the edits that made it of the one before.
    """
    findings = tuple(lint(text, []))
    untouched = Repaired(text, (), findings)
    fixed: list[Finding] = []
    for _ in range(MAX_ROUNDS):
        fixes = _applicable(findings, unsafe, fixable)
        if not fixes:
            return Repaired(text, tuple(fixed), findings)
        try:
            applied = apply(text, fixes.values())
        except ValueError as error:
            return untouched._replace(problem=str(error))
        old, text, taken = text, applied.text, set(applied.taken)
        now = [finding for finding, fix in fixes.items() if fix in taken]
        mistake = _syntax_error(text)
        if not mistake and compiles(text) and not compiles(old):
            mistake = compiles(text)
        if mistake:
            return untouched._replace(problem=f"{_fixes_of(now)} do not leave Python: {mistake}")
        changed = difference(old, text, applied.edits)
        if changed:
            said = f"{_fixes_of(now)} change more than they say"
            return untouched._replace(problem=f"{said}: {changed}")
        fixed += now
        findings = tuple(lint(text, applied.edits))
    left = _applicable(findings, unsafe, fixable)
    if not left:
        return Repaired(text, tuple(fixed), findings)
    return untouched._replace(
        problem=f"{_fixes_of(left)} do not come to an end in {MAX_ROUNDS} rounds"
    )


def _applicable(
    findings: Iterable[Finding], unsafe: bool, fixable: Callable[[Finding], bool]
) -> dict[Finding, Fix]:
    return {
        finding: fix
        for finding in findings
        if (fix := finding.diagnostic.fix) and allowed(fix, unsafe) and fixable(finding)
    }


def _fixes_of(findings: Iterable[Finding]) -> str:
    return "the fixes of " + ", ".join(sorted({finding.code for finding in findings}))


def _syntax_error(text: str) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<fixed>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        except SyntaxError as error:
            return f"{error.msg} (line {error.lineno})"
        except (ValueError, RecursionError, MemoryError) as error:
            return str(error) or type(error).__name__
    return None


def _refuse_malformed(fix: Fix, length: int) -> None:
    if not fix.edits:
        raise ValueError(f"the fix {fix.title!r} has no edits")
    reached = 0
    for span in sorted(map(_span, fix.edits)):
        if not reached <= span.start <= span.end <= length:
            raise ValueError(
                f"the fix {fix.title!r} is malformed: its edit of {span.start}:{span.end}"
                " overlaps another or lies outside the text"
            )
        reached = span.end


def _order(fix: Fix) -> tuple[object, ...]:
    """By first edit; the rest only makes the outcome independent of the order fixes come in."""
    return min(fix.edits), fix.edits, fix.title, fix.applicability.value


def _shareable(edit: Edit, text: str) -> bool:
    """Whether one such edit serves every fix that makes it.

    A replacement does, and a line of its own, as an import is. What is inserted within a line
    need not: of two parentheses opened at the same place, each wants its own.
    """
    start, end = edit.span
    begins_line = start == 0 or text[start - 1] in "\r\n"
    return start < end or (begins_line and edit.text.endswith(("\n", "\r")))


def _meets(edit: Edit, others: list[Edit]) -> bool:
    """Whether an edit overlaps another, or either inserts where the other begins or ends."""
    start, end = edit.span
    first = bisect_left(others, start, key=lambda other: other.span.end)
    last = bisect_right(others, end, key=lambda other: other.span.start)
    return any(
        start == end
        or other.span.start == other.span.end
        or (start < other.span.end and other.span.start < end)
        for other in others[first:last]
    )


def _span(edit: Edit) -> Span:
    return edit.span
