"""For a project that has many findings: which to leave out, and how to write down the others."""

# pathlib takes longer to import than a small file takes to check.
# ruff: noqa: PTH100, PTH109, PTH118, PTH120, PTH123

from __future__ import annotations

import os
from collections.abc import Sequence

from tfmemlint import baseline, since
from tfmemlint.baseline import Baseline
from tfmemlint.config import Config
from tfmemlint.ignoring import REASON, comments
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple
from tfmemlint.lines import spliced
from tfmemlint.run import Change, Checker, Keep, Outcome, content_after, content_of
from tfmemlint.writing import WriteError, replace

if TYPE_CHECKING:
    from types import SimpleNamespace as Namespace

    from tfmemlint.vocabulary import Edit, Finding


class Asked(NamedTuple):
    """Which findings are asked for, where not all are."""

    keep: Keep
    known: Baseline | None
    changed: since.Changes | None


class Added(NamedTuple):
    """What came of writing comments."""

    comments: int = 0
    findings: int = 0
    left: int = 0
    """Findings that no comment can be written for."""
    changes: tuple[tuple[str, Change], ...] = ()
    problems: tuple[str, ...] = ()


def asked(options: Namespace, settings: Config, notebooks: tuple[str, ...]) -> Asked | None:
    """Which findings these options and settings ask for; None if all. Raises ConfigError."""
    known = changed = None
    if settings.baseline is not None and options.write_baseline is None:
        known = baseline.read(settings.baseline)
    if options.since is not None:
        changed = since.read(options.since, notebooks)
    if known is None and changed is None:
        return None

    def keep(path: str, text: str, findings: Sequence[Finding]) -> Sequence[Finding]:
        if known is not None:
            findings = known.new(path, text, findings)
        if changed is not None and findings:
            findings = changed.touched(path, text, findings)
        return findings

    return Asked(keep, known, changed)


def unasked(given: Asked | None, outcomes: Sequence[Outcome]) -> str:
    """How many findings were left out, and why, in words; empty if none."""
    hidden = sum(outcome.hidden for outcome in outcomes)
    if given is None or not hidden:
        return ""
    why = [
        *(["in the baseline"] if given.known else []),
        *(["on lines that were not changed"] if given.changed else []),
    ]
    return f"{hidden} more {' or '.join(why)}"


def gone(given: Asked | None, outcomes: Sequence[Outcome]) -> int:
    """How many findings of the baseline are no longer found in these files."""
    if given is None or given.known is None or given.changed is not None:
        return 0
    return sum(
        max(0, given.known.expected(outcome.checked.path) - outcome.hidden) for outcome in outcomes
    )


def write_baseline(options: Namespace, settings: Config, outcomes: Sequence[Outcome]) -> str:
    """Write down all that was found; what was done, in words. Raises OSError."""
    folder = os.path.dirname(settings.path) if settings.path else os.getcwd()
    default = settings.baseline or os.path.join(folder, baseline.FILE)
    path = options.write_baseline or default
    number = baseline.write(path, [outcome.checked for outcome in outcomes])
    shown = os.path.relpath(path)
    findings = "1 finding" if number == 1 else f"{number} findings"
    how = f"`--baseline {shown}`, or `baseline = ...` in the settings,"
    if settings.baseline and os.path.abspath(path) == os.path.abspath(settings.baseline):
        how = "the settings"
    have = "has" if how.startswith("`") else "have"
    return f"{findings} written to {shown}; {how} {have} only others reported.\n"


def add_comments(options: Namespace, checker: Checker, outcomes: Sequence[Outcome]) -> Added:
    """Write a comment at each finding, that it may stay."""
    noqa = options.add_noqa is not None
    given = options.add_noqa if noqa else options.add_ignore
    reason = given or ("" if noqa else REASON)
    done = Added()
    for outcome in outcomes:
        checked = outcome.checked
        suppressible = [each for each in checked.findings if not each.code.startswith("TFM00")]
        if not suppressible:
            continue
        codes = checker.plan(checked.path).codes
        made = comments(checked.text, suppressible, codes, noqa=noqa, reason=reason)
        change = _change(checked.path, checked.text, made.edits, checker.notebooks)
        if isinstance(change, str):
            done = done._replace(problems=(*done.problems, change))
            continue
        if change is None:
            done = done._replace(left=done.left + len(suppressible))
            continue
        if not options.diff:
            try:
                replace(checked.path, *change)
            except WriteError as error:
                done = done._replace(problems=(*done.problems, str(error)))
                continue
        done = done._replace(
            comments=done.comments + len(made.edits),
            findings=done.findings + made.findings,
            changes=(*done.changes, (checked.path, change)),
        )
    return done


def _change(
    path: str, text: str, edits: Sequence[Edit], notebooks: tuple[str, ...]
) -> Change | str | None:
    """What edits make of a file; None if it cannot take them, and else why it is left alone."""
    if not edits:
        return None
    try:
        with open(path, "rb") as file:
            data = file.read()
        content = content_of(path, data, notebooks)
        if content.content.text != text:
            return f"{path!r} was not written: it has changed"
        in_order = sorted(edits)
        after = content_after(content, spliced(text, in_order), in_order)
    except (OSError, ValueError) as error:
        return f"{path!r} was not written: {error}"
    return Change(data, after.data)
