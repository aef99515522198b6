"""What the tests of all formats say in the same words."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import pytest

from tfmemlint import report
from tfmemlint.source import File
from tfmemlint.vocabulary import (
    Applicability,
    Checked,
    Claim,
    Cost,
    Diagnostic,
    Edit,
    Finding,
    Fix,
    Metric,
    Rule,
    Span,
)


@pytest.fixture
def render() -> Callable[..., str]:
    """All findings in a format, as one string."""

    def render(
        output_format: str,
        *results: Checked,
        rules: Mapping[str, Rule] | None = None,
        root: str = os.curdir,
        **settings: Any,
    ) -> str:
        out = io.StringIO()
        report.write(results, output_format, out, rules=rules or {}, root=root, **settings)
        return out.getvalue()

    return render


@pytest.fixture
def found() -> Callable[..., Finding]:
    """A finding on the first place where `words` stand in `text`."""

    def found(
        text: str,
        words: str,
        message: str = "buffers batches",
        *,
        code: str = "TFM202",
        name: str = "shuffle-after-batch",
        replacements: Sequence[tuple[str, str]] = (),
        applicability: Applicability = Applicability.SAFE,
        cost: Cost | None = None,
    ) -> Finding:
        edits = tuple(Edit(_span(text, old), new) for old, new in replacements)
        fix = Fix("Shuffle before batching", edits, applicability) if edits else None
        return Finding(code, name, Diagnostic(_span(text, words), message, fix, cost))

    return found


def _span(text: str, words: str) -> Span:
    start = text.index(words)
    return Span(start, start + len(words))


@pytest.fixture
def rule(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Rule]:
    """A rule that finds nothing, with a page of its own."""

    def rule(page: str, code: str = "TFM202", name: str = "shuffle-after-batch") -> Rule:
        module = ModuleType(f"made_up_rules.{code.lower()}", page)
        monkeypatch.setitem(sys.modules, module.__name__, module)

        def check(file: File) -> Iterator[Diagnostic]:
            yield from ()

        check.__module__ = module.__name__
        return Rule(code, name, Claim(Metric.DEVICE_PEAK, 0.5, "it holds less"), (), check)

    return rule
