"""Plots, drawn by matplotlib, which comes with the extra `plots`, as SVG that needs no font.

Letters are drawn as shapes, and what is drawn has the room that its letters take: it looks the
same wherever it is shown, and nothing is cut off.
"""

from __future__ import annotations

from importlib.util import find_spec

from tfmemlint.plots.data import Axis, Bar, Group, Series, Theme, ticks

__all__ = [
    "MISSING",
    "Axis",
    "Bar",
    "Group",
    "Series",
    "Theme",
    "available",
    "columns",
    "lines",
    "rows",
    "ticks",
]

MISSING = 'drawing plots needs matplotlib: pip install "tfmemlint[plots]"'
"""What to say where nothing can be drawn."""


def available() -> bool:
    """Whether anything can be drawn here."""
    return find_spec("matplotlib") is not None


def columns(title: str, about: str, groups: list[Group], theme: Theme = Theme.LIGHT) -> str:
    """A narrow column for each share, side by side in their groups."""
    from tfmemlint.plots import drawing  # noqa: PLC0415  what it imports need not be installed

    return drawing.svg(drawing.columns(title, about, groups, theme), title, theme)


def rows(title: str, about: str, bars: list[Bar], theme: Theme = Theme.LIGHT) -> str:
    """A row for each share, with all that is known of it."""
    from tfmemlint.plots import drawing  # noqa: PLC0415

    return drawing.svg(drawing.rows(title, about, bars, theme), title, theme)


def lines(
    title: str, series: list[Series], across: Axis, up: Axis, theme: Theme = Theme.LIGHT
) -> str:
    """Lines over a common pair of axes that begin at nothing."""
    from tfmemlint.plots import drawing  # noqa: PLC0415

    return drawing.svg(drawing.lines(title, series, across, up, theme), title, theme)
