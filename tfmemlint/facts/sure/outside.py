"""What other files, of those that are checked together, may do to what stands in one."""

from __future__ import annotations

from tfmemlint.light_typing import NamedTuple


class Outside(NamedTuple):
    """Other files as one file knows them; by default there are none that import it."""

    imported: bool = False
    """Whether another file imports this one."""
    words: frozenset[str] = frozenset()
    """What such files name as an attribute, or define: they may set it, or take its place."""
    is_vague: bool = False
    """Whether there are too many files to look through."""

    def touches(self, name: str) -> bool:
        """Whether another file may give something of this file another value."""
        return self.is_vague or name in self.words
