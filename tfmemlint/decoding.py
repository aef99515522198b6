"""Bytes to text as Python reads source (PEP 263), and back to the same bytes."""

from __future__ import annotations

import re

from tfmemlint.light_typing import NamedTuple

_BOM = b"\xef\xbb\xbf"
# The first line, or the second one behind an empty line or a comment.
_COOKIE = (
    rb"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))??"
    rb"[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)"
)
_LATIN_1 = ("latin-1", "iso-8859-1", "iso-latin-1")


class UndecodableError(Exception):
    """The bytes are not text as Python reads source; the message says why."""


class Decoded(NamedTuple):
    """The text of a source file, line endings untouched, and what it takes to write it back."""

    text: str
    encoding: str = "utf-8"
    bom: bool = False


def decode(data: bytes) -> Decoded:
    """The text of a source file's bytes; raises UndecodableError."""
    bom = data.startswith(_BOM)
    if bom:
        data = data[3:]
    encoding = _declared(data) or "utf-8"
    if bom and encoding != "utf-8":
        raise UndecodableError(f"declares the encoding {encoding}, but begins with a UTF-8 mark")
    try:
        return Decoded(data.decode(encoding), encoding, bom)
    except UnicodeDecodeError as error:
        declared = "" if encoding != "utf-8" or bom else ", and no other encoding is declared"
        raise UndecodableError(
            f"not valid {encoding} at byte {error.start + 3 * bom}{declared}"
        ) from error
    except (LookupError, ValueError) as error:
        raise UndecodableError(f"cannot be decoded: {error}") from error


def encode(text: str, like: Decoded) -> bytes:
    """The bytes of `text` in the encoding of the file it comes from; raises UnicodeError."""
    return _BOM * like.bom + text.encode(like.encoding)


def _declared(data: bytes) -> str | None:
    second_line_end = data.find(b"\n", data.find(b"\n") + 1)
    if data.find(b"coding", 0, second_line_end if second_line_end >= 0 else len(data)) < 0:
        return None
    cookie = re.match(_COOKIE, data)
    if cookie is None:
        return None
    name = cookie[1].decode()
    plain = name.lower().replace("_", "-")
    if plain == "utf-8" or plain.startswith("utf-8-"):  # Emacs also writes utf-8-unix
        return "utf-8"
    if plain.startswith(tuple(latin + "-" for latin in _LATIN_1)) or plain in _LATIN_1:
        return "iso-8859-1"
    return name
