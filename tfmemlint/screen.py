"""The cheap gates before any parse: a file or a rule they hold back has nothing to say."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.vocabulary import Rule

_WORD = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_SPACED = bytes(byte if byte in _WORD else 0x20 for byte in range(256))


def mentions_tensorflow(data: bytes) -> bool:
    """Whether the source can use TensorFlow or Keras at all."""
    if b"tensorflow" in data or b"keras" in data:
        return True
    if data.isascii():
        return False
    plain = _plain(data)
    return b"tensorflow" in plain or b"keras" in plain


def words(data: bytes) -> frozenset[bytes]:
    """Everything that can be an ASCII name in the source; comments and strings count as well."""
    plain = data if data.isascii() else _plain(data)
    return frozenset(plain.translate(_SPACED).split())


def awaited(rules: Iterable[Rule], words: frozenset[bytes]) -> list[Rule]:
    """The rules all of whose triggers these words meet."""
    return [
        rule
        for rule in rules
        if not any(_alternatives(entry).isdisjoint(words) for entry in rule.triggers)
    ]


def _plain(data: bytes) -> bytes:
    # Python compares names in NFKC: `tensor` + the ligature for `fl` + `ow` imports tensorflow.
    from unicodedata import normalize  # noqa: PLC0415

    return normalize("NFKC", data.decode("utf-8", "replace")).encode("utf-8")


@cache
def _alternatives(entry: str) -> frozenset[bytes]:
    return frozenset(entry.encode().split())
