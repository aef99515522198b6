"""Which calls are being followed into functions of the module."""

from __future__ import annotations

import ast

from tfmemlint.facts.syntax.tree import FunctionNode, Tree
from tfmemlint.light_typing import NamedTuple

DEEPEST = 5
"""Calls that are followed into each other."""


class Frame(NamedTuple):
    """One call being followed into a function of the module; None stands for any call."""

    function: FunctionNode
    call: ast.Call
    outer: Frame | None

    @property
    def depth(self) -> int:
        return 1 if self.outer is None else 1 + self.outer.depth


def entered(function: FunctionNode, call: ast.Call, outer: Frame | None) -> Frame | None:
    """The frame of a call; None where calls are not followed any deeper."""
    if outer is not None and outer.depth >= DEEPEST:
        return None
    return Frame(function, call, outer)


def frame_at(tree: Tree, node: ast.AST, frame: Frame | None) -> Frame | None:
    """The frame for code at `node`: the innermost one being followed whose function holds it."""
    function = tree.function(node) if frame is not None else None
    while frame is not None and frame.function is not function:
        frame = frame.outer
    return frame


def run_at(node: ast.AST, frame: Frame | None) -> ast.AST:
    """Where code is run from: itself, or the outermost of the calls that lead to it."""
    at = node
    while frame is not None:
        at, frame = frame.call, frame.outer
    return at
