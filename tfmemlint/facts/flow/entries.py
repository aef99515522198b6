"""How many entries lists and dictionaries have that are written down."""

from __future__ import annotations

import ast

from tfmemlint.facts.library.shapes import written_out
from tfmemlint.facts.syntax.bindings import Bindings
from tfmemlint.facts.syntax.tree import Tree

ADDS = frozenset({"append", "extend", "insert"})
_READS = frozenset({"copy", "get", "items", "keys", "values"})


def entries_of(iterable: ast.expr, tree: Tree, bindings: Bindings) -> int | None:
    """How many entries code goes over: 3 for `(1, 2, 3)`, 2 for `{"a": 1, "b": 2}.items()`.

    None where it is not written down whole, or may be changed under its name.
    """
    if isinstance(iterable, (ast.Tuple, ast.List, ast.Set)):
        return written_out(iterable)
    match iterable:
        case ast.Call(ast.Attribute(held, "items" | "keys" | "values"), []):
            pass
        case _:
            held = iterable
    written: ast.expr | None = held
    if isinstance(held, ast.Name):
        binding = bindings.only(held)
        if binding is None or not binding.is_whole:
            return None
        written = binding.value
        if isinstance(written, ast.Dict):
            reads = (_only_reads(use, tree) for use in bindings.readers(binding))
            written = written if all(reads) else None
    known = isinstance(written, ast.Dict) and None not in written.keys
    return len(written.keys) if isinstance(written, ast.Dict) and known else None


def appended(name: ast.expr, tree: Tree, bindings: Bindings) -> int | None:
    """How many entries are appended, one by one, to a list that a name is given.

    None where more are added in another way, or in a loop.
    """
    binding = bindings.at(name) if isinstance(name, ast.Name) else None
    uses = map(tree.parent, bindings.readers(binding)) if binding is not None else ()
    adds = [each for each in uses if isinstance(each, ast.Attribute) and each.attr in ADDS]
    one_by_one = all(each.attr == "append" and not tree.loops(each) for each in adds)
    return len(adds) if one_by_one else None


def _only_reads(use: ast.expr, tree: Tree) -> bool:
    """Whether a use of a dictionary leaves it as it is: `d[key]`, `for key in d`."""
    above = tree.parent(use)
    if isinstance(above, ast.Attribute):
        return above.attr in _READS
    if isinstance(above, ast.Subscript):
        return above.value is use and isinstance(above.ctx, ast.Load)
    return isinstance(above, (ast.For, ast.AsyncFor, ast.comprehension)) and above.iter is use
