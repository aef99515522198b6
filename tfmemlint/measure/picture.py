"""An account as a page to look at."""

from __future__ import annotations

import io
from collections.abc import Iterator

from tfmemlint import plots
from tfmemlint.measure import showing
from tfmemlint.measure.account import Account, Line
from tfmemlint.measure.advice import Advice
from tfmemlint.plots import Axis, Series, Theme, ticks
from tfmemlint.report.figures import size
from tfmemlint.verify.html import Cell, document, picture, table, text

_SHOWN = 0.001
"""The part of the peak under which tensors of a line, but for the largest, are counted together."""


def page(program: str, account: Account, advice: Advice, limit: int | None = None) -> str:
    """The curve, what was held at its highest point, and all that is said in words."""
    words = io.StringIO()
    showing.write(account, advice, words, limit)
    return document(
        f"The memory of {program}",
        *_over_time(account),
        _held(account),
        f'<div class="scroll"><pre>{_lines(words.getvalue())}</pre></div>\n',
        f'<p class="faint">{text(_versions(account))}</p>\n',
    )


def _over_time(account: Account) -> Iterator[str]:
    if not account.curve:
        return
    end, most = (max(point[axis] for point in account.curve) for axis in (0, 1))
    title = "Device memory over time"
    series = [Series("fixed", f"at most {size(most)}", account.curve)]
    across, up = Axis(ticks(end), "{:g} s".format), Axis(ticks(most, base=1024), size)
    drawn = {theme: plots.lines(title, series, across, up, theme) for theme in Theme}
    yield picture(f"{title}: {series[0].name}", drawn)


def _held(account: Account) -> str:
    columns = ("held at the peak", "", "line", "tensors")
    return table(columns, (_row(account, line) for line in account.held))


def _row(account: Account, line: Line) -> tuple[Cell, ...]:
    share = line.bytes / account.held_bytes if account.held_bytes else 0
    least = _SHOWN * max(account.held_bytes, line.bytes)
    shown = [each for each in line.holdings if each.bytes >= least] or line.holdings[:1]
    tensors = [text(f"{size(each.bytes)}  {showing.tensor(each)}") for each in shown]
    if len(shown) < len(line.holdings):
        left = size(sum(each.bytes for each in line.holdings if each not in shown))
        number = len(line.holdings) - len(shown)
        tensors.append(text(f"{left}  and {number} more {'kind' if number == 1 else 'kinds'}"))
    return (
        Cell(size(line.bytes), "number"),
        Cell(f"{share:.0%}", "number"),
        Cell(f"<code>{text(showing.quoted(line.statement))}</code>", "long"),
        Cell("<br>".join(tensors), "long"),
    )


def _lines(words: str) -> str:
    return "\n".join(map(text, words.splitlines()))


def _versions(account: Account) -> str:
    return ", ".join(f"{name} {version}" for name, version in account.versions.items())
