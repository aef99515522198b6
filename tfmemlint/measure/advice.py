"""What `check` finds on the lines that memory was traced to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfmemlint.config import Config, ConfigError, Configs
from tfmemlint.lines import Lines
from tfmemlint.measure.account import Account
from tfmemlint.measure.statements import Statement
from tfmemlint.run import Checker
from tfmemlint.vocabulary import Checked, Finding

_MATTERS = 0.05
"""The part of the peak from which on a line counts."""


class Advice(NamedTuple):
    """The findings on the lines that matter, and how many others there are in those files."""

    here: tuple[Checked, ...] = ()
    elsewhere: int = 0
    problem: str = ""
    """Why nothing could be checked."""


def advise(account: Account) -> Advice:
    """Check the files that the account names."""
    wanted = set(culprits(account))
    checker = Checker(Configs(_as_they_are))
    here: list[Checked] = []
    found = 0
    try:
        for path in sorted({statement.path for statement in wanted}):
            checked = checker.check_file(path).checked
            found += len(checked.findings)
            lines = Lines(checked.text)
            near = tuple(each for each in checked.findings if _is_on(each, path, lines, wanted))
            if near:
                here.append(checked._replace(findings=near))
    except ConfigError as error:
        return Advice(problem=str(error))
    return Advice(tuple(here), found - sum(len(checked.findings) for checked in here))


def culprits(account: Account) -> Iterator[Statement]:
    """The statements that held the memory, drove the host's up, or ran when it was highest."""
    yield from account.stack
    for line in account.held:
        if line.statement.line and line.bytes >= _MATTERS * account.held_bytes:
            yield line.statement
    for statement, risen in account.host.rises:
        if risen >= _MATTERS * (account.host_peak or 0):
            yield statement
    if account.failure:
        yield from filter(None, (account.failure.statement, account.failure.written_at))


def _as_they_are(config: Config) -> Config:
    return config


def _is_on(finding: Finding, path: str, lines: Lines, statements: set[Statement]) -> bool:
    """Whether a finding touches one of the statements."""
    first, last = (lines.position(offset)[0] for offset in finding.diagnostic.span)
    return any(
        statement.path == path and first <= statement.end and statement.line <= last
        for statement in statements
    )
