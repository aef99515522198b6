"""Plots as SVG, each a string that can stand in a page or alone in a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from tfmemlint.report.escape import show

STYLE = """
svg { font: 12px system-ui, sans-serif; --text: #1f2328; --dim: #59636e; --rule: #d1d9e0;
  --bad: #d9480f; --fixed: #1864ab; --bad-fill: #ffd8a8; }
@media (prefers-color-scheme: dark) { svg { --text: #f0f6fc; --dim: #9198a1; --rule: #3d444d;
  --bad: #ff922b; --fixed: #4dabf7; --bad-fill: #693b0e; } }
text { fill: var(--text); } .dim { fill: var(--dim); } .strong { font-weight: 600; }
.end { text-anchor: end; } .middle { text-anchor: middle; }
.rule { stroke: var(--rule); fill: none; }
.whole { fill: var(--bad-fill); } .part { fill: var(--fixed); }
.line { fill: none; stroke-width: 1.75; stroke-linejoin: round; }
.bad { stroke: var(--bad); } .fixed { stroke: var(--fixed); }
text.bad { fill: var(--bad); stroke: none; } text.fixed { fill: var(--fixed); stroke: none; }
.under { stroke: none; opacity: 0.15; } .under.bad { fill: var(--bad); }
.under.fixed { fill: var(--fixed); }
"""
"""What the plots look like, in the light and in the dark."""

_WIDTH, _ROW = 840, 26
_LEFT, _BAR = 336, 264


class Bar(NamedTuple):
    """What is left of something, as a share, with what to call it."""

    name: str
    about: str
    share: float
    words: str


class Series(NamedTuple):
    """Points of one line, from left to right; `kind` is `bad` or `fixed`."""

    kind: str
    name: str
    points: Sequence[tuple[float, float]]


class Axis(NamedTuple):
    """Values along one side of a plot, and how to write them."""

    ticks: Sequence[float]
    write: Callable[[float], str]

    @property
    def end(self) -> float:
        return self.ticks[-1]


def shares(title: str, bars: Sequence[Bar]) -> str:
    """A row for each: the whole bar is what was, its dark part what is left."""
    height = _ROW * len(bars) + 30
    return _svg(title, _WIDTH, height, "".join(_shares(bars)))


def lines(title: str, series: Sequence[Series], across: Axis, up: Axis) -> str:
    """Lines over a common pair of axes that begin at nothing."""
    return _svg(title, 420, 220, "".join(_lines(series, across, up)))


def alone(svg: str) -> str:
    """The plot as a file of its own."""
    start, end, rest = svg.partition(">")
    return f'{start} xmlns="http://www.w3.org/2000/svg"{end}\n<style>{STYLE}</style>\n{rest}\n'


def ticks(most: float, *, base: int = 10) -> list[float]:
    """Round values from nothing to at least `most`; round in powers of `base` as well as of ten."""
    if most <= 0:
        return [0, 1]
    unit = float(base ** math.floor(math.log(most, base)))
    rough = most / unit / 4
    size = 10 ** math.floor(math.log10(rough))
    step = next(each * size for each in (1, 2, 5, 10) if rough <= each * size)
    count = math.ceil(most / unit / step - 1e-9)
    return [number * step * unit for number in range(count + 1)]


def _svg(title: str, width: int, height: int, body: str) -> str:
    words = _text(title)
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"'
        f' aria-label="{words}"><title>{words}</title>\n{body}</svg>'
    )


def _shares(bars: Sequence[Bar]) -> Iterator[str]:
    yield _label(_LEFT, 16, "what is left", "dim")
    yield _label(_LEFT + _BAR + 12, 16, "without the fix \N{RIGHTWARDS ARROW} with it", "dim")
    for number, bar in enumerate(bars):
        top = 26 + number * _ROW
        middle = top + 15
        left = min(max(bar.share, 0), 1) * _BAR
        yield _label(4, middle, bar.name, "strong")
        yield _label(64, middle, bar.about, "")
        yield f'<rect class="whole" x="{_LEFT}" y="{top + 3}" width="{_BAR}" height="16" rx="2"/>'
        yield (
            f'<rect class="part" x="{_LEFT}" y="{top + 3}" width="{max(left, 1):.1f}"'
            ' height="16" rx="2"/>'
        )
        inside = left > _BAR - 50
        x, kind = (_LEFT + _BAR - 4, "end") if inside else (_LEFT + left + 5, "")
        yield _label(x, middle, f"{bar.share:.0%}" if bar.share >= 0.01 else "< 1%", kind)
        yield _label(_LEFT + _BAR + 12, middle, bar.words, "")
        yield "\n"


def _lines(series: Sequence[Series], across: Axis, up: Axis) -> Iterator[str]:
    left, right, top, bottom = 62, 404, 30, 190

    def x(value: float) -> float:
        return left + (right - left) * value / across.end

    def y(value: float) -> float:
        return bottom - (bottom - top) * value / up.end

    for tick in up.ticks:
        yield f'<path class="rule" d="M{left} {y(tick):.1f}H{right}"/>'
        yield _label(left - 6, y(tick) + 4, up.write(tick), "dim end")
    for tick in across.ticks[1:]:
        yield _label(x(tick), bottom + 17, across.write(tick), "dim middle")
    for number, each in enumerate(series):
        yield _label(left + number * 170, 16, f"\N{HORIZONTAL BAR} {each.name}", each.kind)
        path = "L".join(f"{x(one):.1f} {y(other):.1f}" for one, other in each.points)
        if not path:
            continue
        first, last = x(each.points[0][0]), x(each.points[-1][0])
        yield (
            f'<path class="under {each.kind}"'
            f' d="M{first:.1f} {bottom}L{path}L{last:.1f} {bottom}Z"/>'
        )
        yield f'<path class="line {each.kind}" d="M{path}"/>\n'


def _label(x: float, y: float, text: str, kind: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{_text(text)}</text>'


def _text(text: str) -> str:
    return escape(show(text))
