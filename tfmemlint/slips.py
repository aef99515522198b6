"""What may be meant by a word that is none."""

from __future__ import annotations

from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question that names the nearest known word, to stand behind an error; else nothing."""
    meant = nearest(word, known)
    return "" if meant is None else f"; did you mean `{meant}`?"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that may be meant: one of the same number, as far as both go, if of any."""
    from difflib import get_close_matches  # noqa: PLC0415

    number = _digits(word)
    same = {
        each.casefold(): each
        for each in known
        if number.startswith(its := _digits(each)) or its.startswith(number)
    }
    return next((same[each] for each in get_close_matches(word.casefold(), same, 1, 0.7)), None)


def _digits(word: str) -> str:
    return "".join(filter(str.isdecimal, word))
