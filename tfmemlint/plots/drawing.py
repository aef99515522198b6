"""Draws with matplotlib; a unit of the drawing is a pixel."""

# The annotations of matplotlib leave some things out.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, NamedTuple, ParamSpec

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.textpath import text_to_path

from tfmemlint.plots.data import Axis, Bar, Group, Series, Theme
from tfmemlint.report.escape import show

P = ParamSpec("P")

_DOTS = 72
"""An inch of matplotlib's, so that its points are our pixels."""
_TITLE, _TEXT, _SMALL = 15, 12, 11
_EDGE = 16
_LONGEST = 72
"""Characters of a name."""

_COLUMN, _GAP, _HEIGHT = 19, 14, 170
_ROW, _BAR = 22, 240


class Colours(NamedTuple):
    """On `paper`, all but `without` and `edge` are for words, too: their contrast is above 4.5."""

    paper: str
    ink: str
    faint: str
    edge: str
    bad: str
    fixed: str
    without: str


_COLOURS = {
    Theme.LIGHT: Colours(
        "#ffffff", "#1f2328", "#59636e", "#d1d9e0", "#b93a00", "#1864ab", "#ffd8a8"
    ),
    Theme.DARK: Colours(
        "#0d1117", "#f0f6fc", "#9198a1", "#3d444d", "#ff922b", "#4dabf7", "#693b0e"
    ),
}
_STYLE: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib
    "font.size": _TEXT,
    "svg.fonttype": "path",
    "svg.hashsalt": "tfmemlint",
    "text.parse_math": False,
}


