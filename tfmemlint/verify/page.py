"""The report to look at: what fixes save, rule by rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tfmemlint import plots
from tfmemlint.plots import Axis, Bar, Series, Theme, ticks
from tfmemlint.report.figures import figure, size
from tfmemlint.verify.html import Cell, document, picture, table, text
from tfmemlint.verify.processes import Curve

TITLE = "Measured with the fix, as a share of what was measured without it"
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

    differs: bool = False
    """Whether the programs print different things, which unsafe fixes may."""

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
    return document(
        title,
        f'<p class="faint">{text(origin(entries))}</p>\n',
        _overview(entries),
        table(columns, (row for entry in entries for row in _rows(entry))),
        *(part for entry in entries for part in _section(entry)),
    )


def savings(entries: Sequence[Entry], theme: Theme = Theme.LIGHT) -> str:
    """What is left of what was, as an SVG file."""
    shown = sorted((bar for _, bar in bars(entries)), key=lambda bar: bar.share)
    return plots.rows(TITLE, origin(entries), shown, theme)


def bars(entries: Sequence[Entry]) -> Iterator[tuple[str, Bar]]:
    """What is left, of what is as it should be, each with the metric."""
    for entry in entries:
        for metric, taken in entry.metrics.items():
            if entry.good and taken["ratio"] is not None:
                without, left = _figure(taken, "bad"), _figure(taken, "fixed")
                words = f"{without} \N{RIGHTWARDS ARROW} {left} {metric}"
                yield metric, Bar(entry.code or entry.name, _about(entry), taken["ratio"], words)


def _about(entry: Entry) -> str:
    return entry.name if entry.code else ""


def _overview(entries: Sequence[Entry]) -> str:
    if not any(bars(entries)):
        return ""
    drawn = {theme: savings(entries, theme) for theme in Theme}
    return f'<div class="scroll">{picture(TITLE, drawn)}</div>\n'


def origin(entries: Sequence[Entry]) -> str:
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


def _rows(entry: Entry) -> Iterator[Sequence[Cell]]:
    name = (Cell(f"<code>{text(entry.code)}</code>"), Cell(text(entry.name)))
    verdict = Cell(text(entry.words), _COLOURS[entry.good and not entry.differs])
    if not entry.metrics:
        yield (*name, *[Cell("")] * 4, verdict)
    for metric, taken in entry.metrics.items():
        left = "" if taken["ratio"] is None else f"{taken['ratio']:.0%}"
        figures = (*(_figure(taken, kind) for kind in _KINDS), left)
        yield (*name, Cell(metric), *(Cell(each, "number") for each in figures), verdict)


def _section(entry: Entry) -> Iterator[str]:
    """Plots of one entry, and what they show as tables."""
    shown = [*_over_time(entry), *_against_scale(entry)]
    if shown:
        code = f"<code>{text(entry.code)}</code> " if entry.code else ""
        yield f"<h2>{code}{text(entry.name)}</h2>\n"
        yield f"<p>{text(entry.words)}</p>\n"
        yield f'<div class="plots">\n{"".join(each.plot for each in shown)}</div>\n'
        yield from (
            f"<details><summary>{text(each.title)}, as a table</summary>{each.table}</details>\n"
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
            (Cell(name), Cell(f"{moment:.3f}", "number"), Cell(size(most), "number"))
            for name, curve in zip(_NAMES, curves, strict=True)
            for moment, most in _thinned(curve)
        ]
        yield _Shown(
            title,
            _lines(title, series, across, Axis(ticks(held, base=1024), size)),
            table(("", "seconds", "held"), rows),
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
            Cell(name),
            *(Cell(write(each), "number") for each in scaling[kind]["figures"]),
            Cell(f"to the {scaling[kind]['exponent']:g}", "number"),
        )
        for kind, name in zip(_KINDS, _NAMES, strict=True)
    ]
    columns = ("", *(f"data \N{MULTIPLICATION SIGN} {each:g}" for each in factors), "grows")
    yield _Shown(title, _lines(title, series, across, up), table(columns, rows))


def _lines(title: str, series: list[Series], across: Axis, up: Axis) -> str:
    drawn = {theme: plots.lines(title, series, across, up, theme) for theme in Theme}
    return picture("; ".join((title, *(each.name for each in series))), drawn)


class _Shown(NamedTuple):
    """A plot, and the same as a table."""

    title: str
    plot: str
    table: str


def _thinned(curve: Curve) -> Curve:
    """The highest of each of a few stretches of time: as much as anyone reads in a table."""
    stride = len(curve) // _MOST_ROWS + 1
    stretches = (curve[start : start + stride] for start in range(0, len(curve), stride))
    return tuple(max(stretch, key=lambda point: point[1]) for stretch in stretches)


def _figure(taken: Mapping[str, Any], kind: str) -> str:
    each = " a step" if taken["unit"] == "bytes per step" else ""
    return figure(taken[kind]["figure"], taken["unit"]) + each
