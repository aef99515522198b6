"""What records are parsed into: features, and what their descriptions say of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint.facts.flow.paths import ANY
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.pipelines.held import (
    UNKNOWN,
    Held,
    Several,
    Tensor,
    either,
    row,
    sizes,
    tensors,
)
from tfmemlint.facts.syntax.nodes import within
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.facts.flow.sources import Sources
    from tfmemlint.facts.flow.values import Values
    from tfmemlint.facts.library.operations import Given
    from tfmemlint.facts.library.shapes import Shape
    from tfmemlint.facts.syntax.functions import Functions
    from tfmemlint.facts.syntax.names import Names

    Puts = Iterator[tuple[ast.expr | None, ast.expr]]
    """What is put into a dictionary, each behind what it is put under."""

_DTYPE_PLACES = {
    "FixedLenFeature": 1,
    "FixedLenSequenceFeature": 1,
    "RaggedFeature": 0,
    "SparseFeature": 2,
    "VarLenFeature": 0,
}
"""Where the descriptions of features are told their type."""
FEATURES = frozenset(
    f"{module}.{name}" for module in ("tensorflow", "tensorflow.io") for name in _DTYPE_PLACES
)
_MAX_HOPS = 10


def dtype_of(named: ast.expr | None, values: Values) -> str | None:
    """The type of what an element has: of numbers, or "string"."""
    is_text = named is not None and ast.unparse(named).rpartition(".")[2].strip("'") == "string"
    return "string" if is_text else values.dtype(named)


def feature(name: str, given: Given, values: Values) -> Tensor:
    """What a description says a part of an example is: it has a size where all have the same."""
    kind = name.rpartition(".")[2]
    told = argument(given.node, _DTYPE_PLACES[kind], "dtype")
    dtype = dtype_of(told, values)
    if kind != "FixedLenFeature":
        return Tensor(dtype)
    said = sizes(given.at(0, "shape"))
    return Tensor(dtype, values.shape(argument(given.node, 0, "shape")) if said is None else said)


def parsed(name: str, given: Given) -> Held:
    """What is made of records, alone or in batches, by the descriptions that are given."""
    record = next(tensors(given.first), UNKNOWN)
    several = not name.endswith(("single_example", "single_sequence_example"))
    if not name.endswith("sequence_example"):
        return _of(given.at(1, "features"), record, several)
    context = _of(given.at(1, "context_features"), record, several)
    sequences = _of(given.at(2, "sequence_features"), record, several)
    return row((context, sequences, Tensor(times=0.0)) if several else (context, sequences))


def _of(described: Held | None, record: Tensor, several: bool) -> Held:
    if isinstance(described, Several) and described.parts:
        parts = ((key, _of(part, record, several)) for key, part in described.parts)
        return Several(tuple(parts))
    if not isinstance(described, Tensor) or described.times == 0.0:
        return UNKNOWN._replace(times=record.times)
    before: Shape | None = record.shape if several else ()
    known = described.shape is not None and before is not None
    shape = (*(before or ()), *(described.shape or ())) if known else None
    return Tensor(described.dtype, shape, record.times)


class Descriptions:
    """The descriptions of features that stand outside of the function that uses them."""

    def __init__(self, names: Names, functions: Functions, sources: Sources) -> None:
        self._names = names
        self._functions = functions
        self._sources = sources

    def at(self, node: ast.expr) -> ast.expr | None:
        """The dictionary, or the call that makes it, whose value a name or an attribute is."""
        for _ in range(_MAX_HOPS):
            only = self._sources.read(node).only
            if only is None or only.node is node or not isinstance(only.node, ast.expr):
                return None
            node = only.node
            if not isinstance(node, (ast.Attribute, ast.Name)):
                return node if self._describes(node) else None
        return None

    def put_in(self, node: ast.expr, literal: ast.expr) -> Puts:
        """What is put into a dictionary besides what stands where it is made, and under what."""
        there = {*within(self._bodies(literal))}
        for end in self._sources.of(node, None, (ANY,)).found:
            put = end.node
            if not end.path and isinstance(put, ast.expr) and put not in there:
                above = self._functions.tree.parent(put)
                target = above.targets[0] if isinstance(above, ast.Assign) else None
                yield target.slice if isinstance(target, ast.Subscript) else None, put

    def _describes(self, node: ast.expr) -> bool:
        bodies = self._bodies(node)
        of_features = isinstance(node, (ast.Dict, ast.DictComp)) or len(bodies) > 1
        return of_features and any(self._names.call_of(each, FEATURES) for each in within(bodies))

    def _bodies(self, node: ast.expr) -> list[ast.AST]:
        """An expression, and the function that it calls."""
        made = self._functions.function(node.func) if isinstance(node, ast.Call) else None
        return [node] if made is None else [node, made]


def having(whole: Several, key: str | int | None, part: Held) -> Several:
    """A dictionary into which something else is put, be it under a key that is not known."""
    if key is not None:
        return whole.having(key, part)
    there = dict(whole.parts)
    there[None] = either(there[None], part) if None in there else part
    return Several(tuple(there.items()))
