"""Whether a file has what makes arrays of files, or of rows of text, at all."""

from __future__ import annotations

from tfmemlint.facts.library import reading
from tfmemlint.facts.syntax.names import Names
from tfmemlint.facts.syntax.tree import Tree


def may_load(tree: Tree, names: Names) -> bool:
    """Whether a file reads arrays from files, or opens files and decodes what they hold."""
    if names.mentions(reading.LOADS):
        return True
    opens = names.mentions(reading.OPENS) or any(tree.calls(("open", "read_bytes")))
    return opens and names.mentions(reading.DECODES)


def may_parse(tree: Tree, names: Names) -> bool:
    """Whether a file takes text apart, and gives what it has then the shape of images."""
    if not any(tree.methods("array_split", "reshape")) and not names.mentions(reading.TAKES_IMAGES):
        return False
    split = (names.qualified(method) for _, method in tree.methods("rsplit", "split"))
    return None in split or names.mentions(reading.FIELDS)
