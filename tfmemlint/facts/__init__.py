"""What a file says about TensorFlow: found once, on demand, for all rules. Predicates and collections, no opinions."""

from __future__ import annotations

import ast

from tfmemlint.facts.tree import Tree


class TensorFlow:
    """The facts of one file."""

    def __init__(self, module: ast.Module) -> None:
        self.tree = Tree(module)
