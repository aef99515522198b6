"""What other files of a project may do to what stands in one."""

from __future__ import annotations

from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.light_typing import NamedTuple


class Importing(NamedTuple):
    """The files that import one, as far as their words tell; by default there are none."""

    imported: bool = False
    """Whether there is any."""
    words: frozenset[str] = frozenset()
    """What such files name as an attribute, or define: they may set it, or take its place."""
    is_vague: bool = False
    """Whether there are too many files to look through."""


class Outside:
    """Other files as one file knows them: looked at when something hangs on it, not before."""

    def __init__(self, tf: TensorFlow) -> None:
        self._others = tf.others

    @cached_property
    def _importing(self) -> Importing:
        return self._others.importing() if self._others is not None else Importing()

    @property
    def imported(self) -> bool:
        """Whether another file imports this one."""
        return self._importing.imported

    def touches(self, name: str) -> bool:
        """Whether another file may give something of this file another value."""
        return self._importing.is_vague or name in self._importing.words
