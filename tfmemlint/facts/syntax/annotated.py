"""Assignments that say of what kind their value is, `x: Tensor = f()`: as any other assignment."""

from __future__ import annotations

import ast

from tfmemlint.facts.syntax.nodes import FIELDS, blocks
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Annotated(ast.Assign):
    """An annotated assignment outside of classes' bodies, where it declares no field."""

    _fields = ("targets", "value", "annotation")
    annotation: ast.expr

    @property
    def target(self) -> ast.expr:
        return self.targets[0]


FIELDS[Annotated] = ("value", "annotation", "targets")


def as_assignments(
    declared: Iterable[ast.AnnAssign], parents: dict[ast.AST, ast.AST]
) -> dict[ast.AST, Annotated]:
    """What stands for each annotated assignment from now on, put where it stood."""
    found: dict[ast.AST, Annotated] = {}
    for each in declared:
        above = parents[each]
        if each.value is None or isinstance(above, ast.ClassDef):
            continue
        found[each] = stand_in = Annotated([each.target], each.value)
        stand_in.annotation = each.annotation
        ast.copy_location(stand_in, each)
        block = next(held for held in blocks(above) if each in held)
        block[block.index(each)] = stand_in
        parents[stand_in] = parents.pop(each)
        parents.update(dict.fromkeys((each.target, each.annotation, each.value), stand_in))
    return found
