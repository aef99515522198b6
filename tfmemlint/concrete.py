"""libcst, one statement at a time: it confirms a finding's shape and lends its nodes to the edit.

`ast` has no parentheses, commas, dots or comments; libcst has them all, and takes more than ten
times as long for a line. So only the innermost statement around a finding is parsed with it.
"""

from __future__ import annotations

import ast
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import libcst as cst
from libcst._nodes.internal import CodegenState

from tfmemlint.source import File
from tfmemlint.vocabulary import Span

Node = TypeVar("Node", bound=cst.CSTNode)

MAX_STATEMENT = 100_000
"""Characters; libcst's time and memory grow faster than the text it is given."""
MAX_DEPTH = 100
"""Levels of nesting; libcst dies of a segmentation fault on absurd ones."""


class Concrete:
    """The libcst tree of one statement, its nodes placed in the file they came from."""

    def __init__(self, file: File, module: cst.Module, spans: dict[cst.CSTNode, Span]) -> None:
        self.file = file
        self.module = module
        self._spans = spans
        self._nodes: dict[Span, list[cst.CSTNode]] = {}
        for node, span in spans.items():
            self._nodes.setdefault(span, []).append(node)

    def span(self, node: cst.CSTNode) -> Span:
        """Where a libcst node stands in the file: without its parentheses and outer whitespace."""
        return self._spans[node]

    def find(self, node: ast.expr | ast.stmt, kind: type[Node]) -> Node | None:
        """The libcst node of this kind that stands exactly where the `ast` node does."""
        for candidate in self._nodes.get(self.file.span(node), ()):
            if isinstance(candidate, kind):
                return candidate
        return None


def concrete(file: File, node: ast.AST) -> Concrete | None:
    """The innermost statement around `node`; None if libcst does not read it back exactly."""
    statement = file.tf.tree.statement(node)
    text, start, prefix = _excerpt(file, statement, node)
    if len(text) > MAX_STATEMENT or _deeper_than(MAX_DEPTH, statement):
        return None
    try:
        module = cst.parse_module(text)
    except Exception:  # noqa: BLE001  libcst refuses some valid Python, with several kinds of error
        return None
    state = _Spans(
        default_indent=module.default_indent,
        default_newline=module.default_newline,
        shift=start - prefix,
    )
    module._codegen(state)  # pyright: ignore[reportPrivateUsage]  as libcst's own providers do
    if "".join(state.tokens) != text:
        return None
    return Concrete(file, module, state.spans)


def _excerpt(file: File, statement: ast.stmt, node: ast.AST) -> tuple[str, int, int]:
    """The text to parse, where in the file it begins, and how much was put before it."""
    start, end = file.span(statement)
    body: list[ast.stmt] | None = getattr(statement, "body", None)
    if not body:
        return file.text[start:end], start, 0
    text_end, tail = end, ""
    if statement is not node:  # the node stands in the header: what the body holds does not matter
        text_end, tail = file.span(body[0]).start, "pass"
    line_start = file.lines.start(start)
    indented = line_start < start and not file.text[line_start:start].strip()
    prefix = "if 1:\n" if indented else ""
    start = line_start if indented else start
    return prefix + file.text[start:text_end] + tail, start, len(prefix)


def _deeper_than(limit: int, statement: ast.stmt) -> bool:
    level: list[ast.AST] = [statement]
    for _ in range(limit):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True


@dataclass
class _Spans(CodegenState):
    """Notes where each node's text lands while libcst writes the code out."""

    shift: int = 0
    length: int = 0
    spans: dict[cst.CSTNode, Span] = field(default_factory=dict[cst.CSTNode, Span])
    _open: list[int] = field(default_factory=list[int])

    def add_indent_tokens(self) -> None:
        super().add_indent_tokens()
        self.length += sum(map(len, self.indent_tokens))

    def add_token(self, value: str) -> None:
        super().add_token(value)
        self.length += len(value)

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._open.append(self.length)

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self._open.pop()
        self.spans.setdefault(node, Span(start + self.shift, self.length + self.shift))

    @contextmanager
    def record_syntactic_position(
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> Generator[None]:
        start = self.length + self.shift
        yield
        first = self.spans[start_node].start if start_node else start
        last = self.spans[end_node].end if end_node else self.length + self.shift
        self.spans[node] = Span(first, last)
