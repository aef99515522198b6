"""What may reach a terminal, a log or a document: file names and source are hostile input."""

from __future__ import annotations

import os
import re

# C0, DEL, C1, Unicode's two line ends, bidi controls, lone surrogates, what XML has no place for.
_HOSTILE = (
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_SURROGATE = "[\ud800-\udfff]"


def show(text: str) -> str:
    """`text` on one line; what could move a cursor or reorder letters is made visible."""
    return text if text.isascii() and text.isprintable() else re.sub(_HOSTILE, _picture, text)


def show_path(path: str) -> str:
    """A path as the first thing on a line, where a CI log would take `::` for a command."""
    return show(f"./{path}" if path.startswith("::") else path)


def encodable(text: str) -> str:
    """`text` with lone surrogates written out: no strict reader of JSON takes them."""
    return re.sub(_SURROGATE, _escape, text)


def uri(path: str) -> str:
    """The path part of a URI: the file system's own bytes, percent-encoded."""
    from urllib.parse import quote  # noqa: PLC0415

    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError:
        raw = path.encode("utf-8", "surrogatepass")
    return quote(raw.replace(b"\\", b"/") if os.sep == "\\" else raw)


def width(shown: str) -> int:
    """How many columns of a terminal `shown` takes."""
    return len(shown) if shown.isascii() else sum(map(_columns, shown))


def _columns(character: str) -> int:
    from unicodedata import category, east_asian_width  # noqa: PLC0415

    if category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if east_asian_width(character) in {"W", "F"} else 1


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else _escape(match)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
