"""Pieces of a page that loads nothing, needs no script and follows the theme."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import zip_longest
from typing import NamedTuple

from tfmemlint.plots import Theme
from tfmemlint.report.escape import show

_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
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
img { max-width: 100%; height: auto; }
.plots { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; }
.scroll { overflow-x: auto; } .scroll img { min-width: 640px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; padding: 0.3rem 0.6rem 0.3rem 0; border-bottom: 1px solid var(--edge);
  vertical-align: top; overflow-wrap: anywhere; } td code { overflow-wrap: break-word; }
.long { min-width: 11rem; } .long code { overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px; }
th { font-weight: 600; color: var(--faint); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.good { color: var(--good); } .poor { color: var(--poor); }
details { margin: 0.25rem 0; } summary { cursor: pointer; color: var(--faint); font-size: 13px; }
"""


def document(title: str, *body: str) -> str:
    """A whole page."""
    return (
        f"{_HEAD}<title>{text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<h1>{text(title)}</h1>\n{''.join(body)}</body>\n</html>\n"
    )


def text(words: str) -> str:
    """Words as they are, whatever is in them."""
    return escape(show(words))


class Cell(NamedTuple):
    """Of a table."""

    html: str
    kind: str = ""


def table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Rows under their columns; numbers to the right."""
    listed = list(rows)
    kinds = [cell.kind if cell.kind == "number" else "" for cell in listed[0]] if listed else []
    head = "".join(
        f'<th scope="col" class="{kind}">{text(name)}</th>'
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


def picture(title: str, drawn: Mapping[Theme, str]) -> str:
    """A plot, drawn for each theme, within the page itself."""
    light, dark = (_data(drawn[theme]) for theme in (Theme.LIGHT, Theme.DARK))
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        f'<img alt="{text(title)}" src="{light}"></picture>\n'
    )


def _data(svg: str) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
