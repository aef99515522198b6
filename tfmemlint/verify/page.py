"""The report to look at: one page that loads nothing, needs no script and follows the theme."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import zip_longest
from typing import Any, NamedTuple

from tfmemlint.report.escape import show
from tfmemlint.report.figures import figure, size
from tfmemlint.verify.plots import STYLE, Axis, Bar, Series, alone, lines, shares, ticks
from tfmemlint.verify.processes import Curve

_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
"""
_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --paper: #ffffff; --faint: #59636e;
  --edge: #d1d9e0; --good: #1a7f37; --poor: #b42318; }
@media (prefers-color-scheme: dark) { :root { --ink: #f0f6fc; --paper: #0d1117; --faint: #9198a1;
  --edge: #3d444d; --good: #3fb950; --poor: #ff7b72; } }
body { margin: 2rem auto; max-width: 58rem; padding: 0 1rem; color: var(--ink);
  background: var(--paper); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2.5rem 0 0.25rem; }
h2 code { margin-right: 0.4rem; } p { margin: 0.25rem 0 1rem; } .faint { color: var(--faint); }
svg { max-width: 100%; height: auto; }
.plots { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; }
.scroll { overflow-x: auto; } .scroll svg { min-width: 640px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; padding: 0.3rem 0.6rem 0.3rem 0; border-bottom: 1px solid var(--edge);
  vertical-align: top; } th { font-weight: 600; color: var(--faint); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.good { color: var(--good); } .poor { color: var(--poor); }
figure { margin: 0; } figcaption { font-size: 13px; font-weight: 600; }
details { margin: 0.25rem 0; } summary { cursor: pointer; color: var(--faint); font-size: 13px; }
"""
_MOST_ROWS = 24
_KINDS = ("bad", "fixed")
_NAMES = ("without the fix", "with it")
_COLOURS = {True: "good", False: "poor", None: "faint"}


class Entry(NamedTuple):
    """A pair of programs in the report."""

    code: str
    name: str
    record: Mapping[str, Any] | None
    """As in `measured.json`, the claim left out where there is none; None if nothing came of it."""
    good: bool | None
    """Whether the figures are as they should be; None if there are none."""
    words: str
    """The verdict."""
    curves: Mapping[str, tuple[Curve, Curve]] = {}
    """What the two programs held over time, by metric."""

    @property
    def metrics(self) -> Mapping[str, Any]:
        """What the entry is about: the metric that is claimed; all where nothing is."""
        if self.record is None:
            return {}
        metrics: Mapping[str, Any] = self.record["metrics"]
        claim = self.record.get("claim")
        return {claim["metric"]: metrics[claim["metric"]]} if claim else metrics


def page(title: str, entries: Sequence[Entry]) -> str:
    """All of it, as HTML."""
    columns = ("", "", "metric", "without", "with", "left", "")
    return "".join(
        (
            f"{_HEAD}<title>{_text(title)}</title>\n<style>{_STYLE}{STYLE}</style>\n</head>\n",
            f'<body>\n<h1>{_text(title)}</h1>\n<p class="faint">{_text(_origin(entries))}</p>\n',
            f'<div class="scroll">{_savings(entries)}</div>\n',
            _table(columns, (row for entry in entries for row in _rows(entry))),
            *(part for entry in entries for part in _section(entry)),
            "</body>\n</html>\n",
        )
    )


def savings(entries: Sequence[Entry]) -> str:
    """What is left of what was, as an SVG file."""
    return alone(_savings(entries))


def _savings(entries: Sequence[Entry]) -> str:
    bars = [
        Bar(
            entry.code,
            entry.name,
            taken["ratio"],
            f"{_figure(taken, 'bad')} \N{RIGHTWARDS ARROW} {_figure(taken, 'fixed')} {metric}",
        )
        for entry in entries
        for metric, taken in entry.metrics.items()
        if entry.good and taken["ratio"] is not None
    ]
    bars.sort(key=lambda bar: bar.share)
    return shares("Measured with the fix, as a share of what was measured without it", bars)


def _origin(entries: Sequence[Entry]) -> str:
    """What the figures were measured on, and with."""
    records = [entry.record for entry in entries if entry.record]
    if not records:
        return "Nothing was measured."
    machines = dict.fromkeys(each["device"]["name"] for each in records)
    versions = [each["versions"] for each in records]
    software = dict.fromkeys(
        f"TensorFlow {each['tensorflow']} and Keras {each['keras']}" for each in versions
    )
    days = dict.fromkeys(sorted(each["date"] for each in records))
    first, last = next(iter(days)), next(reversed(days))
    when = first if first == last else f"{first} to {last}"
    return (
        f"Measured {when} on {', '.join(machines)} with {', '.join(software)}. 1 MB is 2^20 bytes."
    )


def _rows(entry: Entry) -> Iterator[Sequence[_Cell]]:
    name = (_Cell(f"<code>{_text(entry.code)}</code>"), _Cell(_text(entry.name)))
    verdict = _Cell(_text(entry.words), _COLOURS[entry.good])
    if not entry.metrics:
        yield (*name, *[_Cell("")] * 4, verdict)
    for metric, taken in entry.metrics.items():
        left = "" if taken["ratio"] is None else f"{taken['ratio']:.0%}"
        figures = (*(_figure(taken, kind) for kind in _KINDS), left)
        yield (*name, _Cell(metric), *(_Cell(each, "number") for each in figures), verdict)


def _section(entry: Entry) -> Iterator[str]:
    """Plots of one entry, and what they show as tables."""
    shown = [*_over_time(entry), *_against_scale(entry)]
    if shown:
        yield f"<h2><code>{_text(entry.code)}</code> {_text(entry.name)}</h2>\n"
        yield f"<p>{_text(entry.words)}</p>\n"
        yield f'<div class="plots">\n{"".join(each.plot for each in shown)}</div>\n'
        yield from (
            f"<details><summary>{_text(each.title)}, as a table</summary>{each.table}</details>\n"
            for each in shown
        )


def _over_time(entry: Entry) -> Iterator[_Shown]:
    for metric, curves in entry.curves.items():
        if not any(curves):
            continue
        seconds, held = (max(point[axis] for curve in curves for point in curve) for axis in (0, 1))
        across = Axis(ticks(seconds), "{:g} s".format)
        series = [
            Series(kind, f"{name}, {size(max((each for _, each in curve), default=0))}", curve)
            for kind, name, curve in zip(_KINDS, _NAMES, curves, strict=True)
        ]
        title = f"{metric.replace(' peak', ' memory').capitalize()} over time"
        rows = [
            (_Cell(name), _Cell(f"{moment:.3f}", "number"), _Cell(size(most), "number"))
            for name, curve in zip(_NAMES, curves, strict=True)
            for moment, most in _thinned(curve)
        ]
        yield _Shown(
            title,
            _figure_of(title, lines(title, series, across, Axis(ticks(held, base=1024), size))),
            _table(("", "seconds", "held"), rows),
        )


def _against_scale(entry: Entry) -> Iterator[_Shown]:
    scaling = (entry.record or {}).get("scaling")
    if entry.record is None or scaling is None:
        return
    unit: str = entry.record["metrics"][scaling["metric"]]["unit"]
    factors: list[float] = scaling["factors"]
    most = max(each for kind in _KINDS for each in scaling[kind]["figures"])
    series = [
        Series(
            kind,
            f"{name}: {scaling[kind]['grows']}",
            list(zip(factors, scaling[kind]["figures"], strict=True)),
        )
        for kind, name in zip(_KINDS, _NAMES, strict=True)
    ]
    across = Axis([0, *factors], "\N{MULTIPLICATION SIGN} {:g}".format)
    base = 1024 if unit.startswith("bytes") else 10

    def write(amount: float) -> str:
        return figure(amount, unit)

    up = Axis(ticks(most, base=base), write)
    title = f"{scaling['metric'].capitalize()} against the amount of data"
    rows = [
        (
            _Cell(name),
            *(_Cell(write(each), "number") for each in scaling[kind]["figures"]),
            _Cell(f"to the {scaling[kind]['exponent']:g}", "number"),
        )
        for kind, name in zip(_KINDS, _NAMES, strict=True)
    ]
    columns = ("", *(f"data \N{MULTIPLICATION SIGN} {each:g}" for each in factors), "grows")
    yield _Shown(title, _figure_of(title, lines(title, series, across, up)), _table(columns, rows))


class _Shown(NamedTuple):
    """A plot, and the same as a table."""

    title: str
    plot: str
    table: str


class _Cell(NamedTuple):
    html: str
    kind: str = ""


def _table(columns: Sequence[str], rows: Iterable[Sequence[_Cell]]) -> str:
    listed = list(rows)
    kinds = [cell.kind if cell.kind == "number" else "" for cell in listed[0]] if listed else []
    head = "".join(
        f'<th scope="col" class="{kind}">{_text(name)}</th>'
        for name, kind in zip_longest(columns, kinds, fillvalue="")
    )
    body = "".join(
        "<tr>" + "".join(f'<td class="{kind}">{html}</td>' for html, kind in row) + "</tr>\n"
        for row in listed
    )
    return (
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody>\n</table></div>\n"
    )


def _thinned(curve: Curve) -> Curve:
    """The highest of each of a few stretches of time: as much as anyone reads in a table."""
    stride = len(curve) // _MOST_ROWS + 1
    stretches = (curve[start : start + stride] for start in range(0, len(curve), stride))
    return tuple(max(stretch, key=lambda point: point[1]) for stretch in stretches)


def _figure_of(title: str, plot: str) -> str:
    return f"<figure><figcaption>{_text(title)}</figcaption>\n{plot}</figure>\n"


def _figure(taken: Mapping[str, Any], kind: str) -> str:
    each = " a step" if taken["unit"] == "bytes per step" else ""
    return figure(taken[kind]["figure"], taken["unit"]) + each


def _text(text: str) -> str:
    return escape(show(text))
