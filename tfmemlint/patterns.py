"""Globs as regular expressions that stay fast on any pattern: patterns come from untrusted trees.

A star takes the first place where what follows it fits and never gives it back. For globs that
finds every match, and spares the exponential time that plain backtracking can take.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count

from tfmemlint.light_typing import NamedTuple

ANY = "."
"""What `*` and `?` match in configuration, as in ruff's: `tests/*` covers all below `tests`."""
WITHIN_SEGMENT = "[^/]"
"""What they match in a .gitignore."""

_STAR, _FOLDERS = "*", "**/"
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class PatternError(ValueError):
    """A pattern that can match nothing, as with an unclosed bracket."""


class Matcher(NamedTuple):
    """Many patterns asked at once; most patterns are plain names and endings."""

    names: frozenset[str] = frozenset()
    endings: tuple[str, ...] = ()
    paths: re.Pattern[str] | None = None

    def matches(self, name: str, path: str) -> bool:
        """Whether one of the patterns means the file or folder of this name and path."""
        return (
            name in self.names
            or name.endswith(self.endings)
            or (self.paths is not None and self.paths.match(path) is not None)
        )


def matcher(patterns: Iterable[str], any_character: str) -> Matcher:
    """Patterns with a slash match whole paths, the others names. Raises PatternError."""
    names: set[str] = set()
    endings: list[str] = []
    paths: list[str] = []
    numbers = count()
    for pattern in patterns:
        if "/" in pattern:
            paths.append(_regex(pattern, any_character, numbers))
        elif not _is_glob(pattern):
            names.add(pattern)
        elif pattern.startswith("*") and not _is_glob(pattern[1:]):
            endings.append(pattern[1:])
        else:
            paths.append("(?:.*/)?" + _regex(pattern, WITHIN_SEGMENT, numbers))
    regex = re.compile(f"(?s:{'|'.join(paths)})\\Z") if paths else None
    return Matcher(frozenset(names), tuple(endings), regex)


def literally(path: str) -> str:
    """The pattern that matches this path alone."""
    return re.sub(r"([*?[\\])", r"\\\1", path) if _is_glob(path) else path


def alternatives(pattern: str, most: int = 1000) -> list[str]:
    """The patterns that one with braces stands for: `*.{py,ipynb}` is two. Raises PatternError."""
    done: list[str] = []
    pending = [pattern]
    while pending:
        each = pending.pop()
        braces = re.search(r"\{([^{}]*)\}", each)
        if braces is None:
            done.append(each)
        else:
            head, tail = each[: braces.start()], each[braces.end() :]
            pending += [head + option + tail for option in braces[1].split(",")]
        if len(done) + len(pending) > most:
            raise PatternError(f"stands for more than {most} patterns")
    return done


def _is_glob(pattern: str) -> bool:
    return any(character in pattern for character in "*?[\\")


def _regex(pattern: str, any_character: str, numbers: Iterator[int]) -> str:
    groups: list[list[str]] = [[]]
    for token in _tokens(pattern, any_character):
        if token == _FOLDERS:
            groups.append([])
        else:
            groups[-1].append(token)
    first, *between = [_stars(group, any_character, numbers) for group in groups]
    if not between:
        return first
    *between, last = between
    settled = "".join(_settled(f"(?:.*?/)??{group}", numbers) for group in between)
    return f"{first}{settled}(?:.*/)?{last}"


def _stars(tokens: list[str], any_character: str, numbers: Iterator[int]) -> str:
    pieces = [""]
    for token in tokens:
        if token == _STAR:
            pieces.append("")
        else:
            pieces[-1] += token
    first, *between = pieces
    if not between:
        return first
    *between, last = between
    settled = "".join(_settled(f"{any_character}*?{piece}", numbers) for piece in between)
    return f"{first}{settled}{any_character}*?{last}"


def _settled(regex: str, numbers: Iterator[int]) -> str:
    """An atomic group, which `re` has in so many words only from Python 3.11 on."""
    name = f"_{next(numbers)}"
    return f"(?=(?P<{name}>{regex}))(?P={name})"


def _tokens(pattern: str, any_character: str) -> Iterator[str]:
    at, end = 0, len(pattern)
    while at < end:
        character = pattern[at]
        at += 1
        if character == "*":
            start = at - 1
            while at < end and pattern[at] == "*":
                at += 1
            whole_segment = at - start > 1 and (start == 0 or pattern[start - 1] == "/")
            if whole_segment and at == end:
                yield ".+"
            elif whole_segment and pattern[at] == "/":
                at += 1
                yield _FOLDERS
            else:
                yield _STAR
        elif character == "?":
            yield any_character
        elif character == "[":
            bracket, at = _bracket(pattern, at)
            yield bracket
        elif character == "\\":
            if at == end:
                raise PatternError("ends with a backslash")
            yield re.escape(pattern[at])
            at += 1
        else:
            yield re.escape(character)


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    """The regular expression of a bracket expression, and where in the pattern it ends."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    start, members = at, ""
    while at == start or pattern[at : at + 1] != "]":
        named = re.compile(r"\[:([^\]]*):\]").match(pattern, at)
        if named:
            if named[1] not in _CLASSES:
                raise PatternError(f"knows no class named `{named[1]}`")
            members += _CLASSES[named[1]]
            at = named.end()
            continue
        low, at = _member(pattern, at)
        high = low
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in ("]", ""):
            high, at = _member(pattern, at + 1)
        if low <= high:
            members += f"{re.escape(low)}-{re.escape(high)}"
    if members:
        return f"(?!/)[{'^' * negated}{members}]", at + 1
    return ("[^/]" if negated else "(?!)"), at + 1


def _member(pattern: str, at: int) -> tuple[str, int]:
    at += pattern[at : at + 1] == "\\"
    if at >= len(pattern):
        raise PatternError("has an unclosed bracket")
    return pattern[at], at + 1
