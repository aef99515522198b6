"""What came of trials, as files to look at: a page, or the plot of savings alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tfmemlint import plots
from tfmemlint.report.figures import size
from tfmemlint.verify.page import Entry, page, savings
from tfmemlint.verify.pairs import Measurement, Verdict
from tfmemlint.verify.processes import Curve, ProgramError
from tfmemlint.verify.record import record
from tfmemlint.verify.terminal import UsageError
from tfmemlint.vocabulary import Rule


class Pictures(NamedTuple):
    """The files asked for."""

    html: str | None = None
    svg: str | None = None

    def refuse_unwritable(self) -> None:
        """Raise UsageError before anything is measured, where nothing can be drawn or written."""
        if any(self) and not plots.available():
            raise UsageError(plots.MISSING)
        for path in self:
            if path is not None and not Path(path).parent.is_dir():
                raise UsageError(f"{path} cannot be written: there is no such folder")

    def write(self, title: str, entries: Sequence[Entry]) -> None:
        """Write what was asked for; raises UsageError."""
        if self.html is not None:
            _write(self.html, page(title, entries))
        if self.svg is not None:
            _write(self.svg, savings(entries))


NO_PICTURES = Pictures()


def entry(rule: Rule, outcome: Verdict | ProgramError) -> Entry:
    """What came of trying one rule."""
    if isinstance(outcome, ProgramError):
        return Entry(rule.code, rule.name, None, good=False, words=f"error: {outcome}")
    return _of_record(rule, record(outcome), curves(outcome.measurements))


def recorded(rule: Rule, folder: Path) -> Entry:
    """What the folder's `measured.json` says of a rule."""
    try:
        content = json.loads(folder.joinpath("measured.json").read_text("utf-8"))
        return _of_record(rule, content)
    except (OSError, ValueError, KeyError, TypeError):
        return Entry(rule.code, rule.name, None, good=None, words="not measured yet")


def curves(measurements: Iterable[Measurement]) -> dict[str, tuple[Curve, Curve]]:
    """What the programs held over time, by the metric's name, where that was followed."""
    return {one.metric.value: one.curves for one in measurements if any(one.curves)}


def _of_record(
    rule: Rule, content: Mapping[str, Any], over_time: Mapping[str, tuple[Curve, Curve]] = {}
) -> Entry:
    claim = content["claim"]
    words = "holds" if claim["holds"] else f"does not hold: {claim['doubt']}"
    words += f" (claimed: at most {claim['at_most']:.0%} is left)"
    if short := content.get("out_of_memory"):
        words += f"; on a device of {size(short['limit'])} only the fixed program finishes"
        words += f", the other dies of {short['death']}"
    return Entry(rule.code, rule.name, content, claim["holds"], words, over_time)


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
