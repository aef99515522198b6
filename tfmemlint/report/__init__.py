"""Findings in the forms people and programs read: one module a format, loaded when asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module

from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from tfmemlint.report.items import Item, Settings
    from tfmemlint.vocabulary import Checked, Finding, Rule

_MODULES = {
    "full": "full",
    "concise": "concise",
    "json": "json_array",  # a module `json` would hide the standard library's from scripts run here
    "json-lines": "json_lines",
    "json-report": "json_report",
    "github": "github",
    "gitlab": "gitlab",
    "grouped": "grouped",
    "junit": "junit",
    "pylint": "parseable",
    "rdjson": "rdjson",
    "sarif": "sarif",
}
FORMATS = tuple(_MODULES)


def write(
    results: Sequence[Checked],
    output_format: str,
    out: TextIO,
    *,
    root: str,
    rules: Mapping[str, Rule] | None = None,
    unsafe_fixes: bool = False,
    color: bool = False,
    measured: Mapping[str, str] | None = None,
    small: int = 0,
    by_cost: bool = False,
    width: int | None = None,
) -> None:
    """Write all findings; `measured` says, by code, what the rule's fix was seen to save.

    `rules` are for SARIF, which lists all there are. `small` is how many are not among the results,
    `by_cost` whether what holds most comes first, `width` the terminal's.
    """
    from tfmemlint.report.items import Settings, place_all  # noqa: PLC0415

    module = import_module(f"{__name__}.{_MODULES[output_format]}")
    render: Callable[[Iterable[Item], Settings, TextIO], None] = module.write
    settings = Settings(rules or {}, root, unsafe_fixes, color, measured or {}, small, width)
    items: Iterable[Item] = place_all(results, unsafe_fixes=unsafe_fixes)
    if by_cost:
        items = sorted(items, key=lambda item: -(_bytes(item.finding) or -1))
    render(items, settings, out)


def statistics(
    results: Sequence[Checked],
    out: TextIO,
    output_format: str,
    *,
    unsafe_fixes: bool = False,
    measured: Mapping[str, str] = {},
) -> None:
    """Write how often each code was found, the most frequent first; what it costs and may save."""
    from tfmemlint.report.figures import size  # noqa: PLC0415

    costs = Counter[str]()
    for finding in _findings(results):
        cost = finding.diagnostic.cost
        costs[finding.code] += (cost.bytes or 0) if cost else 0
    found = Counter((finding.code, finding.name) for finding in _findings(results))
    fixable = Counter(finding.code for finding in _fixable(results, unsafe_fixes))
    table = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
    if output_format == "json":
        import json  # noqa: PLC0415

        statistic = [
            {
                "code": code,
                "name": name,
                "count": count,
                "fixable": fixable[code] == count,
                "fixable_count": fixable[code],
                "cost_bytes": costs[code] or None,
                "measured": measured.get(code),
            }
            for (code, name), count in table
        ]
        out.write(json.dumps(statistic, indent=2) + "\n")
        return
    width = len(str(table[0][1])) if table else 0
    name_width = max((len(name) for (_, name), _ in table), default=0)
    for (code, name), count in table:
        mark = "*" if fixable[code] == count else "-" if fixable[code] else " "
        row = f"{count:>{width}}\t{code}\t{f'[{mark}] ' if fixable else ''}{name:<{name_width}}"
        if any(costs.values()):
            row += f"\t{f'holds {size(costs[code])}' if costs[code] else '':<13}"
        out.write(f"{row}\t{measured.get(code, '')}".rstrip() + "\n")


def summary(
    results: Sequence[Checked],
    out: TextIO,
    unsafe_fixes: bool,
    *,
    fixed: int = 0,
    looked_at: str = "",
    unasked: str = "",
    small: int = 0,
) -> None:
    """Write how many findings there are, and what --fix has done or could do about them.

    `looked_at` says of which files this is, `unasked` which findings are left out, and `small` how
    many of them for what they are known to hold.
    """
    _summary(results, out, unsafe_fixes, fixed, looked_at, unasked)
    if small:
        number = "1 finding" if small == 1 else f"{small} findings"
        out.write(f"{number} hidden: known to be small (`--min-bytes 0` shows them).\n")


def _summary(
    results: Sequence[Checked],
    out: TextIO,
    unsafe_fixes: bool,
    fixed: int,
    looked_at: str,
    unasked: str,
) -> None:
    left = sum(1 for _ in _findings(results))
    if not left and not fixed:
        about = "; ".join(each for each in (looked_at, unasked) if each)
        out.write(f"All checks passed!{f' ({about})' if about else ''}\n")
        return
    errors = "1 error" if left + fixed == 1 else f"{left + fixed} errors"
    done = f" ({fixed} fixed, {left} remaining)" if fixed else ""
    out.write(f"Found {errors}{done}{f'; {unasked}' if unasked else ''}.\n")
    out.write(_total(results))
    now = sum(1 for _ in _fixable(results, unsafe_fixes))
    more = hidden(results, unsafe_fixes)
    if now:
        out.write(f"[*] {now} fixable with the `--fix` option{more}.\n")
    elif more:
        out.write(f"No fixes available{more}.\n")


def _total(results: Sequence[Checked]) -> str:
    """What all findings together are known to hold; nothing where that is known of none."""
    from tfmemlint.units import size  # noqa: PLC0415

    about = [each for each in _findings(results) if not each.code.startswith("TFM0")]
    amounts = [amount for each in about if (amount := _bytes(each)) is not None]
    left = len(about) - len(amounts)
    if not amounts:
        left = sum(each.diagnostic.cost is not None for each in about)
        of_each = "1 finding is" if left == 1 else f"{left} findings are"
        return f"{of_each} of unknown size.\n" if left else ""
    unknown = "1 finding" if left == 1 else f"{left} findings"
    more = f"; {unknown} of unknown size" if left else ""
    return f"Known to hold {size(sum(amounts))}{more}.\n"


def _bytes(finding: Finding) -> int | None:
    cost = finding.diagnostic.cost
    return None if cost is None else cost.bytes


def hidden(results: Sequence[Checked], unsafe_fixes: bool) -> str:
    """What unsafe fixes there are that were not asked for, in parentheses; empty if none."""
    now = sum(1 for _ in _fixable(results, unsafe_fixes))
    number = sum(1 for _ in _fixable(results, True)) - now
    fixes = "1 hidden fix" if number == 1 else f"{number} hidden fixes"
    return f" ({fixes} can be enabled with the `--unsafe-fixes` option)" if number else ""


def _findings(results: Sequence[Checked]) -> Iterator[Finding]:
    return (finding for checked in results for finding in checked.findings)


def _fixable(results: Sequence[Checked], unsafe_fixes: bool) -> Iterator[Finding]:
    from tfmemlint.report.items import applicable  # noqa: PLC0415

    for finding in _findings(results):
        fix = finding.diagnostic.fix
        if fix and applicable(fix, unsafe_fixes=unsafe_fixes):
            yield finding