@contextmanager
def _our_style() -> Generator[None]:
    """Whatever the user's own settings of matplotlib, and whatever letters its font lacks."""
    with style.context(["default", _STYLE]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    @wraps(draw)
    def styled(*arguments: P.args, **options: P.kwargs) -> Figure:
        with _our_style():
            return draw(*arguments, **options)

    return styled


def svg(figure: Figure, title: str, theme: Theme) -> str:
    """The drawing as a file of its own, the same for the same figure."""
    out = io.BytesIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with _our_style():
        figure.savefig(
            out,
            format="svg",
            dpi=_DOTS,
            facecolor=_COLOURS[theme].paper,
            metadata={**nothing, "Title": show(title)},
        )
    _, start, rest = out.getvalue().decode("utf-8").partition("<svg ")
    head, end, body = rest.partition(">")
    head = re.sub(r'(?<=[0-9])pt"', '"', head)
    return f'{start}{head} role="img"{end}{_stripped(body)}'


@_styled
def columns(title: str, about: str, groups: Sequence[Group], theme: Theme) -> Figure:
    """See `tfmemlint.plots`."""
    shown = [group for group in groups if group.bars]
    colours = _COLOURS[theme]
    places: list[list[float]] = []
    reached = 0.0
    for group in shown:
        wide = max(len(group.bars) * _COLUMN, _width(group.name, _SMALL) + 4)
        places.append([reached + (number + 0.5) * _COLUMN for number in range(len(group.bars))])
        reached += wide + _GAP
    named = max((_width(bar.name, _SMALL) for group in shown for bar in group.bars), default=0)
    left, below, above = _width("100%", _SMALL) + 10, named + 14, 84
    words = max(_width(title, _TITLE), _width(about, _SMALL))
    canvas = _Canvas(
        max(_EDGE + left + reached - _GAP, _EDGE + words) + _EDGE, above + _HEIGHT + below, colours
    )
    canvas.write(_EDGE, 16, title, size=_TITLE, bold=True)
    canvas.write(_EDGE, 42, about, colour=colours.faint, size=_SMALL)
    start, bottom = _EDGE + left, above + _HEIGHT
    for share in (0, 0.5, 1):
        height = bottom - share * _HEIGHT
        canvas.write(
            start - 8, height, f"{share:.0%}", "right", "center", colours.faint, size=_SMALL
        )
    for group, middles in zip(shown, places, strict=True):
        canvas.write(
            start + middles[0] - _COLUMN / 2 + 2, above - 8, group.name, "left", "baseline",
            size=_SMALL,
        )  # fmt: skip
        for bar, middle in zip(group.bars, middles, strict=True):
            at = start + middle - (_COLUMN - 5) / 2
            left_over = max(min(max(bar.share, 0), 1) * _HEIGHT, 1)
            canvas.fill(at, above, _COLUMN - 5, _HEIGHT, colours.without)
            canvas.fill(at, bottom - left_over, _COLUMN - 5, left_over, colours.fixed)
            canvas.write(start + middle, bottom + 6, bar.name, "center", "top", turned=True,
                         size=_SMALL)  # fmt: skip
    return canvas.figure


@_styled
def rows(title: str, about: str, bars: Sequence[Bar], theme: Theme) -> Figure:
    """See `tfmemlint.plots`."""
    colours = _COLOURS[theme]
    bars = [_cropped(bar) for bar in bars]
    heads = ("left", "without the fix \N{RIGHTWARDS ARROW} with it")
    named = max((_width(bar.name, _TEXT, bold=True) for bar in bars), default=0)
    told = max((_width(bar.about, _TEXT) for bar in bars), default=0)
    said = max((_width(bar.words, _TEXT) for bar in bars), default=0)
    at_about = _EDGE + named + (12 if named else 0)
    at_bar = at_about + told + 16
    at_share = at_bar + _BAR + _width("< 1%", _TEXT) + 12
    at_words = at_share + 16
    wide = max(
        at_words + max(said, _width(heads[1], _SMALL)),
        _EDGE + max(_width(title, _TITLE), _width(about, _SMALL)),
    )
    above = 90
    canvas = _Canvas(wide + _EDGE, above + len(bars) * _ROW + _EDGE, colours)
    canvas.write(_EDGE, 16, title, size=_TITLE, bold=True)
    canvas.write(_EDGE, 42, about, colour=colours.faint, size=_SMALL)
    canvas.write(at_share, above - 14, heads[0], "right", "baseline", colours.faint, size=_SMALL)
    canvas.write(at_words, above - 14, heads[1], "left", "baseline", colours.faint, size=_SMALL)
    for number, bar in enumerate(bars):
        top = above + number * _ROW
        middle = top + _ROW / 2
        left_over = max(min(max(bar.share, 0), 1) * _BAR, 1)
        canvas.write(_EDGE, middle, bar.name, "left", "center", bold=True)
        canvas.write(at_about, middle, bar.about, "left", "center")
        canvas.fill(at_bar, top + 3, _BAR, _ROW - 6, colours.without)
        canvas.fill(at_bar, top + 3, left_over, _ROW - 6, colours.fixed)
        percent = "< 1%" if 0 < bar.share < 0.01 else f"{bar.share:.0%}"
        canvas.write(at_share, middle, percent, "right", "center")
        canvas.write(at_words, middle, bar.words, "left", "center")
    return canvas.figure


@_styled
def lines(title: str, series: Sequence[Series], across: Axis, up: Axis, theme: Theme) -> Figure:
    """See `tfmemlint.plots`."""
    colours = _COLOURS[theme]
    kinds = {"bad": colours.bad, "fixed": colours.fixed}
    inked = {each.name: kinds[each.kind] for each in series}
    upward = max(_width(up.write(tick), _SMALL) for tick in up.ticks)
    left, above, below = _EDGE + upward + 8, 50 + 18 * len(series), 42
    last = _width(across.write(across.end), _SMALL)
    named = max((_width(name, _SMALL) + 26 for name in inked), default=0)
    wide = max(
        left + 340 + last / 2 + _EDGE, _EDGE * 2 + max(_width(title, _TEXT, bold=True), named)
    )
    canvas = _Canvas(wide, above + 160 + below, colours)
    wide, high = canvas.wide, canvas.high
    canvas.write(_EDGE, 12, title, bold=True)
    for number, (name, colour) in enumerate(inked.items()):
        height = 44 + 18 * number
        canvas.fill(_EDGE, height - 1.5, 18, 3, colour)
        canvas.write(_EDGE + 26, height, name, "left", "center", colour, size=_SMALL)
    room = wide - left - last / 2 - _EDGE
    axes = canvas.figure.add_axes((left / wide, below / high, room / wide, 160 / high))
    _draw_axes(axes, across, up, colours)
    for each in series:
        if each.points:
            x, y = zip(*each.points, strict=True)
            colour = kinds[each.kind]
            axes.plot(x, y, color=colour, linewidth=1.75, clip_on=False)
            axes.fill_between(x, y, color=colour, alpha=0.15, linewidth=0)
    return canvas.figure


def _draw_axes(axes: Axes, across: Axis, up: Axis, colours: Colours) -> None:
    axes.set_facecolor(colours.paper)
    axes.set_xlim(0, across.end)
    axes.set_ylim(0, up.end)
    marked = [tick for tick in across.ticks if tick]
    axes.set_xticks(marked, [across.write(tick) for tick in marked])
    axes.set_yticks(up.ticks, [up.write(tick) for tick in up.ticks])
    axes.tick_params(length=0, pad=8, labelsize=_SMALL, labelcolor=colours.faint)
    axes.grid(visible=True, axis="y", color=colours.edge, linewidth=1)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(False)


class _Canvas:
    """A figure on which places are given in pixels from the left and from the top."""

    def __init__(self, wide: float, high: float, colours: Colours) -> None:
        self.wide, self.high = math.ceil(wide), math.ceil(high)
        size = self.wide / _DOTS, self.high / _DOTS
        self.figure = Figure(size, _DOTS, facecolor=colours.paper)
        self._colours = colours

    def write(
        self,
        x: float,
        y: float,
        text: str,
        across: str = "left",
        up: str = "top",
        colour: str | None = None,
        *,
        size: int = _TEXT,
        bold: bool = False,
        turned: bool = False,
    ) -> None:
        """Words, `across` and `up` from where they are placed."""
        self.figure.text(
            x / self.wide,
            1 - y / self.high,
            show(text),
            ha=across,
            va=up,
            color=colour or self._colours.ink,
            size=size,
            weight="bold" if bold else "normal",
            rotation=90 if turned else 0,
        )

    def fill(self, x: float, y: float, wide: float, high: float, colour: str) -> None:
        """A rectangle, from its upper left corner."""
        corner = (x / self.wide, 1 - (y + high) / self.high)
        self.figure.add_artist(
            Rectangle(corner, wide / self.wide, high / self.high, color=colour, linewidth=0)
        )


def _cropped(bar: Bar) -> Bar:
    """The same with a name that leaves room for the rest: of a path, the end says most."""
    name = show(bar.name)
    if len(name) > _LONGEST:
        name = f"\N{HORIZONTAL ELLIPSIS}{name[1 - _LONGEST :]}"
    return bar._replace(name=name)


@cache
def _width(text: str, size: int, *, bold: bool = False) -> float:
    """How wide some words will be."""
    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    with _our_style():
        return float(text_to_path.get_text_width_height_descent(show(text), font, False)[0])


def _stripped(body: str) -> str:
    return "\n".join(line.rstrip() for line in body.splitlines()) + "\n"
